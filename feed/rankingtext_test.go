package feed_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

var standard = feed.Ranking{
	Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}, PopularityWeight: 0.25, Popularity2h: 1.5, Popularity2d: 0.2, Base: 0.1, KeywordsSummary: 0.5,
	Diversity: feed.Diversity{Author: feed.Spread{Decay: 1}, Site: feed.Spread{Decay: 1}, Tag: feed.Spread{Decay: 1}},
	Learned:   feed.LearnedWeights{HalfLife: feed.DefaultLearnedHalfLife}, CoRead: feed.CoRead{Scale: 0.1}, Home: feed.DefaultHome,
}

// theRest is the JSON of the parameters that [standard] has in common with a ranking that was stored before they existed.
const theRest = `"diversity":{"author":{"decay":1,"floor":0},"site":{"decay":1,"floor":0},"tag":{"decay":1,"floor":0},"same_story":0},"explore":{"share":0},` +
	`"learned":{"tags":0,"author":0,"lang":0,"words":0,"negative":0,"half_life":"720h"},"co_read":{"weight":0,"scale":0.1},"home":{"decay":0.02,"following":1,"trending":0.6,"promoted":0.8,"affinity":0.5,"affinity_days":30}`

func TestRankingJSON(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(standard)
	require.NoError(t, err)
	assert.JSONEq(t, `{"decay":{"scale":"24h","offset":"1h","decay":0.5,"floor":0.000001},"popularity":{"weight":0.25,"weight_2h":1.5,"weight_2d":0.2,"weight_1h":0,"weight_6h":0,"weight_1d":0,"weight_7d":0},"base":0.1,"keywords":{"summary":0.5},`+theRest+`}`, string(text))
	var back feed.Ranking
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, standard, back)

	var stored feed.Ranking
	require.NoError(t, json.Unmarshal([]byte(`{"decay":{"scale":"24h","offset":"1h","decay":0.5,"floor":0.000001},"popularity":{"weight":0.25},"base":0.1}`), &stored))
	old := standard
	old.Popularity2h, old.Popularity2d = 0, 0
	old.Diversity, old.Learned, old.CoRead, old.Home = feed.Diversity{}, feed.LearnedWeights{}, feed.CoRead{}, feed.Home{}
	assert.Equal(t, old, stored, "one that was stored before there were keywords.summary and live popularity")

	changed := standard
	require.NoError(t, json.Unmarshal([]byte(`{"decay":{"scale":"90m"}}`), &changed))
	want := standard
	want.Decay.Scale = 90 * time.Minute
	assert.Equal(t, want, changed, "what is not named stays")

	for _, bad := range []string{`{"scale":"1h"}`, `{"decay":{"scale":24}}`, `{"decay":{"scale":"24"}}`, `[]`, `{"base":"x"}`} {
		r := standard
		require.ErrorIs(t, r.Propose([]byte(bad)), feed.ErrInvalid, bad)
	}
}

// TestRankingNewerVersion reads rankings as a newer version may store them: unknown fields are
// ignored, although a proposed ranking must not have any.
func TestRankingNewerVersion(t *testing.T) {
	t.Parallel()
	curves := standard
	curves.Decay = feed.Decay{Curves: feed.Curves{{Shape: feed.Exp, Scale: time.Hour, Decay: 0.5, Weight: 1}}}
	for stored, want := range map[string]feed.Ranking{
		`{"decay":{"scale":"24h","offset":"1h","decay":0.5,"floor":0.000001,"jitter":{"a":[1]}},"popularity":{"weight":0.25,"weight_2h":1.5,"weight_2d":0.2,"weight_2w":9},"base":0.1,"keywords":{"summary":0.5},"mood":null,` + theRest + `}`:                                     standard,
		`{"decay":{"curves":[{"shape":"exp","scale":"1h","decay":0.5,"weight":1,"skew":2}],"floor":0},"popularity":{"weight":0.25,"weight_2h":1.5,"weight_2d":0.2,"weight_1h":0,"weight_6h":0,"weight_1d":0,"weight_7d":0},"base":0.1,"keywords":{"summary":0.5},` + theRest + `}`: curves,
	} {
		var r feed.Ranking
		require.NoError(t, json.Unmarshal([]byte(stored), &r), stored)
		assert.Equal(t, want, r)
		assert.ErrorIs(t, r.Propose([]byte(stored)), feed.ErrInvalid)
	}
	var r feed.Ranking
	require.ErrorIs(t, r.UnmarshalJSON([]byte(`{"base":"much"}`)), feed.ErrInvalid)
}

func TestRankingWith(t *testing.T) {
	t.Parallel()
	r, err := standard.With(" scale=72h, offset=2h,decay=0.4,floor=0,weight=1,weight_2h=3,weight_2d=4,base=2,summary=1 ")
	require.NoError(t, err)
	assert.Equal(t, feed.Ranking{
		Decay: feed.Decay{Scale: 72 * time.Hour, Offset: 2 * time.Hour, Decay: 0.4}, PopularityWeight: 1, Popularity2h: 3, Popularity2d: 4, Base: 2, KeywordsSummary: 1,
		Diversity: standard.Diversity, Learned: standard.Learned, CoRead: standard.CoRead, Home: standard.Home,
	}, r)
	r, err = standard.With("")
	require.NoError(t, err)
	assert.Equal(t, standard, r)
	for _, bad := range []string{"scale", "scale=1", "sale=1h", "base=0", "decay=1", "weight=x", "weight_2h=-1", "weight_2d=1001", "summary=1.1", "summary=-1", "summary=NaN"} {
		_, err := standard.With(bad)
		require.ErrorIs(t, err, feed.ErrInvalid, bad)
	}
}

func TestLiveFor(t *testing.T) {
	t.Parallel()
	slow := standard
	slow.Decay.Scale = 72 * time.Hour
	b := feed.Bucket("u_1")
	live := feed.Live{Ranking: standard, Variants: []feed.Variant{{Name: "slow", Ranking: slow, Parts: []feed.Part{{b, b}}}}}
	name, r := live.For("u_1")
	assert.Equal(t, "slow", name)
	assert.Equal(t, slow, r)
	name, r = live.For("u_2")
	assert.Equal(t, feed.Control, name)
	assert.Equal(t, standard, r)
	assert.Equal(t, 2813, feed.Bucket("u_10086"), "an agent stays in its bucket for ever")
}
