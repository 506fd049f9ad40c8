package fanout

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
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
	require.Equal(t, []social.Known{{ID: "post:open", Version: lastVersion}, {ID: "post:open", Version: 2}}, s.removed)
	require.Equal(t, []string{"ann", "ann", "ann"}, s.erased, "beside the commit, at once, and by the job")
	require.Equal(t, []string{"post:open"}, s.kept, "nothing else ever")
}

// lostStore is a store that commits and is lost right after.
type lostStore struct {
	social.Store
	lost bool
}

var errLost = errors.New("the store is lost")

func (s *lostStore) DeletePost(ctx context.Context, id, by string, at time.Time) error {
	defer func() { s.lost = true }()
	return s.Store.DeletePost(ctx, id, by, at)
}

func (s *lostStore) EraseAuthor(ctx context.Context, author string) error {
	defer func() { s.lost = true }()
	return s.Store.EraseAuthor(ctx, author)
}

func (s *lostStore) EraseAgent(ctx context.Context, agent string) error {
	defer func() { s.lost = true }()
	return s.Store.EraseAgent(ctx, agent)
}

func (s *lostStore) PostsByID(ctx context.Context, ids []string) ([]social.Post, error) {
	if s.lost {
		return nil, errLost
	}
	return s.Store.PostsByID(ctx, ids)
}

// lostQueue is the queue in the same database.
type lostQueue struct {
	jobs.Queue
	store *lostStore
}

func (q lostQueue) LeaseKey(ctx context.Context, kind jobs.Kind, key string, d time.Duration) (jobs.Job, error) {
	if q.store.lost {
		return jobs.Job{}, errLost
	}
	return q.Queue.LeaseKey(ctx, kind, key, d)
}

// TestNoCardOutlivesTheStore loses the store right after the commit of what takes
// posts away: the cards are hidden all the same.
func TestNoCardOutlivesTheStore(t *testing.T) {
	for name, act := range map[string]func(e *env, s social.Store) error{
		"delete":       func(e *env, s social.Store) error { return s.DeletePost(e.ctx, "post:open", "ann", zero) },
		"by an admin":  func(e *env, s social.Store) error { return s.DeletePost(e.ctx, "post:open", "", zero) },
		"erase author": func(e *env, s social.Store) error { return s.EraseAuthor(e.ctx, "ann") },
		"erase agent":  func(e *env, s social.Store) error { return s.EraseAgent(e.ctx, "ann") },
	} {
		t.Run(name, func(t *testing.T) {
			e, shelf := newEnv(t), &cardShelf{}
			lost := &lostStore{Store: e.a.d.Store}
			e.a.d.Cards, e.a.d.Store, e.a.d.Queue = shelf, lost, lostQueue{e.a.d.Queue, lost}
			e.publish("open", "ann", 1, everybody)
			require.NoError(t, act(e, e.a.Store()))
			hidden := slices.Contains(shelf.erased, "ann") || slices.Contains(shelf.removed, social.Known{ID: "post:open", Version: lastVersion})
			require.True(t, hidden, "neither a tombstone nor a mark")
		})
	}
}
