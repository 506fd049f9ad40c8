package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/metrics"
	"github.com/freshet/freshet/internal/safego"
)

// SharedConfig holds the options of [NewShared].
type SharedConfig struct {
	Share    time.Duration // how long an answer is shared; 0 sends every query to the source
	Timeout  time.Duration // of one query to the source; default 5s
	Fallback time.Duration // maximum age of the fallback list; 0 disables it
}

// Limits of what a [Shared] holds.
const (
	maxAnswers       = 256      // cached answers
	maxCandidates    = 128_000  // candidates of the cached answers, about 20 MB
	maxFallbackBytes = 32 << 20 // content of the fallback list, best items first
)

// Shared is a [Source] that caches the answers of another one.
//
// Identical queries share an answer: those that arrive while the source is being queried wait
// for it, those that arrive within [SharedConfig.Share] get it at once. Queries are identical if
// every part is, including the origin, so the caller rounds the origin. Errors are not cached.
// The query to the source is independent of the caller that started it: if that caller gives
// up, the others still get their answer.
//
// While the source is unavailable, Shared serves one fallback list to all readers: the candidates
// for a reader without a profile, minus those that this reader's profile refuses. [Shared.RenewFallback]
// reads the list with the items' content, which is used to apply the profile and to fill pages
// while the catalog is down too ([Shared.FallbackDoc]). The list keeps the order of the time it was
// recalled at. It answers only first rounds and has no further rounds. A query with Since asks
// for new items, and one with a filter for few of all items, so the list does not answer them.
type Shared struct {
	source   Source
	clock    feed.Clock
	cfg      SharedConfig
	flights  singleflight.Group
	fallback fallbackList

	mu      sync.Mutex
	answers *answers // entries stay after they expire until newer ones evict them
}

var (
	_ Source  = (*Shared)(nil)
	_ Indexer = (*Shared)(nil)
)

// NewShared returns a Shared for source. It has no fallback list before the first [Shared.RenewFallback].
func NewShared(source Source, clock feed.Clock, cfg SharedConfig) *Shared {
	cfg.Timeout = cmp.Or(cfg.Timeout, 5*time.Second)
	return &Shared{source: source, clock: clock, cfg: cfg, answers: newAnswers()}
}

// Name returns the name of the wrapped source.
func (f *Shared) Name() string { return f.source.Name() }

// Recall implements [Source].
func (f *Shared) Recall(ctx context.Context, q feed.Query) (Result, error) {
	result, err := f.ask(ctx, q)
	if !errors.Is(err, ErrUnavailable) || q.After != "" || !q.Since.IsZero() || q.Filter != nil {
		return result, err
	}
	candidates, ok := f.fallbackList(&q)
	if !ok {
		return Result{}, err
	}
	return Result{Candidates: candidates, Stale: true}, nil
}

// ask returns a shared answer or queries the source.
func (f *Shared) ask(ctx context.Context, q feed.Query) (Result, error) {
	if f.cfg.Share <= 0 {
		return f.source.Recall(ctx, q)
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	key := keyOf(&q)
	if result, ok := f.cached(key); ok {
		metrics.Recall.Hits.Inc()
		return result, nil
	}
	q.Agent, q.Profile, q.Buffer, q.Filter = "", detached(q.Profile), nil, q.Filter.Detached() // the answer is shared with other readers
	asked, apart := false, context.WithoutCancel(ctx)
	flight := f.flights.DoChan(string(key[:]), func() (any, error) {
		asked = true
		return f.queryAndCache(apart, key, q)
	})
	select {
	case r := <-flight:
		if asked {
			metrics.Recall.Misses.Inc()
		} else {
			metrics.Recall.Hits.Inc()
		}
		result, _ := r.Val.(Result)
		return result, r.Err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
}

// cached returns a cached answer that has not expired.
func (f *Shared) cached(key queryKey) (Result, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k, ok := f.answers.get(key)
	// If the clock was set back, an answer must not stay valid indefinitely.
	age := f.clock().Sub(k.at)
	return k.result, ok && age >= 0 && age < f.cfg.Share
}

// queryAndCache queries the source and caches its answer.
func (f *Shared) queryAndCache(ctx context.Context, key queryKey, q feed.Query) (result Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.cfg.Timeout)
	defer cancel()
	err = safego.Run(func() (err error) {
		result, err = f.source.Recall(ctx, q)
		return err
	})
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.answers.add(key, cachedAnswer{result: result, at: f.clock()})
	} else if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrUnavailable) {
		err = fmt.Errorf("%w: no answer within %s: %w", ErrUnavailable, f.cfg.Timeout, err)
	}
	return result, err
}

// detached copies a profile, because the query may outlive the call and the caller may then
// change what it passed.
func detached(p feed.Profile) feed.Profile {
	return feed.Profile{
		Interests: maps.Clone(p.Interests), Keywords: slices.Clone(p.Keywords), Langs: slices.Clone(p.Langs),
		MutedAuthors: slices.Clone(p.MutedAuthors), MutedTags: slices.Clone(p.MutedTags), MutedItems: slices.Clone(p.MutedItems),
		MutedWords: slices.Clone(p.MutedWords),
		Learned:    p.Learned, // never modified in place, only replaced
	}
}

// answers is an LRU cache of answers, bounded by number and by the total number of candidates:
// an answer to a reader who has seen much, or with a large N, is as long as twenty others. The
// caller locks it.
type answers struct {
	lru        *simplelru.LRU[queryKey, cachedAnswer]
	candidates int
}

// cachedAnswer is an answer and the time it was received.
type cachedAnswer struct {
	result Result
	at     time.Time
}

func newAnswers() *answers {
	a := &answers{}
	var err error
	a.lru, err = simplelru.NewLRU(maxAnswers, func(_ queryKey, k cachedAnswer) { a.candidates -= len(k.result.Candidates) })
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return a
}

func (a *answers) get(key queryKey) (cachedAnswer, bool) { return a.lru.Get(key) }

func (a *answers) add(key queryKey, k cachedAnswer) {
	a.lru.Remove(key) // so that its candidates are subtracted
	a.lru.Add(key, k)
	for a.candidates += len(k.result.Candidates); a.candidates > maxCandidates; {
		a.lru.RemoveOldest()
	}
}
