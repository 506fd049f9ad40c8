package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// explainedAt is the time of these tests, two days after the time of a new rig.
var explainedAt = time.Date(2026, 3, 8, 12, 0, 0, 0, time.UTC)

// explain returns an explanation after checking the invariants of all explanations.
func (r *rig) explain(t *testing.T, q engine.ExplainRequest) api.Explanation {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 20
	}
	q.Agent = "u_1"
	x, err := r.Explain(t.Context(), q)
	require.NoError(t, err)
	n := x.Counts
	require.Equal(t, n.Recalled, n.Seen+n.Pending+n.Muted+n.Gone+n.Group+n.Story+n.Paged+n.Kept)
	require.Len(t, x.Candidates, n.Recalled)
	require.Len(t, x.Page(), n.Paged)
	for i, c := range x.Candidates {
		require.Equal(t, i+1, c.Rank)
		require.Equal(t, x.Origin.Unix()-c.UpdateTime, c.Age)
		if c.Relevance != nil {
			require.InEpsilon(t, c.Score, c.Relevance.Total*c.Decay*c.Popularity.Factor, 1e-5, c.ID)
		}
	}
	return x
}

// withOutcome returns the ids of the candidates with an outcome, ordered by place.
func withOutcome(x api.Explanation, outcome api.Outcome) []string {
	list := slices.DeleteFunc(slices.Clone(x.Candidates), func(c api.Explained) bool { return c.Outcome != outcome })
	slices.SortStableFunc(list, func(a, b api.Explained) int {
		if a.Variety == nil || b.Variety == nil {
			return 0
		}
		return a.Variety.Place - b.Variety.Place
	})
	out := []string{}
	for _, c := range list {
		out = append(out, c.ID)
	}
	return out
}

// see adds an item to today's filter only.
func (r *rig) see(t *testing.T, id string) {
	t.Helper()
	require.NoError(t, r.Seen(t.Context(), "u_1", []string{id}))
	require.NoError(t, r.stores.Seen.(dedup.Store).ClearPending(t.Context(), []dedup.Impression{{Agent: "u_1", Group: id}}))
}

// told returns an item that is the given number of minutes old an hour after explainedAt.
func told(id string, minutes int, change func(*feed.Item)) feed.Item {
	it := feed.Item{ID: id, Title: "Title of " + id, UpdateTime: explainedAt.Add(time.Hour - time.Duration(minutes)*time.Minute).Unix()}
	if change != nil {
		change(&it)
	}
	return it
}

// outcomes returns a rig in which the candidates of u_1 have different outcomes.
func outcomes(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, 0, func(_ *engine.Stores, cfg *engine.Config) { cfg.N = 4 })
	r.put(t,
		told("seen", 61, func(it *feed.Item) { it.Likes, it.Comments = 5, 2 }), told("pending", 62, nil), told("paged-1", 63, nil),
		told("story-1", 64, func(it *feed.Item) { it.GroupID = "story" }),
		told("gone", 181, nil), told("muted", 182, nil),
		told("story-2", 183, func(it *feed.Item) { it.GroupID = "story" }), told("paged-3", 184, nil),
		told("kept", 185, nil), told("paged-4", 300, nil), told("x-1", 400, nil), told("x-2", 500, nil),
		told("outside", 6000, func(it *feed.Item) { it.Tags = []string{"news"} }),
		told("future", 30, nil),
		told("by-ann", 70, func(it *feed.Item) { it.AuthorID = "ann" }),
		told("in-french", 71, func(it *feed.Item) { it.Lang = "fr" }),
		told("about-cats", 72, func(it *feed.Item) { it.Tags = []string{"pets", "cats"} }),
		told("spoils", 74, func(it *feed.Item) { it.Summary = "A Spoiler." }),
		told("hidden", 73, nil),
	)
	require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{
		Interests:    map[string]float64{"news": 0.5, "cats": 9},
		Langs:        []string{"en", "de"},
		MutedAuthors: []string{"ann"}, MutedTags: []string{"cats"}, MutedItems: []string{"hidden"}, MutedWords: []feed.MutedWord{{Term: "spoiler"}},
	}))
	r.see(t, "seen")
	r.advance(48 * time.Hour)
	err := r.seen.Claim(t.Context(), "u_1", []string{"pending"}, r.clock())
	require.NoError(t, err)
	return r
}

// TestExplainOutcomes has a recall that returns items which are by now deleted or muted in the
// catalog.
func TestExplainOutcomes(t *testing.T) {
	t.Parallel()
	r := outcomes(t)
	r.removeBehind(t, "gone")
	_, err := r.stores.Catalog.Put(t.Context(), []feed.Item{told("muted", 182, func(it *feed.Item) { it.AuthorID = "ann" })})
	require.NoError(t, err)

	x := r.explain(t, engine.ExplainRequest{Limit: 3})
	got := map[string]api.Outcome{}
	for _, c := range x.Candidates {
		got[c.ID] = c.Outcome
	}
	require.Equal(t, map[string]api.Outcome{
		"seen": api.OutcomeSeen, "pending": api.OutcomePending, "paged-1": api.OutcomePaged, "story-1": api.OutcomePaged,
		"gone": api.OutcomeGone, "muted": api.OutcomeMuted, "story-2": api.OutcomeGroup, "paged-3": api.OutcomePaged,
		"kept": api.OutcomeKept, "paged-4": api.OutcomeKept, "x-1": api.OutcomeKept, "x-2": api.OutcomeKept,
		"outside": api.OutcomeKept, // the second round is four times as large as the first
	}, got)
	require.Equal(t, api.ExplainCounts{
		Rounds: 2, Recalled: 13, Seen: 1, Pending: 1, Muted: 1, Gone: 1, Group: 1, Paged: 3, Kept: 5,
	}, x.Counts)
	seen, story := x.Candidates[0], x.Candidates[6]
	require.Equal(t, "20260306", seen.Day)
	require.Equal(t, "Title of seen", seen.Title)
	require.Equal(t, int64(60), seen.Age)
	require.Equal(t, &api.Popularity{Value: 9, Factor: 1}, seen.Popularity)
	require.InEpsilon(t, 0.1, seen.Relevance.Total, 1e-6)
	require.Equal(t, "story-1", story.Better)
	require.Equal(t, withOutcome(x, api.OutcomePaged), docIDs(r.ask(t, refresh(3))))
}

func TestExplainItem(t *testing.T) {
	t.Parallel()
	r := outcomes(t)
	r.put(t, feed.Item{ID: "new", Title: "New", UpdateTime: explainedAt.Unix()})
	r.index.Delete("new")
	for _, tt := range []struct {
		id      string
		outcome api.Outcome
		rank    int
		says    string
	}{
		{"paged-1", api.OutcomePaged, 3, "It ranks 3 of 4 and is at position 1 of the page."},
		{"story-1", api.OutcomeKept, 4, "position 1 of the session after the page"},
		{"seen", api.OutcomeSeen, 1, "it is in the filter of 20260306"},
		{"pending", api.OutcomePending, 2, "pending set"},
		{"story-2", api.OutcomeGroup, 0, "story-1 of the same group story ranks higher"},
		{"outside", api.OutcomeOutside, 0, "is behind the 0.1 of the last of the 4 candidates, which were recalled in 1 round; recall continues only while the page is not full."},
		{"future", api.OutcomeFuture, 0, "It is dated 2026-03-08T12:30:00Z, which is after 2026-03-08T12:00:00Z"},
		{"by-ann", api.OutcomeMuted, 0, "its author ann is muted"},
		{"about-cats", api.OutcomeMuted, 0, "its tag cats is muted"},
		{"spoils", api.OutcomeMuted, 0, `it has the muted word "spoiler"`},
		{"in-french", api.OutcomeMuted, 0, "its language fr is not among en, de"},
		{"hidden", api.OutcomeMuted, 0, "the agent has hidden hidden"},
		{"new", api.OutcomeUnfound, 0, "recall does not find it"},
		{"nothing", api.OutcomeUnknown, 0, "There is no item with this id."},
		{"post:nothing", api.OutcomeUnknown, 0, "There is no post with this id that feeds may show the agent: it does not exist,"},
	} {
		x := r.explain(t, engine.ExplainRequest{Limit: 1, Item: tt.id})
		require.NotNil(t, x.Item, tt.id)
		assert.Equal(t, tt.id, x.Item.ID)
		assert.Equal(t, tt.outcome, x.Item.Outcome, tt.id)
		assert.Equal(t, tt.rank, x.Item.Rank, tt.id)
		assert.Contains(t, x.Item.Reason, tt.says, tt.id)
		if tt.outcome == api.OutcomeUnknown {
			continue
		}
		assert.NotEmpty(t, x.Item.Title, tt.id)
		if assert.Equal(t, tt.outcome != api.OutcomeUnfound, x.Item.Relevance != nil, tt.id); x.Item.Relevance != nil {
			assert.InEpsilon(t, x.Item.Score, x.Item.Relevance.Total*x.Item.Decay*x.Item.Popularity.Factor, 1e-5, tt.id)
		}
	}
	outside := r.explain(t, engine.ExplainRequest{Limit: 1, Item: "outside"}).Item
	require.Equal(t, []feed.Gain{{Name: "news", Score: 0.5}}, outside.Relevance.Tags)
	require.NoError(t, r.Seen(t.Context(), "u_1", []string{"outside"}))
	outside = r.explain(t, engine.ExplainRequest{Limit: 1, Item: "outside"}).Item
	require.Contains(t, outside.Reason, "It is also in the agent's pending set")
}

func TestExplainOverrides(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0, nil)
	r.advance(48 * time.Hour)
	r.put(t,
		feed.Item{ID: "new", Title: "n", UpdateTime: explainedAt.Add(-2 * time.Hour).Unix()},
		feed.Item{ID: "popular", Title: "p", UpdateTime: explainedAt.Add(-20 * time.Hour).Unix(), Likes: 999},
		feed.Item{ID: "liked", Title: "l", UpdateTime: explainedAt.Add(-50 * time.Hour).Unix(), Tags: []string{"go"}},
	)
	require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"go": 0.05}}))
	order := func(q engine.ExplainRequest) []string { return withOutcome(r.explain(t, q), api.OutcomePaged) }
	require.Equal(t, []string{"new", "popular", "liked"}, order(engine.ExplainRequest{}))

	_, ranking := r.Ranking("u_1")
	for change, want := range map[string][]string{
		"weight=5":              {"popular", "new", "liked"},
		"scale=9000h":           {"liked", "new", "popular"},
		"scale=9000h,weight=10": {"popular", "liked", "new"},
	} {
		proposed, err := ranking.With(change)
		require.NoError(t, err)
		q := engine.ExplainRequest{Ranking: &proposed}
		require.Equal(t, want, order(q), change)
		x := r.explain(t, q)
		require.True(t, x.Proposed)
		require.Equal(t, proposed, x.Ranking)
	}
	require.Equal(t, []string{"new", "popular", "liked"}, order(engine.ExplainRequest{}), "nothing stays")

	yesterday := engine.ExplainRequest{At: explainedAt.Add(-19 * time.Hour), Item: "new"}
	x := r.explain(t, yesterday)
	require.Equal(t, []string{"popular", "liked"}, withOutcome(x, api.OutcomePaged))
	require.Equal(t, api.OutcomeFuture, x.Item.Outcome)
	require.Equal(t, yesterday.At, x.Origin)
	require.Equal(t, int64(3600), x.Candidates[0].Age)

	// An item delivered today is in no filter of yesterday's window.
	r.see(t, "liked")
	require.Equal(t, []string{"liked"}, withOutcome(r.explain(t, engine.ExplainRequest{}), api.OutcomeSeen))
	require.Equal(t, []string{"popular", "liked"}, order(yesterday))
	next := engine.ExplainRequest{At: explainedAt.AddDate(0, 0, 6)}
	require.Equal(t, "20260308", r.explain(t, next).Candidates[0].Day)
	next.At = next.At.AddDate(0, 0, 1)
	require.Equal(t, []string{"liked", "new", "popular"}, order(next), "it has left the window")
}

func TestExplainRefusesBadRequests(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0, nil)
	for name, tt := range map[string]struct {
		q    engine.ExplainRequest
		want error
	}{
		"no agent":  {engine.ExplainRequest{Limit: 1}, feed.ErrBadID},
		"no limit":  {engine.ExplainRequest{Agent: "u"}, feed.ErrBadLimit},
		"limit":     {engine.ExplainRequest{Agent: "u", Limit: 101}, feed.ErrBadLimit},
		"item":      {engine.ExplainRequest{Agent: "u", Limit: 1, Item: "a b"}, feed.ErrBadID},
		"ranking":   {engine.ExplainRequest{Agent: "u", Limit: 1, Ranking: &feed.Ranking{}}, feed.ErrInvalid},
		"too early": {engine.ExplainRequest{Agent: "u", Limit: 1, At: time.Unix(-1, 0)}, feed.ErrInvalid},
		"too late":  {engine.ExplainRequest{Agent: "u", Limit: 1, At: time.Unix(feed.MaxItemTime+1, 0)}, feed.ErrInvalid},
	} {
		_, err := r.Explain(t.Context(), tt.q)
		assert.ErrorIs(t, err, tt.want, name)
	}
	x := r.explain(t, engine.ExplainRequest{})
	require.NotNil(t, x.Candidates)
	require.Equal(t, api.ExplainCounts{Rounds: 1}, x.Counts)
}
