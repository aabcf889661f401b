package kernel_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"godlpack/kernel"
)

type progress struct {
	Number      int64
	Label       string
	Done, Total int64
	Over        bool
}

// shown asks for the bars, as a host does.
func shown(t testing.TB, show bool) (bars []progress) {
	t.Helper()
	h := newHost()
	c := newCall(show)
	if err := c.of(kernel.ProgressFunc, h); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(c.result(t, h).(string)), &bars); err != nil {
		t.Fatal(err)
	}
	return bars
}

// long is more than a call must run to have a bar.
const long = 250 * time.Millisecond

func TestProgress(t *testing.T) {
	shown(t, true)
	defer shown(t, false)
	var during []progress
	err := withContext(t, newHost(), func(_ *kernel.Call, ctx context.Context) error {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		kernel.Progress(ctx, 1, 9)
		equal(t, "a call that has just begun", shown(t, true), []progress{})
		time.Sleep(long)
		var group sync.WaitGroup
		group.Go(func() { kernel.Progress(inner, 2, 9) })
		group.Wait()
		during = shown(t, true)
		kernel.Progress(kernel.FromContext(ctx), 3, 9)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(during) != 1 {
		t.Fatalf("during a call: %v", during)
	}
	first := during[0]
	equal(t, "during a call", first, progress{first.Number, "f", 2, 9, false})
	equal(t, "after it", shown(t, true), []progress{{first.Number, "f", 3, 9, true}})
	equal(t, "after that", shown(t, true), []progress{})
}

func TestProgressThatNobodySees(t *testing.T) {
	none := []progress{}
	kernel.Progress(context.Background(), 1, 2)
	run(t, nil, func(c *kernel.Call) {
		kernel.Progress(c.Ctx(), 1, 2)
		time.Sleep(long)
	})
	equal(t, "before it is asked for", shown(t, true), none)

	run(t, nil, func(c *kernel.Call) {
		kernel.Progress(c.Ctx(), 1, 2)
		time.Sleep(long)
		equal(t, "when it is no longer", len(shown(t, false)), 1)
		kernel.Progress(c.Ctx(), 2, 2)
	})
	equal(t, "after it", shown(t, true), none)
	defer shown(t, false)

	kernel.Progress(context.Background(), 1, 2)
	kernel.Progress((*kernel.Ctx)(nil), 1, 2)
	time.Sleep(long)
	equal(t, "of no call", shown(t, true), none)
}

// A call that the host has not asked about since it ended is not taken for a later one.
func TestProgressOfManyCalls(t *testing.T) {
	shown(t, true)
	defer shown(t, false)
	for range 3 {
		run(t, nil, func(c *kernel.Call) {
			kernel.Progress(c.Ctx(), 1, 1)
			time.Sleep(long)
		})
	}
	bars := shown(t, true)
	if len(bars) != 3 || bars[0].Number >= bars[1].Number || bars[1].Number >= bars[2].Number {
		t.Errorf("three calls: %v", bars)
	}
}

func BenchmarkProgressOff(b *testing.B) { benchProgress(b) }

func BenchmarkProgressOn(b *testing.B) {
	shown(b, true)
	defer shown(b, false)
	benchProgress(b)
}

func benchProgress(b *testing.B) {
	f := prepare(b, kernel.Func{Do: func(c *kernel.Call) error {
		ctx := c.Ctx()
		for b.Loop() {
			kernel.Progress(ctx, 1, 2)
		}
		return nil
	}})
	if err := newCall().of(f, newHost()); err != nil {
		b.Fatal(err)
	}
}
