package logs

import (
	"context"
	"log/slog"
	"slices"
)

// A handler passes slog's records to the queue.
type handler struct {
	group  string      // of the attributes to come: "", or names that each end with a dot
	attrs  []slog.Attr // of the logger, flat
	before slog.Handler
}

// Enabled reports whether a record of the level is kept; where none is, the handler before decides.
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	if least := threshold.Load(); least != off {
		return int64(level) >= least
	}
	return h.before.Enabled(ctx, level)
}

// Handle keeps a record. A logger that was derived from ours may still be used after Stop.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	if threshold.Load() == off {
		return h.before.Handle(ctx, r)
	}
	attrs := slices.Clip(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		attrs = appendFlat(attrs, h.group, a)
		return true
	})
	keep(entry{r.Level, r.Time, sourceOf(r.PC), r.Message, attrs})
	return nil
}

// WithAttrs returns a handler with more attributes, whose values are read now.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	flat := slices.Clip(h.attrs)
	for _, a := range attrs {
		flat = appendFlat(flat, h.group, a)
	}
	return &handler{h.group, flat, h.before.WithAttrs(attrs)}
}

// WithGroup returns a handler whose further attributes belong to a group.
func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return &handler{h.group + name + ".", h.attrs, h.before.WithGroup(name)}
}
