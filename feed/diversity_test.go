package feed_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestDiversityJSON(t *testing.T) {
	t.Parallel()
	r := standard
	r.Diversity = feed.Diversity{Author: feed.Spread{Decay: 0.8, Floor: 0.3}, Tag: feed.Spread{Decay: 1, Floor: 0.5}, SameStory: 0.6}
	text, err := json.Marshal(r)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"diversity":{"author":{"decay":0.8,"floor":0.3},"site":{"decay":1,"floor":0},"tag":{"decay":1,"floor":0.5},"same_story":0.6}`)

	changed := r
	require.NoError(t, json.Unmarshal([]byte(`{"diversity":{"site":{"decay":0.7},"same_story":0}}`), &changed))
	want := r
	want.Diversity.Site.Decay, want.Diversity.SameStory = 0.7, 0
	assert.Equal(t, want, changed, "what is not named stays")

	var old feed.Ranking // as stored before diversity existed
	require.NoError(t, json.Unmarshal([]byte(`{"decay":{"scale":"24h","offset":"1h","decay":0.5,"floor":0},"popularity":{"weight":0},"base":0.1}`), &old))
	require.NoError(t, old.Validate())
	assert.False(t, old.Diversity.On())

	for _, bad := range []string{`{"diversity":{"site":{"decay":0}}}`, `{"diversity":{"site":0.5}}`, `{"diversity":{"story":1}}`} {
		r := standard
		require.ErrorIs(t, r.Propose([]byte(bad)), feed.ErrInvalid, bad)
	}
}

func TestDiversityValidate(t *testing.T) {
	t.Parallel()
	for _, ok := range []feed.Diversity{
		{}, {Author: feed.Spread{Decay: 1}}, {Site: feed.Spread{Decay: 0.01, Floor: 1}}, {SameStory: 1}, {Tag: feed.Spread{Decay: 0.5, Floor: 0.5}},
	} {
		r := feed.DefaultRanking()
		r.Diversity = ok
		require.NoError(t, r.Validate(), "%+v", ok)
	}
	for list, want := range map[string]string{
		"author.decay=1.1":  "diversity.author.decay must be greater than 0 and at most 1",
		"site.decay=-1":     "diversity.site.decay must be",
		"tag.floor=0.5":     "diversity.tag.decay must be",
		"site.decay=0":      "site.decay must be greater than 0",
		"same_story=2":      "diversity.same_story must be 0 to 1",
		"site.floor=NaN":    "diversity.site.decay must be",
		"pages.decay=0.5":   "unknown parameter",
		"author.decay=much": "must be a number",
	} {
		r := standard
		r.Diversity = feed.Diversity{} // as stored before diversity existed
		_, err := r.With(list)
		require.ErrorIs(t, err, feed.ErrInvalid, list)
		require.ErrorContains(t, err, want)
	}
	assert.False(t, feed.Diversity{Site: feed.Spread{Decay: 1}, Tag: feed.Spread{Decay: 0.5, Floor: 1}, SameStory: 1}.On())
	assert.True(t, feed.Diversity{Tag: feed.Spread{Decay: 0.5}}.On())
	assert.True(t, feed.Diversity{SameStory: 0.5}.On())
}
