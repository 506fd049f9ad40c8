package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// TestHomeAffinity checks that likes, replies and clicks count, and that none of them is read
// when the affinity is off.
func TestHomeAffinity(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		ranking string
		learned []feed.LearnedFeature
		want    float64
	}{
		"a like and a reply":    {want: 2},
		"and ten clicks":        {learned: []feed.LearnedFeature{clicked("ann", 10), clicked("bob", 90)}, want: 4},
		"what is no author":     {learned: []feed.LearnedFeature{{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "ann"}, ActCounts: feed.ActCounts{Clicks: 10}}}, want: 2},
		"of the last day alone": {ranking: "home.affinity_days=1", want: 0},
		"off":                   {ranking: "home.affinity=0", learned: []feed.LearnedFeature{clicked("ann", 10)}, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ranking := feed.DefaultRanking()
			if test.ranking != "" {
				ranking = must(ranking.With(test.ranking))
			}
			profiles := learnedProfiles{learned: feed.Learned{At: rankedAt.Unix(), Features: test.learned}}
			h := newHome(t, func(s *engine.Stores, cfg *engine.Config) {
				cfg.Rankings = &feed.Live{Ranking: ranking}
				profiles.Catalog, s.Catalog = s.Catalog, &profiles
			})
			_, _, err := h.net.Store.Like(t.Context(), "u_1", "post:01")
			require.NoError(t, err)
			_, _, err = h.net.Store.CreatePost(t.Context(), social.Post{Author: "u_1", Caption: "Indeed", ReplyTo: "post:02"}, social.Creation{})
			require.NoError(t, err)
			h.rig.advance(48 * time.Hour)
			x, err := h.engine.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Feed: feed.HomeFeed, Limit: 20})
			require.NoError(t, err)
			found := 0
			for _, c := range x.Candidates {
				if c.Source == "following" {
					assert.InDelta(t, test.want, c.Affinity.N, 1e-9)
					found++
				}
			}
			assert.NotZero(t, found)
		})
	}
}

// learnedProfiles has one profile, with these learned features.
type learnedProfiles struct {
	catalog.Catalog
	learned feed.Learned
}

func (p *learnedProfiles) Profile(context.Context, string) (feed.Profile, error) {
	return feed.Profile{Learned: p.learned}, nil
}

func clicked(author string, n int) feed.LearnedFeature {
	return feed.LearnedFeature{Feature: feed.Feature{Kind: feed.FeatureAuthor, Value: author}, Evidence: 1, ActCounts: feed.ActCounts{Clicks: n}}
}
