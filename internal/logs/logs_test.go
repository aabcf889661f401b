package logs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// captured runs f between Start and Stop, and returns the records.
func captured(t *testing.T, level slog.Level, f func()) (records []map[string]any) {
	t.Helper()
	Start(int(level), -1)
	f()
	Stop()
	return taken(t)
}

// taken takes and handles all records.
func taken(t *testing.T) (records []map[string]any) {
	t.Helper()
	handled := uint64(0)
	for {
		text := Take(handled, 100)
		if text == "" {
			break
		}
		var some struct {
			Last    uint64
			Records []map[string]any
		}
		if err := json.Unmarshal([]byte(text), &some); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if Pending() == 0 {
			t.Error("records that are not handled are not pending")
		}
		handled, records = some.Last, append(records, some.Records...)
	}
	if Pending() != 0 {
		t.Error("handled records are pending")
	}
	return records
}

func messages(records []map[string]any) (texts []string) {
	for _, r := range records {
		texts = append(texts, r["message"].(string))
	}
	return texts
}

// The text of a record is that of slog's TextHandler, for random attributes in random groups.
func TestTextIsThatOfSlog(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", "a b", `q"q`, "k=v", "é", "\xff", "tab\t", "0", "g.h", "\u2028", "<&>"}
	text := func() string { return texts[random.IntN(len(texts))] }
	var attr func(depth int) slog.Attr
	value := func(depth int) slog.Value {
		switch random.IntN(12) {
		case 0:
			return slog.IntValue(random.IntN(100) - 50)
		case 1:
			return slog.Uint64Value(math.MaxUint64)
		case 2:
			return slog.Float64Value([]float64{0, 1, -2.5, 1e300, math.Inf(1), math.NaN()}[random.IntN(6)])
		case 3:
			return slog.BoolValue(random.IntN(2) == 0)
		case 4:
			return slog.DurationValue(time.Duration(random.Int64()))
		case 5:
			return slog.TimeValue(time.Unix(random.Int64N(1<<32), random.Int64N(1e9)).UTC())
		case 6:
			return slog.AnyValue(errors.New(text()))
		case 7:
			return slog.AnyValue([]any{nil, map[string]int{"a": 1}, struct{ A, b int }{1, 2}, (*int)(nil)}[random.IntN(4)])
		case 8:
			return slog.AnyValue(&slog.Source{File: text(), Line: 3})
		case 9:
			if depth > 0 {
				group := make([]slog.Attr, random.IntN(3))
				for i := range group {
					group[i] = attr(depth - 1)
				}
				if len(group) > 0 { // slog's own text is wrong after a group whose attributes are all empty
					group = append(group, slog.Int("last", 1))
				}
				return slog.GroupValue(group...)
			}
		}
		return slog.StringValue(text())
	}
	attr = func(depth int) slog.Attr {
		if random.IntN(20) == 0 {
			return slog.Attr{}
		}
		a := slog.Attr{Key: text(), Value: value(depth)}
		if a.Key == "" && a.Value.Kind() != slog.KindGroup {
			a.Key = "key" // slog quotes a group's name before an empty one
		}
		return a
	}
	for range 2000 {
		var want bytes.Buffer
		theirs := slog.New(slog.NewTextHandler(&want, nil))
		Start(int(slog.LevelInfo), -1)
		ours := slog.Default()
		for range random.IntN(3) {
			if random.IntN(2) == 0 {
				name := text()
				theirs, ours = theirs.WithGroup(name), ours.WithGroup(name)
			} else {
				a, b := attr(2), attr(2)
				theirs, ours = theirs.With(a, b), ours.With(a, b)
			}
		}
		r := slog.NewRecord(time.Time{}, slog.LevelInfo, "m", 0)
		for range random.IntN(3) {
			r.AddAttrs(attr(2))
		}
		_ = theirs.Handler().Handle(context.Background(), r)
		_ = ours.Handler().Handle(context.Background(), r)
		Stop()
		got := taken(t)
		if want := strings.ToValidUTF8(strings.TrimSuffix(strings.TrimPrefix(want.String(), "level=INFO msg="), "\n"), "\ufffd"); len(got) != 1 || got[0]["message"] != want {
			t.Fatalf("got  %v\nwant %s", got[0]["message"], want)
		}
	}
}

func TestLevels(t *testing.T) {
	got := captured(t, slog.LevelWarn, func() {
		slog.Info("info")
		slog.Warn("warn")
		slog.Log(context.Background(), 100, "100")
		log.Print("log")
	})
	if len(got) != 2 || got[0]["level"] != 4.0 || got[1]["level"] != 100.0 {
		t.Errorf("got %v", got)
	}
}

// Records that do not count are not even formatted.
func TestBelowTheLevelNothingIsMade(t *testing.T) {
	Start(int(slog.LevelError), -1)
	defer Stop()
	ctx := context.Background()
	if n := testing.AllocsPerRun(100, func() { slog.LogAttrs(ctx, slog.LevelInfo, "below", slog.Int("n", 1)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestSource(t *testing.T) {
	got := captured(t, slog.LevelInfo, func() {
		slog.Info("slog")
		log.Printf("log")
		log.New(log.Writer(), "prefix: ", 0).Println("another logger")
		_ = slog.Default().Handler().Handle(context.Background(), slog.Record{Message: "without a source"})
	})
	for _, r := range got[:3] {
		if file, _ := r["file"].(string); !strings.HasSuffix(file, "logs_test.go") || r["line"].(float64) < 100 ||
			!strings.Contains(r["function"].(string), "TestSource") {
			t.Errorf("got %v", r)
		}
	}
	if got[2]["message"] != "prefix: another logger" || got[3]["file"] != nil || got[3]["time"].(float64) < 1e18 {
		t.Errorf("got %v", got[2:])
	}
}

// What Start replaces comes back, except where the library has set something else since.
func TestStopRestores(t *testing.T) {
	var text bytes.Buffer
	state := func() [3]any { return [3]any{slog.Default(), log.Writer(), log.Flags()} }
	first := state()
	defer func() {
		slog.SetDefault(first[0].(*slog.Logger))
		log.SetOutput(first[1].(io.Writer))
		log.SetFlags(first[2].(int))
	}()
	captured(t, 0, func() {})
	if state() != first {
		t.Error("the first logger is not back")
	}
	own := slog.New(slog.NewTextHandler(&text, nil))
	slog.SetDefault(own)
	before := state()
	captured(t, 0, func() { slog.Info("captured") })
	if state() != before {
		t.Error("the library's logger is not back")
	}
	captured(t, 0, func() { slog.SetDefault(slog.New(slog.NewJSONHandler(&text, nil))) })
	if after := state(); after[0] == before[0] || after[1] == before[1] {
		t.Error("the library's new logger is not there any more")
	}
	slog.SetDefault(own)
	captured(t, 0, func() {
		log.SetOutput(&text)
		log.SetFlags(log.Lmsgprefix)
	})
	if after := state(); after != [3]any{own, io.Writer(&text), log.Lmsgprefix} {
		t.Errorf("the library's new output is not there any more: %v", after)
	}
	Stop() // once more
}

// A logger that was derived from ours works after Stop, too, with its attributes.
func TestDerivedLogger(t *testing.T) {
	var text bytes.Buffer
	before := slog.Default()
	defer func() {
		slog.SetDefault(before)
		log.SetOutput(os.Stderr)
		log.SetFlags(log.LstdFlags)
	}()
	slog.SetDefault(slog.New(slog.NewTextHandler(&text, nil)))
	var derived *slog.Logger
	got := captured(t, slog.LevelDebug, func() {
		derived = slog.With("a", 1).WithGroup("g").WithGroup("").With("b", 2)
		derived.Info("m", "c", 3)
	})
	derived.Debug("below")
	derived.Info("n", "c", 3)
	if len(got) != 1 || got[0]["message"] != "m a=1 g.b=2 g.c=3" || !strings.HasSuffix(text.String(), "level=INFO msg=n a=1 g.b=2 g.c=3\n") ||
		strings.Contains(text.String(), "below") {
		t.Errorf("got %v and %s", got, text.String())
	}
}

func TestLinesOfTheFirstLogger(t *testing.T) {
	for line, want := range map[string]struct {
		level slog.Level
		text  string
	}{
		"WARN+2 a b": {6, "a b"}, "ERROR": {8, ""}, "prefix: WARN a": {0, "prefix: WARN a"}, "": {0, ""}, "DEBUG  x": {-4, " x"},
	} {
		if level, text := levelIn(line); level != want.level || text != want.text {
			t.Errorf("%q: got %v, %q", line, level, text)
		}
	}
}

func TestLimits(t *testing.T) {
	got := captured(t, 0, func() {
		for range mostRecords + 5 {
			slog.Info("x")
		}
	})
	if n := len(got); n != mostRecords+1 || got[n-1]["level"] != 4.0 || !strings.HasSuffix(got[n-1]["message"].(string), " with lost=5") {
		t.Errorf("got %d records, the last is %v", n, got[n-1])
	}
	large := strings.Repeat("x", mostBytes/2)
	got = captured(t, 0, func() {
		for range 3 {
			slog.Info(large + large)
		}
	})
	if len(got) != 2 || len(got[0]["message"].(string)) != mostBytes/2*2 {
		t.Errorf("got %d records", len(got))
	}
	got = captured(t, 0, func() { // a record that tells of lost ones is where they would be
		for range mostRecords + 1 {
			slog.Info("x")
		}
		Take(0, 2)
		slog.Info("room again")
		slog.Info("full again")
	})
	if texts := messages(got); len(texts) != mostRecords+1 || !strings.HasSuffix(texts[mostRecords-2], " lost=1") ||
		texts[mostRecords-1] != "room again" || !strings.HasSuffix(texts[mostRecords], " lost=1") {
		t.Errorf("got %v", texts[mostRecords-3:])
	}
}

// A host that names records that it has not taken, as one of another runtime does, loses none.
func TestHandledBeforeTaken(t *testing.T) {
	Start(0, -1)
	defer Stop()
	slog.Info("x")
	if text := Take(math.MaxUint64, 0); text != "" || Pending() == 0 {
		t.Errorf("got %q, pending %d", text, Pending())
	}
	if got := taken(t); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

// Go wakes the host some milliseconds after the first record, once, and not if the host has taken it meanwhile.
func TestWake(t *testing.T) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	reader := os.NewFile(uintptr(ends[0]), "reader")
	defer reader.Close()
	defer syscall.Close(ends[1])
	Start(0, ends[1])
	defer Stop()
	slog.Info("taken")
	taken(t)
	time.Sleep(3 * patience)
	slog.Info("x")
	slog.Info("y")
	var bytes [10]byte
	if n, err := reader.Read(bytes[:]); n != 1 || err != nil {
		t.Errorf("got %d bytes, %v", n, err)
	}
	if got := messages(taken(t)); len(got) != 2 {
		t.Errorf("got %v", got)
	}
}

// Many goroutines log while others start, stop and take: for the race detector.
func TestAllAtOnce(t *testing.T) {
	before, output := slog.Default(), log.Writer()
	log.SetOutput(io.Discard)
	defer func() {
		slog.SetDefault(before)
		log.SetOutput(output)
	}()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 200 {
				slog.With("g", g).Info("x", "i", i)
				log.Print(i)
				switch {
				case g == 0 && i%10 == 0:
					Start(0, -1)
				case g == 1 && i%15 == 0:
					Stop()
				case g == 2:
					Take(uint64(i), i%3)
				}
			}
		})
	}
	all.Wait()
	Stop()
	taken(t)
}

type marshaler struct {
	text string
	err  error
}

func (m *marshaler) MarshalText() ([]byte, error) { return []byte(m.text), m.err } // panics for nil

type panics struct{}

func (panics) String() string { panic("no text") }

func (panics) MarshalText() ([]byte, error) { panic("no text") }

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{&marshaler{"m", nil}, "m"}, {&marshaler{"m", io.EOF}, "!ERROR:EOF"}, {(*marshaler)(nil), "<nil>"}, {panics{}, "!PANIC: no text"},
		{[]byte("b"), "b"}, {time.Second, "1s"}, {time.Unix(0, 0).UTC(), "1970-01-01T00:00:00.000Z"}, {&slog.Source{File: "f", Line: 2}, "f:2"},
	} {
		if got := textOf(slog.AnyValue(c.value)); got != c.want {
			t.Errorf("%v: got %s, want %s", c.value, got, c.want)
		}
	}
	if h := new(handler); h.WithGroup("") != slog.Handler(h) {
		t.Error("a group without a name is none")
	}
}
