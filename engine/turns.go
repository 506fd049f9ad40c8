package engine

import (
	"context"
	"sync"
	"time"
)

// turns lets one refresh of an agent at a time run in this process, and tells
// the one that had to wait what it waited for. Across processes the atomic
// page step is what keeps answers disjoint; turns only saves work.
type turns struct {
	mu      sync.Mutex
	byAgent map[string]*turn
}

// turn is the queue of one agent's refreshes. It lives while anybody is in it.
type turn struct {
	gate    chan struct{} // holds a token while a refresh runs
	in      int           // running and waiting, guarded by turns.mu
	started time.Time     // start of the last refresh proper, guarded by turns.mu
	built   bool          // it left a session, guarded by turns.mu
}

// ticket is one refresh's place in the queue.
type ticket struct {
	all   *turns
	agent string
	turn  *turn
	young bool // the refresh it found running was young enough to page from
}

// enter waits for the agent's turn, or for the end of ctx. now is the time of
// arrival: a refresh that finds one running that started less than coalesce
// ago will page from its session, however long that one takes.
func (t *turns) enter(ctx context.Context, agent string, now time.Time, coalesce time.Duration) (*ticket, error) {
	t.mu.Lock()
	tn := t.byAgent[agent]
	if tn == nil {
		tn = &turn{gate: make(chan struct{}, 1)}
		t.byAgent[agent] = tn
	}
	tn.in++
	tk := &ticket{all: t, agent: agent, turn: tn}
	tk.young = !tn.started.IsZero() && now.Sub(tn.started) < coalesce
	t.mu.Unlock()
	select {
	case tn.gate <- struct{}{}:
		return tk, nil
	case <-ctx.Done():
		tk.forget()
		return nil, ctx.Err()
	}
}

// follows reports whether the ticket waited for a refresh whose session it may
// page from.
func (k *ticket) follows() bool {
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	return k.young && k.turn.built
}

// begin marks the start of a refresh proper.
func (k *ticket) begin(now time.Time) {
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	k.turn.started, k.turn.built = now, false
}

// keep says that there is a session others may page from.
func (k *ticket) keep() {
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	k.turn.built = true
}

// leave lets the next one in.
func (k *ticket) leave() {
	<-k.turn.gate
	k.forget()
}

func (k *ticket) forget() {
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	if k.turn.in--; k.turn.in == 0 {
		delete(k.all.byAgent, k.agent)
	}
}
