package logs

import (
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// The limits of what is kept. A record that is larger than most is kept where there is no other.
const (
	mostRecords = 1 << 14
	mostBytes   = 32 << 20
)

// patience is how long records stay before wake is written to. A call that ends within this time takes its own.
const patience = 10 * time.Millisecond

var queue queueOf

// A queueOf holds the records that the host has not taken. Records are counted from 1 on.
type queueOf struct {
	sync.Mutex
	records []record
	size    int    // of all texts, in bytes
	last    uint64 // number of the last record
	taken   uint64 // of the last one that the host took
	handled uint64 // of the last one that it has handled, too
	waking  bool   // a timer runs

	pending atomic.Uint64
	wake    atomic.Int64
}

// A record waits for the host. One without a text stands for those for which there was no room.
type record struct {
	text []byte // JSON
	lost int
}

// Pending returns the number of the last record; 0 if the host has handled all.
func Pending() uint64 { return queue.pending.Load() }

// keep appends a record to the queue.
func keep(e entry) {
	text := e.json()
	q := &queue
	q.Lock()
	defer q.Unlock()
	switch n := len(q.records); {
	case n < mostRecords && (n == 0 || q.size+len(text) <= mostBytes):
		q.records = append(q.records, record{text: text})
		q.size += len(text)
		q.last++
	case q.records[n-1].lost > 0:
		q.records[n-1].lost++
	default:
		q.records = append(q.records, record{lost: 1})
		q.last++
	}
	q.pending.Store(q.last)
	if !q.waking {
		q.waking = true
		time.AfterFunc(patience, ring)
	}
}

// ring wakes the host, if it has not asked meanwhile.
func ring() {
	queue.Lock()
	defer queue.Unlock()
	queue.waking = false
	if wake := queue.wake.Load(); wake >= 0 && len(queue.records) > 0 {
		// It fails if the socket is full: then the host has a reason to wake already. It also fails for what is no socket, as
		// where somebody has closed ours, and opened a file that has its number now.
		_, _ = syscall.SendmsgN(int(wake), []byte{0}, nil, nil, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
	}
}

// Take returns the next records, at most that many, as a JSON object with the number of the last one, or "" if there are none.
// The host has handled the records up to a number.
func Take(handled uint64, most int) string {
	q := &queue
	q.Lock()
	defer q.Unlock()
	if q.handled = max(q.handled, min(handled, q.taken)); q.handled == q.last {
		q.pending.Store(0)
	}
	n := min(max(most, 0), len(q.records))
	if n == 0 {
		return ""
	}
	q.taken += uint64(n)
	text := []byte(`{"last":` + strconv.FormatUint(q.taken, 10) + `,"records":[`)
	for i, r := range q.records[:n] {
		if i > 0 {
			text = append(text, ',')
		}
		q.size -= len(r.text)
		if r.lost > 0 {
			r.text = lostText(r.lost)
		}
		text = append(text, r.text...)
	}
	if q.records = q.records[n:]; len(q.records) == 0 {
		q.records = nil
	}
	return string(append(text, "]}"...))
}

// lostText is a record that tells that others are not there.
func lostText(n int) []byte {
	const message = "records are lost: Go logged more than Python's handlers could keep up with"
	return (&entry{level: slog.LevelWarn, message: message, attrs: []slog.Attr{slog.Int("lost", n)}}).json()
}
