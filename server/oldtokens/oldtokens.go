// Package oldtokens knows when agents were erased, so that tokens from before that are refused: another person may
// have the id now.
package oldtokens

import (
	"cmp"
	"context"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/social"
)

const (
	// Every is the least pause between two reads of who was erased lately: how long another server may still accept
	// a token from before an erasure, for reads.
	Every = time.Second
	// overlap is how far back each read goes. Erasures are not committed in the order of their stamps, and the clocks
	// of servers differ.
	overlap = 2 * time.Minute
	// most is how many erasures one statement reads.
	most = 10_000
	// readTime bounds one statement.
	readTime = 10 * time.Second
	// share is the part of the time that reads may take: after a slow one, the pause is longer.
	share = 20
)

// Store lists erased agents. [social.Store] implements it.
type Store interface {
	ErasedAgents(ctx context.Context, since int64, after string, n int) ([]social.ErasedAgent, error)
}

// List has in memory who was ever erased, about 30 bytes for each, and follows what other servers erase. Until it was
// read for the first time, and while the store is down, it may lack some. It is safe for concurrent use.
type List struct {
	store   Store
	clock   feed.Clock
	log     *slog.Logger
	failing periodic.Failing

	reading sync.Mutex // held by one refresh at a time
	newest  int64      // the greatest stamp that was read

	mu   sync.RWMutex
	seed maphash.Seed
	// stamps has the last erasure of each agent by a hash of the id. Two ids with one hash, of which there are none as
	// long as there are fewer than a billion, would only make somebody sign in again.
	stamps map[uint64]int64
}

// New returns a list, which is empty until [List.Run] or [List.Refresh] has read it.
func New(store Store, clock feed.Clock, log *slog.Logger) *List {
	return &List{
		store: store, clock: clock, log: cmp.Or(log, slog.New(slog.DiscardHandler)), seed: maphash.MakeSeed(), stamps: map[uint64]int64{},
		failing: periodic.Failing{
			Fails: "it cannot be read who was erased; until it can, tokens from before an erasure may still read", Again: "it is read again who was erased",
		},
	}
}

// Erased returns when an agent was last erased, in Unix microseconds; 0 if never. It makes no call.
func (l *List) Erased(agent string) int64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.stamps[maphash.String(l.seed, agent)]
}

// Run reads who was erased until ctx ends.
func (l *List) Run(ctx context.Context) {
	for pause := Every; periodic.Pause(ctx, pause) == nil; {
		began := time.Now()
		l.failing.Tell(ctx, l.log, l.Refresh(ctx))
		pause = max(Every, share*time.Since(began))
	}
}

// Refresh reads who was erased since the last time; the first time, all.
func (l *List) Refresh(ctx context.Context) error {
	l.reading.Lock()
	defer l.reading.Unlock()
	// A stamp may be ahead of the clock, which may have been set back besides.
	since, after := min(l.newest, social.Stamp(l.clock()))-overlap.Microseconds(), ""
	for {
		list, err := l.read(ctx, max(since, 0), after)
		if err != nil {
			return err
		}
		l.add(list)
		if len(list) < most {
			return nil
		}
		last := list[len(list)-1]
		since, after = last.At, last.ID
	}
}

func (l *List) read(ctx context.Context, since int64, after string) ([]social.ErasedAgent, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	return l.store.ErasedAgents(ctx, since, after, most)
}

func (l *List) add(list []social.ErasedAgent) {
	if len(list) == 0 {
		return
	}
	l.newest = max(l.newest, list[len(list)-1].At)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range list {
		key := maphash.String(l.seed, a.ID)
		l.stamps[key] = max(l.stamps[key], a.At)
	}
}
