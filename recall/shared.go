package recall

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/metrics"
)

// SharedConfig are the options of [NewShared].
type SharedConfig struct {
	TTL        time.Duration // how long an answer is shared; 0 asks the source every time
	Entries    int           // answers kept at most; default 256
	Candidates int           // that they hold at most; default 128,000, some 20 MB
	Timeout    time.Duration // of one question to the source; default 5s
}

// Shared is a [Source] that asks another one and lets identical queries share
// the answer: those that come while it is being fetched wait for it, those
// that come within the TTL get it at once. Queries are identical when every
// part is, the origin too, so the caller rounds the origin. Errors are not
// kept.
//
// The question is asked apart from the caller that happened to come first: if
// that one gives up, the others still get their answer.
type Shared struct {
	source Source
	clock  feed.Clock
	cfg    SharedConfig

	mu      sync.Mutex
	answers *answers // they stay after their TTL until newer ones push them out
	flights map[queryKey]*flight
}

var _ Source = (*Shared)(nil)

// flight is a question under way. Its result is set before done is closed.
type flight struct {
	done   chan struct{}
	result Result
	err    error
}

// NewShared returns a source that shares the answers of source.
func NewShared(source Source, clock feed.Clock, cfg SharedConfig) *Shared {
	cfg.Timeout = cmp.Or(cfg.Timeout, 5*time.Second)
	return &Shared{
		source: source, clock: clock, cfg: cfg,
		answers: newAnswers(cmp.Or(cfg.Entries, 256), cmp.Or(cfg.Candidates, 128_000)), flights: map[queryKey]*flight{},
	}
}

// Name is the name of the source behind it.
func (s *Shared) Name() string { return s.source.Name() }

// Recall implements [Source].
func (s *Shared) Recall(ctx context.Context, q feed.Query) (Result, error) {
	if s.cfg.TTL <= 0 {
		return s.source.Recall(ctx, q)
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	key := keyOf(&q)
	result, f, fresh := s.join(key)
	if f == nil {
		metrics.Recall.Hits.Inc()
		return result, nil
	}
	if fresh {
		metrics.Recall.Misses.Inc()
		q.Agent, q.Profile = "", detached(q.Profile) // the answer is also for others
		go s.ask(context.WithoutCancel(ctx), key, q, f)
	} else {
		metrics.Recall.Hits.Inc()
	}
	select {
	case <-f.done:
		return f.result, f.err
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
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

// join answers the kept result if it is young enough, else the flight to wait
// for and whether it is a fresh one, which the caller has to start.
func (s *Shared) join(key queryKey) (result Result, f *flight, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, ok := s.answers.get(key); ok {
		// A clock set back must not keep an answer indefinitely.
		if age := s.clock().Sub(k.at); age >= 0 && age < s.cfg.TTL {
			return k.result, nil, false
		}
	}
	if f, ok := s.flights[key]; ok {
		return Result{}, f, false
	}
	f = &flight{done: make(chan struct{})}
	s.flights[key] = f
	return Result{}, f, true
}

// ask puts the question and ends the flight, whatever happens.
func (s *Shared) ask(ctx context.Context, key queryKey, q feed.Query, f *flight) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	f.err = errors.New("recall ended without an answer")
	defer func() {
		if p := recover(); p != nil {
			f.err = fmt.Errorf("recall panicked: %v", p)
		}
		s.mu.Lock()
		delete(s.flights, key)
		if f.err == nil {
			s.answers.add(key, kept{result: f.result, at: s.clock()})
		}
		s.mu.Unlock()
		close(f.done)
	}()
	f.result, f.err = s.source.Recall(ctx, q)
	if errors.Is(f.err, context.DeadlineExceeded) && !errors.Is(f.err, ErrUnavailable) {
		f.err = fmt.Errorf("%w: no answer within %s: %w", ErrUnavailable, s.cfg.Timeout, f.err)
	}
}

// queryKey is a digest of a query. It is a cryptographic one because agents
// choose their own profiles: two that collide would see each other's feed.
type queryKey [sha256.Size]byte

func keyOf(q *feed.Query) queryKey {
	var scratch [1024]byte
	k := keyWriter(scratch[:0])
	p, r := &q.Profile, &q.Ranking
	k.number(uint64(len(p.Interests)))
	for _, tag := range slices.Sorted(maps.Keys(p.Interests)) {
		k.text(tag)
		k.float(p.Interests[tag])
	}
	k.number(uint64(len(p.Keywords)))
	for _, keyword := range p.Keywords {
		k.text(keyword.Term)
		k.float(keyword.Weight)
	}
	for _, list := range [][]string{p.Langs, p.MutedAuthors, p.MutedTags, p.MutedItems} {
		k.number(uint64(len(list)))
		for _, word := range list {
			k.text(word)
		}
	}
	k.learned(q)
	k.number(uint64(r.Decay.Scale))
	k.number(uint64(r.Decay.Offset))
	k.float(r.Decay.Decay)
	k.float(r.Decay.Floor)
	for _, c := range r.Decay.Curves {
		k.text(string(c.Shape))
		k.number(uint64(c.Scale))
		k.number(uint64(c.Offset))
		k.float(c.Decay)
		k.float(c.Weight)
	}
	k.float(r.PopularityWeight)
	k.float(r.Popularity2h)
	k.float(r.Popularity2d)
	k.float(r.Base)
	k.float(r.KeywordsSummary)
	for _, s := range []feed.Spread{r.Diversity.Author, r.Diversity.Site, r.Diversity.Tag} {
		k.float(s.Decay)
		k.float(s.Floor)
	}
	k.float(r.Diversity.SameStory)
	k.float(r.Explore.Share)
	k.time(q.Origin)
	k.time(q.Since)
	k.number(uint64(q.N))
	k.text(q.After)
	return sha256.Sum256(k)
}

// keyWriter builds an encoding in which no two queries look the same: every
// text and list is preceded by its length.
type keyWriter []byte

func (k *keyWriter) number(n uint64) { *k = binary.AppendUvarint(*k, n) }
func (k *keyWriter) float(f float64) { k.number(math.Float64bits(f)) }
func (k *keyWriter) text(s string)   { k.number(uint64(len(s))); *k = append(*k, s...) }

// learned writes what was learned, where it counts, and by which weights.
func (k *keyWriter) learned(q *feed.Query) {
	w, l := &q.Ranking.Learned, &q.Profile.Learned
	if !w.On() || len(l.Features) == 0 {
		k.number(0)
		return
	}
	k.number(uint64(len(l.Features)))
	k.number(uint64(l.At))
	for i := range l.Features {
		k.text(string(l.Features[i].Kind))
		k.text(l.Features[i].Value)
		k.float(l.Features[i].Evidence)
	}
	for _, x := range []float64{w.Tags, w.Author, w.Lang, w.Words, w.Negative} {
		k.float(x)
	}
	k.number(uint64(w.HalfLife))
}

func (k *keyWriter) time(at time.Time) {
	k.number(uint64(at.Unix()))
	k.number(uint64(at.Nanosecond()))
}
