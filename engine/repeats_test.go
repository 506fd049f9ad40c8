package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// showsAgain makes an engine fill pages with already shown items, longest ago first.
func showsAgain(_ *engine.Stores, cfg *engine.Config) { cfg.ShowAgain = true }

// wantsAgain is wants for a page with items that were shown before, from index from on.
func (r *rig) wantsAgain(t *testing.T, q engine.Request, ids []string, from int, more bool) {
	t.Helper()
	a := r.ask(t, q)
	assert.Equal(t, ids, docIDs(a))
	assert.Equal(t, more, a.HasMore, "has_more")
	assert.Nil(t, a.Degraded)
	marks := make([]bool, len(ids))
	for i := from; i < len(ids); i++ {
		marks[i] = true
	}
	if from == len(ids) {
		marks = nil
	}
	assert.Equal(t, marks, shownBefore(a), "shown_before")
}

// yesterday returns a rig of 30 items, of which u_1 was shown the first ten two days ago and the
// next ten yesterday.
func yesterday(t *testing.T, change func(*engine.Stores, *engine.Config)) *rig {
	t.Helper()
	r := newRig(t, 30, func(s *engine.Stores, cfg *engine.Config) {
		showsAgain(s, cfg)
		if change != nil {
			change(s, cfg)
		}
	})
	for range 2 {
		r.ask(t, refresh(10))
		r.settled(t)
		r.advance(24 * time.Hour)
	}
	return r
}

func TestRefreshWithoutCandidates(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*engine.Stores, *engine.Config){"open": nil, "closed": closed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := yesterday(t, change)
			r.wantsAgain(t, named(refresh(15), "r1"), append(run(20, 30), run(0, 5)...), 10, true)
			r.wantsAgain(t, named(loadMore(10), "r2"), append(run(5, 10), run(10, 15)...), 0, true)
			r.wantsAgain(t, named(refresh(15), "r1"), append(run(20, 30), run(0, 5)...), 10, true)
			r.wantsAgain(t, named(loadMore(10), "r2"), append(run(5, 10), run(10, 15)...), 0, true)
			r.wantsAgain(t, loadMore(10), run(15, 20), 0, false)
			r.wants(t, loadMore(10), []string{}, false) // all items are pending
			r.settled(t)
			r.put(t, feed.Item{ID: "new", Title: "New", UpdateTime: r.clock().Add(time.Minute).Unix()})
			r.advance(2 * time.Minute)
			badge := r.ask(t, silent(20))
			assert.Equal(t, []string{"new"}, docIDs(badge), "what comes again is not new")
			assert.Equal(t, 1, badge.NewCount)
			assert.Nil(t, badge.Refs)
			r.remove(t, "new")
			r.wantsAgain(t, refresh(5), run(0, 5), 0, true) // all were shown today: the best comes first
		})
	}
}

// A reader who keeps scrolling reaches an end, also beyond the end of a session: load_more repeats
// no item that was shown today.
func TestLoadMoreEnds(t *testing.T) {
	t.Parallel()
	r := yesterday(t, func(_ *engine.Stores, cfg *engine.Config) { cfg.N = 12 })
	got := docIDs(r.ask(t, refresh(10)))
	for range 10 {
		r.settled(t)
		a := r.ask(t, loadMore(10))
		if len(a.Docs) == 0 {
			assert.False(t, a.HasMore)
			break
		}
		got = append(got, docIDs(a)...)
	}
	assert.Equal(t, append(run(20, 30), run(0, 20)...), got, "each once")
	r.wantsAgain(t, refresh(5), run(0, 5), 0, true)
}

// For an item that was shown on several days the latest day counts.
func TestShownAgainLatestDay(t *testing.T) {
	t.Parallel()
	r := yesterday(t, nil)
	r.wantsAgain(t, refresh(15), append(run(20, 30), run(0, 5)...), 10, true)
	r.settled(t)
	r.advance(24 * time.Hour)
	r.wantsAgain(t, refresh(5), run(5, 10), 0, true)
	r.wantsAgain(t, loadMore(20), append(append(run(10, 20), run(0, 5)...), run(20, 25)...), 0, true)
	r.wantsAgain(t, loadMore(20), run(25, 30), 0, false)
}

// With impressions.on: seen, delivered items that are not reported stay pending and are not shown
// again. Reported ones are.
func TestShownAgainSeenMode(t *testing.T) {
	t.Parallel()
	r := newRig(t, 6, func(s *engine.Stores, cfg *engine.Config) {
		showsAgain(s, cfg)
		cfg.RecordServed = false
	})
	r.wantsAgain(t, refresh(6), run(0, 6), 6, false)
	require.NoError(t, r.Seen(t.Context(), "u_1", []string{"i001", "i004"}))
	r.settled(t)
	r.wantsAgain(t, loadMore(6), []string{}, 0, false)
	r.advance(24 * time.Hour)
	r.wantsAgain(t, refresh(6), []string{"i001", "i004"}, 0, false)
	r.wantsAgain(t, refresh(6), []string{}, 0, false)
}

func TestShownAgainOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, 10, nil)
	r.wants(t, refresh(10), run(0, 10), false)
	r.settled(t)
	r.wantsAgain(t, refresh(10), []string{}, 0, false)
}

// Hidden, disliked, deleted, muted and pending items are not shown again.
func TestShownAgainExclusions(t *testing.T) {
	t.Parallel()
	r := yesterday(t, nil)
	for kind, id := range map[events.Kind]string{events.Hide: "i000", events.Dislike: "i001", events.Like: "i002"} {
		_, err := r.react(t, kind, id)
		require.NoError(t, err)
	}
	r.removeBehind(t, "i003")
	require.NoError(t, r.seen.Claim(t.Context(), "u_1", []string{"i004"}, r.clock()))
	r.wantsAgain(t, refresh(12), append(run(20, 30), "i002", "i005"), 10, true)

	left := newRig(t, 2, nil)
	left.ask(t, refresh(1))
	_, err := left.react(t, events.Dislike, "i000")
	require.NoError(t, err)
	p, err := left.stores.Catalog.Profile(t.Context(), "u_1")
	if err == nil {
		assert.Empty(t, p.MutedItems, "where nothing comes again, a dislike mutes nothing")
	}
}

// A page is filled with shown items only when it is certain that no unseen item is left.
func TestShownAgainOnlyAtEnd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*engine.Stores, *engine.Config)
		fault  func(*rig)
		most   int
	}{
		"out of time": {change: func(_ *engine.Stores, cfg *engine.Config) { cfg.N, cfg.RoundsFor = 10, 0 }, most: 10},
		"stale recall": {change: func(s *engine.Stores, _ *engine.Config) {
			s.Recall = &faultySource{Source: s.Recall, stale: true}
		}, most: 10},
		"dedup down":    {fault: func(r *rig) { r.seen.down(dedup.ErrUnavailable) }, most: 15},
		"just recovers": {fault: func(r *rig) { r.recovery.recovering = true }, most: 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := yesterday(t, tt.change)
			if tt.fault != nil {
				tt.fault(r)
			}
			a := r.ask(t, refresh(15))
			assert.LessOrEqual(t, len(a.Docs), tt.most)
			assert.Nil(t, shownBefore(a))
		})
	}
}

// An item that moved to another group counts as shown when the item or its new group was last
// shown.
func TestShownAgainGroupChange(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0, showsAgain)
	r.put(t, aged("a", "", time.Hour), aged("b", "story", 2*time.Hour), aged("c", "", 3*time.Hour))
	r.wants(t, refresh(2), []string{"a", "b"}, true)
	r.settled(t)
	r.advance(24 * time.Hour)
	r.wantsAgain(t, refresh(1), []string{"c"}, 1, true)
	r.settled(t)
	r.advance(24 * time.Hour)
	r.put(t, aged("c", "story", 3*time.Hour)) // story was shown earlier, c itself later
	r.removeBehind(t, "b")
	r.index.Delete("b")
	r.wantsAgain(t, refresh(5), []string{"a", "c"}, 0, false)
}

func TestExplainShownAgain(t *testing.T) {
	t.Parallel()
	r := yesterday(t, nil)
	x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 15, Item: "i003"})
	require.NoError(t, err)
	var page []string
	for i, c := range x.Page() {
		page = append(page, c.ID)
		assert.Equal(t, i >= 10, c.ShownBefore, c.ID)
		assert.Equal(t, i >= 10, c.Day != "", c.ID)
	}
	assert.Equal(t, append(run(20, 30), run(0, 5)...), page)
	assert.Equal(t, api.ExplainCounts{Rounds: 1, Recalled: 30, Paged: 15, Kept: 15}, x.Counts)
	assert.Equal(t, api.OutcomePaged, x.Item.Outcome)
	assert.Contains(t, x.Item.Reason, "nothing unseen is left")
	r.wantsAgain(t, refresh(15), page, 10, true)
}

// An explanation bounds the list of seen items, but lists all that are shown again.
func TestExplainListsAllShownAgain(t *testing.T) {
	t.Parallel()
	const n = 2100
	r := newRig(t, 0, showsAgain)
	all := make([]feed.Item, n)
	for i := range all {
		all[i] = aged(items(1)[0].ID+"-"+string(rune('a'+i%26))+time.Duration(i).String(), "", time.Hour+time.Duration(i)*time.Minute)
	}
	r.put(t, all...)
	var last []string
	for i := n - 10; i < n; i++ {
		last = append(last, all[i].ID)
	}
	require.NoError(t, r.recorder.Confirm(t.Context(), "u_1", last))
	r.advance(24 * time.Hour)
	for i := 0; i < n-10; i += 100 {
		var ids []string
		for _, it := range all[i:min(i+100, n-10)] {
			ids = append(ids, it.ID)
		}
		require.NoError(t, r.recorder.Confirm(t.Context(), "u_1", ids))
	}
	x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 10})
	require.NoError(t, err)
	var page []string
	for _, c := range x.Page() {
		page = append(page, c.ID)
	}
	assert.Equal(t, last, page, "they rank behind the first 2,000")
	assert.Equal(t, n-len(x.Candidates), x.Unlisted)
	assert.Equal(t, 10, x.Counts.Paged)
	assert.Equal(t, n, x.Counts.Paged+x.Counts.Kept+x.Counts.Seen)
}
