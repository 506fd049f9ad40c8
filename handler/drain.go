package handler

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Drain tells the routes that the server is about to stop, so that calls are sent elsewhere
// before it does. [NewDrain] makes one. It is safe for concurrent use.
type Drain struct {
	once  sync.Once
	begun chan struct{} // closed by Begin
	end   time.Time     // when the server stops; to be read when begun is closed
}

// NewDrain returns a Drain of a server that does not stop yet.
func NewDrain() *Drain { return &Drain{begun: make(chan struct{})} }

// Begin begins to drain; a second call does nothing. From now on the server is not ready,
// every answer asks its client to connect anew, and streams end at random times within
// over. Calls are answered as before.
func (d *Drain) Begin(over time.Duration) {
	d.once.Do(func() {
		d.end = time.Now().Add(over)
		close(d.begun)
	})
}

// draining reports whether the server is about to stop. A nil Drain never is.
func (d *Drain) draining() bool {
	select {
	case <-d.begins():
		return true
	default:
		return false
	}
}

// begins returns what is closed when the server begins to drain; nil for a nil Drain.
func (d *Drain) begins() <-chan struct{} {
	if d == nil {
		return nil
	}
	return d.begun
}

// share returns how long a stream may stay: a random part of what is left.
func (d *Drain) share() time.Duration { return rand.N(max(time.Until(d.end), 1)) }
