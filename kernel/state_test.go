package kernel

import "testing"

func TestRemember(t *testing.T) {
	defer func() { state = State{} }()
	if got := Remembered(); got != "" {
		t.Errorf("at the start: got %s", got)
	}
	Remember(State{Fork: ForkWarns, Variables: []string{"counter", "store.cache"}})
	if got, want := Remembered(), `{"fork":"warn","variables":["counter","store.cache"]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, wrong := range []State{{Fork: ForkFails}, {Fork: "never"}, {}} { // the first is a second call
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: want a panic", wrong)
				}
			}()
			Remember(wrong)
		}()
	}
	state = State{}
	Remember(State{Fork: ForkFails})
	if got, want := Remembered(), `{"fork":"refuse","variables":[]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
