package engine_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	dedupmemory "github.com/freshet/freshet/dedup/memory"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// fault makes calls to one store fail, and counts them.
type fault struct {
	mu    sync.Mutex
	rule  rule
	hook  func(method string) // called before each call
	calls map[string]int      // by method
}

type rule struct {
	err   error
	only  []string // methods; nil means all
	after bool     // the call is made and its answer is lost
	skip  int      // the number of calls that succeed first
	times int      // the number of calls that fail; 0 means all
}

func (f *fault) set(r rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rule = r
}

// down makes the given methods fail, or all if none is given, until up is called.
func (f *fault) down(err error, methods ...string) { f.set(rule{err: err, only: methods}) }

func (f *fault) up() { f.set(rule{}) }

func (f *fault) before(fn func(method string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hook = fn
}

// of counts a call and returns its error, and whether only the answer is lost.
func (f *fault) of(method string) (after bool, err error) {
	f.mu.Lock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	f.calls[method]++
	hook := f.hook
	f.mu.Unlock()
	if hook != nil {
		hook(method)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &f.rule
	if r.err == nil || len(r.only) > 0 && !slices.Contains(r.only, method) {
		return false, nil
	}
	if r.skip > 0 {
		r.skip--
		return false, nil
	}
	after, err = r.after, r.err
	if r.times--; r.times == 0 {
		f.rule = rule{}
	}
	return after, err
}

func (f *fault) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

// with makes a call that may fail by the rule.
func with[T any](f *fault, method string, call func() (T, error)) (T, error) {
	var none T
	after, err := f.of(method)
	if err != nil && !after {
		return none, err
	}
	got, failed := call()
	if err != nil {
		return none, err
	}
	return got, failed
}

// alone is with for calls that return only an error.
func alone(f *fault, method string, call func() error) error {
	_, err := with(f, method, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

type faultySource struct {
	recall.Source
	fault
	stale bool
	asked feed.Query // the last query
}

func (s *faultySource) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	s.mu.Lock()
	s.asked = q
	s.mu.Unlock()
	r, err := with(&s.fault, "Recall", func() (recall.Result, error) { return s.Source.Recall(ctx, q) })
	r.Stale = s.stale
	return r, err
}

func (s *faultySource) Explain(ctx context.Context, q feed.Query, ids []string) ([]recall.Factors, error) {
	return with(&s.fault, "Explain", func() ([]recall.Factors, error) { return s.Source.(recall.Explainer).Explain(ctx, q, ids) })
}

type faultySeen struct {
	*dedupmemory.Store
	fault
}

func (s *faultySeen) Check(ctx context.Context, agent string, groups []string, now time.Time) (dedup.Checked, error) {
	return with(&s.fault, "Check", func() (dedup.Checked, error) { return s.Store.Check(ctx, agent, groups, now) })
}

type faultySessions struct {
	cache.Sessions
	fault
	abandoned []cache.Call
}

func (s *faultySessions) Replace(ctx context.Context, r cache.Replace) (cache.Page, error) {
	return with(&s.fault, "Replace", func() (cache.Page, error) { return s.Sessions.Replace(ctx, r) })
}

func (s *faultySessions) Pop(ctx context.Context, p cache.Pop) (cache.Page, error) {
	return with(&s.fault, "Pop", func() (cache.Page, error) { return s.Sessions.Pop(ctx, p) })
}

func (s *faultySessions) Replay(ctx context.Context, agent string, call cache.Call) (page cache.Page, ok bool, err error) {
	page, err = with(&s.fault, "Replay", func() (p cache.Page, err error) {
		p, ok, err = s.Sessions.Replay(ctx, agent, call)
		return p, err
	})
	return page, ok, err
}

func (s *faultySessions) Refreshed(ctx context.Context, agent string, name feed.Name) (time.Time, error) {
	return with(&s.fault, "Refreshed", func() (time.Time, error) { return s.Sessions.Refreshed(ctx, agent, name) })
}

func (s *faultySessions) Restore(ctx context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return alone(&s.fault, "Restore", func() error { return s.Sessions.Restore(ctx, agent, refs, call) })
}

func (s *faultySessions) Discard(ctx context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	return alone(&s.fault, "Discard", func() error { return s.Sessions.Discard(ctx, agent, refs, call) })
}

func (s *faultySessions) Omit(ctx context.Context, agent string, refs []feed.Ref, call cache.Call) error {
	return alone(&s.fault, "Omit", func() error { return s.Sessions.Omit(ctx, agent, refs, call) })
}

func (s *faultySessions) Withdraw(ctx context.Context, agent string, groups []string, at time.Time) error {
	return alone(&s.fault, "Withdraw", func() error { return s.Sessions.Withdraw(ctx, agent, groups, at) })
}

func (s *faultySessions) Delete(ctx context.Context, agent string) error {
	return alone(&s.fault, "Delete", func() error { return s.Sessions.Delete(ctx, agent) })
}

func (s *faultySessions) Forget(ctx context.Context, agent string) error {
	return alone(&s.fault, "Forget", func() error { return s.Sessions.Forget(ctx, agent) })
}

func (s *faultySessions) Abandon(ctx context.Context, agent string, call cache.Call) error {
	return alone(&s.fault, "Abandon", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.abandoned = append(s.abandoned, call)
		return s.Sessions.Abandon(ctx, agent, call)
	})
}

// takenBack returns the calls of Abandon that succeeded.
func (s *faultySessions) takenBack() []cache.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.abandoned)
}

// faultyCatalog is a catalog behind a cache: while it is down, only cached items can be read.
type faultyCatalog struct {
	catalog.Catalog
	fault
	cached []string
}

func (c *faultyCatalog) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	_, down := c.of("Docs")
	docs, err := c.Catalog.Docs(ctx, ids)
	if down != nil {
		return c.onlyCached(docs), down
	}
	return docs, err
}

func (c *faultyCatalog) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	_, down := c.of("Hydrate")
	docs, profile, err := c.Catalog.Hydrate(ctx, agent, ids)
	if down != nil {
		return c.onlyCached(docs), profile, down
	}
	return docs, profile, err
}

func (c *faultyCatalog) onlyCached(docs []feed.Doc) []feed.Doc {
	for i, d := range docs {
		if !slices.Contains(c.cached, d.ID) {
			docs[i] = feed.Doc{ID: d.ID}
		}
	}
	return docs
}

func (c *faultyCatalog) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	return with(&c.fault, "Profile", func() (feed.Profile, error) { return c.Catalog.Profile(ctx, agent) })
}
