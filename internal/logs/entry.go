package logs

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"runtime"
	"time"
)

// An entry is one record, before it is kept.
type entry struct {
	level   slog.Level
	time    time.Time
	source  runtime.Frame // where it was logged; zero: unknown
	message string
	attrs   []slog.Attr // flat
}

// sourceOf returns the place in the source of a record.
func sourceOf(pc uintptr) runtime.Frame {
	if pc == 0 {
		return runtime.Frame{}
	}
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return frame
}

// json returns the entry for the host. Bytes that are not UTF-8 become U+FFFD.
func (e *entry) json() []byte {
	if e.time.IsZero() {
		e.time = time.Now()
	}
	attrs := make([][2]any, len(e.attrs))
	for i, a := range e.attrs {
		attrs[i] = [2]any{a.Key, plain(a.Value)}
	}
	text, err := json.Marshal(struct {
		Level    int      `json:"level"`
		Time     int64    `json:"time"` // in nanoseconds since 1970
		File     string   `json:"file,omitempty"`
		Line     int      `json:"line,omitempty"`
		Function string   `json:"function,omitempty"`
		Message  string   `json:"message"`
		Attrs    [][2]any `json:"attrs,omitempty"`
	}{int(e.level), e.time.UnixNano(), e.source.File, e.source.Line, e.source.Function, e.message + attrsText(e.attrs), attrs})
	if err != nil {
		panic(err) // it consists of texts, numbers and bools
	}
	return text
}

// withoutText is the beginning of what a TextHandler writes of a record without a time and a message.
const withoutText = `level=INFO msg=""`

// attrsText returns what slog's TextHandler writes of flat attributes, with a space before each.
func attrsText(attrs []slog.Attr) string {
	if len(attrs) == 0 {
		return ""
	}
	var text bytes.Buffer
	r := slog.NewRecord(time.Time{}, slog.LevelInfo, "", 0)
	r.AddAttrs(attrs...)
	if slog.NewTextHandler(&text, nil).Handle(context.Background(), r) != nil {
		return "" // a buffer has no errors
	}
	return string(bytes.TrimSuffix(bytes.TrimPrefix(text.Bytes(), []byte(withoutText)), []byte("\n")))
}
