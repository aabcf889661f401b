package shards

import (
	"context"
	"iter"

	"imagebatch"

	"godlpack/kernel"
)

// Options are how a Reader reads.
//
//godlpack:options
type Options struct {
	Batch    int    //godlpack:arg default=32
	Shuffle  int    //godlpack:arg default=0
	Seed     int64  //godlpack:arg default=0
	Part     int    //godlpack:arg default=0
	Parts    int    //godlpack:arg default=1
	DropLast bool   //godlpack:arg default=False
	Open     int    //godlpack:arg default=4
	Workers  int    //godlpack:arg default=0
	Endpoint string //godlpack:arg default=""
}

// Reader reads the samples of shards, one part of parts, in batches.
//
// The arguments are those of Loader, which is for users; of its rank and worker, part and parts are made.
//
//godlpack:export
type Reader struct {
	options Options
	columns []column
	shards  []shard
	of      string // what a state must be of
}

// NewReader finds the shards. ValueError: no shards, fewer than parts, or columns or options that there are not.
//
//godlpack:new
func NewReader(ctx context.Context, urls []string, columns map[string]string, o Options) (*Reader, error) {
	switch {
	case o.Batch < 1:
		return nil, kernel.Errorf(kernel.ValueError, "batch: want at least 1, got %d", o.Batch)
	case o.Shuffle < 0:
		return nil, kernel.Errorf(kernel.ValueError, "shuffle: want the number of samples among which the order is random, got %d", o.Shuffle)
	case o.Open < 1:
		return nil, kernel.Errorf(kernel.ValueError, "open: want at least 1, got %d", o.Open)
	case o.Parts < 1 || o.Part < 0 || o.Part >= o.Parts:
		return nil, kernel.Errorf(kernel.ValueError, "part %d of %d: want 0 to parts - 1", o.Part, o.Parts)
	}
	parsed, err := parseColumns(columns)
	if err != nil {
		return nil, err
	}
	shards, err := find(ctx, urls, o.Endpoint)
	if err != nil {
		return nil, err
	}
	if len(shards) < o.Parts {
		return nil, kernel.Errorf(kernel.ValueError,
			"%d shards are too few for %d workers, which read different ones: use fewer workers, or write more shards", len(shards), o.Parts)
	}
	r := &Reader{options: o, columns: parsed, shards: shards}
	r.of = r.fingerprint(urls)
	return r, nil
}

// Len returns the number of shards, of all parts.
func (r *Reader) Len() int { return len(r.shards) }

// Batches yields the batches of an epoch: from its beginning, or from where a state says, which is of the same epoch.
//
//godlpack:export
//godlpack:prefetch 2
func (r *Reader) Batches(ctx context.Context, epoch int64, state string) (iter.Seq2[*Batch, error], error) {
	at, err := r.start(epoch, state)
	if err != nil {
		return nil, err
	}
	return func(yield func(*Batch, error) bool) {
		jobs := kernel.Batches(r.options.Batch, r.samples(ctx, at))
		for b, err := range kernel.Pipeline(ctx, r.options.Workers, r.whole(jobs), r.decode) {
			if !yield(b, err) {
				return
			}
		}
	}, nil
}

// Stream is Batches, for async for.
//
//godlpack:async
//godlpack:prefetch 2
func (r *Reader) Stream(ctx context.Context, epoch int64, state string) (iter.Seq2[*Batch, error], error) {
	return r.Batches(ctx, epoch, state)
}

// JPEGDecoder returns what decodes JPEG files on this machine: "libjpeg-turbo" where it is installed, or "image/jpeg", Go's own,
// which takes twice the time.
//
//godlpack:export
func JPEGDecoder() string { return imagebatch.DecoderName() }

// whole drops a last batch that is too short, if it is to.
func (r *Reader) whole(batches iter.Seq2[[]placed, error]) iter.Seq2[[]placed, error] {
	return func(yield func([]placed, error) bool) {
		for batch, err := range batches {
			short := err == nil && len(batch) < r.options.Batch
			if short && r.options.DropLast {
				continue
			}
			if !yield(batch, err) {
				return
			}
		}
	}
}
