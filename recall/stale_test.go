package recall_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
)

// breakable is a source at the edge that can be switched off.
type breakable struct {
	err   error
	calls int
}

func (b *breakable) Name() string { return "breakable" }

func (b *breakable) Recall(context.Context, feed.Query) (recall.Result, error) {
	b.calls++
	id := fmt.Sprintf("answer-%d", b.calls)
	return recall.Result{Candidates: []feed.Candidate{{ID: id, Group: id}}, Next: "more"}, b.err
}

func TestStaleStandsIn(t *testing.T) {
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	down := fmt.Errorf("%w: gone", recall.ErrUnavailable)
	liking := feed.Query{N: 10, Origin: now, Profile: feed.Profile{Interests: map[string]float64{"go": 1}}}
	other := liking
	other.Profile = feed.Profile{Interests: map[string]float64{"go": 2}}
	further := liking
	further.After = "more"
	since := liking
	since.Since = now.Add(-time.Hour)
	for _, c := range []struct {
		name  string
		err   error
		after time.Duration
		ask   feed.Query
		want  error // nil: the stale answer
	}{
		{"the same query at a later origin", down, 9 * time.Minute, liking, nil},
		{"too old", down, 10 * time.Minute, liking, recall.ErrUnavailable},
		{"a clock set back", down, -time.Minute, liking, recall.ErrUnavailable},
		{"another profile", down, time.Second, other, recall.ErrUnavailable},
		{"a further round", down, time.Second, further, recall.ErrUnavailable},
		{"what is new", down, time.Second, since, recall.ErrUnavailable},
		{"an error of the query itself", recall.ErrBadCursor, time.Second, liking, recall.ErrBadCursor},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := now
			source := &breakable{}
			s := recall.NewStale(source, func() time.Time { return at }, recall.StaleConfig{TTL: 10 * time.Minute})
			fresh, err := s.Recall(t.Context(), liking)
			require.NoError(t, err)
			require.False(t, fresh.Stale)
			require.Equal(t, "more", fresh.Next)

			source.err, at = c.err, now.Add(c.after)
			c.ask.Origin = at
			got, err := s.Recall(t.Context(), c.ask)
			if c.want != nil {
				assert.True(t, errors.Is(err, c.want), "%v", err)
				return
			}
			require.NoError(t, err)
			assert.True(t, got.Stale)
			assert.Empty(t, got.Next)
			assert.Equal(t, fresh.Candidates, got.Candidates)
		})
	}
}

func TestStaleForgetsWhatIsCleared(t *testing.T) {
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	source := &breakable{}
	s := recall.NewStale(source, func() time.Time { return now }, recall.StaleConfig{TTL: time.Minute})
	_, err := s.Recall(t.Context(), feed.Query{N: 5, Origin: now})
	require.NoError(t, err)
	source.err = recall.ErrUnavailable
	_, err = s.Recall(t.Context(), feed.Query{N: 5, Origin: now})
	require.NoError(t, err)
	s.Clear()
	_, err = s.Recall(t.Context(), feed.Query{N: 5, Origin: now})
	require.ErrorIs(t, err, recall.ErrUnavailable)
}

func TestStaleIsBoundedInCandidates(t *testing.T) {
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	s := recall.NewStale(&long{}, func() time.Time { return now }, recall.StaleConfig{TTL: time.Minute, Candidates: 100_000})
	held := testenv.Retained(func() {
		for n := range 100 {
			_, err := s.Recall(t.Context(), feed.Query{N: 10_000, Origin: now, Profile: feed.Profile{Keywords: feed.Keywords(fmt.Sprint(n))}})
			require.NoError(t, err)
		}
	})
	runtime.KeepAlive(s)
	assert.Less(t, held, int64(16<<20), "a hundred of them would hold 128 MB")
}
