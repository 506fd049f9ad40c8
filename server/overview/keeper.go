package overview

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/version"
)

// Span is the length of a point.
type Span int64

// The lengths of points, in seconds.
const (
	Minute Span = 60
	Hour   Span = 3600
)

// Kept returns how many points of this length are kept, including the one that has not ended.
func (s Span) Kept() int64 {
	if s == Minute {
		return 61
	}
	return 7*24 + 1
}

// Slot is the place of a point.
type Slot struct {
	Span  Span
	Begin int64 // Unix seconds
}

// slotOf returns the slot of a moment.
func slotOf(span Span, at int64) Slot { return Slot{span, at - at%int64(span)} }

// Store keeps the samples of servers. Put replaces what a server has stored in some slots before;
// repeating it does no harm. Read returns the samples of all servers in the slots that are kept at a
// moment, by slot; those before may be missing or not. Errors wrap [ErrUnavailable], or are the
// context's.
type Store interface {
	Put(ctx context.Context, server string, samples map[Slot]Sample) error
	Read(ctx context.Context, now time.Time) (map[Slot][]Sample, error)
}

// ErrUnavailable is wrapped by errors that mean the store could not be reached.
var ErrUnavailable = &feed.Outage{Text: "the store of the overview is unavailable", Shown: "the overview cannot be read now; try again later"}

// mostWaiting is the number of slots that a server holds while the store is down: an hour of minutes,
// and the hours that they are in.
const mostWaiting = 64

// Keeper samples the metrics of this process and stores them. It is safe for concurrent use.
type Keeper struct {
	store Store
	clock feed.Clock
	log   *slog.Logger
	from  prometheus.Gatherer
	id    string

	mu      sync.Mutex
	self    Server
	before  Sample          // the last reading
	last    time.Time       // when
	current map[Slot]Sample // this server's share of slots that have not ended
	waiting map[Slot]Sample // to be stored
}

// NewKeeper returns a keeper. What was counted before is not sampled.
func NewKeeper(store Store, from prometheus.Gatherer, clock feed.Clock, log *slog.Logger) (*Keeper, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "server"
	}
	k := &Keeper{
		store: store, clock: clock, log: log, from: from, id: strconv.FormatUint(rand.Uint64(), 36),
		current: map[Slot]Sample{}, waiting: map[Slot]Sample{},
	}
	k.last = clock()
	k.self = Server{Name: host + "/" + k.id[:min(4, len(k.id))], Version: version.String(), Started: k.last.Unix()}
	k.before, err = read(from)
	return k, err
}

// Run samples at the end of each minute until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	failing := periodic.Failing{Fails: "figures for the overview are not stored, and wait", Again: "figures for the overview are stored again"}
	for periodic.Pause(ctx, k.untilMinute()) == nil {
		failing.Tell(ctx, k.log, k.Sample(ctx))
	}
}

func (k *Keeper) untilMinute() time.Duration {
	return time.Minute - k.clock().Sub(k.clock().Truncate(time.Minute))
}

// Sample stores what was counted since the last sample. If the store fails, this is stored with a later
// one, of the last hour. While the clock stands still, as in replays, nothing is stored.
func (k *Keeper) Sample(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	all, err := read(k.from)
	if err != nil {
		return err
	}
	now := k.clock()
	if !now.After(k.last) {
		return nil
	}
	k.self.Down = all.Server.Down
	more := all.since(k.before)
	more.From, more.To = k.last.Unix(), now.Unix()
	k.before, k.last = all, now
	// A sample that is taken a little after the end of a minute belongs to that minute.
	middle := (more.From + more.To) / 2
	for _, slot := range []Slot{slotOf(Minute, middle), slotOf(Hour, middle)} {
		mine := k.current[slot]
		mine.add(more)
		if slot.Span == Hour {
			mine.addTroubles(more.troubles((middle - slot.Begin) / int64(Minute)))
		}
		mine.Server = k.self
		k.current[slot], k.waiting[slot] = mine, mine
	}
	k.forget(middle)
	if err := k.store.Put(ctx, k.id, k.waiting); err != nil {
		return err
	}
	clear(k.waiting)
	return nil
}

// forget drops what has ended from the current slots, and the oldest of those that wait.
func (k *Keeper) forget(now int64) {
	for slot := range k.current {
		if slot.Begin+int64(slot.Span) <= now {
			delete(k.current, slot)
		}
	}
	if len(k.waiting) <= mostWaiting {
		return
	}
	slots := make([]Slot, 0, len(k.waiting))
	for slot := range k.waiting {
		slots = append(slots, slot)
	}
	slices.SortFunc(slots, func(a, b Slot) int { return int(a.Begin - b.Begin) })
	for _, slot := range slots[:len(slots)-mostWaiting] {
		delete(k.waiting, slot)
	}
}
