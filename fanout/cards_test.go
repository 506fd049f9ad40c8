package fanout

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/jobs"
	"github.com/freshet/freshet/social"
)

// cardShelf notes what is kept, removed and erased.
type cardShelf struct {
	kept, erased []string
	removed      []social.Known
	err          error
}

func (s *cardShelf) Keep(_ context.Context, cards []social.Card) error {
	for _, c := range cards {
		s.kept = append(s.kept, c.ID)
	}
	return s.err
}

func (s *cardShelf) Remove(_ context.Context, posts []social.Known) error {
	s.removed = append(s.removed, posts...)
	return s.err
}

func (s *cardShelf) Erase(_ context.Context, author string) error {
	s.erased = append(s.erased, author)
	return s.err
}

func (s *cardShelf) Kept(context.Context, []string) ([]social.Card, error) { return nil, s.err }

// TestKeptCards follows posts from their creation to their end.
func TestKeptCards(t *testing.T) {
	e, s := newEnv(t), &cardShelf{}
	e.a.d.Cards = s
	e.publish("open", "ann", 1, everybody)
	closed := e.publish("closed", "ann", 1, social.Audience{Followers: true})
	require.NoError(t, e.run(e.a, e.ctx, jobs.Index, "post:open"))
	require.Equal(t, []string{"post:open"}, s.kept)
	for _, id := range []string{"post:open", closed.ID} {
		require.NoError(t, e.run(e.a, e.ctx, jobs.Deliver, id))
	}
	require.Empty(t, s.removed)

	s.err = social.ErrCacheUnavailable
	e.publish("later", "ann", 1, everybody)
	require.NoError(t, e.run(e.a, e.ctx, jobs.Index, "post:later"), "an item does not wait for the cache")
	s.kept = s.kept[:1]
	require.NoError(t, e.a.Store().DeletePost(e.ctx, "post:open", "ann", zero), "the job does it")
	err := e.run(e.a, e.ctx, jobs.Deliver, "post:open")
	require.ErrorIs(t, err, jobs.ErrWait, "until it is done")
	require.NoError(t, e.a.Store().EraseAuthor(e.ctx, "ann"))
	require.ErrorIs(t, e.run(e.a, e.ctx, jobs.Erase, "ann"), jobs.ErrWait)
	s.err = nil
	require.Equal(t, []social.Known{{ID: "post:open", Version: 2}}, slices.Compact(s.removed))
	require.Equal(t, []string{"ann", "ann"}, s.erased, "at once, and by the job")
	require.Equal(t, []string{"post:open"}, s.kept, "nothing else ever")
}
