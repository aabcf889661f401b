package kernel

import "sync"

// A Notifier tells an event loop of the host what it waits for, by tickets: the host gives one to each Task and Iterator that it
// waits for, and gets it back when that has ended or has an element. The host's file for the loop becomes readable then, so no
// goroutine enters the host.
type Notifier struct {
	mu      sync.Mutex
	file    wakeFile
	tickets []int64 // that the host was not given yet
	given   []int64 // last
	count   int     // of all that the host was given
	woken   bool    // the file was written since then
}

// NotifierClass is the name of the class Notifier among those of a library.
const NotifierClass = "_Notifier"

// newNotifier returns a Notifier that writes to a copy of the host's file descriptor: the host may close its own at any time.
func newNotifier(file int) (*Notifier, error) {
	own, err := openWakeFile(file)
	if err != nil {
		return nil, err
	}
	return &Notifier{file: own}, nil
}

// tell adds a ticket. It does not wait.
func (n *Notifier) tell(ticket int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tickets = append(n.tickets, ticket)
	if !n.woken {
		n.woken = true
		n.file.wake()
	}
}

// ended returns the tickets since the last time; those of the last time again if the host, which knows so many, has not got
// them: an exception may have come in between.
func (n *Notifier) ended(known int) []int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	if known < n.count {
		if n.woken {
			n.file.wake() // for those that have come since
		}
		return n.given
	}
	n.given, n.tickets, n.woken = n.tickets, nil, false
	n.count += len(n.given)
	return n.given
}

// drop closes the file of a Notifier that the host does not have any more.
func (n *Notifier) drop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.file.close()
	n.woken = true // for ever
}
