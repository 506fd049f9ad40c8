package configs_test

import (
	"bytes"
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
  decay:
    curves:
      - {shape: exp, scale: 12m, weight: 0.6}
      - {shape: gauss, scale: 120h, offset: 1h, decay: 0.3, weight: 0.4}
      - {shape: constant, weight: 0.02}
`
	curvesJSON = `[{"shape":"exp","scale":"12m","weight":0.6},{"shape":"gauss","scale":"120h","offset":"1h","decay":0.3,"weight":0.4},{"shape":"constant","weight":0.02}]`
)

var someCurves = feed.Curves{
	{Shape: feed.Exp, Scale: 12 * time.Minute, Decay: 0.5, Weight: 0.6},
	{Shape: feed.Gauss, Scale: 120 * time.Hour, Offset: time.Hour, Decay: 0.3, Weight: 0.4},
	{Shape: feed.Constant, Weight: 0.02},
}

func TestCurvesFromEveryLayer(t *testing.T) {
	single, err := feed.Preset(feed.PresetSingle)
	require.NoError(t, err)
	two, err := feed.Preset(feed.PresetTwo)
	require.NoError(t, err)
	gaussian := func(scale time.Duration) feed.Decay {
		d := single
		d.Scale = scale
		return d
	}
	list := feed.Decay{Floor: single.Floor, Curves: someCurves}
	file := func(text string) string { return write(t, text) }
	for name, tt := range map[string]struct {
		options configs.Options
		want    feed.Decay
	}{
		"a list in the file":            {configs.Options{Path: file(curvesYAML)}, list},
		"a preset in the file":          {configs.Options{Path: file("ranking: {decay: {curves: two}}")}, two},
		"a preset with another floor":   {configs.Options{Path: file("ranking: {decay: {curves: two, floor: 0.1}}")}, feed.Decay{Floor: 0.1, Curves: two.Curves}},
		"single, of another scale":      {configs.Options{Path: file("ranking: {decay: {curves: single, scale: 48h}}")}, gaussian(48 * time.Hour)},
		"curves before scale in a file": {configs.Options{Path: file(curvesYAML + "    scale: 48h\n")}, list},
		"JSON in the environment":       {configs.Options{Environ: []string{"FRESHET_RANKING_DECAY_CURVES=" + curvesJSON}}, list},
		"JSON in a flag":                {configs.Options{Flags: flags(t, "--ranking.decay.curves", curvesJSON)}, list},
		"a preset in a flag":            {configs.Options{Path: file(curvesYAML), Flags: flags(t, "--ranking.decay.curves=two")}, two},
		"single over the file's curves": {configs.Options{Path: file(curvesYAML), Environ: []string{"FRESHET_RANKING_DECAY_CURVES=single"}}, single},
		"none over the file's curves":   {configs.Options{Path: file(curvesYAML + "    scale: 48h\n"), Environ: []string{"FRESHET_RANKING_DECAY_CURVES=[]"}}, gaussian(48 * time.Hour)},
		"scale over the file's curves":  {configs.Options{Path: file(curvesYAML), Environ: []string{"FRESHET_RANKING_DECAY_SCALE=72h"}}, gaussian(72 * time.Hour)},
		"scale of a file":               {configs.Options{Path: file("ranking: {decay: {scale: 72h}}")}, gaussian(72 * time.Hour)},
	} {
		c, err := configs.Load(tt.options)
		require.NoError(t, err, name)
		assert.Equal(t, tt.want, c.Parameters().Decay, name)

		var printed bytes.Buffer
		require.NoError(t, configs.Print(&printed, c))
		again, err := configs.Load(configs.Options{Path: file(printed.String())})
		require.NoError(t, err, "%s: %s", name, printed.String())
		assert.Equal(t, c, again, name)
	}
}

func TestBadCurves(t *testing.T) {
	for text, want := range map[string]string{
		"three": `ranking.decay.curves must be a list of curves or the name of a preset, single or two, not "three"`,
		`[{"shape":"gauss","scale":"1h"},{"shape":"exp","scale":"0s"}]`: "ranking.decay.curves[1].scale must be at least 1s",
		`[{"shape":"gauss","scale":"1 hour"}]`:                          "ranking.decay.curves[0].scale must be a duration",
		`[{"shape":"gauss"}]`:                                           "ranking.decay.curves[0].scale is missing",
		`[{"shape":"constant","weight":0}]`:                             "ranking.decay.curves[0].weight must be greater than 0",
		`[{"shape":"bell","scale":"1h"}]`:                               "ranking.decay.curves[0].shape must be gauss, exp, linear or constant",
		`[{"shape":"exp","scale":"1h","half":2}]`:                       `unknown field "half"`,
		`[{"shape":"exp"`:                                               "bad JSON",
	} {
		_, err := configs.Load(configs.Options{Environ: []string{"FRESHET_RANKING_DECAY_CURVES=" + text}})
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, "ranking.decay.curves", text)
	}
	for _, text := range []string{"12", "{shape: gauss}", "true"} {
		_, err := configs.Load(configs.Options{Path: write(t, "ranking: {decay: {curves: "+text+"}}")})
		require.ErrorContains(t, err, "ranking.decay.curves", text)
	}
}
