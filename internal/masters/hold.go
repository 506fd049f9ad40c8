package masters

import (
	"context"
	"sync"
	"time"
)

// hold is one wait for the deliveries of all servers. Connections wait for half
// of it: calls that were under way then get an answer from a master that knows
// what it lacked, and what they deliver is claimed, too, before others go on.
type hold struct {
	connections, requests chan struct{} // closed when they may go on
	once                  sync.Once
	timers                [2]*time.Timer
}

func (h *hold) letConnect() { h.once.Do(func() { close(h.connections) }) }

// end lets everything go on; it is called once.
func (h *hold) end() {
	for _, timer := range h.timers {
		timer.Stop()
	}
	h.letConnect()
	close(h.requests)
}

// connect holds a new connection up.
func (h *hold) connect(ctx context.Context) {
	if h != nil {
		await(ctx, h.connections)
	}
}

// begin holds a new request up.
func (h *hold) begin(ctx context.Context) {
	if h != nil {
		await(ctx, h.requests)
	}
}

func await(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
	case <-ctx.Done():
	}
}
