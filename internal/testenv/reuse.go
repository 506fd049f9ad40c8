package testenv

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"
)

// Reuse wraps the tests of a package so that they share resources that are slow to create: the
// schemas of [ReusedPostgres] and the indices of [ReusedElastic], which are removed when all tests
// have run. TestMain runs it instead of m.
func Reuse(m *testing.M) Reusing { return Reusing{m} }

// Reusing is the result of [Reuse].
type Reusing struct{ m *testing.M }

// Run runs the tests and returns their exit code.
func (r Reusing) Run() int {
	schemas.open()
	indices.open()
	code := r.m.Run()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	schemas.close(ctx)
	indices.close(ctx)
	return code
}

// place is a schema or a set of indices, used by one test at a time.
type place interface {
	// empty removes all rows or documents, and leaves the definitions.
	empty(ctx context.Context) error
	remove(ctx context.Context) error
}

// pool holds the places that no test is using. Outside of [Reusing.Run] it holds none, because they
// would not be removed.
type pool struct {
	mu   sync.Mutex
	kept bool
	free map[string][]place // by the way they are created
}

var schemas, indices = pool{free: map[string][]place{}}, pool{free: map[string][]place{}}

func (p *pool) open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = true
}

func (p *pool) close(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = false
	for _, x := range slices.Concat(slices.Collect(maps.Values(p.free))...) {
		_ = x.remove(ctx)
	}
	clear(p.free)
}

// take returns a free place, or a new one. It is returned to the pool when the test ends.
func (p *pool) take(t testing.TB, made string, create func() place) place {
	t.Helper()
	x := p.get(made)
	if x == nil {
		x = create()
	}
	t.Cleanup(func() { p.put(t, made, x) })
	return x
}

func (p *pool) get(made string) place {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.free[made]) - 1
	if last < 0 {
		return nil
	}
	x := p.free[made][last]
	p.free[made] = p.free[made][:last]
	return x
}

// put returns a place to the pool, or removes it if its state is unknown: a test has failed there,
// or it cannot be emptied.
func (p *pool) put(t testing.TB, made string, x place) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if !t.Failed() && p.keeps() {
		err := x.empty(ctx)
		if err == nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.free[made] = append(p.free[made], x)
			return
		}
		t.Logf("%v cannot be used again: %v", x, err)
	}
	if err := x.remove(ctx); err != nil {
		t.Logf("%v is left behind: %v", x, err)
	}
}

func (p *pool) keeps() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept
}
