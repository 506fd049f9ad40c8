package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals"
	"github.com/freshet/freshet/signals/coread"
	coreadsqlite "github.com/freshet/freshet/signals/coread/sqlite"
	"github.com/freshet/freshet/signals/events"
)

// coReaders is a store of co-readers that counts its calls, and can fail or behave as a service.
type coReaders struct {
	*coread.Buffer
	remote bool
	down   error
	calls  atomic.Int32
}

func (c *coReaders) Remote() bool { return c.remote }

func (c *coReaders) Reads(ctx context.Context, agent string, into []string) ([]string, error) {
	c.calls.Add(1)
	if c.down != nil {
		return nil, c.down
	}
	return c.Buffer.Reads(ctx, agent, into)
}

func (c *coReaders) Near(ctx context.Context, reads, candidates []string, now time.Time, into []coread.Nearness) ([]coread.Nearness, error) {
	c.calls.Add(1)
	if c.down != nil {
		return nil, c.down
	}
	return c.Buffer.Near(ctx, reads, candidates, now, into)
}

func (c *coReaders) Related(ctx context.Context, item string, now time.Time) ([]coread.Entry, error) {
	if c.down != nil {
		return nil, c.down
	}
	return c.Buffer.Related(ctx, item, now)
}

// byCoReaders is a ranking that co-readers change.
func byCoReaders() feed.Ranking {
	r := dayLong()
	r.CoRead = feed.CoRead{Weight: 3, Scale: 0.1}
	return r
}

// coReadRig returns a rig over 30 items, where all readers see everything, with co-readers.
func coReadRig(t *testing.T, change func(*engine.Stores, *engine.Config)) (*rig, *coReaders) {
	t.Helper()
	store, err := coreadsqlite.Open(t.Context(), filepath.Join(t.TempDir(), coreadsqlite.FileName))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close(context.Background())) })
	c := &coReaders{Buffer: coread.NewBuffer(t.Context(), store, signals.Config{})}
	t.Cleanup(func() { c.Close(context.Background()) })
	r := newRig(t, 30, func(s *engine.Stores, cfg *engine.Config) {
		s.CoReaders, cfg.Rankings = c, &feed.Live{Ranking: byCoReaders()}
		if change != nil {
			change(s, cfg)
		}
	})
	return r, c
}

// read lets an agent see and click items.
func (r *rig) read(t *testing.T, c *coReaders, agent string, ids ...string) {
	t.Helper()
	require.NoError(t, r.Seen(t.Context(), agent, ids))
	for _, id := range ids {
		taken, err := r.React(t.Context(), agent, []engine.Act{{Kind: events.Click, ID: id}})
		require.NoError(t, err)
		require.Equal(t, 1, taken.Accepted)
	}
	require.NoError(t, c.Flush(t.Context()))
}

// likeMinded lets n agents read i001, and then i020, others one item each of the rest, and u_1 i001.
func (r *rig) likeMinded(t *testing.T, c *coReaders, n int) {
	t.Helper()
	for i := range n {
		r.read(t, c, "other"+string(rune('a'+i)), "i001", "i020")
	}
	for i, id := range run(10, 30) {
		r.read(t, c, "alone"+string(rune('a'+i)), id)
	}
	r.read(t, c, "u_1", "i001")
}

// TestCoReadersRaise: what those who have read the same read comes first, in a refresh, a silent one,
// a preview and a comparison, whether the store is in the process or a service. A reader who has read
// nothing gets the same items as without co-readers.
func TestCoReadersRaise(t *testing.T) {
	for name, remote := range map[string]bool{"in the process": false, "a service": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c := coReadRig(t, nil)
			c.remote = remote
			r.likeMinded(t, c, 4)
			plain := dayLong()
			lists, err := r.Preview(t.Context(), "u_1", 5, time.Time{}, byCoReaders(), plain)
			require.NoError(t, err)
			assert.Equal(t, []string{"i020", "i000", "i002"}, feed.IDs(lists[0])[:3])
			assert.Equal(t, []string{"i000", "i002", "i003"}, feed.IDs(lists[1])[:3])
			_, ranked, err := r.Rank(t.Context(), "u_1", time.Time{}, 3, byCoReaders(), plain)
			require.NoError(t, err)
			assert.Equal(t, []string{"i020", "i000", "i002"}, idsOf(ranked[0]))
			assert.Equal(t, []string{"i000", "i001", "i002"}, idsOf(ranked[1]))
			assert.Equal(t, "i020", docIDs(r.ask(t, silent(3)))[0])
			assert.Equal(t, []string{"i020", "i000", "i002"}, docIDs(r.ask(t, refresh(3))))
			assert.Equal(t, []string{"i003", "i004", "i005"}, docIDs(r.ask(t, loadMore(3))))
			new := refresh(3)
			new.Agent = "new"
			assert.Equal(t, []string{"i000", "i001", "i002"}, docIDs(r.ask(t, new)))
		})
	}
}

// TestCoReadersInHome: discovery is ranked as for-you is.
func TestCoReadersInHome(t *testing.T) {
	t.Parallel()
	r, c := coReadRig(t, nil)
	r.likeMinded(t, c, 4)
	x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 3, Feed: feed.HomeFeed, Item: "i020"})
	require.NoError(t, err)
	require.NotNil(t, x.Item.CoReaders)
	ask := refresh(3)
	ask.Feed = feed.HomeFeed
	assert.Equal(t, []string{"i020", "i000", "i002"}, docIDs(r.ask(t, ask)))
}

// TestCoReadersExplained: the factors of an explanation multiply to the score, and the page is that of
// the refresh. Fewer than three people are never told of.
func TestCoReadersExplained(t *testing.T) {
	for name, people := range map[string]int{"two people": 2, "three people": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c := coReadRig(t, nil)
			r.likeMinded(t, c, people)
			x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 4, Item: "i020"})
			require.NoError(t, err)
			var page []string
			for _, one := range x.Page() {
				page = append(page, one.ID)
			}
			for i, one := range x.Candidates {
				require.NotNil(t, one.CoReaders, one.ID)
				assert.Equal(t, i+1, one.Rank)
				assert.InEpsilon(t, one.Relevance.Total*one.Decay*one.Popularity.Factor*one.CoReaders.Factor, one.Score, 1e-5, one.ID)
				assert.True(t, i == 0 || one.Score <= x.Candidates[i-1].Score)
			}
			told := x.Item.CoReaders
			if people < coread.LeastPeople {
				assert.Nil(t, told.Own)
				assert.Nil(t, told.Mean)
			} else {
				n := float64(people + 1)
				assert.InEpsilon(t, (n**told.Own+*told.Mean)/(n+1), told.Factor, 1e-6)
				assert.Greater(t, *told.Own, 2.0)
			}
			ask := refresh(4)
			ask.Why = true
			a := r.ask(t, ask)
			assert.Equal(t, page, docIDs(a))
			assert.Equal(t, people >= coread.LeastPeople, slices.Contains(a.Why[0], api.Reason{Type: api.ReasonCoRead}))
		})
	}
}

// TestCoReadersLeftOut: who had read what at a moment long ago is not known.
func TestCoReadersLeftOut(t *testing.T) {
	t.Parallel()
	r, c := coReadRig(t, nil)
	r.likeMinded(t, c, 4)
	live := byCoReaders()
	live.Popularity2h = 1
	long := rankedAt.Add(-feed.ActTolerance - time.Second)
	assert.Equal(t, []string{api.LeftOutCoRead, api.LeftOutLive}, r.LeftOut(long, dayLong(), live))
	assert.Equal(t, []string{api.LeftOutCoRead}, r.LeftOut(long, byCoReaders()))
	assert.Nil(t, r.LeftOut(rankedAt.Add(-feed.ActTolerance), live))
	c.calls.Store(0)
	x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 3, At: long})
	require.NoError(t, err)
	assert.Equal(t, []string{api.LeftOutCoRead}, x.LeftOut)
	assert.Equal(t, "i000", x.Candidates[0].ID)
	assert.Nil(t, x.Candidates[0].CoReaders)
	_, lists, err := r.Rank(t.Context(), "u_1", long, 3, byCoReaders())
	require.NoError(t, err)
	assert.Equal(t, "i000", lists[0][0].ID)
	assert.Zero(t, c.calls.Load(), "nothing is asked")
}

// TestCoReadersOff: with a weight of 0 nothing is asked and nothing is counted, unless another ranking
// in force uses co-readers.
func TestCoReadersOff(t *testing.T) {
	for name, inForce := range map[string]bool{"no ranking uses them": false, "another ranking does": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c := coReadRig(t, func(_ *engine.Stores, cfg *engine.Config) {
				cfg.Rankings, cfg.CoReads = &feed.Live{Ranking: dayLong()}, func() bool { return inForce }
			})
			r.likeMinded(t, c, 4)
			assert.Equal(t, []string{"i000", "i002", "i003"}, docIDs(r.ask(t, refresh(3))))
			assert.Zero(t, c.calls.Load())
			reads, err := c.Reads(t.Context(), "u_1", nil)
			require.NoError(t, err)
			assert.Equal(t, inForce, len(reads) > 0)
		})
	}
}

// TestCoReadersDown: a page does without co-readers while their store is unavailable, and says so.
func TestCoReadersDown(t *testing.T) {
	for name, remote := range map[string]bool{"in the process": false, "a service": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, c := coReadRig(t, nil)
			r.likeMinded(t, c, 4)
			c.remote, c.down = remote, errors.New("down")
			ask := refresh(3)
			ask.Why = true
			peek := r.ask(t, silent(3))
			assert.Equal(t, []string{"co_readers"}, peek.Degraded)
			got := r.ask(t, ask)
			assert.Equal(t, []string{"i000", "i002", "i003"}, docIDs(got))
			assert.Equal(t, []string{"co_readers"}, got.Degraded)
			x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 3})
			require.NoError(t, err)
			assert.Equal(t, []string{"co_readers"}, x.Degraded)
			c.down = nil
			assert.Empty(t, r.ask(t, refresh(3)).Degraded)
			c.down = errors.New("down")
			_, lists, err := r.Rank(t.Context(), "u_1", time.Time{}, 3, byCoReaders())
			require.NoError(t, err)
			assert.Equal(t, "i000", lists[0][0].ID)
		})
	}
}

// TestCoReadersErased: an erase deletes the last reads, and what is not shown, taken back, or the
// agent's own does not count.
func TestCoReadersErased(t *testing.T) {
	t.Parallel()
	r, c := coReadRig(t, nil)
	mine := aged("mine", "", time.Hour)
	mine.AuthorID = "u_1"
	r.put(t, mine)
	r.read(t, c, "u_1", "i001", "mine")
	_, err := r.React(t.Context(), "u_1", []engine.Act{{Kind: events.Click, ID: "i005"}, {Kind: events.Hide, ID: "i001"}, {Kind: events.Click, ID: "unknown"}})
	require.NoError(t, err)
	require.NoError(t, c.Flush(t.Context()))
	reads, err := c.Reads(t.Context(), "u_1", nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"i001"}, reads)
	require.NoError(t, r.Forget(t.Context(), "u_1"))
	reads, err = c.Reads(t.Context(), "u_1", nil)
	require.NoError(t, err)
	assert.Empty(t, reads)
}
