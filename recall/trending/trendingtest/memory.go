package trendingtest

import (
	"context"
	"sync"
	"time"

	"github.com/freshet/freshet/recall/trending"
)

// Memory is a [trending.Store] in this process. The zero value is ready for use.
type Memory struct {
	mu     sync.Mutex
	set    *trending.Set
	holder string
	until  time.Time // of the lease
}

var _ trending.Store = (*Memory)(nil)

// Read implements [trending.Store].
func (s *Memory) Read(ctx context.Context, known string) (*trending.Set, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set == nil || s.set.Revision == known {
		return nil, ctx.Err()
	}
	return s.set, ctx.Err()
}

// Lease implements [trending.Store].
func (s *Memory) Lease(ctx context.Context, server string, d time.Duration) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if s.holder != "" && time.Now().Before(s.until) {
		return false, nil
	}
	s.holder, s.until = server, time.Now().Add(d)
	return true, nil
}

// Keep implements [trending.Store].
func (s *Memory) Keep(ctx context.Context, server string, set *trending.Set) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if s.holder != server || !time.Now().Before(s.until) {
		return false, nil
	}
	s.set, s.holder = set, ""
	return true, nil
}
