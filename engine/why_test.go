package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/recall"
)

func asking(r engine.Request) engine.Request {
	r.Why = true
	return r
}

func because(types ...api.ReasonType) []api.Reason {
	out := []api.Reason{}
	for _, t := range types {
		out = append(out, api.Reason{Type: t})
	}
	return out
}

// likes returns reasons of one type, in order.
func likes(t api.ReasonType, values ...string) []api.Reason {
	out := []api.Reason{}
	for _, v := range values {
		out = append(out, api.Reason{Type: t, Value: v})
	}
	return out
}

func both(lists ...[]api.Reason) (out []api.Reason) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

func TestWhy(t *testing.T) {
	t.Parallel()
	const old = 50 * time.Hour
	tagged := func(id string, age time.Duration, tags ...string) feed.Item { return aged(id, "", age, tags...) }
	titled := func(id, title, summary string) feed.Item {
		it := aged(id, "", old)
		it.Title, it.Summary = title, summary
		return it
	}
	liked := func(it feed.Item, likes int64) feed.Item {
		it.Likes = likes
		return it
	}
	interests := func(tags map[string]float64) feed.Profile { return feed.Profile{Interests: tags} }
	goes := interests(map[string]float64{"go": 1})
	for name, tt := range map[string]struct {
		profile feed.Profile
		ranking string // changes of the ranking
		items   []feed.Item
		want    map[string][]api.Reason // by item of the page
	}{
		"an interest": {
			profile: goes, items: []feed.Item{tagged("a", old, "go", "web")},
			want: map[string][]api.Reason{"a": likes(api.ReasonInterest, "go")},
		},
		"a keyword": {
			profile: feed.Profile{Keywords: feed.Keywords("Machine Learning")},
			items:   []feed.Item{titled("a", "On machine learning", ""), titled("b", "The learning machine", "")},
			want:    map[string][]api.Reason{"a": likes(api.ReasonKeyword, "Machine Learning"), "b": {}},
		},
		"both, the one that adds more first": {
			profile: feed.Profile{Interests: map[string]float64{"go": 0.6}, Keywords: feed.Keywords("rust")},
			items: []feed.Item{
				func() feed.Item { it := titled("title", "Rust", ""); it.Tags = []string{"go"}; return it }(),
				func() feed.Item { it := titled("summary", "It", "of rust"); it.Tags = []string{"go"}; return it }(),
			},
			want: map[string][]api.Reason{
				"title":   both(likes(api.ReasonKeyword, "rust"), likes(api.ReasonInterest, "go")),
				"summary": both(likes(api.ReasonInterest, "go"), likes(api.ReasonKeyword, "rust")),
			},
		},
		"neither": {
			profile: goes, items: []feed.Item{tagged("a", old, "cats")},
			want: map[string][]api.Reason{"a": {}},
		},
		"what was learned for it, not against": {
			ranking: "base=0.1,learned.tags=2,learned.words=1,learned.author=1,learned.negative=0.5",
			profile: feed.Profile{Learned: feed.Learned{At: 1 << 40, Features: []feed.LearnedFeature{
				{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "go"}, Evidence: 9},
				{Feature: feed.Feature{Kind: feed.FeatureWord, Value: "about"}, Evidence: 9},
				{Feature: feed.Feature{Kind: feed.FeatureAuthor, Value: "ann"}, Evidence: -9},
			}}},
			items: []feed.Item{func() feed.Item {
				it := titled("a", "About go", "")
				it.Tags, it.AuthorID = []string{"go"}, "ann"
				return it
			}()},
			want: map[string][]api.Reason{"a": {
				{Type: api.ReasonLearned, Value: "go", Kind: feed.FeatureTag}, {Type: api.ReasonLearned, Value: "about", Kind: feed.FeatureWord},
			}},
		},
		"no profile": {
			items: []feed.Item{tagged("a", old, "go"), tagged("new", time.Hour)},
			want:  map[string][]api.Reason{"a": {}, "new": because(api.ReasonFresh)},
		},
		"an interest that weighs nothing": {
			profile: interests(map[string]float64{"go": 0}), items: []feed.Item{tagged("a", old, "go")},
			want: map[string][]api.Reason{"a": {}},
		},
		"what is muted is not there, the rest is": {
			profile: feed.Profile{Interests: map[string]float64{"go": 1, "web": 1}, MutedTags: []string{"web"}},
			items:   []feed.Item{tagged("a", old, "go"), tagged("muted", old, "go", "web")},
			want:    map[string][]api.Reason{"a": likes(api.ReasonInterest, "go")},
		},
		"a post": {
			profile: goes, items: []feed.Item{tagged("post:a", old, "go"), tagged("post:b", old)},
			want: map[string][]api.Reason{"post:a": likes(api.ReasonInterest, "go"), "post:b": {}},
		},
		"three at most, equal ones by name": {
			profile: interests(map[string]float64{"a": 1, "b": 2, "c": 1, "d": 1}), items: []feed.Item{tagged("x", old, "d", "c", "b", "a")},
			want: map[string][]api.Reason{"x": likes(api.ReasonInterest, "b", "a", "c")},
		},
		"equal ones of two types": {
			profile: feed.Profile{Interests: map[string]float64{"rust": 1}, Keywords: feed.Keywords("about")},
			items:   []feed.Item{func() feed.Item { it := titled("a", "About Rust", ""); it.Tags = []string{"rust"}; return it }()},
			want:    map[string][]api.Reason{"a": both(likes(api.ReasonInterest, "rust"), likes(api.ReasonKeyword, "about"))},
		},
		// An item a day old has a decay of 0.529. From 1.5 times that on an item is fresh, up to an
		// age of 14.8 hours.
		"fresh against an item a day old": {
			items: []feed.Item{tagged("a", 14*time.Hour), tagged("b", 16*time.Hour)},
			want:  map[string][]api.Reason{"a": because(api.ReasonFresh), "b": {}},
		},
		"nothing is fresh where age hardly counts": {
			ranking: "scale=8760h", items: []feed.Item{tagged("a", time.Minute)},
			want: map[string][]api.Reason{"a": {}},
		},
		"nothing is fresh above a high floor": {
			ranking: "floor=0.9", items: []feed.Item{tagged("a", time.Minute)},
			want: map[string][]api.Reason{"a": {}},
		},
		"fresh is not what has lost half of its score": {
			ranking: "scale=10m,offset=0s", items: []feed.Item{tagged("a", 10*time.Minute), tagged("b", 11*time.Minute)},
			want: map[string][]api.Reason{"a": because(api.ReasonFresh), "b": {}},
		},
		"a decay that vanishes": {
			ranking: "scale=1m,offset=0s,floor=0", profile: goes, items: []feed.Item{tagged("a", 0, "go"), tagged("b", time.Minute)},
			want: map[string][]api.Reason{"a": both(because(api.ReasonFresh), likes(api.ReasonInterest, "go")), "b": because(api.ReasonFresh)},
		},
		// 1 + 0.25·log10(1 + 99) = 1.5
		"popular from a factor of 1.5 on": {
			ranking: "weight=0.25", items: []feed.Item{liked(tagged("a", old), 99), liked(tagged("b", old), 98)},
			want: map[string][]api.Reason{"a": because(api.ReasonPopular), "b": {}},
		},
		"popularity that counts for nothing": {
			items: []feed.Item{liked(tagged("a", old), 99999)},
			want:  map[string][]api.Reason{"a": {}},
		},
		// Shares of the score: 0.75 popular, 0.5 interest, 0.47 fresh.
		"in the order of what they add": {
			ranking: "weight=1", profile: interests(map[string]float64{"go": 0.1}),
			items: []feed.Item{liked(tagged("a", time.Hour, "go"), 999)},
			want: map[string][]api.Reason{
				"a": both(because(api.ReasonPopular), likes(api.ReasonInterest, "go"), because(api.ReasonFresh)),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ranking := dayLong()
			ranking.KeywordsSummary = 0.5
			var err error
			if tt.ranking != "" {
				ranking, err = ranking.With(tt.ranking)
				require.NoError(t, err)
			}
			r := newRig(t, 0, func(_ *engine.Stores, cfg *engine.Config) { cfg.Rankings = &feed.Live{Ranking: ranking} })
			r.put(t, tt.items...)
			require.NoError(t, r.PutProfile(t.Context(), "u_1", tt.profile))
			a := r.ask(t, asking(refresh(10)))
			assert.Equal(t, tt.want, whys(t, a))
			assert.Nil(t, a.Degraded)
		})
	}
}

// whys returns the reasons of an answer by item, or nil if it has none.
func whys(t *testing.T, a engine.Answer) map[string][]api.Reason {
	t.Helper()
	if a.Why == nil {
		return nil
	}
	require.Len(t, a.Why, len(a.Docs))
	out := map[string][]api.Reason{}
	for i, doc := range a.Docs {
		out[doc.ID] = a.Why[i]
	}
	return out
}

// Every kind of page has the reasons for its items if the request asks for them.
func TestWhyEveryPage(t *testing.T) {
	t.Parallel()
	r := newRig(t, 0, nil)
	for i, it := range items(9) {
		if i%2 == 0 {
			it.Tags = []string{"go"}
		}
		r.put(t, it)
	}
	require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"go": 1}}))
	liked := both(likes(api.ReasonInterest, "go"), because(api.ReasonFresh))
	fresh := because(api.ReasonFresh)

	assert.Equal(t, map[string][]api.Reason{"i000": liked, "i002": liked}, whys(t, r.ask(t, asking(silent(2)))))
	first := r.ask(t, asking(named(refresh(3), "r1")))
	assert.Equal(t, map[string][]api.Reason{"i000": liked, "i002": liked, "i004": liked}, whys(t, first))
	assert.Equal(t, map[string][]api.Reason{"i006": liked, "i008": liked, "i001": fresh}, whys(t, r.ask(t, asking(named(loadMore(3), "r2")))))

	assert.Equal(t, whys(t, first), whys(t, r.ask(t, asking(named(refresh(3), "r1")))), "a retry")
	plain := r.ask(t, named(refresh(3), "r1"))
	assert.Equal(t, docIDs(first), docIDs(plain))
	assert.Nil(t, plain.Why, "a retry that does not ask")

	require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{}))
	assert.Equal(t, map[string][]api.Reason{"i000": fresh, "i002": fresh, "i004": fresh}, whys(t, r.ask(t, asking(named(refresh(3), "r1")))),
		"the reasons are those of now")

	r.seen.down(dedup.ErrUnavailable)
	assert.Equal(t, map[string][]api.Reason{"i003": fresh}, whys(t, r.ask(t, asking(refresh(1)))), "without the dedup store")
	assert.Equal(t, 6, r.recall.count("Explain"))
}

// A request that does not ask for reasons gets the same page without them, and no source is
// queried for them.
func TestWithoutWhy(t *testing.T) {
	t.Parallel()
	asked, plain := newRig(t, 5, nil), newRig(t, 5, nil)
	for _, q := range []engine.Request{silent(2), refresh(2), loadMore(2), loadMore(2), loadMore(2)} {
		with, without := asked.ask(t, asking(q)), plain.ask(t, q)
		assert.Equal(t, len(with.Docs) > 0, with.Why != nil)
		with.Why = nil
		assert.Equal(t, without, with)
	}
	assert.Zero(t, plain.recall.count("Explain"))
	assert.Equal(t, 4, asked.recall.count("Explain"), "an empty page asks nothing")
}

var errDown = errors.New("down")

// hanging is a source whose explanations never come.
type hanging struct{ recall.Source }

func (hanging) Explain(ctx context.Context, _ feed.Query, _ []string) ([]recall.Factors, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// Missing reasons cost neither a page nor an item of it.
func TestWhyFailureKeepsPage(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]func(recall.Source) recall.Source{
		"down": func(s recall.Source) recall.Source {
			faulty := &faultySource{Source: s}
			faulty.down(recall.ErrUnavailable, "Explain")
			return faulty
		},
		"an answer that cannot be read": func(s recall.Source) recall.Source {
			faulty := &faultySource{Source: s}
			faulty.down(errDown, "Explain")
			return faulty
		},
		"slow":           func(s recall.Source) recall.Source { return hanging{s} },
		"it cannot tell": func(s recall.Source) recall.Source { return unexplained{s} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const roundsFor = 500 * time.Millisecond
				r := newRig(t, 10, func(s *engine.Stores, cfg *engine.Config) {
					s.Recall = source(s.Recall)
					cfg.RoundsFor = roundsFor
				})
				for i, q := range []engine.Request{asking(refresh(3)), asking(loadMore(3))} {
					begun := time.Now()
					a := r.ask(t, q)
					assert.Equal(t, run(3*i, 3*i+3), docIDs(a))
					assert.Nil(t, a.Why)
					assert.Equal(t, []string{"why"}, a.Degraded)
					if name == "slow" {
						assert.Equal(t, roundsFor, time.Since(begun))
					} else {
						assert.Zero(t, time.Since(begun), "nothing is waited for")
					}
				}
				assert.Equal(t, run(0, 6), r.recorder.groups(), "they count as shown")
				r.wants(t, loadMore(4), run(6, 10), false)
			})
		})
	}
}

// While recall is down the page is from the previous session, and both degradations are reported.
func TestWhyRecallDown(t *testing.T) {
	t.Parallel()
	r := newRig(t, 10, nil)
	r.ask(t, refresh(3))
	r.recall.down(recall.ErrUnavailable)
	a := r.ask(t, asking(refresh(3)))
	assert.Equal(t, run(3, 6), docIDs(a))
	assert.Equal(t, []string{"recall", "why"}, a.Degraded)
	assert.Nil(t, a.Why)
}
