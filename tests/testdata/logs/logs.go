// Package logs is the library of tests/test_logging.py.
package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"godlpack/kernel"
)

// early is derived from the default logger before anybody can capture it.
var early = slog.With("early", true)

//godlpack:export
func Log(level int, text string) { slog.Log(context.Background(), slog.Level(level), text) }

//godlpack:export
func LogEarly(level int, text string) {
	early.Log(context.Background(), slog.Level(level), text, "n", 1)
}

//godlpack:export
func Print(text string) { log.Print(text) }

//godlpack:export
func Fail(text string) error {
	slog.Error(text)
	return errors.New(text)
}

//godlpack:export
func Quiet() int { return 1 }

type secret struct{ asked *int }

func (s secret) LogValue() slog.Value {
	*s.asked++
	return slog.StringValue("hidden")
}

type broken struct{}

func (broken) LogValue() slog.Value { panic("no value") }

type stubborn struct{}

func (*stubborn) MarshalText() ([]byte, error) { panic("no text") }

//godlpack:export
func Attrs() {
	asked := 0
	slog.With("name", "a b").WithGroup("g").With("n", 1).WithGroup("h").Info("all",
		"yes", true, "int", -3, "uint", uint64(math.MaxUint64), "float", 2.0, "nan", math.NaN(), "time", time.Unix(0, 0).UTC(),
		"for", 1500*time.Millisecond, "error", errors.New("not\nthere"), "any", []int{1, 2}, "bytes", []byte("by"), "nil", nil,
		"secret", secret{&asked}, "bad \xff", "\xfe", slog.Group("inner", "x", 1, slog.Group("", "y", 2)), slog.Group("empty"))
	slog.Info("asked", "times", asked)
}

//godlpack:export
func Panics() {
	var missing *stubborn
	slog.Info("panics", "broken", broken{}, "stubborn", &stubborn{}, "missing", missing)
}

//godlpack:export
func Huge(n int) { slog.Info(strings.Repeat("x", n)) }

// Many logs n numbers in each of several goroutines.
//
//godlpack:export
func Many(goroutines, n int) {
	var all sync.WaitGroup
	for g := range goroutines {
		all.Go(func() {
			for i := range n {
				slog.Info("many", "g", g, "i", i)
			}
		})
	}
	all.Wait()
}

// Later logs n numbers after the call.
//
//godlpack:export
func Later(n int) {
	go func() {
		for i := range n {
			time.Sleep(5 * time.Millisecond)
			slog.Warn("later", "i", i)
		}
	}()
}

// Long logs, and continues until the caller stops it.
//
//godlpack:export
func Long(ctx *kernel.Ctx) error {
	slog.Info("begin")
	for ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	slog.Info("end")
	return ctx.Err()
}

// Endless logs, and does not stop.
//
//godlpack:export
func Endless() {
	for {
		slog.Info("endless")
		time.Sleep(time.Millisecond)
	}
}

//godlpack:export
func Call(f kernel.Callable) error {
	slog.Info("before")
	_, err := f.Call()
	slog.Info("after")
	return err
}

var own bytes.Buffer

// Own sets a default logger of the library's own.
//
//godlpack:export
func Own() { slog.SetDefault(slog.New(slog.NewTextHandler(&own, nil))) }

//godlpack:export
func Owned() string { return own.String() }

// Derived logs by a logger that the first call of it derives.
//
//godlpack:export
func Derived(text string) {
	if derived == nil {
		derived = slog.With("derived", true)
	}
	derived.Info(text)
}

var derived *slog.Logger

//godlpack:export
func Fatal(text string) { log.Fatal(text) }

//godlpack:export
func Format() string { return fmt.Sprint(log.Flags(), log.Writer() != nil) }

// Recorder is a class whose methods log.
//
//godlpack:export
type Recorder struct{ n int }

//godlpack:new
func NewRecorder() *Recorder {
	slog.Info("new recorder")
	return &Recorder{}
}

//godlpack:export
func (r *Recorder) Record() {
	r.n++
	slog.Info("recorded", "n", r.n)
}
