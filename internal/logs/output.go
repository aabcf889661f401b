package logs

import (
	"io"
	"log/slog"
	"runtime"
	"strings"
	"time"
)

// An output is what package log writes to.
type output struct{ before io.Writer }

// Write keeps a line of package log.
func (o *output) Write(line []byte) (int, error) {
	e := entry{level: slog.LevelInfo, time: time.Now(), message: strings.TrimSuffix(string(line), "\n")}
	way, source := caller()
	e.source = source
	switch way {
	case bySlog:
		e.level, e.message = levelIn(e.message)
	case byFatal: // the process ends before anybody could take it
		return o.before.Write(line)
	}
	if int64(e.level) >= threshold.Load() {
		keep(e)
	}
	return len(line), nil
}

// A way is how a line got to package log.
type way int

const (
	byLog   way = iota
	bySlog      // from a logger that was derived from slog's first default logger, before Start
	byFatal     // log.Fatal and the like
)

// caller returns how a line got here, and from where.
func caller() (way, runtime.Frame) {
	var stack [32]uintptr
	frames := runtime.CallersFrames(stack[:runtime.Callers(3, stack[:])])
	for how := byLog; ; {
		frame, more := frames.Next()
		switch {
		case strings.HasPrefix(frame.Function, "log/slog."):
			how = bySlog
		case strings.HasPrefix(frame.Function, "log.Fatal"), strings.HasPrefix(frame.Function, "log.(*Logger).Fatal"):
			how = byFatal
		case !strings.HasPrefix(frame.Function, "log.") || !more:
			return how, frame
		}
	}
}

// levelIn takes the level from the beginning of a line that slog's first default logger wrote.
func levelIn(line string) (level slog.Level, rest string) {
	first, rest, _ := strings.Cut(line, " ")
	if level.UnmarshalText([]byte(first)) != nil {
		return slog.LevelInfo, line // package log's prefix comes before it
	}
	return level, rest
}
