package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/enginetest"
	timelines "github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postitems"
	"github.com/freshet/freshet/social/timeline"
)

// sourceFor is the time limit of a source of home: longer than any source takes on any machine.
// Tests in which a source uses it up run in a synctest bubble.
const sourceFor = time.Hour

type condition string

const (
	healthySource condition = "healthy"
	slowSource    condition = "slow" // answers only when the context ends
	failingSource condition = "failing"
	emptySource   condition = "empty"
)

// pass returns the outcome that the condition forces on a call of a source.
func (c condition) pass(ctx context.Context, failing error) error {
	switch c {
	case slowSource:
		<-ctx.Done()
		return ctx.Err()
	case failingSource:
		return failing
	}
	return nil
}

// homeRig is an engine with a home feed and sources under the control of the test.
type homeRig struct {
	*testing.T
	engine *engine.Engine
	rig    *rig
	net    *enginetest.Network
	are    map[feed.Source]condition

	truths int // number of following's queries for the entries of posts
	fails  int // which of these queries fails; 0 means none
}

type listed struct {
	home   *homeRig
	source feed.Source
	items  []feed.Item
}

func (l *listed) Propose(ctx context.Context, _ feed.Query) (recall.Proposals, error) {
	is := l.home.are[l.source]
	if err := is.pass(ctx, recall.ErrUnavailable); err != nil || is == emptySource {
		return recall.Proposals{}, err
	}
	out := recall.Proposals{Proposals: make([]recall.Proposal, len(l.items))}
	for i, it := range l.items {
		out.Proposals[i].Candidate = feed.Candidate{ID: it.ID, Group: it.Group(), UpdateTime: it.UpdateTime, Traits: it.Traits()}
	}
	return out, nil
}

// conditioned is the source of discovery.
type conditioned struct {
	recall.Source
	recall.Explainer
	home *homeRig
}

func (s conditioned) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	is := s.home.are[feed.SourceDiscovery]
	if err := is.pass(ctx, recall.ErrUnavailable); err != nil || is == emptySource {
		return recall.Result{}, err
	}
	return s.Source.Recall(ctx, q)
}

// conditionedLists are the lists that following reads first.
type conditionedLists struct {
	timeline.Lists
	home *homeRig
}

func (l conditionedLists) Read(ctx context.Context, list string, below timeline.Position, n int) (timeline.Page, error) {
	if l.home.are[feed.SourceFollowing] == emptySource {
		return timeline.Page{State: timeline.Ready}, nil
	}
	return l.Lists.Read(ctx, list, below, n)
}

type conditionedPosts struct {
	timelines.Posts
	home *homeRig
}

func (p conditionedPosts) Celebrities(ctx context.Context, reader string) (social.Pulled, error) {
	if err := p.home.are[feed.SourceFollowing].pass(ctx, social.ErrUnavailable); err != nil {
		return social.Pulled{}, err
	}
	return p.Posts.Celebrities(ctx, reader)
}

func (p conditionedPosts) Cards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	if p.home.truths++; p.home.truths == p.home.fails {
		return nil, social.ErrUnavailable
	}
	return p.Posts.Cards(ctx, reader, posts)
}

// newHome returns a home with 40 posts of an author whom u_1 follows, 40 trending items, 5 promoted
// ones and 60 for discovery.
func newHome(t *testing.T, changes ...func(*engine.Stores, *engine.Config)) *homeRig {
	return homeOf(t, newestLast("trend", 40), newestLast("promo", 5), changes...)
}

// homeOf returns a home with these trending and promoted items, which may include items for
// discovery.
func homeOf(t *testing.T, trends, promoted []feed.Item, changes ...func(*engine.Stores, *engine.Config)) *homeRig {
	h := &homeRig{T: t, net: enginetest.NewNetwork(t), are: map[feed.Source]condition{}}
	h.net.Advance(rankedAt.Sub(h.net.Now()))
	h.net.Follow("u_1", "ann")
	require.NoError(t, h.net.Build(t.Context(), "u_1"))
	for i := range 40 {
		p, _, err := h.net.Store.CreatePost(t.Context(), social.Post{
			ID: fmt.Sprintf("post:%02d", i), Author: "ann", Caption: fmt.Sprint("Number ", i),
			CreatedAt: rankedAt.Add(-time.Duration(40-i) * time.Minute).Unix(), Audience: toAll,
		}, social.Creation{At: rankedAt})
		require.NoError(t, err)
		h.net.Push(h.net.Lists, "u_1", p.Post)
	}
	timelines := timelines.New(timelines.Stores{
		Posts: conditionedPosts{h.net.Store, h}, Lists: conditionedLists{h.net.Lists, h}, Outboxes: h.net.Outboxes, Builder: h.net, Profiles: h.net,
	}, timelines.Config{Clock: func() time.Time { return rankedAt }})
	pattern, err := feed.ParsePattern(feed.DefaultPattern)
	require.NoError(t, err)
	h.rig = newRig(t, 60, func(s *engine.Stores, cfg *engine.Config) {
		for _, list := range [][]feed.Item{trends, promoted} {
			require.Nil(t, must(s.Catalog.Put(t.Context(), list)))
		}
		s.Catalog = postitems.New(s.Catalog, h.net.Store, nil, nil)
		s.Recall = conditioned{s.Recall, s.Recall.(recall.Explainer), h}
		s.Home = engine.Home{
			Following: timelines, Trending: &listed{h, feed.SourceTrending, trends}, Promoted: &listed{h, feed.SourcePromoted, promoted},
			Affinities: h.net.Store, Pattern: pattern, SourceFor: sourceFor,
		}
		for _, change := range changes {
			change(s, cfg)
		}
	})
	h.engine = h.rig.Engine
	return h
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// newestLast returns n items of one source, oldest first.
func newestLast(name string, n int) []feed.Item {
	out := make([]feed.Item, n)
	for i := range out {
		out[i] = aged(fmt.Sprintf("%s_%02d", name, i), "", time.Duration(n-i)*time.Hour)
	}
	return out
}

func (h *homeRig) ask(action engine.Action, limit int) (engine.Answer, error) {
	return h.engine.Feed(h.Context(), engine.Request{Agent: "u_1", Feed: feed.HomeFeed, Action: action, Limit: limit})
}

// without returns the sources of the first positions when one source has nothing.
func without(missing feed.Source, n int) []feed.Source {
	pattern := must(feed.ParsePattern(feed.DefaultPattern))
	want := make([]feed.Source, n)
	for i := range want {
		takers := pattern.At(i).HandOver()
		want[i] = takers[slices.IndexFunc(takers, func(s feed.Source) bool { return s != missing })]
	}
	return want
}

// TestHomeSourceSlowFailingOrEmpty checks that the other sources fill the page in the
// documented order, and that the answer names the missing source.
func TestHomeSourceSlowFailingOrEmpty(t *testing.T) {
	t.Parallel()
	for _, source := range []feed.Source{feed.SourceFollowing, feed.SourceTrending, feed.SourceDiscovery, feed.SourcePromoted} {
		for _, is := range []condition{healthySource, slowSource, failingSource, emptySource} {
			t.Run(fmt.Sprint(source, " ", is), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					h := newHome(t)
					h.are[source] = is
					gone, missing, takes := source, []string(nil), time.Duration(0)
					switch is {
					case healthySource:
						gone = feed.SourceScore
					case slowSource:
						takes = sourceFor
						fallthrough
					case failingSource:
						missing = []string{source.String()}
					}
					begun := time.Now()
					first, err := h.ask(engine.ActionRefresh, 20)
					require.NoError(t, err)
					assert.Equal(t, takes, time.Since(begun))
					assert.Equal(t, without(gone, 20), sources(first))
					assert.Equal(t, missing, first.Degraded)
					assert.True(t, first.HasMore)

					h.are[source] = healthySource
					again, err := h.ask(engine.ActionRefresh, 20)
					require.NoError(t, err)
					assert.Equal(t, without(feed.SourceScore, 20), sources(again), "the next refresh has it again")
					assert.Nil(t, again.Degraded)
					for _, id := range feed.IDs(refs(again)) {
						assert.NotContains(t, feed.IDs(refs(first)), id)
					}
				})
			})
		}
	}
}

func refs(a engine.Answer) []feed.Ref {
	out := make([]feed.Ref, len(a.Docs))
	for i, d := range a.Docs {
		out[i] = feed.Ref{ID: d.ID, Group: d.ID}
	}
	return out
}

// TestHomeAllSourcesFail checks that the call fails: an empty page would claim that there is
// nothing. An answer of the promoted source does not count, because promoted items alone fill no
// page.
func TestHomeAllSourcesFail(t *testing.T) {
	t.Parallel()
	for _, is := range []condition{slowSource, failingSource} {
		for _, promoted := range []condition{is, healthySource, emptySource} {
			t.Run(fmt.Sprint(is, ", promoted ", promoted), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					h := newHome(t)
					refresh := func(limit int, are condition, takes time.Duration) (engine.Answer, error) {
						clear(h.are)
						if are != healthySource {
							h.are = map[feed.Source]condition{
								feed.SourceFollowing: are, feed.SourceTrending: are, feed.SourceDiscovery: are, feed.SourcePromoted: promoted,
							}
						}
						begun := time.Now()
						a, err := h.ask(engine.ActionRefresh, limit)
						assert.Equal(t, takes, time.Since(begun))
						return a, err
					}
					takes := map[condition]time.Duration{slowSource: sourceFor}[is]
					_, err := refresh(20, is, takes)
					require.ErrorIs(t, err, recall.ErrUnavailable)

					first, err := refresh(5, healthySource, 0)
					require.NoError(t, err)
					require.Len(t, first.Docs, 5)
					old, err := refresh(5, is, takes)
					require.NoError(t, err, "the session of before goes on")
					assert.Equal(t, without(feed.SourceScore, 10)[5:], sources(old))
					assert.Equal(t, []string{"recall"}, old.Degraded)
				})
			})
		}
	}
}

// endsEarly proposes some items, and fails when asked for more.
type endsEarly []feed.Item

func (e endsEarly) Propose(_ context.Context, q feed.Query) (recall.Proposals, error) {
	if q.After != "" {
		return recall.Proposals{}, recall.ErrUnavailable
	}
	out := recall.Proposals{Next: "more"}
	for _, it := range e {
		out.Proposals = append(out.Proposals, recall.Proposal{Candidate: feed.Candidate{ID: it.ID, Group: it.Group(), UpdateTime: it.UpdateTime}})
	}
	return out, nil
}

// TestHomeLastSourceFailsLater checks that the items proposed so far make a page, although the
// source fails when asked for more.
func TestHomeLastSourceFailsLater(t *testing.T) {
	t.Parallel()
	trends := newestLast("trend", 5)
	h := homeOf(t, trends, nil, func(s *engine.Stores, _ *engine.Config) { s.Home.Trending = endsEarly(trends) })
	h.are[feed.SourceFollowing], h.are[feed.SourceDiscovery] = failingSource, failingSource
	page, err := h.ask(engine.ActionRefresh, 20)
	require.NoError(t, err)
	assert.Len(t, page.Docs, 5)
	assert.Equal(t, []string{"following", "trending", "discovery"}, page.Degraded)
}

func TestHomeAllSourcesEmpty(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, s := range []feed.Source{feed.SourceFollowing, feed.SourceTrending, feed.SourceDiscovery, feed.SourcePromoted} {
		h.are[s] = emptySource
	}
	page, err := h.ask(engine.ActionRefresh, 20)
	require.NoError(t, err)
	assert.Empty(t, page.Docs)
	assert.False(t, page.HasMore)
	assert.Nil(t, page.Degraded)
}

// TestHomePromotedOrder checks that promoted items retain the order in which the source
// has drawn them by weight, whatever their scores.
func TestHomePromotedOrder(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var got []string
	for range 6 {
		page, err := h.ask(engine.ActionLoadMore, 20)
		require.NoError(t, err)
		for i, d := range page.Docs {
			if page.Refs[i].Source == feed.SourcePromoted {
				got = append(got, d.ID)
			}
		}
	}
	assert.Equal(t, "promo_00 promo_01 promo_02 promo_03 promo_04", strings.Join(got, " "))
}

// TestHomeItemInSeveralSources checks that an item proposed by several sources belongs to
// the first of following, trending and discovery, or is promoted. Promoting an item removes it for
// no reader who would get it anyway.
func TestHomeItemInSeveralSources(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			owner := map[string]feed.Source{}
			for i := range 40 {
				owner[fmt.Sprintf("post:%02d", i)] = feed.SourceFollowing
			}
			discovered := items(60)
			for _, it := range discovered {
				owner[it.ID] = feed.SourceDiscovery
			}
			some := func(from []feed.Item) (list []feed.Item) {
				for _, at := range random.Perm(len(from))[:random.IntN(len(from))] {
					list = append(list, from[at])
				}
				return list
			}
			trends := some(discovered)
			for _, it := range trends {
				owner[it.ID] = feed.SourceTrending
			}
			promoted := some(slices.Concat(discovered, newestLast("promo", 4)))
			may := map[string]bool{}
			for _, it := range promoted {
				may[it.ID] = true
			}
			h := homeOf(t, trends, promoted)
			met := map[string]bool{}
			for {
				page, err := h.ask(engine.ActionLoadMore, 1+random.IntN(40))
				require.NoError(t, err)
				if len(page.Docs) == 0 {
					break
				}
				for i, d := range page.Docs {
					require.False(t, met[d.ID], d.ID)
					met[d.ID] = true
					if page.Refs[i].Source == feed.SourcePromoted {
						require.True(t, may[d.ID], d.ID)
						continue
					}
					require.Equal(t, owner[d.ID], page.Refs[i].Source, d.ID)
				}
			}
			for id, source := range owner {
				require.True(t, met[id], "%s of %s never came", id, source)
			}
		})
	}
}

// TestHomeAllPromoted checks that pages are full, and that promoted items have no more than their
// positions.
func TestHomeAllPromoted(t *testing.T) {
	t.Parallel()
	h := homeOf(t, nil, items(60))
	h.are[feed.SourceFollowing] = emptySource
	var all []feed.Source
	for range 3 {
		page, err := h.ask(engine.ActionLoadMore, 20)
		require.NoError(t, err)
		require.Len(t, page.Docs, 20)
		all = append(all, sources(page)...)
	}
	for i, source := range all {
		want := feed.SourceDiscovery
		if i%20 == 8 {
			want = feed.SourcePromoted
		}
		require.Equal(t, want, source, "position %d", i+1)
	}
}

// TestShownAgainPromotedOnce checks that promoted items are not repeated on a page of items
// that were shown before.
func TestShownAgainPromotedOnce(t *testing.T) {
	t.Parallel()
	h := homeOf(t, nil, slices.Concat(newestLast("promo", 5), items(30)), showsAgain)
	h.are[feed.SourceFollowing] = emptySource
	var shown []string
	for range 6 {
		page, err := h.ask(engine.ActionLoadMore, 20)
		require.NoError(t, err)
		shown = append(shown, docIDs(page)...)
	}
	require.Len(t, shown, 63, "sixty items, and what was promoted on positions 9, 29 and 49")
	h.rig.settled(t)
	page, err := h.ask(engine.ActionRefresh, 50)
	require.NoError(t, err)
	ids := docIDs(page)
	require.NotEmpty(t, ids)
	slices.Sort(ids)
	require.Equal(t, slices.Compact(slices.Clone(ids)), ids)
}

// TestShownAgainSource checks that items shown again have their source, and that posts of
// unfollowed authors are not shown again.
func TestShownAgainSource(t *testing.T) {
	t.Parallel()
	h := homeOf(t, nil, nil, showsAgain)
	for range 5 {
		page, err := h.ask(engine.ActionLoadMore, 20)
		require.NoError(t, err)
		require.Len(t, page.Docs, 20)
	}
	h.rig.settled(t)
	explained, err := h.engine.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Feed: feed.HomeFeed, Limit: 50})
	require.NoError(t, err)
	page, err := h.ask(engine.ActionRefresh, 50)
	require.NoError(t, err)
	require.Len(t, page.Docs, 50)
	for i, c := range explained.Page() {
		want := feed.SourceDiscovery
		if feed.IsPost(page.Docs[i].ID) {
			want = feed.SourceFollowing
		}
		require.Equal(t, want, page.Refs[i].Source, page.Docs[i].ID)
		require.True(t, page.Refs[i].ShownBefore)
		require.Equal(t, page.Docs[i].ID, c.ID)
		require.Equal(t, want.String(), c.Variety.Source)
	}
	h.rig.settled(t)
	page, err = h.ask(engine.ActionRefresh, 1)
	require.NoError(t, err)
	require.Equal(t, []feed.Source{feed.SourceFollowing}, sources(page))
	_, err = h.net.Store.Unfollow(t.Context(), "u_1", "ann", time.Time{})
	require.NoError(t, err)
	page, err = h.ask(engine.ActionLoadMore, 100)
	require.NoError(t, err)
	require.NotEmpty(t, page.Docs)
	for _, d := range page.Docs {
		require.False(t, feed.IsPost(d.ID), d.ID)
	}
}
