package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/social"
)

type lobby struct {
	set       *trending.Set
	stale     bool
	docs      map[string]feed.Item
	down      error
	cached    []string // the items returned together with the error
	newest    []feed.Candidate
	newDown   error
	newStale  bool
	recalled  int // number of calls
	ads       []recall.Proposal
	adsDown   error
	asked     int // number of ids
	now       time.Time
	diversity feed.Diversity
}

func (l *lobby) Set() (*trending.Set, bool) { return l.set, l.stale }

func (l *lobby) Docs(_ context.Context, ids []string) ([]feed.Doc, error) {
	l.asked += len(ids)
	if l.down != nil && l.cached == nil {
		return nil, l.down
	}
	docs := make([]feed.Doc, len(ids))
	for i, id := range ids {
		docs[i].ID = id
		if it, ok := l.docs[id]; ok && (l.down == nil || slices.Contains(l.cached, id)) {
			docs[i].JSON, _ = json.Marshal(it)
		}
	}
	return docs, l.down
}

func (l *lobby) Name() string { return "lobby" }

func (l *lobby) Recall(_ context.Context, q feed.Query) (recall.Result, error) {
	l.recalled++
	return recall.Result{Candidates: l.newest[:min(q.N, len(l.newest))], Stale: l.newStale}, l.newDown
}

// addNewest adds n items f1, f2, … of one author each, newest first.
func (l *lobby) addNewest(n int) {
	for i := range n {
		id, at := fmt.Sprint("f", i+1), rankedAt.Add(-time.Duration(i)*time.Minute).Unix()
		l.newest = append(l.newest, feed.Candidate{ID: id, Group: id, UpdateTime: at, Score: 1 / float32(i+1), Traits: feed.Traits{Author: id}})
		l.docs[id] = feed.Item{ID: id, Title: id, UpdateTime: at}
	}
}

func (l *lobby) Propose(_ context.Context, q feed.Query) (recall.Proposals, error) {
	return recall.Proposals{Proposals: l.ads[:min(q.N, len(l.ads))]}, l.adsDown
}

// newLobby returns a lobby with n trending items t1, t2, … of one author each, best first, and
// three promoted ones.
func newLobby(n int) *lobby {
	l := &lobby{docs: map[string]feed.Item{}, now: rankedAt}
	entries := make([]trending.Entry, n)
	for i := range entries {
		id := fmt.Sprint("t", i+1)
		at := rankedAt.Add(-time.Hour).Unix()
		entries[i] = trending.Entry{ID: id, Group: id, UpdateTime: at, Reactions: 100, Trend: feed.Trend(10 - float64(i)/10), Author: id}
		l.docs[id] = feed.Item{ID: id, Title: id, UpdateTime: at}
	}
	for i := range 3 {
		id := fmt.Sprint("ad", i+1)
		l.ads = append(l.ads, recall.Proposal{Candidate: feed.Candidate{ID: id, Group: id}})
		l.docs[id] = feed.Item{ID: id, Title: id, UpdateTime: rankedAt.Unix()}
	}
	l.set = trending.NewSet(rankedAt.Unix(), entries)
	return l
}

func (l *lobby) guest(promoted bool) *engine.Guest {
	stores := engine.GuestStores{Trending: l, Items: l, Newest: l}
	if promoted {
		stores.Promoted = l
	}
	return engine.NewGuest(stores, func() feed.Diversity { return l.diversity }, engine.Config{Clock: func() time.Time { return l.now }})
}

func guestIDs(t *testing.T, g *engine.Guest, limit int) (ids, degraded []string) {
	t.Helper()
	page, err := g.Page(t.Context(), limit)
	require.NoError(t, err)
	for _, it := range page.Items {
		ids = append(ids, it.ID)
		source, known := map[byte]feed.Source{'a': feed.SourcePromoted, 'f': feed.SourceDiscovery, 't': feed.SourceTrending}[it.ID[0]]
		require.True(t, !known || source == it.Source, "%s by %s", it.ID, it.Source)
	}
	return ids, page.Degraded
}

func TestGuestPage(t *testing.T) {
	t.Parallel()
	l := newLobby(60)
	g := l.guest(false)
	ids, degraded := guestIDs(t, g, 20)
	assert.Equal(t, numbered(1, 20), ids)
	assert.Nil(t, degraded)
	assert.Equal(t, 20, l.asked, "no more is read than is shown")
	page, err := g.Page(t.Context(), 1)
	require.NoError(t, err)
	assert.Equal(t, feed.SourceTrending, page.Items[0].Source)
	assert.Equal(t, "hot", page.Items[0].Trend.Mark())

	delete(l.docs, "t2")
	l.docs["t5"] = feed.Item{ID: "t5", GroupID: "another", Title: "t5", UpdateTime: rankedAt.Unix()}
	l.docs["t7"] = feed.Item{ID: "t7", Title: "t7", UpdateTime: rankedAt.Unix() + 1}
	ids, _ = guestIDs(t, g, 10)
	assert.Equal(t, []string{"t1", "t3", "t4", "t6", "t8", "t9", "t10", "t11", "t12", "t13"}, ids, "what is gone, or not what was computed, is left out")
	ids, _ = guestIDs(t, g, 100)
	assert.Len(t, ids, 57)
	for _, limit := range []int{-1, 0, 101} {
		_, err := g.Page(t.Context(), limit)
		require.ErrorIs(t, err, feed.ErrBadLimit)
	}
}

// numbered returns the ids t<from> to t<to>.
func numbered(from, to int) (ids []string) {
	for i := from; i <= to; i++ {
		ids = append(ids, fmt.Sprint("t", i))
	}
	return ids
}

// TestGuestOrder has an older item with a higher trend, which counts for less.
func TestGuestOrder(t *testing.T) {
	t.Parallel()
	l := newLobby(0)
	var entries []trending.Entry
	for id, e := range map[string]struct {
		trend feed.Trend
		hours int
	}{"old": {4, 50}, "new": {2, 1}, "hot": {9, 2}} { // 4·exp(−1) < 2·exp(−.02)
		at := rankedAt.Add(-time.Duration(e.hours) * time.Hour).Unix()
		entries = append(entries, trending.Entry{ID: id, Group: id, UpdateTime: at, Trend: e.trend})
		l.docs[id] = feed.Item{ID: id, Title: id, UpdateTime: at}
	}
	l.set = trending.NewSet(rankedAt.Unix(), entries)
	ids, _ := guestIDs(t, l.guest(false), 10)
	assert.Equal(t, []string{"hot", "new", "old"}, ids)
	l.now = l.now.Add(30 * time.Hour)
	ids, _ = guestIDs(t, l.guest(false), 10)
	assert.Equal(t, []string{"hot", "new", "old"}, ids, "the order is that of the moment the set is of")
}

func TestGuestVariety(t *testing.T) {
	t.Parallel()
	l := newLobby(4)
	for i := range 3 {
		l.set.Entries[i].Author = "one"
	}
	l.set.Entries[1].Story = []byte(feed.Sketch("The same story told again by somebody"))
	l.set.Entries[3].Story = l.set.Entries[1].Story
	l.diversity = feed.Diversity{Author: feed.Spread{Decay: 0.5}, SameStory: 0.9}
	ids, _ := guestIDs(t, l.guest(false), 10)
	assert.Equal(t, []string{"t1", "t4", "t3", "t2"}, ids)
}

// TestGuestFilledWithNewest checks that a page with too few trending items continues with the
// newest items, each once and varied like any page.
func TestGuestFilledWithNewest(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trends, newest, limit int
		change                func(l *lobby)
		want                  []string
		degraded              []string
		recalled              int
	}{
		"a new site":               {newest: 50, limit: 5, want: ofNewest(1, 5), recalled: 1},
		"one like":                 {trends: 1, newest: 50, limit: 5, want: append(numbered(1, 1), ofNewest(1, 4)...), recalled: 1},
		"as much as a page trends": {trends: 5, newest: 50, limit: 5, want: numbered(1, 5)},
		"nothing at all":           {limit: 5, recalled: 1},
		"less than a page":         {trends: 2, newest: 2, limit: 5, want: append(numbered(1, 2), ofNewest(1, 2)...), recalled: 1},
		"all of a large page":      {trends: 30, newest: 200, limit: 100, want: append(numbered(1, 30), ofNewest(1, 70)...), recalled: 1},
		"what trends is among the newest": {trends: 2, newest: 9, limit: 5, recalled: 1, change: func(l *lobby) {
			l.newest[0].ID, l.newest[0].Group = "t1", "t1"
			l.newest[1].Group = "t2"
		}, want: append(numbered(1, 2), ofNewest(3, 5)...)},
		"some of the newest are gone": {newest: 9, limit: 5, recalled: 1, change: func(l *lobby) { delete(l.docs, "f1"); delete(l.docs, "f4") }, want: []string{"f2", "f3", "f5", "f6", "f7"}},
		"authors take turns": {trends: 1, newest: 4, limit: 5, recalled: 1, change: func(l *lobby) {
			l.diversity = feed.Diversity{Author: feed.Spread{Decay: 0.01, Floor: 0.001}}
			l.newest[0].Author, l.newest[1].Author, l.newest[3].Author = "t1", "t1", "x"
		}, want: []string{"t1", "f3", "f4", "f1", "f2"}},
		"their own score is high": {trends: 3, newest: 3, limit: 6, recalled: 1, change: func(l *lobby) { l.newest[0].Score = 900 }, want: append(numbered(1, 3), ofNewest(1, 3)...)},
		"recall is down":          {trends: 2, limit: 5, recalled: 1, change: func(l *lobby) { l.newDown = recall.ErrUnavailable }, want: numbered(1, 2), degraded: []string{"recall"}},
		"a list stands in":        {newest: 9, limit: 2, recalled: 1, change: func(l *lobby) { l.newStale = true }, want: ofNewest(1, 2), degraded: []string{"recall"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLobby(c.trends)
			l.addNewest(c.newest)
			if c.change != nil {
				c.change(l)
			}
			ids, degraded := guestIDs(t, l.guest(false), c.limit)
			assert.Equal(t, c.want, ids)
			assert.Equal(t, c.degraded, degraded)
			assert.Equal(t, c.recalled, l.recalled)
		})
	}
	t.Run("nothing trends and recall is down", func(t *testing.T) {
		t.Parallel()
		l := newLobby(0)
		l.newDown = recall.ErrUnavailable
		_, err := l.guest(false).Page(t.Context(), 5)
		require.ErrorIs(t, err, recall.ErrUnavailable)
	})
	t.Run("what is promoted has its positions", func(t *testing.T) {
		t.Parallel()
		l := newLobby(1)
		l.addNewest(50)
		ids, _ := guestIDs(t, l.guest(true), 20)
		assert.Equal(t, slices.Concat(numbered(1, 1), ofNewest(1, 7), []string{"ad1"}, ofNewest(8, 16), []string{"ad2"}, ofNewest(17, 17)), ids)
	})
}

func ofNewest(from, to int) (ids []string) {
	for i := from; i <= to; i++ {
		ids = append(ids, fmt.Sprint("f", i))
	}
	return ids
}

func TestGuestPromoted(t *testing.T) {
	t.Parallel()
	l := newLobby(60)
	g := l.guest(true)
	ids, _ := guestIDs(t, g, 40)
	assert.Equal(t, slices.Concat(numbered(1, 8), []string{"ad1"}, numbered(9, 17), []string{"ad2"}, numbered(18, 26), []string{"ad3"}, numbered(27, 37)), ids)
	ids, _ = guestIDs(t, g, 8)
	assert.Equal(t, numbered(1, 8), ids)
	ids, _ = guestIDs(t, g, 9)
	assert.Equal(t, append(numbered(1, 8), "ad1"), ids)

	delete(l.docs, "ad1")
	l.ads[1] = recall.Proposal{Candidate: feed.Candidate{ID: "t3", Group: "t3"}}
	page, err := g.Page(t.Context(), 20)
	require.NoError(t, err)
	require.Len(t, page.Items, 20)
	assert.Equal(t, "t3", page.Items[8].ID, "what trends and is promoted comes once, as promoted")
	assert.Equal(t, feed.SourcePromoted, page.Items[8].Source)
	assert.Equal(t, "t4", page.Items[2].ID)

	l.adsDown = errors.New("no promotions")
	ids, degraded := guestIDs(t, g, 20)
	assert.Equal(t, numbered(1, 20), ids)
	assert.Equal(t, []string{"promoted"}, degraded)

	few := newLobby(3)
	ids, _ = guestIDs(t, few.guest(true), 20)
	assert.Equal(t, numbered(1, 3), ids, "what is promoted fills no other position")
	few.ads[0] = recall.Proposal{Candidate: feed.Candidate{ID: "t2", Group: "t2"}}
	ids, _ = guestIDs(t, few.guest(true), 20)
	assert.Equal(t, numbered(1, 3), ids, "nor is it missing on the one that it has without")
}

func TestGuestDependenciesDown(t *testing.T) {
	t.Parallel()
	down := fmt.Errorf("%w: no connection", catalog.ErrUnavailable)
	l := newLobby(30)
	g := l.guest(false)
	l.down = down
	_, err := g.Page(t.Context(), 5)
	require.ErrorIs(t, err, catalog.ErrUnavailable, "nothing is known")
	l.cached = []string{"t2", "t4"}
	ids, degraded := guestIDs(t, g, 5)
	assert.Equal(t, []string{"t2", "t4"}, ids, "what a cache has")
	assert.Equal(t, []string{"catalog"}, degraded)

	l.down = nil
	ids, degraded = guestIDs(t, g, 10)
	assert.Equal(t, numbered(1, 10), ids)
	assert.Nil(t, degraded)
	l.down, l.cached = down, nil
	l.now = l.now.Add(10 * time.Minute)
	ids, degraded = guestIDs(t, g, 10)
	assert.Equal(t, numbered(1, 10), ids, "as it was ten minutes ago")
	assert.Equal(t, []string{"catalog"}, degraded)
	l.now = l.now.Add(time.Second)
	_, err = g.Page(t.Context(), 10)
	require.ErrorIs(t, err, catalog.ErrUnavailable)

	l.down = errors.New("a mistake of ours")
	_, err = g.Page(t.Context(), 10)
	require.ErrorIs(t, err, l.down, "that is not covered up")
	l.down, l.stale = nil, true
	_, degraded = guestIDs(t, g, 10)
	assert.Equal(t, []string{"trending"}, degraded)
	l.set = nil
	_, err = g.Page(t.Context(), 10)
	require.ErrorIs(t, err, trending.ErrUnavailable)
}

// TestGuestSocialStoreDown checks that a page has the items that can still be read.
func TestGuestSocialStoreDown(t *testing.T) {
	t.Parallel()
	l := newLobby(3)
	l.set.Entries[1].ID, l.set.Entries[1].Group = "post:p", "post:p"
	l.docs["post:p"] = feed.Item{ID: "post:p", Title: "p", UpdateTime: rankedAt.Unix()}
	g := l.guest(false)
	l.down, l.cached = fmt.Errorf("%w: %w", catalog.ErrUnavailable, social.ErrUnavailable), []string{"t1", "t3"}
	ids, degraded := guestIDs(t, g, 3)
	assert.Equal(t, []string{"t1", "t3"}, ids)
	assert.Equal(t, []string{"social"}, degraded)
	l.cached = append(l.cached, "post:p")
	ids, degraded = guestIDs(t, g, 3)
	assert.Equal(t, []string{"t1", "post:p", "t3"}, ids, "it was kept where its deletion is known")
	assert.Equal(t, []string{"social"}, degraded)
	l.down = nil
	_, _ = guestIDs(t, g, 3)
	l.down, l.cached = fmt.Errorf("%w: %w", catalog.ErrUnavailable, social.ErrUnavailable), []string{}
	ids, _ = guestIDs(t, g, 3)
	assert.Equal(t, []string{"t1", "t3"}, ids, "in this process nothing is known of deletions")
}

func BenchmarkGuest(b *testing.B) {
	l := newLobby(500)
	for i := range l.set.Entries {
		e := &l.set.Entries[i]
		e.Author, e.Site, e.Tags = fmt.Sprint("a", i%50), fmt.Sprint("s", i%40), []string{fmt.Sprint("t", i%20)}
		e.Story = []byte(feed.Sketch(fmt.Sprintf("Item %d about v%d w%d", i, i*7919%997, i*31%499)))
	}
	l.diversity = feed.Diversity{Author: feed.Spread{Decay: 0.5, Floor: 0.1}, Site: feed.Spread{Decay: 0.7, Floor: 0.2}, Tag: feed.Spread{Decay: 0.9, Floor: 0.5}, SameStory: 0.6}
	g := l.guest(true)
	for b.Loop() {
		if _, err := g.Page(b.Context(), 20); err != nil {
			b.Fatal(err)
		}
	}
}
