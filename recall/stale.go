package recall

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
)

// StaleConfig are the options of [NewStale].
type StaleConfig struct {
	TTL        time.Duration // oldest answer that may stand in
	Entries    int           // answers kept at most; default 512
	Candidates int           // that they hold at most; default 256,000, some 40 MB
}

// Stale is a [Source] that lets the last answer to a query stand in while the
// source behind it is unavailable. Two queries are the same for it when they
// differ in nothing but the origin. Only first rounds stand in, and they end
// there: the cursor of an earlier origin is of no use. A query bounded by
// Since is about what is new, so nothing stands in for it.
type Stale struct {
	source Source
	clock  feed.Clock
	ttl    time.Duration

	empty   func() *answers
	mu      sync.Mutex
	answers *answers
}

var _ Source = (*Stale)(nil)

// NewStale returns a source that remembers the answers of source.
func NewStale(source Source, clock feed.Clock, cfg StaleConfig) *Stale {
	empty := func() *answers { return newAnswers(cmp.Or(cfg.Entries, 512), cmp.Or(cfg.Candidates, 256_000)) }
	return &Stale{source: source, clock: clock, ttl: cfg.TTL, empty: empty, answers: empty()}
}

// Clear forgets all answers. What was recalled before must not stand in where the source
// is found to have answered wrongly.
func (s *Stale) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = s.empty()
}

// Name is the name of the source behind it.
func (s *Stale) Name() string { return s.source.Name() }

// Recall implements [Source].
func (s *Stale) Recall(ctx context.Context, q feed.Query) (Result, error) {
	result, err := s.source.Recall(ctx, q)
	if q.After != "" || !q.Since.IsZero() || (err != nil && !errors.Is(err, ErrUnavailable)) {
		return result, err
	}
	q.Origin = time.Time{}
	key := keyOf(&q)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.answers.add(key, kept{result: result, at: s.clock()})
		return result, nil
	}
	before, ok := s.answers.get(key)
	if age := s.clock().Sub(before.at); !ok || age < 0 || age >= s.ttl {
		return Result{}, err
	}
	return Result{Candidates: before.result.Candidates, Stale: true}, nil
}
