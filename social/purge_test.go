package social_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/social"
)

// tombstones is a store with a number of tombstones left, and an error to return once none is.
type tombstones struct {
	social.Upkeep
	left, calls int
	err         error
}

func (s *tombstones) Purge(_ context.Context, limit int) (int, error) {
	s.calls++
	n := min(limit, s.left)
	s.left -= n
	if s.left == 0 && s.err != nil {
		return 0, s.err
	}
	return n, nil
}

// TestPurgeAll checks that a purge repeats until no tombstone is left or a call fails. The failure
// is logged unless the server is stopping.
func TestPurgeAll(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx    context.Context
		store  tombstones
		calls  int
		logged bool
	}{
		{t.Context(), tombstones{}, 1, false},
		{t.Context(), tombstones{left: 25_000}, 3, false},
		{t.Context(), tombstones{left: 20_000}, 3, false},
		{t.Context(), tombstones{left: 15_000, err: errors.New("no connection")}, 2, true},
		{gone, tombstones{err: context.Canceled}, 1, false},
	} {
		var text strings.Builder
		store := c.store
		social.PurgeAll(c.ctx, &store, slog.New(slog.NewTextHandler(&text, nil)))
		assert.Equal(t, c.calls, store.calls)
		assert.Zero(t, store.left)
		assert.Equal(t, c.logged, strings.Contains(text.String(), "tombstones cannot be removed"))
	}
}
