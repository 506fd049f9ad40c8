package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/postgres"
)

// through returns a store behind a proxy and one with a direct connection.
func through(t *testing.T) (p *faultproxy.Proxy, s, direct *postgres.Store) {
	t.Helper()
	address := testenv.ReusedPostgres(t)
	u, err := url.Parse(address)
	require.NoError(t, err)
	p = faultproxy.StartPostgres(t, u.Host)
	u.Host = p.Addrs[0]
	return p, open(t, u.String(), social.Options{}), open(t, address, social.Options{})
}

// cutAct is a repeatable write and a check of how often it took effect.
type cutAct struct {
	name  string
	do    func(ctx context.Context, s *postgres.Store, round int) error
	check func(t *testing.T, s *postgres.Store, round int)
}

var cutActs = []cutAct{
	{
		"create", func(ctx context.Context, s *postgres.Store, round int) error {
			p := social.Post{Author: fmt.Sprint("author", round), Caption: "x", Audience: social.Audience{Public: true}, Mentions: []string{"m"}}
			_, _, err := s.CreatePost(ctx, p, social.Creation{Key: "k"})
			return err
		}, func(t *testing.T, s *postgres.Store, round int) {
			author := fmt.Sprint("author", round)
			list, err := s.Grid(t.Context(), author, author, social.Position{}, 5)
			require.NoError(t, err)
			require.Len(t, list, 1)
			requireJobs(t, s, list[0].ID, jobs.Deliver, jobs.Index)
		},
	},
	{
		"follow", func(ctx context.Context, s *postgres.Store, round int) error {
			_, err := s.Follow(ctx, fmt.Sprint("fan", round), "star", zero)
			return err
		}, func(t *testing.T, s *postgres.Store, round int) {
			c, err := s.Celebrity(t.Context(), "star")
			require.NoError(t, err)
			require.Equal(t, int64(round+1), c.Followers)
			requireJobs(t, s, jobs.PairKey("star", fmt.Sprint("fan", round)), jobs.AuthorAgent)
		},
	},
	{
		"block", func(ctx context.Context, s *postgres.Store, round int) error {
			_, err := s.Block(ctx, fmt.Sprint("fan", round), fmt.Sprint("foe", round))
			return err
		}, func(t *testing.T, s *postgres.Store, round int) {
			_, err := s.Follow(t.Context(), fmt.Sprint("foe", round), fmt.Sprint("fan", round), zero)
			require.ErrorIs(t, err, feed.ErrForbidden)
			requireJobs(t, s, jobs.PairKey(fmt.Sprint("fan", round), fmt.Sprint("foe", round)), jobs.AuthorAgent)
		},
	},
	{
		"circle", func(ctx context.Context, s *postgres.Store, round int) error {
			_, err := s.PutCircle(ctx, social.Circle{ID: fmt.Sprint("c", round), Owner: "a"}, []string{"x", "y"}, zero)
			return err
		}, func(t *testing.T, s *postgres.Store, round int) {
			c, err := s.Circle(t.Context(), fmt.Sprint("c", round))
			require.NoError(t, err)
			require.Equal(t, 2, c.Size)
			requireJobs(t, s, jobs.PairKey(c.ID, "x"), jobs.Member)
		},
	},
}

// requireJobs checks the kinds of the jobs of a key.
func requireJobs(t *testing.T, s *postgres.Store, key string, kinds ...jobs.Kind) {
	t.Helper()
	list, err := s.List(t.Context(), jobs.Filter{Key: key})
	require.NoError(t, err)
	var got []jobs.Kind
	for _, j := range list {
		got = append(got, j.Kind)
	}
	require.ElementsMatch(t, kinds, got, "the change of %s and its jobs are one", key)
}

// TestDisconnectAtEveryRequest cuts the connection before and after each request of a write,
// including the commit. The write fails as unavailable and may or may not have taken effect.
// After a retry it has taken effect once.
func TestDisconnectAtEveryRequest(t *testing.T) {
	for _, act := range cutActs {
		t.Run(act.name, func(t *testing.T) {
			p, s, direct := through(t)
			round := 0
			require.NoError(t, act.do(t.Context(), s, round)) // prepares the statements for the calls below
			act.check(t, direct, round)
			seen := p.Record(func() {
				round++
				require.NoError(t, act.do(t.Context(), s, round))
			})
			act.check(t, direct, round)
			requests := len(seen)
			require.Greater(t, requests, 2, "the commit is part of the last")
			for i := range requests {
				for _, kind := range []faultproxy.Kind{faultproxy.Before, faultproxy.After, faultproxy.Within} {
					round++
					require.NoError(t, s.Ping(t.Context()), "there is a connection, so that none has to be made")
					require.NoError(t, act.do(t.Context(), s, round))
					act.check(t, direct, round)
					round++
					fault := p.Arm(faultproxy.Fault{Kind: kind, Nth: i + 1})
					err := act.do(t.Context(), s, round)
					require.True(t, fault.Fired(), "%s %d", kind, i)
					require.ErrorIs(t, err, social.ErrUnavailable, "%s %d", kind, i)
					<-fault.Over()
					testenv.WaitFor(t, func() bool { return act.do(t.Context(), s, round) == nil }, "another connection")
					act.check(t, direct, round)
				}
			}
		})
	}
}

// TestLeaseReplyLost checks that the server that asked for a lease takes it back long
// before it expires.
func TestLeaseReplyLost(t *testing.T) {
	p, s, direct := through(t)
	lease := func() ([]jobs.Job, error) { return s.Lease(t.Context(), 8, time.Hour) }
	_, err := lease() // prepares the statements for the calls below
	require.NoError(t, err)
	for i := range 8 {
		require.NoError(t, direct.Enqueue(t.Context(), jobs.Spec{Kind: jobs.Deliver, Key: fmt.Sprint("post:", i)}))
	}
	fault := p.Arm(faultproxy.Fault{Kind: faultproxy.After, Nth: 1})
	_, err = lease()
	require.ErrorIs(t, err, social.ErrUnavailable)
	<-fault.Over()
	running, err := direct.List(t.Context(), jobs.Filter{State: jobs.Running})
	require.NoError(t, err)
	require.Len(t, running, 8, "leases unknown to any runner")
	n, err := direct.ReleaseUnknown(t.Context())
	require.NoError(t, err)
	require.Zero(t, n, "they are another server's")
	testenv.WaitFor(t, func() bool { n, err = s.ReleaseUnknown(t.Context()); return err == nil }, "another connection")
	require.Equal(t, 8, n)
	list, err := lease()
	require.NoError(t, err)
	require.Len(t, list, 8)
}

// TestDatabaseDownAtStart creates a store while the database is down, as a server that
// starts first does.
func TestDatabaseDownAtStart(t *testing.T) {
	u, err := url.Parse(testenv.Postgres(t))
	require.NoError(t, err)
	p := faultproxy.StartPostgres(t, u.Host)
	u.Host = p.Addrs[0]
	p.Down()
	s, err := postgres.New(t.Context(), postgres.Config{URL: u.String() + "&pool_max_conns=2"}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	unavailable := func() {
		t.Helper()
		_, err := s.Follow(t.Context(), "a", "b", zero)
		require.ErrorIs(t, err, social.ErrUnavailable)
		_, err = s.Cards(t.Context(), "a", []social.PostVersion{{ID: "post:1"}})
		require.ErrorIs(t, err, social.ErrUnavailable)
		_, err = s.Pull(t.Context(), social.PullQuery{Reader: "a", N: 1})
		require.ErrorIs(t, err, social.ErrUnavailable)
		require.ErrorIs(t, s.Ping(t.Context()), social.ErrUnavailable)
		_, err = s.Lease(t.Context(), 1, time.Second)
		require.ErrorIs(t, err, social.ErrUnavailable)
		require.ErrorIs(t, s.Enqueue(t.Context(), jobs.Spec{Kind: jobs.Erase, Key: "a"}), social.ErrUnavailable)
	}
	unavailable()
	require.ErrorIs(t, s.Migrate(t.Context()), social.ErrUnavailable)
	require.ErrorContains(t, s.Ping(t.Context()), "failed to connect", "calls name the cause")
	_, err = s.Check(t.Context())
	require.ErrorIs(t, err, social.ErrUnavailable)
	p.Up()
	unavailable() // the version of its schema is still unknown
	require.NoError(t, s.Migrate(t.Context()))
	require.NoError(t, s.Ping(t.Context()))
	p.Down()
	unavailable()
	p.Up()
	testenv.WaitFor(t, func() bool { return s.Ping(t.Context()) == nil }, "the database")
	require.NoError(t, s.Close())
	unavailable()
}

// TestDatabaseCrash kills a database server during writes. After its recovery all confirmed
// writes and their jobs exist, and the store works again without a restart.
func TestDatabaseCrash(t *testing.T) {
	server := testenv.StartPostgres(t)
	s := open(t, server.URL, social.Options{})
	var mu sync.Mutex
	confirmed := map[string]bool{}
	stop := make(chan struct{})
	var group sync.WaitGroup
	for w := range 6 {
		group.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				id := fmt.Sprintf("post:%d-%d", w, i)
				_, _, err := s.CreatePost(t.Context(), social.Post{ID: id, Author: "a", Caption: "x", Audience: social.Audience{Followers: true}}, social.Creation{})
				if err != nil {
					assert.ErrorIs(t, err, social.ErrUnavailable)
					time.Sleep(time.Millisecond)
					continue
				}
				mu.Lock()
				confirmed[id] = true
				mu.Unlock()
			}
		})
	}
	atLeast := func(n int) {
		testenv.WaitFor(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(confirmed) >= n
		}, "%d posts", n)
	}
	for round := range 3 {
		atLeast(100 * (round + 1))
		server.Crash()
		testenv.WaitFor(t, func() bool { return s.Ping(t.Context()) != nil }, "the store to notice")
		server.Start()
		mu.Lock()
		n := len(confirmed)
		mu.Unlock()
		atLeast(n + 20)
	}
	close(stop)
	group.Wait()
	there := map[string]bool{}
	list, err := s.Grid(t.Context(), "a", "a", social.Position{}, 1_000_000)
	require.NoError(t, err)
	for _, e := range list {
		there[e.ID] = true
	}
	queued, err := s.List(t.Context(), jobs.Filter{Kind: jobs.Deliver, Limit: 1_000_000})
	require.NoError(t, err)
	require.Len(t, queued, len(list), "each post has its job")
	for _, j := range queued {
		require.True(t, there[j.Key])
	}
	for id := range confirmed {
		require.True(t, there[id], "%s was confirmed", id)
	}
}
