package feed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestChangesJSON(t *testing.T) {
	t.Parallel()
	base := feed.Ranking{Base: 0.1, Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}}
	for list, want := range map[string]string{
		"":                            `{}`,
		" , ":                         `{}`,
		"scale=72h":                   `{"decay":{"scale":"72h"}}`,
		"decay=0.3, floor=0":          `{"decay":{"decay":0.3,"floor":0}}`,
		"site.decay=0.7,site.floor=0": `{"diversity":{"site":{"decay":0.7,"floor":0}}}`,
		"same_story=0.5,tag.decay=1,author.decay=0.2,base=1": `{"base":1,
			"diversity":{"author":{"decay":0.2},"tag":{"decay":1},"same_story":0.5}}`,
		"weight=0,base=2":                  `{"popularity":{"weight":0},"base":2}`,
		"summary=0.25":                     `{"keywords":{"summary":0.25}}`,
		"offset=2h,offset=3h":              `{"decay":{"offset":"3h"}}`,
		"weight=1,weight_2h=2,weight_2d=0": `{"popularity":{"weight":1,"weight_2h":2,"weight_2d":0}}`,
		"scale=1h30m,offset=0s,decay=0.1,floor=0.5,weight=7.5,base=0.25": `{
			"decay":{"scale":"1h30m","offset":"0s","decay":0.1,"floor":0.5},"popularity":{"weight":7.5},"base":0.25}`,
	} {
		got, err := feed.ChangesJSON(list)
		require.NoError(t, err, list)
		require.JSONEq(t, want, string(got))
		fromText, err := base.With(list)
		require.NoError(t, err)
		fromJSON := base
		require.NoError(t, fromJSON.UnmarshalJSON(got))
		require.Equal(t, fromText, fromJSON, list)
	}
	for _, list := range []string{"speed=3", "scale", "scale=3 days", "decay=half", "72h", "site=1", "site.decay=0", "group.decay=1"} {
		_, err := feed.ChangesJSON(list)
		require.ErrorIs(t, err, feed.ErrInvalid, list)
	}
}
