package faultproxy

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Command is one request, word by word as the client sent it.
type Command []string

// Name returns the command's name in lower case.
func (c Command) Name() string { return strings.ToLower(c[0]) }

// Mentions reports whether one of the words after the name contains a text.
func (c Command) Mentions(text string) bool {
	for _, word := range c[1:] {
		if strings.Contains(word, text) {
			return true
		}
	}
	return false
}

// Match selects the requests that a fault applies to.
type Match func(Command) bool

// Kind is the kind of a fault.
type Kind int

// The effects of a fault on its request. The cuts close the connection as a server does that ends:
// earlier replies arrive.
const (
	Before Kind = iota // cut; the request does not reach the server
	After              // cut; the server has executed the request, none of its reply arrives
	Within             // cut; the server has executed the request, the first half of its reply arrives
	Late               // the reply is delayed for Fault.For
	Stall              // the request is delayed for Fault.For and then reaches the server, even if its client has given up
)

func (k Kind) String() string { return [...]string{"before", "after", "within", "late", "stall"}[k] }

// Fault happens once, to the Nth request that matches.
type Fault struct {
	Kind  Kind
	Match Match         // nil means every request
	Nth   int           // from 1; 0 means 1
	For   time.Duration // the longest delay of Late and Stall, which [Armed.Release] ends
	// Refuse, with a cut, also cuts all other connections, and for this time closes new ones
	// immediately.
	Refuse time.Duration
}

// Armed is a fault that waits for its request.
type Armed struct {
	fault Fault
	met   int // requests that matched, guarded by Proxy.mu
	fired atomic.Bool
	over  chan struct{}
	once  sync.Once

	released chan struct{}
	release  func()
}

func newArmed(f Fault) *Armed {
	a := &Armed{fault: f, over: make(chan struct{}), released: make(chan struct{})}
	a.release = sync.OnceFunc(func() { close(a.released) })
	return a
}

// Fired reports whether the fault has met its request.
func (a *Armed) Fired() bool { return a.fired.Load() }

// Release ends the delay of Late or Stall, now or in the future.
func (a *Armed) Release() { a.release() }

// Over returns a channel that is closed when the fault has had its effect: the connection is cut,
// by the fault or otherwise, or the delayed reply was sent.
func (a *Armed) Over() <-chan struct{} { return a.over }

func (a *Armed) end() { a.once.Do(func() { close(a.over) }) }

// meets counts a request and reports whether the fault applies to it.
func (a *Armed) meets(c Command) bool {
	if a.fired.Load() || a.fault.Match != nil && !a.fault.Match(c) {
		return false
	}
	a.met++
	return a.met >= a.fault.Nth
}

// is reports whether there is a fault, of this kind.
func (a *Armed) is(k Kind) bool { return a != nil && a.fault.Kind == k }
