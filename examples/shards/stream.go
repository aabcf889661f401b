package shards

import (
	"context"
	"fmt"
)

const (
	runLength  = 16 // the samples that pass from a shard's goroutine at a time
	runsAtOnce = 4  // that wait for their turn
)

// A run is consecutive samples of a shard, up to a number that runLength divides: so that those after a resumption are those
// before it. An error, or the end, comes after them.
type run struct {
	samples []sample
	err     error
	end     bool
}

// A stream is a shard that is being read, in a goroutine of its own.
type stream struct {
	at     position // of the next sample
	runs   chan run
	left   run // of the last run
	cancel context.CancelFunc
}

// openStream begins to read a shard.
func (r *Reader) openStream(ctx context.Context, order []int, at position) *stream {
	ctx, cancel := context.WithCancel(ctx)
	st := &stream{at: at, runs: make(chan run, runsAtOnce), cancel: cancel}
	go r.read(ctx, r.shards[order[at.Shard]], at.Sample, st.runs)
	return st
}

// read reads a shard from a sample on.
func (r *Reader) read(ctx context.Context, s shard, from int64, runs chan<- run) {
	var samples []sample
	give := func(next run) bool {
		select {
		case runs <- next:
			return true
		case <-ctx.Done():
			return false
		}
	}
	defer func() {
		if reason := recover(); reason != nil { // of a library that reads a format
			give(run{samples: samples, err: s.failed(fmt.Errorf("%v", reason))})
		}
	}()
	for one, err := range s.read(ctx, s, r.columns, from) {
		if err != nil {
			give(run{samples: samples, err: err})
			return
		}
		samples = append(samples, one)
		if (one.number+1)%runLength == 0 {
			if !give(run{samples: samples}) {
				return
			}
			samples = nil
		}
	}
	give(run{samples: samples, end: true})
}

// next returns the next sample; none at the end of the shard. With it comes whether it was the last one of a run.
func (st *stream) next(ctx context.Context) (one sample, ok, last bool, err error) {
	for len(st.left.samples) == 0 {
		switch {
		case st.left.err != nil:
			return one, false, false, st.left.err
		case st.left.end:
			return one, false, false, nil
		}
		select {
		case st.left = <-st.runs:
		case <-ctx.Done():
			return one, false, false, context.Cause(ctx)
		}
	}
	one, st.left.samples = st.left.samples[0], st.left.samples[1:]
	st.at.Sample = one.number + 1
	return one, true, (one.number+1)%runLength == 0, nil
}
