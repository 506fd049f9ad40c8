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
	"github.com/freshet/freshet/social/socialtest"
)

// cardShelf records the cards that are stored, removed and erased.
type cardShelf struct {
	kept, erased []string
	removed      []social.PostVersion
	err          error
}

func (s *cardShelf) Put(_ context.Context, cards []social.Card) error {
	for _, c := range cards {
		s.kept = append(s.kept, c.ID)
	}
	return s.err
}

func (s *cardShelf) Remove(_ context.Context, posts []social.PostVersion) error {
	s.removed = append(s.removed, posts...)
	return s.err
}

func (s *cardShelf) Erase(_ context.Context, author string) error {
	s.erased = append(s.erased, author)
	return s.err
}

func (s *cardShelf) Cached(context.Context, []string) ([]social.Card, error) { return nil, s.err }

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
	require.NoError(t, e.run(e.a, e.ctx, jobs.Index, "post:later"), "indexing does not depend on the cache")
	s.kept = s.kept[:1]
	require.NoError(t, e.a.Store().DeletePost(e.ctx, "post:open", "ann", zero), "a failure of the cache is left to the job")
	err := e.run(e.a, e.ctx, jobs.Deliver, "post:open")
	require.ErrorIs(t, err, jobs.ErrWait, "the job is retried until it succeeds")
	require.NoError(t, e.a.Store().EraseAuthor(e.ctx, "ann"))
	require.ErrorIs(t, e.run(e.a, e.ctx, jobs.Erase, "ann"), jobs.ErrWait)
	s.err = nil
	require.Equal(t, []social.PostVersion{{ID: "post:open", Version: lastVersion}, {ID: "post:open", Version: 2}}, s.removed)
	require.Equal(t, []string{"ann", "ann", "ann"}, s.erased, "after the commit, at once, and by the job")
	require.Equal(t, []string{"post:open"}, s.kept, "nothing else is cached")
}

// TestCachedCardsOfNotRecommended checks that cards that were cached before an author refused to be recommended are hidden.
func TestCachedCardsOfNotRecommended(t *testing.T) {
	e, s := newEnv(t), &cardShelf{}
	e.a.d.Cards = s
	no := false
	set := func(to *bool) {
		t.Helper()
		_, err := e.a.Store().PatchAuthor(e.ctx, "ann", func(a social.Author) (social.Author, error) {
			a.Recommend = to
			return a, nil
		})
		require.NoError(t, err)
	}
	set(nil)
	require.Empty(t, s.erased)
	set(&no)
	require.Equal(t, []string{"ann"}, s.erased)
	set(&no)
	require.Len(t, s.erased, 1, "nothing has changed")
	set(nil)
	require.Len(t, s.erased, 1)
	require.NoError(t, e.a.Store().PutAuthor(e.ctx, social.Author{ID: "ann", Recommend: &no}, zero))
	require.Len(t, s.erased, 2)
}

// lostStore is a store that can be lost. From then on all queries of jobs fail.
type lostStore struct {
	social.Store
	lost bool
}

var errLost = errors.New("the store is lost")

// losing runs a write and loses the store right after its commit.
func losing[T any](s *lostStore, write func() (T, error)) (T, error) {
	defer func() { s.lost = true }()
	return write()
}

func (s *lostStore) CreatePost(ctx context.Context, p social.Post, c social.Creation) (social.Written, bool, error) {
	defer func() { s.lost = true }()
	return s.Store.CreatePost(ctx, p, c)
}

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

func (s *lostStore) Unfollow(ctx context.Context, agent, author string, at time.Time) (bool, error) {
	return losing(s, func() (bool, error) { return s.Store.Unfollow(ctx, agent, author, at) })
}

func (s *lostStore) Block(ctx context.Context, agent, other string) (bool, error) {
	return losing(s, func() (bool, error) { return s.Store.Block(ctx, agent, other) })
}

func (s *lostStore) RemoveMember(ctx context.Context, circle, agent, by string, at time.Time) (bool, error) {
	return losing(s, func() (bool, error) { return s.Store.RemoveMember(ctx, circle, agent, by, at) })
}

func (s *lostStore) PutCircle(ctx context.Context, c social.Circle, members []string, at time.Time) (social.Circle, error) {
	defer func() { s.lost = true }()
	return s.Store.PutCircle(ctx, c, members, at)
}

func (s *lostStore) DropCircle(ctx context.Context, id, by string, at time.Time) error {
	defer func() { s.lost = true }()
	return s.Store.DropCircle(ctx, id, by, at)
}

func (s *lostStore) Moderate(ctx context.Context, m social.Moderate) (bool, error) {
	return losing(s, func() (bool, error) { return s.Store.Moderate(ctx, m) })
}

func (s *lostStore) PostsByID(ctx context.Context, ids []string) ([]social.Post, error) {
	if s.lost {
		return nil, errLost
	}
	return s.Store.PostsByID(ctx, ids)
}

func (s *lostStore) PostStates(ctx context.Context, ids []string) ([]social.PostState, error) {
	if s.lost {
		return nil, errLost
	}
	return s.Store.PostStates(ctx, ids)
}

func (s *lostStore) ListStatuses(ctx context.Context, reader string, ids []string) ([]social.ListStatus, error) {
	if s.lost {
		return nil, errLost
	}
	return s.Store.ListStatuses(ctx, reader, ids)
}

func (s *lostStore) Members(ctx context.Context, circle, reader, after string, n int) ([]string, error) {
	if s.lost {
		return nil, errLost
	}
	return s.Store.Members(ctx, circle, reader, after, n)
}

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

// losable makes the store of the first server one that can be lost.
func (e *env) losable() {
	lost := &lostStore{Store: e.a.d.Store}
	e.a.d.Store, e.a.d.Queue = lost, lostQueue{e.a.d.Queue, lost}
}

// hide has a moderator hide a post.
func hide(e *env, s social.Store, how social.Action) error {
	_, err := s.Moderate(e.ctx, social.Moderate{Object: social.Object{Kind: social.ObjectPost, ID: "post:open"}, Action: how})
	return err
}

// TestStoreDownAfterCommitHidesCards loses the store right after the commit of a change that
// removes posts, and checks that the cached cards are hidden all the same.
func TestStoreDownAfterCommitHidesCards(t *testing.T) {
	for name, act := range map[string]func(e *env, s social.Store) error{
		"delete":           func(e *env, s social.Store) error { return s.DeletePost(e.ctx, "post:open", "ann", zero) },
		"by an admin":      func(e *env, s social.Store) error { return s.DeletePost(e.ctx, "post:open", "", zero) },
		"erase author":     func(e *env, s social.Store) error { return s.EraseAuthor(e.ctx, "ann") },
		"erase agent":      func(e *env, s social.Store) error { return s.EraseAgent(e.ctx, "ann") },
		"an event deletes": func(e *env, s social.Store) error { return s.DeletePost(e.ctx, "post:open", "", e.clock()) },
		"hold":             func(e *env, s social.Store) error { return hide(e, s, social.ActionHold) },
		"remove":           func(e *env, s social.Store) error { return hide(e, s, social.ActionRemove) },
		"an event narrows the audience": func(e *env, s social.Store) error {
			closed := post(e, "open", "ann", 0, social.Audience{Followers: true})
			_, _, err := s.CreatePost(e.ctx, closed, social.Creation{At: e.clock()})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, shelf := newEnv(t), &cardShelf{}
			e.a.d.Cards = shelf
			e.losable()
			e.publish("open", "ann", 1, everybody)
			e.advance(time.Second)
			require.NoError(t, act(e, e.a.Store()))
			hidden := slices.Contains(shelf.erased, "ann") ||
				slices.ContainsFunc(shelf.removed, func(k social.PostVersion) bool { return k.ID == "post:open" && k.Version > 1 })
			require.True(t, hidden, "neither a tombstone nor a mark")
		})
	}
}

// TestStoreDownAfterCommitDropsLists loses the store right after the commit of a change that
// ends a relation or a post. The lists with the affected entries must be deleted, although no
// job could run: without the store, only lists and cached cards decide what is shown.
func TestStoreDownAfterCommitDropsLists(t *testing.T) {
	for name, c := range map[string]struct {
		act   func(e *env, s social.Store) error
		lists []string // of these readers
	}{
		"unfollow": {func(e *env, s social.Store) error {
			_, err := s.Unfollow(e.ctx, "fan", "ann", zero)
			return err
		}, []string{"fan"}},
		"block": {func(e *env, s social.Store) error {
			_, err := s.Block(e.ctx, "ann", "fan")
			return err
		}, []string{"ann", "fan"}},
		"blocked by the reader": {func(e *env, s social.Store) error {
			_, err := s.Block(e.ctx, "fan", "ann")
			return err
		}, []string{"ann", "fan"}},
		"remove a member": {func(e *env, s social.Store) error {
			_, err := s.RemoveMember(e.ctx, "c", "member", "ann", zero)
			return err
		}, []string{"member"}},
		"other members": {func(e *env, s social.Store) error {
			_, err := s.PutCircle(e.ctx, social.Circle{ID: "c", Owner: "ann"}, []string{"other"}, zero)
			return err
		}, []string{"member"}},
		"drop a circle": {func(e *env, s social.Store) error { return s.DropCircle(e.ctx, "c", "ann", zero) }, []string{"member"}},
		"delete":        {func(e *env, s social.Store) error { return s.DeletePost(e.ctx, "post:p", "ann", zero) }, []string{"ann"}},
		"erase":         {func(e *env, s social.Store) error { return s.EraseAgent(e.ctx, "ann") }, []string{"ann"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.follow("ann", "fan")
			e.follow("fan", "ann")
			socialtest.PutCircle(t, e.store, social.Circle{ID: "c", Owner: "ann"}, []string{"member"}, zero)
			e.publish("p", "ann", 1, social.Audience{Public: true, Circles: []string{"c"}})
			e.build("ann", "fan", "member")
			e.drain()
			for _, reader := range c.lists {
				require.Equal(t, []string{"p"}, e.list(reader))
			}
			e.losable()
			require.NoError(t, c.act(e, e.a.Store()))
			for _, reader := range c.lists {
				require.NotContains(t, e.list(reader), "p", reader)
			}
			require.False(t, e.late, "the lists were dropped, and the next read builds them")
		})
	}
}
