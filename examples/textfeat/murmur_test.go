package textfeat

import "testing"

func TestMurmur3(t *testing.T) {
	for text, want := range map[string]uint32{
		"":              0,
		"a":             0x3c2569b2,
		"aa":            0x371091a9,
		"test":          0xba6bd213,
		"Hello, world!": 0xc0363e43,
		"The quick brown fox jumps over the lazy dog": 0x2e4ff723,
	} {
		if got := murmur3([]byte(text)); got != want {
			t.Errorf("murmur3(%q) = %#x, want %#x", text, got, want)
		}
	}
}
