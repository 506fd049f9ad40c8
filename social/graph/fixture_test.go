package graph_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/graph"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

var now = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// store is a real store that can be made to fail.
type store struct {
	*socialsqlite.Store
	mu   sync.Mutex
	left int // calls until it fails; negative: it never fails
}

func openStore(t testing.TB) *store {
	t.Helper()
	s, err := socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{Clock: func() time.Time { return now }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return &store{Store: s, left: -1}
}

var errCut = errors.New("the connection is cut")

// cut makes calls fail after n more.
func (s *store) cut(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = n
}

func (s *store) reached() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return fmt.Errorf("%w: %w", social.ErrUnavailable, errCut)
	}
	s.left--
	return nil
}

func (s *store) Follow(ctx context.Context, agent, author string, at time.Time) (bool, error) {
	if err := s.reached(); err != nil {
		return false, err
	}
	return s.Store.Follow(ctx, agent, author, at)
}

func (s *store) FollowAll(ctx context.Context, edges []social.Edge, at time.Time) (int, []social.Rejected, error) {
	if err := s.reached(); err != nil {
		return 0, nil, err
	}
	return s.Store.FollowAll(ctx, edges, at)
}

func (s *store) CreatePost(ctx context.Context, p social.Post, c social.Creation) (social.Written, bool, error) {
	if err := s.reached(); err != nil {
		return social.Written{}, false, err
	}
	return s.Store.CreatePost(ctx, p, c)
}

// mustApply applies lines, all of which must be accepted.
func mustApply(t testing.TB, s graph.Store, lines ...string) {
	t.Helper()
	for _, line := range lines {
		e, err := graph.Decode([]byte(line))
		require.NoError(t, err, line)
		require.NoError(t, e.Apply(t.Context(), s), line)
	}
}

func list(t testing.TB, page func(context.Context, string, string, string, int) ([]string, error), id string) []string {
	t.Helper()
	got, err := page(t.Context(), id, "", "", 100)
	require.NoError(t, err)
	return got
}

func postOf(t testing.TB, s *store, id string) social.Post {
	t.Helper()
	posts, err := s.PostsByID(t.Context(), []string{id})
	require.NoError(t, err)
	return posts[0]
}
