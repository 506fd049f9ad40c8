package redis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals/popularity"
	"github.com/freshet/freshet/signals/popularity/popularitytest"
)

const noon = int64(1_772_798_400) // 2026-03-06 12:00

// onEach runs a test on a single server and on a cluster.
func onEach(t *testing.T, test func(t *testing.T, client redis.UniversalClient, prefix string)) {
	t.Run("single", func(t *testing.T) {
		t.Parallel()
		client, prefix := testenv.Redis(t)
		test(t, client, prefix)
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		client, prefix := testenv.RedisCluster(t)
		test(t, client, prefix)
	})
}

func act(agent, item string, at int64) popularity.Act {
	return popularity.Act{Agent: popularity.Agent(agent), Item: item, At: at}
}

func counts(t *testing.T, s *Store, items ...string) map[string]feed.Counts {
	t.Helper()
	all, err := s.Counts(t.Context(), items)
	require.NoError(t, err)
	return all
}

// taken takes all waiting items, marks them as done, and returns them.
func taken(t *testing.T, s *Store) []string {
	t.Helper()
	got, err := s.Take(t.Context(), 1000, time.Minute, 0)
	require.NoError(t, err)
	require.NoError(t, s.Done(t.Context(), got.Until, got.Items))
	slices.Sort(got.Items)
	return got.Items
}

// TestCountsEqualFeedCounts adds acts of two years, in and out of order, and compares with
// feed.Counts.
func TestCountsEqualFeedCounts(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, client redis.UniversalClient, prefix string) {
		s := New(client, prefix, 0)
		r := rand.New(rand.NewPCG(3, 5))
		want := map[string]feed.Counts{}
		at := noon
		for batch := range 30 {
			var acts []popularity.Act
			for n := range 20 {
				item := fmt.Sprint("item/", r.IntN(5))
				when := at - r.Int64N(86_400)
				acts = append(acts, act(fmt.Sprint(batch, " ", n), item, when))
				want[item] = want[item].Add(when)
			}
			require.NoError(t, s.Count(t.Context(), acts))
			at += r.Int64N(50 * 86_400)
		}
		got := counts(t, s, "item/0", "item/1", "item/2", "item/3", "item/4", "nobody")
		require.Len(t, got, 5)
		for item, c := range want {
			assert.Equal(t, c.Last, got[item].Last)
			assert.InEpsilon(t, c.Short, got[item].Short, 1e-12, item)
			assert.InEpsilon(t, c.Long, got[item].Long, 1e-12, item)
		}
	})
}

// TestDuplicateActs repeats acts: in one batch, later, and from another server.
func TestDuplicateActs(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, client redis.UniversalClient, prefix string) {
		s, other := New(client, prefix, 0), New(client, prefix, 0)
		require.NoError(t, s.Count(t.Context(), nil))
		require.NoError(t, s.Count(t.Context(), []popularity.Act{act("u", "a", noon), act("u", "a", noon+1), act("u", "b", noon)}))
		once := feed.Counts{}.Add(noon)
		assert.Equal(t, map[string]feed.Counts{"a": once, "b": once}, counts(t, s, "a", "b"))
		assert.Equal(t, []string{"a", "b"}, taken(t, s))
		require.NoError(t, other.Count(t.Context(), []popularity.Act{act("u", "a", noon+60), act("v", "a", noon)}))
		assert.Equal(t, map[string]feed.Counts{"a": once.Add(noon), "b": once}, counts(t, s, "a", "b"), "two servers add up")
		require.NoError(t, other.Count(t.Context(), []popularity.Act{act("u", "b", noon+60)}))
		assert.Equal(t, []string{"a"}, taken(t, other), "what was repeated changes nothing")

		require.NoError(t, s.Count(t.Context(), []popularity.Act{act("u", "b", noon+89*86_400)}))
		assert.Equal(t, once, counts(t, s, "b")["b"])
		require.NoError(t, s.Count(t.Context(), []popularity.Act{act("u", "b", noon+90*86_400)}))
		assert.Equal(t, noon+90*86_400, counts(t, s, "b")["b"].Last, "after 90 days it counts again")
	})
}

// TestScriptNotLoaded counts on a server that does not have the script loaded: each act
// counts once.
func TestScriptNotLoaded(t *testing.T) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{Addr: testenv.StartRedis(t).Addr})
	t.Cleanup(func() { _ = client.Close() })
	s, once := New(client, "", 0), feed.Counts{}.Add(noon)
	require.NoError(t, s.Count(t.Context(), []popularity.Act{act("u", "a", noon), act("u", "b", noon)}))
	assert.Equal(t, map[string]feed.Counts{"a": once, "b": once}, counts(t, s, "a", "b"))
}

// TestErase erases an agent: nothing under its hash remains, and new acts count.
func TestErase(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, client redis.UniversalClient, prefix string) {
		s := New(client, prefix, 0)
		var acts []popularity.Act
		for i := range 1500 {
			acts = append(acts, act("u", fmt.Sprint("i", i), noon))
		}
		require.NoError(t, s.Count(t.Context(), append(acts, act("v", "i0", noon))))
		n, err := s.Readers(t.Context(), "i0")
		require.NoError(t, err)
		assert.EqualValues(t, 2, n)
		require.NoError(t, s.Forget(t.Context(), popularity.Agent("u")))
		require.NoError(t, s.Forget(t.Context(), popularity.Agent("u")), "again is harmless")
		assert.Zero(t, client.Exists(t.Context(), s.keys.PopularityActs(popularity.Agent("u"))).Val())
		for i := range 1500 {
			_, err := client.ZScore(t.Context(), s.keys.PopularityAgents(fmt.Sprint("i", i)), member(popularity.Agent("u"))).Result()
			require.ErrorIs(t, err, redis.Nil)
		}
		twice := feed.Counts{}.Add(noon).Add(noon)
		assert.Equal(t, twice, counts(t, s, "i0")["i0"], "counts stay")
		require.NoError(t, s.Count(t.Context(), []popularity.Act{act("v", "i0", noon), act("u", "i0", noon)}))
		assert.Equal(t, twice.Add(noon), counts(t, s, "i0")["i0"])
	})
}

// TestQueue checks that each item is leased to one server at a time, queued again if it changes
// meanwhile, and leased again if it is not done in time.
func TestQueue(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, client redis.UniversalClient, prefix string) {
		s, other := New(client, prefix, 0), New(client, prefix, 0)
		require.NoError(t, s.Count(t.Context(), []popularity.Act{act("u", "a", noon), act("u", "b", noon), act("u", "c", noon)}))
		first, err := s.Take(t.Context(), 2, time.Hour, time.Hour)
		require.NoError(t, err)
		require.Len(t, first.Items, 2)
		assert.Len(t, first.Counts, 2)
		assert.EqualValues(t, 3, first.Waiting)
		none, err := other.Take(t.Context(), 2, time.Hour, time.Hour)
		require.NoError(t, err)
		assert.Empty(t, none.Items, "it is not its turn")
		rest, err := other.Take(t.Context(), 10, time.Millisecond, 0)
		require.NoError(t, err)
		require.Len(t, rest.Items, 1)

		require.NoError(t, other.Count(t.Context(), []popularity.Act{act("v", first.Items[0], noon)}))
		require.NoError(t, s.Done(t.Context(), first.Until, first.Items))
		testenv.WaitFor(t, func() bool {
			again, err := s.Take(t.Context(), 10, time.Millisecond, 0)
			require.NoError(t, err)
			slices.Sort(again.Items)
			want := []string{first.Items[0], rest.Items[0]}
			slices.Sort(want)
			return slices.Equal(want, again.Items)
		}, "what changed meanwhile, and what was not done in time")

		require.NoError(t, s.Drop(t.Context(), []string{"a", "b", "c"}))
		assert.Empty(t, counts(t, s, "a", "b", "c"))
		require.NoError(t, s.Count(t.Context(), []popularity.Act{act("u", "a", noon)}))
		assert.Equal(t, feed.Counts{}.Add(noon), counts(t, s, "a")["a"], "a dropped item is forgotten by those who acted on it")
	})
}

// failing makes calls fail, before or after Redis executes them.
type failing struct {
	at    string // part of the command
	after bool
}

func (f *failing) DialHook(next redis.DialHook) redis.DialHook { return next }
func (f *failing) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if f.hits(cmd) {
			if f.after {
				_ = next(ctx, cmd)
			}
			cmd.SetErr(errLost)
			return errLost
		}
		return next(ctx, cmd)
	}
}

func (f *failing) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if slices.ContainsFunc(cmds, f.hits) {
			if f.after {
				_ = next(ctx, cmds)
			}
			for _, cmd := range cmds {
				cmd.SetErr(errLost)
			}
			return errLost
		}
		return next(ctx, cmds)
	}
}

func (f *failing) hits(cmd redis.Cmder) bool {
	return f.at != "" && strings.Contains(strings.ToLower(fmt.Sprint(cmd.Args()...)), f.at)
}

var errLost error = &net.OpError{Op: "read", Err: errors.New("connection reset")}

// TestDisconnectAtEveryStep loses the request or the reply of each step. Retried acts count once
// and reach the index.
func TestDisconnectAtEveryStep(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"popularity:acts", "popularity:counts", "popularity:changed"} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprint(step, after), func(t *testing.T) {
				t.Parallel()
				client, prefix := testenv.Redis(t)
				broken := &failing{at: step, after: after}
				client.AddHook(broken)
				s := New(client, prefix, 0)
				acts := []popularity.Act{act("u", "a", noon), act("v", "a", noon), act("u", "b", noon)}
				require.ErrorIs(t, s.Count(t.Context(), acts), popularity.ErrUnavailable)
				broken.at = ""
				require.NoError(t, s.Count(t.Context(), acts))
				once := feed.Counts{}.Add(noon)
				assert.Equal(t, map[string]feed.Counts{"a": once.Add(noon), "b": once}, counts(t, s, "a", "b"))
				comeToTheIndex(t, s, "a", "b")
			})
		}
	}
}

// comeToTheIndex waits until the items are ready to be published, which takes at most the time
// allowed for counting.
func comeToTheIndex(t *testing.T, s *Store, items ...string) {
	t.Helper()
	latest := s.client.Time(t.Context()).Val().Add(countsWithin).UnixMilli()
	for _, item := range items {
		from, err := s.client.ZScore(t.Context(), s.keys.PopularityChanged(), item).Result()
		require.NoError(t, err)
		assert.LessOrEqual(t, int64(from), latest)
	}
	var all []string
	testenv.WaitFor(t, func() bool {
		all = append(all, taken(t, s)...)
		slices.Sort(all)
		return slices.Equal(items, slices.Compact(all))
	}, "%v are to be written", items)
}

// TestCrashAfterCounting loses a server after it counted and before it marked the counts as
// changed: they must still reach the index.
func TestCrashAfterCounting(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	dying := New(client, prefix, 0)
	broken := &failing{at: "popularity:counts", after: true}
	client.AddHook(broken)
	require.ErrorIs(t, dying.Count(t.Context(), []popularity.Act{act("u", "a", noon)}), popularity.ErrUnavailable)
	broken.at = ""
	other := New(client, prefix, 0)
	assert.Equal(t, map[string]feed.Counts{"a": feed.Counts{}.Add(noon)}, counts(t, other, "a"))
	comeToTheIndex(t, other, "a")
}

// TestClockAhead counts with a clock that is months ahead, and then at the true time: each act
// counts once.
func TestClockAhead(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	s := New(client, prefix, 0)
	const ahead = noon + 200*86_400
	want := feed.Counts{}.Add(ahead).Add(noon).Add(noon + 60)
	require.NoError(t, s.Count(t.Context(), []popularity.Act{act("u", "a", ahead)}))
	for range 3 {
		require.NoError(t, s.Count(t.Context(), []popularity.Act{act("v", "a", noon)}))
		require.NoError(t, s.Count(t.Context(), []popularity.Act{act("w", "a", noon+60)}))
	}
	got := counts(t, s, "a")["a"]
	assert.Equal(t, want.Last, got.Last)
	assert.InEpsilon(t, want.Short, got.Short, 1e-9)
	assert.InEpsilon(t, want.Long, got.Long, 1e-9)
}

// TestTTL checks that every key expires.
func TestTTL(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	s := New(client, prefix, 0)
	require.NoError(t, s.Count(t.Context(), []popularity.Act{act("u", "a", noon)}))
	_, err := s.Take(t.Context(), 1, time.Minute, time.Minute)
	require.NoError(t, err)
	keys, err := client.Keys(t.Context(), prefix+"*").Result()
	require.NoError(t, err)
	assert.Len(t, keys, 5)
	for _, key := range keys {
		assert.Positive(t, client.TTL(t.Context(), key).Val(), key)
	}
}

func TestUndo(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, client redis.UniversalClient, prefix string) {
		s, items := New(client, prefix, 0), 0
		popularitytest.Undo(t, func(t *testing.T) (func([]popularity.Act), func() feed.Counts) {
			items++
			item := fmt.Sprint("i", items)
			return func(acts []popularity.Act) {
				for i := range acts {
					acts[i].Item = item
				}
				require.NoError(t, s.Count(t.Context(), acts))
			}, func() feed.Counts { return counts(t, s, item)[item] }
		})
	})
}

// TestUndoOfEarlierVersion takes back a like that an earlier version has counted: it is not known
// whether it was a like, so it remains.
func TestUndoOfEarlierVersion(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	s := New(client, prefix, 0)
	require.NoError(t, s.Count(t.Context(), []popularity.Act{act("u", "a", noon)}))
	require.NoError(t, client.ZAdd(t.Context(), s.keys.PopularityAgents("a"), redis.Z{Score: float64(noon / 86_400), Member: member(popularity.Agent("u"))}).Err())
	for _, kind := range []popularity.Kind{popularity.Like, popularity.Unlike} {
		again := act("u", "a", noon+60)
		again.Kind = kind
		require.NoError(t, s.Count(t.Context(), []popularity.Act{again}))
	}
	assert.Equal(t, feed.Counts{}.Add(noon), counts(t, s, "a")["a"])
}
