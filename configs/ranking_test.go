package configs_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
)

const (
	curvesYAML = `
ranking:
  curves:
    - {shape: exp, scale: 12m, weight: 0.6}
    - {shape: gauss, scale: 120h, offset: 1h, decay: 0.3, weight: 0.4}
    - {shape: constant, weight: 0.02}
`
	curvesJSON = `[{"shape":"exp","scale":"12m","weight":0.6},{"shape":"gauss","scale":"120h","offset":"1h","decay":0.3,"weight":0.4},{"shape":"constant","weight":0.02}]`
)

// TestRankingFromEveryLayer: each layer changes only the parameters it names, as "freshet ranking
// set" does.
func TestRankingFromEveryLayer(t *testing.T) {
	file := func(text string) string { return write(t, text) }
	for name, tt := range map[string]struct {
		options configs.Options
		want    string // changes from the default
	}{
		"nothing":                      {configs.Options{}, ""},
		"a list in the file":           {configs.Options{Path: file(curvesYAML)}, "curves=" + curvesJSON},
		"a preset in the file":         {configs.Options{Path: file("ranking: {curves: single}")}, "curves=single"},
		"a preset with another floor":  {configs.Options{Path: file("ranking: {floor: 0.1, curves: two}")}, "curves=two,floor=0.1"},
		"a Gaussian in the file":       {configs.Options{Path: file("ranking: {scale: 48h}")}, "scale=48h"},
		"names of several parts":       {configs.Options{Path: file("ranking: {author.decay: 0.5, home.decay: 1, weight_2h: 2}")}, "author.decay=0.5,home.decay=1,weight_2h=2"},
		"the same in sections":         {configs.Options{Path: file("ranking: {author: {decay: 0.5}, home: {decay: 1}}")}, "author.decay=0.5,home.decay=1"},
		"a text in the file":           {configs.Options{Path: file(`ranking: "base=0.2,weight=1"`)}, "base=0.2,weight=1"},
		"an empty section":             {configs.Options{Path: file("ranking: {}")}, ""},
		"an empty value":               {configs.Options{Path: file("ranking: {base: }")}, ""},
		"a variable":                   {configs.Options{Environ: []string{"FRESHET_RANKING=base=0.2,curves=" + curvesJSON}}, "base=0.2,curves=" + curvesJSON},
		"a flag":                       {configs.Options{Flags: flags(t, "--ranking", "learned.half_life=24h")}, "learned.half_life=24h"},
		"each over the one before":     {configs.Options{Path: file("ranking: {base: 0.2, weight: 1}"), Environ: []string{"FRESHET_RANKING=weight=2,summary=1"}, Flags: flags(t, "--ranking=summary=0")}, "base=0.2,weight=2,summary=0"},
		"a preset over the file's":     {configs.Options{Path: file(curvesYAML), Environ: []string{"FRESHET_RANKING=curves=single"}}, "curves=single"},
		"scale over the file's curves": {configs.Options{Path: file(curvesYAML), Environ: []string{"FRESHET_RANKING=scale=72h"}}, "scale=72h"},
	} {
		c, err := configs.Load(tt.options)
		require.NoError(t, err, name)
		want, err := feed.DefaultRanking().With(tt.want)
		require.NoError(t, err, name)
		assert.Equal(t, want, c.Ranking, name)

		var printed bytes.Buffer
		require.NoError(t, configs.Print(&printed, c))
		again, err := configs.Load(configs.Options{Path: file(printed.String())})
		require.NoError(t, err, "%s: %s", name, printed.String())
		c.Origins, again.Origins = nil, nil
		assert.Equal(t, c, again, name)
	}
}

func TestInvalidRanking(t *testing.T) {
	for text, want := range map[string]string{
		"curves=three": `ranking.curves must be a list of curves or the name of a preset, single or two, not "three"`,
		`curves=[{"shape":"gauss","scale":"1h"},{"shape":"exp","scale":"0s"}]`: "ranking.curves[1].scale must be at least 1s",
		`curves=[{"shape":"gauss"}]`:                     "decay.curves[0].scale is missing",
		`curves=[{"shape":"exp","scale":"1h","half":2}]`: `unknown field "half"`,
		`curves=[{"shape":"exp"`:                         "bad JSON",
		"base=0":                                         "ranking.base must be greater than 0",
		"base=NaN":                                       "ranking.base must be greater than 0",
		"base=high":                                      `ranking.base must be a number, not "high"`,
		"scale=0s":                                       "ranking.scale must be at least 1s",
		"scale=9":                                        "must be a duration",
		"site.floor=1.1":                                 "ranking.site.floor must be 0 to 1",
		"learned.half_life=1m":                           "ranking.learned.half_life must be 1h to 87600h",
		"bass=1":                                         `ranking cannot be used: unknown parameter "bass"; known are scale, offset`,
		"base":                                           "ranking.base must be a number",
	} {
		_, err := configs.Load(configs.Options{Environ: []string{"FRESHET_RANKING=" + text}})
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, "FRESHET_RANKING", text)
	}
	for text, want := range map[string]string{
		"{curves: 12}":              "ranking.curves must",
		"{curves: two, scale: 48h}": "set one or the other",
		"{curves: {shape: gauss}}":  `"curves.shape"`,
		"{base: true}":              "ranking.base must be a number, a duration or curves, not true",
		"{base: [1]}":               "ranking.base must be a number",
		"{bass: 1}":                 `unknown parameter "bass"`,
		`{bass: ""}`:                `unknown parameter "bass"`,
		`{base: ""}`:                "ranking.base must be",
		"{decay: {scale: 1h}}":      `unknown parameter "decay.scale"`,
	} {
		_, err := configs.Load(configs.Options{Path: write(t, "ranking: "+text)})
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, "freshet.yaml", text)
	}
	for _, variable := range []string{"FRESHET_RANKING_BASE=1", "FRESHET_RANKING_DECAY_SCALE=1h", "FRESHET_RANKING_LEARNED_HALF_LIFE=1h"} {
		_, err := configs.Load(configs.Options{Environ: []string{variable}})
		name, _, _ := strings.Cut(variable, "=")
		require.ErrorContains(t, err, name+" is not a setting; the nearest is FRESHET_RANKING")
	}
	c := configs.Default()
	c.Ranking.Decay.Curves[0].Scale = -time.Hour
	require.ErrorContains(t, c.Validate(), "ranking.curves[0].scale")
}
