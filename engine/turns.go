package engine

import (
	"context"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
)

// turns runs one refresh of an agent's feed at a time in this process, and reports to one that
// waited whether it can page from the session of the one before. Across processes the atomic page
// step keeps answers disjoint; turns only saves work.
type turns struct {
	mu sync.Mutex
	of map[turnOf]*turn
}

// turn is the queue of the refreshes of one feed of an agent. It exists while it has tickets.
type turn struct {
	gate    chan struct{} // holds a token while a refresh runs
	in      int           // running and waiting, guarded by turns.mu
	started time.Time     // start of the last refresh that recalled, guarded by turns.mu
	built   bool          // that refresh left a session others may page from; guarded by the token
}

// turnOf identifies a turn by agent and feed. Two feeds of an agent may refresh at once; the page
// step keeps their answers disjoint.
type turnOf struct {
	agent string
	feed  feed.Name
}

// ticket is one refresh's place in the queue.
type ticket struct {
	*turn
	all     *turns
	of      turnOf
	follows bool // it waited for a refresh whose session it may page from
}

// enter waits for a turn, or for the end of ctx. now is the time of arrival: if a refresh is
// running that started less than coalesce ago, this one will page from its session, however long
// that one takes.
func (t *turns) enter(ctx context.Context, of turnOf, now time.Time, coalesce time.Duration) (*ticket, error) {
	t.mu.Lock()
	tn := t.of[of]
	if tn == nil {
		tn = &turn{gate: make(chan struct{}, 1)}
		t.of[of] = tn
	}
	tn.in++
	young := !tn.started.IsZero() && now.Sub(tn.started) < coalesce
	t.mu.Unlock()
	k := &ticket{turn: tn, all: t, of: of}
	select {
	case tn.gate <- struct{}{}:
		k.follows = young && tn.built
		return k, nil
	case <-ctx.Done():
		k.forget()
		return nil, ctx.Err()
	}
}

// begin marks the start of a refresh that recalls.
func (k *ticket) begin(now time.Time) {
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	k.started, k.built = now, false
}

// leave admits the next ticket.
func (k *ticket) leave() {
	<-k.gate
	k.forget()
}

func (k *ticket) forget() {
	k.all.mu.Lock()
	defer k.all.mu.Unlock()
	k.in--
	if k.in == 0 {
		delete(k.all.of, k.of)
	}
}
