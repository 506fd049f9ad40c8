package promotion_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postitems"
	"github.com/freshet/freshet/social/promotion"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// rig is a source over real stores, each of which can be made to fail.
type rig struct {
	*promotion.Source
	t     *testing.T
	store *socialsqlite.Store
	items catalog.Catalog
	now   time.Time

	storeDown, itemsDown error
}

func (r *rig) PromotionsUntil(ctx context.Context, after time.Time) ([]social.Promotion, error) {
	if r.storeDown != nil {
		return nil, r.storeDown
	}
	return r.store.PromotionsUntil(ctx, after)
}

type faultyItems struct{ *rig }

func (f faultyItems) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	if f.itemsDown != nil {
		return nil, f.itemsDown
	}
	return f.items.Docs(ctx, ids)
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, now: noon}
	clock := func() time.Time { return r.now }
	dir := t.TempDir()
	var err error
	r.store, err = socialsqlite.Open(t.Context(), filepath.Join(dir, "social.db"), social.Options{Clock: clock})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.store.Close()) })
	items, err := catalogsqlite.Open(t.Context(), filepath.Join(dir, "catalog.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, items.Close()) })
	r.items = postitems.New(items, r.store, nil, nil)
	r.Source = promotion.New(r, faultyItems{r}, promotion.Config{Clock: clock})
	return r
}

// item stores an item that is an hour old.
func (r *rig) item(id string, change func(*feed.Item)) {
	r.t.Helper()
	it := feed.Item{ID: id, Title: "About " + id, UpdateTime: noon.Add(-time.Hour).Unix()}
	if change != nil {
		change(&it)
	}
	errs, err := r.items.Put(r.t.Context(), []feed.Item{it})
	require.NoError(r.t, errors.Join(append(errs, err)...))
}

// promote stores a promotion that starts now and runs for an hour, unless it has other times.
// Without an item id it promotes a new item with the promotion's id.
func (r *rig) promote(p social.Promotion) {
	r.t.Helper()
	if p.ItemID == "" {
		p.ItemID = p.ID
		r.item(p.ID, nil)
	}
	if p.From == 0 {
		p.From, p.Until = noon.Unix(), noon.Add(time.Hour).Unix()
	}
	if p.Weight == 0 {
		p.Weight = 1
	}
	require.NoError(r.t, r.store.PutPromotion(r.t.Context(), p))
}

func (r *rig) refresh() {
	r.t.Helper()
	require.NoError(r.t, r.Refresh(r.t.Context()))
}

// query returns a query for all promotions for an agent.
func (r *rig) query(agent string, p feed.Profile) feed.Query {
	return feed.Query{Agent: agent, Profile: p, Origin: r.now, N: 1000}
}

func (r *rig) propose(q feed.Query) recall.Proposals {
	r.t.Helper()
	got, err := r.Propose(r.t.Context(), q)
	require.NoError(r.t, err)
	return got
}

// sorted returns the sorted ids of the items proposed for a profile.
func (r *rig) sorted(p feed.Profile) []string {
	r.t.Helper()
	list := ids(r.propose(r.query("u_1", p)).Proposals)
	slices.Sort(list)
	return list
}

func ids(list []recall.Proposal) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.ID
	}
	return out
}

func TestProposeRunningForReader(t *testing.T) {
	r := newRig(t)
	at := noon.Unix()
	r.promote(social.Promotion{ID: "everybody"})
	r.promote(social.Promotion{ID: "go", Tags: []string{"go", "rust"}})
	r.promote(social.Promotion{ID: "de", Langs: []string{"de"}})
	r.promote(social.Promotion{ID: "both", Tags: []string{"go"}, Langs: []string{"de", "fr"}})
	r.promote(social.Promotion{ID: "later", From: at + 1, Until: at + 2})
	r.promote(social.Promotion{ID: "over", From: at - 5, Until: at})
	r.promote(social.Promotion{ID: "of", ItemID: "missing"})
	r.item("future", func(it *feed.Item) { it.UpdateTime = at + 1 })
	r.promote(social.Promotion{ID: "f", ItemID: "future"})
	r.refresh()
	learned := feed.Profile{Learned: feed.Learned{Features: []feed.LearnedFeature{
		{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "rust"}, Evidence: 0.5},
		{Feature: feed.Feature{Kind: feed.FeatureAuthor, Value: "go"}, Evidence: 0.5},
	}}}
	against := feed.Profile{Learned: feed.Learned{Features: []feed.LearnedFeature{{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "go"}, Evidence: -1}}}}
	for name, tt := range map[string]struct {
		profile feed.Profile
		want    []string
	}{
		"unknown":     {feed.Profile{}, []string{"everybody"}},
		"interest":    {feed.Profile{Interests: map[string]float64{"go": 1}}, []string{"everybody", "go"}},
		"no interest": {feed.Profile{Interests: map[string]float64{"go": 0}}, []string{"everybody"}},
		"learned":     {learned, []string{"everybody", "go"}},
		"against":     {against, []string{"everybody"}},
		"language":    {feed.Profile{Langs: []string{"fr", "de"}}, []string{"de", "everybody"}},
		"both":        {feed.Profile{Interests: map[string]float64{"go": 1}, Langs: []string{"fr"}}, []string{"both", "everybody", "go"}},
		"hidden":      {feed.Profile{MutedItems: []string{"everybody"}}, []string{}},
	} {
		assert.Equal(t, tt.want, r.sorted(tt.profile), name)
	}
}

func TestPromotionTimeRange(t *testing.T) {
	r := newRig(t)
	at := noon.Unix()
	r.promote(social.Promotion{ID: "a", From: at + 2, Until: at + 4})
	r.refresh() // before it begins, since no refresh happens exactly at that time
	for after, want := range map[time.Duration]int{
		0: 0, 2*time.Second - 1: 0, 2 * time.Second: 1, 4*time.Second - 1: 1, 4 * time.Second: 0,
	} {
		r.now = noon.Add(after)
		assert.Len(t, r.propose(r.query("u_1", feed.Profile{})).Proposals, want, after)
		_, chosen := r.Chosen("u_1", &feed.Profile{}, "a", r.now)
		assert.Equal(t, want == 1, chosen, after)
	}
}

func TestProposalFields(t *testing.T) {
	r := newRig(t)
	r.item("i", func(it *feed.Item) {
		it.GroupID, it.AuthorID, it.Tags, it.URL, it.Lang = "g", "ann", []string{"go", "db"}, "https://www.example.org/x", "en"
		it.Likes, it.Comments = 7, 2
	})
	r.promote(social.Promotion{ID: "p", ItemID: "i"})
	p, _, err := r.store.CreatePost(t.Context(), social.Post{
		Author: "ana", Caption: "Rain at last #weather", CreatedAt: noon.Unix() - 60, Audience: social.Audience{Public: true}, Tags: []string{"sky"},
	}, social.Creation{})
	require.NoError(t, err)
	_, _, err = r.store.Like(t.Context(), "u_2", p.ID)
	require.NoError(t, err)
	r.promote(social.Promotion{ID: "q", ItemID: p.ID})
	r.refresh()
	got := map[string]recall.Proposal{}
	for _, p := range r.propose(r.query("u_1", feed.Profile{})).Proposals {
		got[p.ID] = p
	}
	assert.Equal(t, recall.Proposal{
		Candidate: feed.Candidate{
			ID: "i", Group: "g", Source: "promoted", UpdateTime: noon.Add(-time.Hour).Unix(),
			Traits: feed.Traits{Author: "ann", Site: "example.org", Tag: "go", Story: feed.Sketch("About i")},
		}, Reactions: 11,
	}, got["i"])
	post := got[p.ID]
	assert.Equal(t, p.ID, post.Group)
	assert.Equal(t, "ana", post.Author)
	assert.Equal(t, p.CreatedAt, post.UpdateTime)
	assert.EqualValues(t, 1, post.Reactions)
	for name, mutes := range map[string]feed.Profile{
		"author": {MutedAuthors: []string{"ann", "ana"}}, "tags": {MutedTags: []string{"db", "sky"}},
		"group": {MutedItems: []string{"g", p.ID}},
	} {
		assert.Empty(t, r.sorted(mutes), name)
	}
	assert.Equal(t, []string{p.ID}, r.sorted(feed.Profile{Langs: []string{"de"}}), "what has no language is for everybody")
}

func TestProposeSkipsDeletedAndPrivate(t *testing.T) {
	r := newRig(t)
	create := func(id string, a social.Audience) {
		_, _, err := r.store.CreatePost(t.Context(), social.Post{ID: id, Author: "ana", Caption: "x", Audience: a}, social.Creation{})
		require.NoError(t, err)
		r.promote(social.Promotion{ID: id[5:], ItemID: id})
	}
	create("post:public", social.Audience{Public: true})
	create("post:deleted", social.Audience{Public: true})
	create("post:private", social.Audience{Followers: true})
	r.promote(social.Promotion{ID: "stays"})
	r.promote(social.Promotion{ID: "goes"})
	r.refresh()
	assert.Equal(t, []string{"goes", "post:deleted", "post:public", "stays"}, r.sorted(feed.Profile{}))
	require.NoError(t, r.items.Remove(t.Context(), "goes"))
	require.NoError(t, r.store.DeletePost(t.Context(), "post:deleted", "", time.Time{}))
	r.refresh()
	assert.Equal(t, []string{"post:public", "stays"}, r.sorted(feed.Profile{}))

	list, err := r.store.Promotions(t.Context(), "", 10)
	require.NoError(t, err)
	states, err := promotion.States(t.Context(), r.items, list, noon)
	require.NoError(t, err)
	got := map[string]string{}
	for i, p := range list {
		require.Equal(t, p, states[i].Promotion)
		require.Equal(t, states[i].Why == "", states[i].Runs)
		got[p.ID] = states[i].Why
	}
	const noPost = "there is no public post with this id"
	assert.Equal(t, map[string]string{
		"public": "", "stays": "", "deleted": noPost, "private": noPost,
		"goes": "there is no item with this id",
	}, got)
	for at, want := range map[time.Time]string{noon.Add(-time.Second): "it has not begun", noon.Add(time.Hour): "it has ended", noon.Add(time.Hour - 1): ""} {
		states, err := promotion.States(t.Context(), r.items, list[len(list)-1:], at)
		require.NoError(t, err)
		assert.Equal(t, []social.PromotionState{{Promotion: list[len(list)-1], Runs: want == "", Why: want}}, states)
	}
}

func TestProposeStoreDown(t *testing.T) {
	r := newRig(t)
	r.promote(social.Promotion{ID: "a"})
	r.refresh()
	r.storeDown = social.ErrUnavailable
	require.ErrorIs(t, r.Refresh(t.Context()), social.ErrUnavailable)
	assert.Equal(t, []string{"a"}, r.sorted(feed.Profile{}))
	r.now = noon.Add(time.Hour)
	assert.Empty(t, r.sorted(feed.Profile{}), "until its end")

	r.now, r.storeDown, r.itemsDown = noon, nil, catalog.ErrUnavailable
	r.promote(social.Promotion{ID: "b"})
	require.ErrorIs(t, r.Refresh(t.Context()), catalog.ErrUnavailable)
	assert.Equal(t, []string{"a"}, r.sorted(feed.Profile{}), "the content of b is not known")
	require.NoError(t, r.store.DeletePromotion(t.Context(), "a"))
	require.ErrorIs(t, r.Refresh(t.Context()), catalog.ErrUnavailable)
	assert.Empty(t, r.sorted(feed.Profile{}), "the promotions could be read")
	r.itemsDown = nil
	r.refresh()
	assert.Equal(t, []string{"b"}, r.sorted(feed.Profile{}))
}

// Over many agents, each item is drawn first in proportion to its weight. Agents and origin are
// fixed, so the result is deterministic; the bound is 5 standard deviations.
func TestProposeDrawsByWeight(t *testing.T) {
	r := newRig(t)
	weights := map[string]float64{"a": 1, "b": 2, "c": 3.5, "d": 0.5, "e": 1e-9}
	for id, w := range weights {
		r.promote(social.Promotion{ID: id, Weight: w})
	}
	r.item("two", nil)
	r.promote(social.Promotion{ID: "x", ItemID: "two", Weight: 1})
	r.promote(social.Promotion{ID: "y", ItemID: "two", Weight: 2})
	weights["two"] = 3
	r.refresh()
	const n = 20_000
	first, second, chosen, sum := map[string]int{}, map[string]int{}, map[string]int{}, 0.0
	for _, w := range weights {
		sum += w
	}
	for i := range n {
		agent := fmt.Sprintf("agent_%d", i)
		got := ids(r.propose(r.query(agent, feed.Profile{})).Proposals)
		require.Len(t, got, len(weights))
		first[got[0]]++
		if got[0] == "c" {
			second[got[1]]++
		}
		id, ok := r.Chosen(agent, &feed.Profile{}, "two", noon)
		require.True(t, ok)
		chosen[id]++
	}
	near := func(got, of int, p float64, what string) {
		assert.InDelta(t, p*float64(of), float64(got), 5*math.Sqrt(float64(of)*p*(1-p))+1, what)
	}
	for id, w := range weights {
		near(first[id], n, w/sum, "first "+id)
		if id != "c" {
			near(second[id], first["c"], w/(sum-weights["c"]), "second, after c: "+id)
		}
	}
	near(chosen["x"], n, 1.0/3, "x of two")
	assert.Equal(t, n, chosen["x"]+chosen["y"])
}

func TestProposeExtremeWeights(t *testing.T) {
	r := newRig(t)
	r.promote(social.Promotion{ID: "most", Weight: social.MaxPromotionWeight})
	r.promote(social.Promotion{ID: "least", Weight: social.MinPromotionWeight})
	r.refresh()
	for i := range 1000 {
		assert.Equal(t, []string{"most", "least"}, ids(r.propose(r.query(fmt.Sprint(i), feed.Profile{})).Proposals))
	}
}

func TestProposeOrderWithinRequest(t *testing.T) {
	r := newRig(t)
	for i := range 50 {
		id := fmt.Sprintf("i%02d", i)
		r.item(id, func(it *feed.Item) { it.GroupID = fmt.Sprintf("g%02d", i/2) })
		r.promote(social.Promotion{ID: id, ItemID: id, Weight: float64(i + 1)})
	}
	r.refresh()
	q := r.query("u_1", feed.Profile{})
	all := r.propose(q)
	require.Len(t, all.Proposals, 25, "one of each group")
	require.Empty(t, all.Next)
	q.N = 4
	var paged []string
	for round := 0; ; round++ {
		got := r.propose(q)
		paged = append(paged, ids(got.Proposals)...)
		if q.After = got.Next; q.After == "" {
			break
		}
		require.Len(t, got.Proposals, 4)
		r.refresh() // a refresh may happen at any time
	}
	assert.Equal(t, ids(all.Proposals), paged)
	q.After, q.N, q.Origin = "", 1000, q.Origin.Add(time.Second)
	assert.NotEqual(t, paged, ids(r.propose(q).Proposals), "another origin, another order")
	q = r.query("u_2", feed.Profile{})
	assert.NotEqual(t, paged, ids(r.propose(q).Proposals), "another agent, another order")
	q.After = "nonsense"
	_, err := r.Propose(t.Context(), q)
	require.Error(t, err)
	q.After, q.Since = "", noon
	assert.Empty(t, r.propose(q).Proposals, "none is newer")
}

func TestProposeForGuests(t *testing.T) {
	r := newRig(t)
	for i := range 20 {
		r.promote(social.Promotion{ID: fmt.Sprintf("i%02d", i)})
	}
	r.promote(social.Promotion{ID: "go", Tags: []string{"go"}})
	r.promote(social.Promotion{ID: "de", Langs: []string{"de"}})
	r.refresh()
	guests := func(drawn, at time.Time, n int) []string {
		got, err := r.Guests(func() time.Time { return drawn }).Propose(t.Context(), feed.Query{Origin: at, N: n})
		require.NoError(t, err)
		require.Empty(t, got.Next)
		return ids(got.Proposals)
	}
	got := guests(noon, noon, 100)
	require.Len(t, got, 20)
	assert.NotContains(t, got, "go")
	assert.NotContains(t, got, "de")
	assert.Equal(t, got, guests(noon, noon.Add(time.Minute), 100), "at another time")
	assert.Equal(t, got[:3], guests(noon, noon, 3))
	assert.NotEqual(t, got, guests(noon.Add(5*time.Minute), noon, 100), "drawn anew")
	assert.Empty(t, guests(noon, noon.Add(time.Hour), 100), "all have ended")
}

func TestProposeOneOfSeveralPromotions(t *testing.T) {
	r := newRig(t)
	r.item("i", nil)
	r.promote(social.Promotion{ID: "go", ItemID: "i", Tags: []string{"go"}, Weight: 1e-9})
	r.promote(social.Promotion{ID: "all", ItemID: "i", Tags: []string{"db"}})
	r.promote(social.Promotion{ID: "over", ItemID: "i", From: noon.Unix() - 5, Until: noon.Unix()})
	r.promote(social.Promotion{ID: "forgotten", ItemID: "i", From: noon.Unix() - 1e6, Until: noon.Unix() - 3*86400})
	r.refresh()
	for i := range 100 {
		id, ok := r.Chosen(fmt.Sprint(i), &feed.Profile{Interests: map[string]float64{"go": 1}}, "i", noon)
		require.True(t, ok)
		assert.Equal(t, "go", id, "the one for the reader, however little it weighs")
	}
	id, ok := r.Chosen("u_1", &feed.Profile{}, "i", noon)
	assert.True(t, ok)
	assert.Contains(t, []string{"go", "all"}, id, "not for the reader any more")
	assert.Equal(t, []string{"all", "go", "over"}, r.About("i"), "acts on what has ended count for a while")
	_, ok = r.Chosen("u_1", &feed.Profile{}, "j", noon)
	assert.False(t, ok)
}

func BenchmarkPropose(b *testing.B) {
	for _, n := range []int{10, 200, social.MaxPromotions} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := &fixed{}
			for i := range n {
				p := social.Promotion{ID: fmt.Sprintf("p%05d", i), ItemID: fmt.Sprintf("i%05d", i), From: noon.Unix(), Until: noon.Unix() + 3600, Weight: 1}
				if i%2 == 0 {
					p.Tags = []string{"a", "b", "go"}
				}
				f.list = append(f.list, p)
			}
			s := promotion.New(f, f, promotion.Config{Clock: func() time.Time { return noon }})
			require.NoError(b, s.Refresh(b.Context()))
			q := feed.Query{Agent: "u_1", Origin: noon, N: 20, Profile: feed.Profile{Interests: map[string]float64{"go": 1}}}
			b.ReportAllocs()
			for b.Loop() {
				if got, err := s.Propose(b.Context(), q); err != nil || len(got.Proposals) < 10 {
					b.Fatal(err)
				}
			}
		})
	}
}

// fixed is a constant list of promotions with its items.
type fixed struct {
	list []social.Promotion
}

func (f *fixed) PromotionsUntil(context.Context, time.Time) ([]social.Promotion, error) {
	return f.list, nil
}

func (f *fixed) Docs(_ context.Context, ids []string) ([]feed.Doc, error) {
	docs := make([]feed.Doc, len(ids))
	for i, id := range ids {
		docs[i] = feed.Doc{ID: id, JSON: fmt.Appendf(nil, `{"id":%q,"title":"T","update_time":1,"tags":["x","y"]}`, id)}
	}
	return docs, nil
}
