package shards

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// A bucket is a store with some objects, whose answers may fail.
type bucket struct {
	fails atomic.Int32 // so many answers to come are cut in the middle
	*httptest.Server
}

func newBucket(t *testing.T, objects map[string]string) *bucket {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("data"); err != nil {
		t.Fatal(err)
	}
	for key, text := range objects {
		if _, err := backend.PutObject("data", key, map[string]string{"Last-Modified": time.Now().UTC().Format(http.TimeFormat)}, strings.NewReader(text), int64(len(text)), nil); err != nil {
			t.Fatal(err)
		}
	}
	b := &bucket{}
	store := gofakes3.New(backend).Server()
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		store.ServeHTTP(answer, r)
		body := answer.Body.Bytes()
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.WriteHeader(answer.Code)
		if len(body) > 1000 && b.fails.Add(-1) >= 0 {
			w.Write(body[:len(body)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		w.Write(body)
	}))
	t.Cleanup(b.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
	return b
}

// numbered returns lines with the ids from first to last - 1.
func numbered(first, last int) string {
	var text strings.Builder
	for i := first; i < last; i++ {
		fmt.Fprintf(&text, "{\"id\": %d}\n", i)
	}
	return text.String()
}

func idsOf(t *testing.T, urls []string, endpoint string) (ids []int64, err error) {
	t.Helper()
	r, err := NewReader(context.Background(), urls, map[string]string{"id": "int64"}, Options{Batch: 10, Parts: 1, Open: 3, Endpoint: endpoint})
	if err != nil {
		return nil, err
	}
	batches, err := r.Batches(context.Background(), 0, "")
	if err != nil {
		return nil, err
	}
	for b, err := range batches {
		if err != nil {
			return ids, err
		}
		numbers, err := b.Int64("id")
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, numbers.Slice()...)
	}
	return ids, nil
}

func TestS3(t *testing.T) {
	b := newBucket(t, map[string]string{
		"train/0.jsonl": numbered(0, 300), "train/1.jsonl": numbered(300, 500), "train/notes.txt": "no shard", "other/2.jsonl": numbered(500, 501),
	})
	want := make([]int64, 500)
	for i := range want {
		want[i] = int64(i)
	}
	for _, url := range []string{"s3://data/train/", "s3://data/train/*.jsonl", "s3://data/train/{0..1}.jsonl", "s3://data/t*/[01].jsonl"} {
		b.fails.Store(2)
		got, err := idsOf(t, []string{url}, b.URL)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d samples, %v", url, len(got), err)
		}
	}
	if got, err := idsOf(t, []string{"s3://data"}, b.URL); err != nil || len(got) != 501 {
		t.Errorf("the whole bucket: %d samples, %v", len(got), err)
	}
	t.Setenv("AWS_ENDPOINT_URL", b.URL)
	if got, err := idsOf(t, []string{"s3://data/other/2.jsonl"}, ""); err != nil || len(got) != 1 {
		t.Errorf("by AWS_ENDPOINT_URL: %d samples, %v", len(got), err)
	}
}

func TestS3Errors(t *testing.T) {
	b := newBucket(t, map[string]string{"a.jsonl": numbered(0, 300)})
	for url, want := range map[string]error{"s3://data/none.jsonl": fs.ErrNotExist, "s3://none/a/": fs.ErrNotExist} {
		if _, err := idsOf(t, []string{url}, b.URL); !errors.Is(err, want) || !strings.Contains(err.Error(), strings.TrimSuffix(url, "/")) {
			t.Errorf("%s: got %v, want %v", url, err, want)
		}
	}
	b.fails.Store(100)
	if _, err := idsOf(t, []string{"s3://data/a.jsonl"}, b.URL); err != nil {
		t.Errorf("each answer brings half of the rest, but: %v", err)
	}
	if _, err := idsOf(t, []string{"s3://data/x*"}, b.URL); err == nil || !strings.Contains(err.Error(), "no files at s3://data/x*") {
		t.Error(err)
	}
}

func TestExpand(t *testing.T) {
	for url, want := range map[string][]string{
		"a.tar": {"a.tar"}, "{8..11}": {"8", "9", "10", "11"}, "a{08..10}b": {"a08b", "a09b", "a10b"},
		"{0..1}/{0..1}": {"0/0", "0/1", "1/0", "1/1"},
	} {
		if got, err := expand(url); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v", url, got, err)
		}
	}
	for _, url := range []string{"{", "{}", "{a..b}", "{1..}", "{2..1}", "{1,2}", "}{", "{-1..2}", "{1..2}{"} {
		if got, err := expand(url); err == nil {
			t.Errorf("%s: got %v", url, got)
		}
	}
}

func TestLinesOf(t *testing.T) {
	for _, text := range []string{"", "\n", "a", "a\n", "a\nb", strings.Repeat("x", 3*chunkSize), strings.Repeat(strings.Repeat("y", 1000)+"\n", 1000)} {
		var lines []string
		for line, err := range linesOf(bytes.NewReader([]byte(text))) {
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(line))
		}
		if got := strings.Join(lines, "\n"); got != strings.TrimSuffix(text, "\n") {
			t.Errorf("%d bytes: got %d", len(text), len(got))
		}
	}
	cut := io.MultiReader(strings.NewReader("a\nb"), errorReader{io.ErrUnexpectedEOF})
	var last error
	for _, err := range linesOf(cut) {
		last = err
	}
	if last != io.ErrUnexpectedEOF {
		t.Errorf("a file that is cut: %v", last)
	}
}

type errorReader struct{ error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.error }

func TestListFiles(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"b.tar", "a.jsonl.gz", "c.txt", "sub/d.parquet"} {
		if err := errors.Join(os.MkdirAll(folder+"/sub", 0o755), os.WriteFile(folder+"/"+name, []byte("x"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := listFiles(folder)
	if want := []string{folder + "/a.jsonl.gz", folder + "/b.tar", folder + "/sub/d.parquet"}; err != nil || !slices.Equal(files, want) {
		t.Error(files, err)
	}
	if files, err = listFiles("file://" + folder + "/*.t*"); err != nil || len(files) != 2 {
		t.Error(files, err)
	}
}
