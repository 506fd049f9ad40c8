package faultproxy

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Command is one request, word by word as the client sent it.
type Command []string

// Name is the command in lower case.
func (c Command) Name() string { return strings.ToLower(c[0]) }

// Mentions reports whether one of the words after the name holds a text.
func (c Command) Mentions(text string) bool {
	for _, word := range c[1:] {
		if strings.Contains(word, text) {
			return true
		}
	}
	return false
}

// Match picks the requests that a fault is meant for.
type Match func(Command) bool

// Kind is the kind of a fault.
type Kind int

// What a fault does to the request it meets. The cuts close the connection as
// a server does that ends: what was answered before arrives.
const (
	Before Kind = iota // cut; the request does not reach the server
	After              // cut; the server has executed the request, nothing of its reply arrives
	Within             // cut; the server has executed the request, the first half of its reply arrives
	Late               // the reply waits for Fault.For
	Stall              // the request waits for Fault.For and then reaches the server, even if its client has given up
)

func (k Kind) String() string { return [...]string{"before", "after", "within", "late", "stall"}[k] }

// Fault happens once, to the Nth request that matches.
type Fault struct {
	Kind  Kind
	Match Match         // nil: every request
	Nth   int           // from 1; 0 is 1
	For   time.Duration // how long Late and Stall keep what they keep, or until [Armed.Release]
	// Refuse, with a cut, cuts all other connections too, and closes new ones as
	// soon as they are made, for so long.
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

// Release lets go what Late or Stall keeps, or will keep.
func (a *Armed) Release() { a.release() }

// Over is closed when the fault has done what it does: the connection is cut,
// by it or otherwise, or the server has answered what was late.
func (a *Armed) Over() <-chan struct{} { return a.over }

func (a *Armed) end() { a.once.Do(func() { close(a.over) }) }

// meets counts a request and reports whether it is the one.
func (a *Armed) meets(c Command) bool {
	if a.fired.Load() || a.fault.Match != nil && !a.fault.Match(c) {
		return false
	}
	a.met++
	return a.met >= a.fault.Nth
}

// is reports whether there is a fault, of this kind.
func (a *Armed) is(k Kind) bool { return a != nil && a.fault.Kind == k }
