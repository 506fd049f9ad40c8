package engine_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/learning"
	"github.com/freshet/freshet/signals/popularity"
	"github.com/freshet/freshet/social"
)

func (r *rig) react(t *testing.T, kind events.Kind, ids ...string) (api.EventsTaken, error) {
	t.Helper()
	acts := make([]engine.Act, len(ids))
	for i, id := range ids {
		acts[i] = engine.Act{Kind: kind, ID: id}
	}
	return r.React(t.Context(), "u_1", acts)
}

// Acts on items that the agent was shown count, whether a filter, the pending set or only this
// process knows of them.
func TestReact(t *testing.T) {
	r := newRig(t, 30, nil)
	r.wants(t, refresh(5), run(0, 5), true)
	r.settled(t)
	r.wants(t, refresh(5), run(5, 10), true)
	r.sessions.down(cache.ErrUnavailable)
	assert.Equal(t, run(10, 15), docIDs(r.ask(t, refresh(5))))
	taken, err := r.react(t, events.Click, "i000", "i005", "i010", "i020", "unknown")
	require.NoError(t, err)
	assert.Equal(t, api.EventsTaken{Accepted: 3, NotShown: 2}, taken)
	assert.Equal(t, 3, r.tally.acts)

	taken, err = r.react(t, events.Click, "i020")
	require.NoError(t, err)
	assert.Equal(t, api.EventsTaken{NotShown: 1}, taken)
	r.tally.full = true
	_, err = r.react(t, events.Click, "i000")
	require.ErrorIs(t, err, events.ErrUnavailable)
	_, err = r.react(t, "stare", "i000")
	require.ErrorIs(t, err, feed.ErrInvalid)
	_, err = r.React(t.Context(), "u:1", nil)
	require.ErrorIs(t, err, feed.ErrBadID)
}

// raised records the acts that raise live popularity.
type raised struct {
	items []string
	full  bool
	down  error
}

func (r *raised) Forget(_ context.Context, agent string) error {
	if r.down == nil {
		r.items = slices.DeleteFunc(r.items, func(act string) bool { return strings.HasPrefix(act, agent+" ") })
	}
	return r.down
}

func (r *raised) Acted(agent string, acts []popularity.Act, _ time.Time) bool {
	if r.full {
		return false
	}
	for _, a := range acts {
		entry := agent + " " + a.Item
		if a.Kind == popularity.Unlike {
			entry = "undo " + entry
		}
		r.items = append(r.items, entry)
	}
	return true
}

// Clicks and likes on shown items raise live popularity, and nothing else does.
func TestReactRaisesPopularity(t *testing.T) {
	live := &raised{}
	r := newRig(t, 30, func(s *engine.Stores, _ *engine.Config) { s.Popularity = live })
	r.wants(t, refresh(5), run(0, 5), true)
	_, err := r.React(t.Context(), "u_1", []engine.Act{
		{Kind: events.Click, ID: "i000"},
		{Kind: events.Dislike, ID: "i001"},
		{Kind: events.Like, ID: "i002"},
		{Kind: events.Hide, ID: "i003"},
		{Kind: events.Like, ID: "i020"},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"u_1 i000", "u_1 i002"}, live.items)
	live.full = true
	_, err = r.react(t, events.Dislike, "i001")
	require.NoError(t, err)
	_, err = r.react(t, events.Click, "i001")
	require.ErrorIs(t, err, events.ErrUnavailable)
}

// A timeline shows posts that were not ranked: acts on these teach the learner, but do not count
// for a variant. Acts on posts that for-you has delivered count, whether a timeline has also shown
// them or not.
func TestReactCountsForYouOnly(t *testing.T) {
	posts := []feed.Item{aged("post:1", "", time.Hour), aged("post:2", "", 2*time.Hour), aged("post:3", "", 3*time.Hour)}
	for name, c := range map[string]struct {
		served bool // impressions.on
		down   bool // the sessions, during the answer of for-you
	}{
		"impressions when served": {served: true},
		"impressions when seen":   {},
		"without sessions":        {served: true, down: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live, taught := &raised{}, &learner{}
			r := newRig(t, 0, func(s *engine.Stores, cfg *engine.Config) {
				s.Popularity, s.Learner, cfg.RecordServed = live, taught, c.served
			})
			r.put(t, posts...)
			r.recorder.Deliver("u_1", []string{"post:1"}) // as a timeline does
			r.settled(t)
			if c.down {
				r.sessions.down(cache.ErrUnavailable)
			}
			assert.Equal(t, []string{"post:2"}, docIDs(r.ask(t, refresh(1))))
			r.sessions.up()
			require.NoError(t, r.Seen(t.Context(), "u_1", []string{"post:2", "post:3"}))
			r.recorder.Deliver("u_1", []string{"post:2"}) // a timeline also shows it
			r.settled(t)

			taken, err := r.react(t, events.Click, "post:1", "post:2", "post:3", "post:4")
			require.NoError(t, err)
			assert.Equal(t, api.EventsTaken{Accepted: 3, NotShown: 1}, taken)
			assert.Equal(t, 1, r.tally.acts, "of the report")
			assert.Len(t, live.items, 3)
			assert.Len(t, taught.acts, 3)
		})
	}
}

// shownPosts are the cards of posts. It counts the reads.
type shownPosts struct {
	cards map[string]social.Card
	reads []string // the reader of each
}

func (p *shownPosts) Cards(_ context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	p.reads = append(p.reads, reader)
	cards := make([]social.Card, len(posts))
	for i, known := range posts {
		cards[i] = p.cards[known.ID]
		cards[i].ID = known.ID
	}
	return cards, nil
}

// Acts on posts are decided and learned from with one read of the posts, and reports read none.
func TestReactReadsPostsOnce(t *testing.T) {
	card := func(author, root string, public bool) social.Card {
		return social.Card{Visible: true, Public: public, Root: root, Author: social.Author{ID: author}, Content: []byte(`{"caption":"Snow"}`)}
	}
	posts := &shownPosts{cards: map[string]social.Card{
		"post:1": card("ann", "", true), "post:mine": card("u_1", "", true), "post:followers": card("ann", "", false),
		"post:reply": card("ann", "post:1", false), "post:hidden": {},
	}}
	live, taught := &raised{}, &learner{}
	r := newRig(t, 2, func(s *engine.Stores, _ *engine.Config) { s.Popularity, s.Learner, s.Posts = live, taught, posts })
	ids := append(slices.Sorted(maps.Keys(posts.cards)), "i000")
	require.NoError(t, r.Seen(t.Context(), "u_1", ids))
	assert.Empty(t, posts.reads)

	taken, err := r.react(t, events.Like, ids...)
	require.NoError(t, err)
	assert.Equal(t, api.EventsTaken{Accepted: 5, NotShown: 1}, taken)
	assert.Equal(t, []string{"u_1"}, posts.reads)
	assert.Equal(t, []string{"u_1 post:1", "u_1 post:followers", "u_1 post:reply", "u_1 i000"}, live.items, "not one's own")
	liked := func(id string) string { return fmt.Sprint("u_1 ", feed.Liked, " ", id, " ", id) }
	assert.Equal(t, []string{liked("post:1"), liked("i000")}, taught.acts, "of what everybody may see, and others wrote")

	live.items, taught.acts = nil, nil
	for _, id := range ids[:4] {
		given := posts.cards[id]
		given.ID = id
		_, err := r.Liked(t.Context(), "u_1", given)
		require.NoError(t, err)
	}
	assert.Len(t, posts.reads, 1, "a like has the card that the store returned with it")
	assert.Equal(t, []string{"u_1 post:1", "u_1 post:followers"}, live.items)
	assert.Equal(t, []string{liked("post:1")}, taught.acts)
}

// What authors do to their own items is accepted and counts nowhere, also while nothing is known of
// what was shown.
func TestReactOwnItems(t *testing.T) {
	for name, down := range map[string]bool{"shown": false, "dedup store down": true} {
		t.Run(name, func(t *testing.T) {
			live, taught := &raised{}, &learner{}
			r := newRig(t, 0, func(s *engine.Stores, _ *engine.Config) { s.Popularity, s.Learner = live, taught })
			r.put(t, by("u_1", newestLast("own", 2))...)
			ids := []string{"own_00", "own_01"}
			require.NoError(t, r.Seen(t.Context(), "u_1", ids))
			require.NoError(t, r.Seen(t.Context(), "u_2", ids))
			r.settled(t)
			if down {
				r.seen.down(dedup.ErrUnavailable)
			}
			for _, kind := range []events.Kind{events.Click, events.Like, events.Dislike} {
				taken, err := r.react(t, kind, ids...)
				require.NoError(t, err)
				assert.Equal(t, api.EventsTaken{Accepted: 2}, taken)
			}
			assert.Empty(t, live.items)
			assert.Empty(t, taught.acts)
			assert.Zero(t, r.tally.acts)
			_, err := r.React(t.Context(), "u_2", []engine.Act{{Kind: events.Like, ID: "own_00"}})
			require.NoError(t, err)
			assert.Equal(t, []string{"u_2 own_00"}, live.items)
			assert.Len(t, taught.acts, 1)
			assert.Equal(t, 1, r.tally.acts)
		})
	}
}

// A click counts for the source of home that has shown the item, whichever way impressions are
// recorded, and a post shown by home counts as delivered by a feed.
func TestReactHomeSource(t *testing.T) {
	for name, served := range map[string]bool{"impressions when served": true, "impressions when seen": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 0, func(_ *engine.Stores, cfg *engine.Config) { cfg.RecordServed = served })
			grouped := aged("in_group", "", time.Hour)
			grouped.GroupID = "group"
			r.put(t, aged("post:t", "", time.Hour), aged("t", "", time.Hour), aged("post:d", "", time.Hour), grouped, aged("e", "", time.Hour), aged("post:none", "", time.Hour))
			require.NoError(t, r.stores.Sessions.Restore(t.Context(), "u_1", []feed.Ref{
				{ID: "post:t", Group: "post:t", Source: feed.SourceTrending},
				{ID: "t", Group: "t", Source: feed.SourceTrending},
				{ID: "post:d", Group: "post:d", Source: feed.SourceDiscovery},
				{ID: "in_group", Group: "group", Source: feed.SourcePromoted},
				{ID: "e", Group: "e", Source: feed.SourceExplore},
				{ID: "post:none", Group: "post:none"},
			}, cache.Call{}))
			shown := docIDs(r.ask(t, loadMore(6)))
			require.Len(t, shown, 6)
			require.NoError(t, r.Seen(t.Context(), "u_1", shown))
			r.settled(t)
			_, err := r.react(t, events.Click, shown...)
			require.NoError(t, err)
			assert.Equal(t, []string{"source_click:trending", "source_click:trending", "source_click:discovery", "source_click:promoted", "", ""}, r.tally.sources,
				"exploration is told otherwise")
			_, err = r.react(t, events.Like, "post:t")
			require.NoError(t, err)
			assert.Equal(t, 7, r.tally.acts)
			assert.Empty(t, r.tally.sources[6], "of clicks alone")
		})
	}
}

// While the dedup store is down, all acts count, because it is unknown what for-you has delivered.
func TestReactPostsDedupDown(t *testing.T) {
	r := newRig(t, 0, nil)
	r.seen.down(dedup.ErrUnavailable)
	taken, err := r.react(t, events.Click, "post:1")
	require.NoError(t, err)
	assert.Equal(t, api.EventsTaken{Accepted: 1}, taken)
	assert.Equal(t, 1, r.tally.acts)
}

// The next refresh records the impressions of a server that died before it recorded them, and that
// for-you delivered them.
func TestReactAfterServerCrash(t *testing.T) {
	r := newRig(t, 3, nil)
	r.put(t, aged("post:1", "", 2*time.Minute))
	require.NoError(t, r.seen.Claim(t.Context(), "u_1", feed.ClaimKeys([]feed.Ref{{ID: "post:1", Group: "post:1"}}), r.clock()))
	require.NoError(t, r.stores.Sessions.Withdraw(t.Context(), "u_1", []string{"post:2"}, r.clock())) // as a timeline does
	r.advance(dedup.StaleAfter + time.Second)
	r.ask(t, refresh(1))
	r.settled(t)
	taken, err := r.react(t, events.Click, "post:1", "post:2")
	require.NoError(t, err)
	assert.Equal(t, api.EventsTaken{Accepted: 2}, taken)
	assert.Equal(t, 1, r.tally.acts)
}

// learner records the acts to learn from.
type learner struct {
	acts     []string
	halfLife time.Duration
	full     bool
	flushed  int
}

func (l *learner) Acted(agent string, halfLife time.Duration, acts []learning.Act, _ time.Time) bool {
	if l.full {
		return false
	}
	l.halfLife = halfLife
	for _, a := range acts {
		entry := fmt.Sprint(agent, " ", a.Kind, " ", a.Group, " ", a.Doc.ID)
		if a.Undo {
			entry = fmt.Sprint("undo ", agent, " ", a.Kind, " ", a.Group)
		}
		l.acts = append(l.acts, entry)
	}
	return true
}

func (l *learner) Flush(context.Context) error {
	l.flushed++
	return nil
}

// Every kind of act on a shown item is passed to the learner with the half-life of the agent's
// ranking, except acts on deleted items.
func TestReactLearning(t *testing.T) {
	l := &learner{}
	ranking := feed.Ranking{Base: 0.1, Decay: feed.Decay{Scale: time.Hour, Decay: 0.5}, Learned: feed.LearnedWeights{HalfLife: 5 * time.Hour}}
	r := newRig(t, 30, func(s *engine.Stores, cfg *engine.Config) { s.Learner, cfg.Rankings = l, &feed.Live{Ranking: ranking} })
	r.wants(t, refresh(5), run(0, 5), true)
	r.remove(t, "i004")
	_, err := r.React(t.Context(), "u_1", []engine.Act{
		{Kind: events.Click, ID: "i000"},
		{Kind: events.Like, ID: "i001"},
		{Kind: events.Dislike, ID: "i002"},
		{Kind: events.Hide, ID: "i003"},
		{Kind: events.Like, ID: "i020"},
		{Kind: events.Like, ID: "i004"},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"u_1 0 i000 i000", "u_1 1 i001 i001", "u_1 2 i002 i002", "u_1 3 i003 i003"}, l.acts)
	assert.Equal(t, 5*time.Hour, l.halfLife)
	l.full = true
	_, err = r.react(t, events.Dislike, "i001")
	require.ErrorIs(t, err, events.ErrUnavailable)
	require.NoError(t, r.ForgetLearned(t.Context(), "u_1"))
	require.NoError(t, r.Forget(t.Context(), "u_1"))
	assert.Equal(t, 2, l.flushed, "what waits is learned first, and then forgotten")
	require.ErrorIs(t, r.ForgetLearned(t.Context(), "u:1"), feed.ErrBadID)
}

// Acts that were refused because a store was full, and are sent again, count once in the counts of
// reports. These recognize a repetition for only one day, so they are updated last.
func TestReactRetry(t *testing.T) {
	l, live := &learner{}, &raised{}
	r := newRig(t, 30, func(s *engine.Stores, _ *engine.Config) { s.Learner, s.Popularity = l, live })
	r.wants(t, refresh(5), run(0, 5), true)
	for _, full := range []*bool{&l.full, &live.full, &r.tally.full} {
		*full = true
		_, err := r.react(t, events.Like, "i000")
		require.ErrorIs(t, err, events.ErrUnavailable)
		assert.Zero(t, r.tally.acts)
		*full = false
	}
	taken, err := r.react(t, events.Like, "i000")
	require.NoError(t, err)
	assert.Equal(t, 1, taken.Accepted)
	assert.Equal(t, 1, r.tally.acts)
}

func TestReactDedupDown(t *testing.T) {
	r := newRig(t, 5, nil)
	r.seen.down(dedup.ErrUnavailable)
	taken, err := r.react(t, events.Click, "i000", "i001")
	require.NoError(t, err)
	assert.Equal(t, api.EventsTaken{Accepted: 2}, taken, "it cannot be told, so all of them count")
	r = newRig(t, 5, closed)
	r.seen.down(dedup.ErrUnavailable)
	_, err = r.react(t, events.Click, "i000")
	require.ErrorIs(t, err, dedup.ErrUnavailable)
}

// A hidden item is removed from the pages of the session, and the act counts if the item was
// shown.
func TestHide(t *testing.T) {
	r := newRig(t, 30, nil)
	r.wants(t, refresh(5), run(0, 5), true)
	taken, err := r.react(t, events.Hide, "i000", "i006")
	require.NoError(t, err)
	assert.Equal(t, api.EventsTaken{Accepted: 1, NotShown: 1}, taken)
	r.wants(t, loadMore(3), []string{"i005", "i007", "i008"}, true)
}

// Every way to unmute an item takes back what was learned from hiding it, and an erasure leaves
// nothing to take back.
func TestUnmuteTakesHideBack(t *testing.T) {
	t.Parallel()
	to := func(items ...string) func(*rig) error {
		return func(r *rig) error {
			_, err := r.EditProfile(context.Background(), "u_1", func(p *feed.Profile) (bool, error) {
				p.MutedItems = items
				return true, nil
			})
			return err
		}
	}
	for name, c := range map[string]struct {
		again  bool // items may be repeated
		change func(*rig) error
		want   []string
	}{
		"one":                {false, to("i001"), []string{"undo u_1 3 i000"}},
		"all":                {false, to(), []string{"undo u_1 3 i000", "undo u_1 3 i001"}},
		"nothing":            {false, to("i001", "i000", "i002"), nil},
		"removed profile":    {false, func(r *rig) error { return r.RemoveProfile(context.Background(), "u_1") }, []string{"undo u_1 3 i000", "undo u_1 3 i001"}},
		"erased":             {false, func(r *rig) error { return r.Forget(context.Background(), "u_1") }, nil},
		"dislikes mute, too": {true, to("i000"), []string{"undo u_1 3 i001", "undo u_1 2 i001"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &learner{}
			r := newRig(t, 3, func(s *engine.Stores, cfg *engine.Config) { s.Learner, cfg.ShowAgain = l, c.again })
			for _, id := range []string{"i000", "i001"} {
				_, err := r.react(t, events.Hide, id)
				require.NoError(t, err)
			}
			l.acts = nil
			require.NoError(t, c.change(r))
			assert.Equal(t, c.want, l.acts)
		})
	}
}

// A like that was taken back is taken back from live popularity and from what was learned.
func TestUnliked(t *testing.T) {
	t.Parallel()
	l, live := &learner{}, &raised{}
	r := newRig(t, 0, func(s *engine.Stores, _ *engine.Config) { s.Learner, s.Popularity = l, live })
	require.NoError(t, r.Unliked("u_1", "post:1"))
	assert.Equal(t, []string{"undo u_1 1 post:1"}, l.acts)
	assert.Equal(t, []string{"undo u_1 post:1"}, live.items)
	l.full = true
	require.ErrorIs(t, r.Unliked("u_1", "post:1"), events.ErrUnavailable)
}
