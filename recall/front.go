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
	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/internal/metrics"
)

// FrontConfig are the options of [NewFront].
type FrontConfig struct {
	Share      time.Duration // how long an answer is shared; 0: each query asks the source
	Answers    int           // that are kept at most; default 256
	Candidates int           // that they hold at most; default 128,000, some 20 MB
	Timeout    time.Duration // of one question to the source; default 5s

	Standby time.Duration // age of the oldest list that may stand in; 0: none does
	Bytes   int           // of the contents in the list; default 32 MiB, the best items first
}

// Front is a [Source] between readers and another one.
//
// Identical queries share an answer: those that come while the source is asked wait for
// it, those that come within [FrontConfig.Share] get it at once. Queries are identical
// when every part is, the origin too, so the caller rounds the origin. Errors are not
// kept. The source is asked apart from the caller that happened to come first: if that
// one gives up, the others still get their answer.
//
// While the source is unavailable one list for all readers stands in: what a reader
// without a profile would get, less what this reader's profile refuses. [Front.Renew]
// reads it, with the items' content, which tells what is refused and is there for pages
// while the catalog is down too ([Front.Doc]). The list is in the order of the time it
// was recalled at. Only first rounds stand in, and they end there. A query bounded by
// Since is about what is new, so nothing stands in for it.
type Front struct {
	source  Source
	clock   feed.Clock
	cfg     FrontConfig
	flights singleflight.Group
	standby standby

	mu      sync.Mutex
	answers *answers // they stay after their time until newer ones push them out
}

var (
	_ Source  = (*Front)(nil)
	_ Indexer = (*Front)(nil)
)

// NewFront returns a source in front of another one. No list stands in before the first
// [Front.Renew].
func NewFront(source Source, clock feed.Clock, cfg FrontConfig) *Front {
	cfg.Timeout = cmp.Or(cfg.Timeout, 5*time.Second)
	cfg.Bytes = cmp.Or(cfg.Bytes, 32<<20)
	return &Front{source: source, clock: clock, cfg: cfg, answers: newAnswers(cmp.Or(cfg.Answers, 256), cmp.Or(cfg.Candidates, 128_000))}
}

// Name is the name of the source behind it.
func (f *Front) Name() string { return f.source.Name() }

// Recall implements [Source].
func (f *Front) Recall(ctx context.Context, q feed.Query) (Result, error) {
	result, err := f.ask(ctx, q)
	if !errors.Is(err, ErrUnavailable) || q.After != "" || !q.Since.IsZero() {
		return result, err
	}
	candidates, ok := f.standIn(&q)
	if !ok {
		return Result{}, err
	}
	return Result{Candidates: candidates, Stale: true}, nil
}

// ask returns the answer of the source, or one that is shared.
func (f *Front) ask(ctx context.Context, q feed.Query) (Result, error) {
	if f.cfg.Share <= 0 {
		return f.source.Recall(ctx, q)
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	key := keyOf(&q)
	if result, ok := f.shared(key); ok {
		metrics.Recall.Hits.Inc()
		return result, nil
	}
	q.Agent, q.Profile = "", detached(q.Profile) // the answer is also for others
	asked, apart := false, context.WithoutCancel(ctx)
	flight := f.flights.DoChan(string(key[:]), func() (any, error) {
		asked = true
		return f.fresh(apart, key, q)
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

// shared returns an answer that is young enough.
func (f *Front) shared(key queryKey) (Result, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	k, ok := f.answers.get(key)
	// A clock set back must not keep an answer indefinitely.
	age := f.clock().Sub(k.at)
	return k.result, ok && age >= 0 && age < f.cfg.Share
}

// fresh asks the source, and keeps its answer.
func (f *Front) fresh(ctx context.Context, key queryKey, q feed.Query) (result Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.cfg.Timeout)
	defer cancel()
	err = guard.Run(func() (err error) {
		result, err = f.source.Recall(ctx, q)
		return err
	})
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.answers.add(key, kept{result: result, at: f.clock()})
	} else if errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrUnavailable) {
		err = fmt.Errorf("%w: no answer within %s: %w", ErrUnavailable, f.cfg.Timeout, err)
	}
	return result, err
}

// detached copies a profile: the question may outlive the caller, who is free
// to change what it passed once its call has returned.
func detached(p feed.Profile) feed.Profile {
	return feed.Profile{
		Interests: maps.Clone(p.Interests), Keywords: slices.Clone(p.Keywords), Langs: slices.Clone(p.Langs),
		MutedAuthors: slices.Clone(p.MutedAuthors), MutedTags: slices.Clone(p.MutedTags), MutedItems: slices.Clone(p.MutedItems),
		Learned: p.Learned, // of which only a new one is ever made
	}
}

// answers keeps the answers asked for last, at most so many, and those that hold
// at most so many candidates: one to a reader who has seen much, or with a large
// N, is as long as twenty others. Its caller locks it.
type answers struct {
	lru        *simplelru.LRU[queryKey, kept]
	candidates int
	most       int // candidates
}

// kept is an answer and when it came.
type kept struct {
	result Result
	at     time.Time
}

func newAnswers(entries, candidates int) *answers {
	a := &answers{most: candidates}
	var err error
	a.lru, err = simplelru.NewLRU(entries, func(_ queryKey, k kept) { a.candidates -= len(k.result.Candidates) })
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return a
}

func (a *answers) get(key queryKey) (kept, bool) { return a.lru.Get(key) }

func (a *answers) add(key queryKey, k kept) {
	a.lru.Remove(key) // so that what it held is taken off
	a.lru.Add(key, k)
	for a.candidates += len(k.result.Candidates); a.candidates > a.most; {
		a.lru.RemoveOldest()
	}
}
