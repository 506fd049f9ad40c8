package feed_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

var fastAndSlow = feed.Curves{
	{Shape: feed.Exp, Scale: 12 * time.Minute, Decay: 0.5, Weight: 0.56},
	{Shape: feed.Gauss, Scale: 120 * time.Hour, Offset: time.Hour, Decay: 0.3, Weight: 0.42},
	{Shape: feed.Constant, Weight: 0.02},
}

// TestCurveKnownValues checks each shape against values calculated by hand.
func TestCurveKnownValues(t *testing.T) {
	t.Parallel()
	hour := time.Hour.Seconds()
	one := func(c feed.Curve) feed.Decay { return feed.Decay{Curves: feed.Curves{c}} }
	gauss := feed.Curve{Shape: feed.Gauss, Scale: 2 * time.Hour, Offset: time.Hour, Decay: 0.5, Weight: 1}
	exp := feed.Curve{Shape: feed.Exp, Scale: 2 * time.Hour, Offset: time.Hour, Decay: 0.5, Weight: 1}
	linear := feed.Curve{Shape: feed.Linear, Scale: 2 * time.Hour, Offset: time.Hour, Decay: 0.5, Weight: 1}
	heavy := exp
	heavy.Weight = 4
	for _, tc := range []struct {
		name  string
		decay feed.Decay
		hours float64
		want  float64
	}{
		{"gauss within the offset", one(gauss), 1, 1},
		{"gauss at offset + scale", one(gauss), 3, 0.5},
		{"gauss at offset + 2 scale", one(gauss), 5, 1. / 16},
		{"exp within the offset", one(exp), 0.5, 1},
		{"exp at offset + scale", one(exp), 3, 0.5},
		{"exp at offset + 2 scale", one(exp), 5, 0.25},
		{"exp, weighted", one(heavy), 5, 1},
		{"linear at offset + scale", one(linear), 3, 0.5},
		{"linear at half of it", one(linear), 2, 0.75},
		{"linear at its end", one(linear), 5, 0},
		{"linear behind its end", one(linear), 50, 0},
		{"linear, floored", feed.Decay{Floor: 0.1, Curves: feed.Curves{linear}}, 50, 0.1},
		{"constant", one(feed.Curve{Shape: feed.Constant, Weight: 0.3}), 1e6, 0.3},
		{"sum", feed.Decay{Curves: feed.Curves{gauss, exp, linear, {Shape: feed.Constant, Weight: 0.25}}}, 3, 1.75},
		{"a sum below the floor", feed.Decay{Floor: 0.3, Curves: feed.Curves{exp, {Shape: feed.Constant, Weight: 0.01}}}, 100, 0.3},
	} {
		require.NoError(t, validate(tc.decay), tc.name)
		assert.InDelta(t, tc.want, tc.decay.Func().At(tc.hours*hour), 1e-12, tc.name)
		assert.InDelta(t, tc.want, tc.decay.Func().At(-tc.hours*hour), 1e-12, tc.name)
	}
	parts := feed.Decay{Floor: 0.9, Curves: fastAndSlow}.Func().Parts(12 * 60)
	assert.InDeltaSlice(t, []float64{0.28, 0.42, 0.02}, parts, 1e-12)
	assert.InDeltaSlice(t, []float64{0.5}, defaultDecay.Func().Parts(25*hour), 1e-12)
}

// validate validates a ranking with the decay.
func validate(d feed.Decay) error {
	r := feed.DefaultRanking()
	r.Decay = d
	return r.Validate()
}

// TestValidDecaysFallAndAreFinite draws random valid parameters.
func TestValidDecaysFallAndAreFinite(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 12))
	for range 300 {
		d := randomDecay(rnd)
		require.NoError(t, validate(d))
		f := d.Func()
		last := math.Inf(1)
		for s := 0.0; s < 1e10; s = s*1.3 + float64(rnd.IntN(5)) + 1 {
			now := f.At(s)
			require.False(t, math.IsNaN(now) || math.IsInf(now, 0) || now < d.Floor, "%v at %v: %v", d, s, now)
			require.LessOrEqual(t, now, last*(1+1e-15), "%v rises at %v", d, s)
			last = now
		}
		if age, falls := f.FloorAge(); falls {
			require.Equal(t, d.Floor, f.At(float64(age+1)), "%v at %d", d, age)
			if age >= 0 {
				require.GreaterOrEqual(t, f.At(float64(age)), d.Floor)
				sum := 0.0
				for _, p := range f.Parts(float64(age)) {
					sum += p
				}
				require.GreaterOrEqual(t, sum, d.Floor*(1-1e-12))
			}
		} else {
			require.GreaterOrEqual(t, f.At(1e12), d.Floor)
		}
	}
}

func randomDecay(rnd *rand.Rand) feed.Decay {
	pick := func(from ...float64) float64 { return from[rnd.IntN(len(from))] }
	span := func() time.Duration { return time.Duration(pick(1, 60, 86_400, 3.6e6, 9e9)) * time.Second }
	factor := func() float64 { return pick(1e-300, 0.01, 0.5, 1-1e-15) }
	d := feed.Decay{Scale: span(), Offset: span() - time.Second, Decay: factor(), Floor: pick(0, 1e-6, 0.3, 0.999)}
	if rnd.IntN(3) == 0 {
		return d
	}
	d = feed.Decay{Floor: d.Floor}
	for i := range d.Curves[:1+rnd.IntN(feed.MaxCurves)] {
		d.Curves[i] = feed.Curve{Shape: feed.Constant, Weight: pick(1e-300, 0.02, 1, 1000)}
		if shape := rnd.IntN(4); shape > 0 {
			d.Curves[i] = feed.Curve{
				Shape: []feed.Shape{feed.Gauss, feed.Exp, feed.Linear}[shape-1], Scale: span(), Offset: span() - time.Second,
				Decay: factor(), Weight: pick(1e-300, 0.02, 1, 1000),
			}
		}
	}
	return d
}

func TestCurvesValidate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*feed.Decay)
		want   string
	}{
		"shape":              {func(d *feed.Decay) { d.Curves[1].Shape = "bell" }, `decay.curves[1].shape must be gauss, exp, linear or constant, not "bell"`},
		"scale":              {func(d *feed.Decay) { d.Curves[1].Scale = time.Second - 1 }, "decay.curves[1].scale must be at least 1s"},
		"offset":             {func(d *feed.Decay) { d.Curves[0].Offset = -1 }, "decay.curves[0].offset must be at least 0s, not -1ns"},
		"decay":              {func(d *feed.Decay) { d.Curves[1].Decay = 1 }, "decay.curves[1].decay must be between 0 and 1"},
		"decay NaN":          {func(d *feed.Decay) { d.Curves[1].Decay = math.NaN() }, "decay.curves[1].decay"},
		"weight 0":           {func(d *feed.Decay) { d.Curves[2].Weight = 0 }, "decay.curves[2].weight must be greater than 0"},
		"weight too high":    {func(d *feed.Decay) { d.Curves[0].Weight = 1001 }, "decay.curves[0].weight"},
		"weight NaN":         {func(d *feed.Decay) { d.Curves[0].Weight = math.NaN() }, "decay.curves[0].weight"},
		"constant and scale": {func(d *feed.Decay) { d.Curves[2].Scale = time.Hour }, "decay.curves[2] is a constant"},
		"a gap":              {func(d *feed.Decay) { d.Curves[3], d.Curves[2] = d.Curves[2], feed.Curve{} }, "decay.curves[3]"},
		"both":               {func(d *feed.Decay) { d.Scale = time.Hour }, "decay.curves replaces"},
		"floor":              {func(d *feed.Decay) { d.Floor = 1 }, "decay.floor"},
	} {
		d := feed.Decay{Floor: 1e-6, Curves: fastAndSlow}
		require.NoError(t, validate(d))
		tc.change(&d)
		err := validate(d)
		require.ErrorIs(t, err, feed.ErrInvalid, name)
		require.ErrorContains(t, err, tc.want, name)
	}
}

const fastAndSlowJSON = `[{"shape":"exp","scale":"12m","offset":"0s","decay":0.5,"weight":0.56},` +
	`{"shape":"gauss","scale":"120h","offset":"1h","decay":0.3,"weight":0.42},{"shape":"constant","weight":0.02}]`

func TestCurvesJSON(t *testing.T) {
	t.Parallel()
	r := standard
	r.Decay, r.Popularity2h, r.Popularity2d = feed.Decay{Floor: 1e-6, Curves: fastAndSlow}, 0, 0
	text, err := json.Marshal(r)
	require.NoError(t, err)
	assert.JSONEq(t, `{"decay":{"curves":`+fastAndSlowJSON+`,"floor":0.000001},"popularity":{"weight":0.25,"weight_2h":0,"weight_2d":0,"weight_1h":0,"weight_6h":0,"weight_1d":0,"weight_7d":0},"base":0.1,"keywords":{"summary":0.5},`+theRest+`}`, string(text))
	var back feed.Ranking
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, r, back)
	assert.Contains(t, r.String(), "curves="+fastAndSlowJSON+",floor=1e-06,weight=0.25,weight_2h=0,weight_2d=0,weight_1h=0,weight_6h=0,weight_1d=0,weight_7d=0,base=0.1,summary=0.5,author.decay=1,")

	for _, bad := range []struct{ json, says string }{
		{`{"decay":{"curves":[{"shape":"exp","scale":12}]}}`, "decay.curves[0].scale must be a string"},
		{`{"decay":{"curves":[{"shape":"exp","scale":"1h"},{"shape":"exp","scale":"12"}]}}`, "decay.curves[1].scale must be a duration"},
		{`{"decay":{"curves":[{"shape":"exp","scale":"1h","halflife":1}]}}`, `unknown field "halflife" in decay.curves[0]`},
		{`{"decay":{"curves":[{"scale":"1h"}]}}`, "decay.curves[0].shape is missing"},
		{`{"decay":{"curves":[{"shape":"exp"}]}}`, "decay.curves[0].scale is missing"},
		{`{"decay":{"curves":[{"shape":"constant","decay":0.5}]}}`, "decay.curves[0] is a constant"},
		{`{"decay":{"curves":[null]}}`, "decay.curves[0]"},
		{`{"decay":{"curves":5}}`, "decay.curves must be a list of curves or the name of a preset"},
		{`{"decay":{"curves":{}}}`, "decay.curves must be a list of curves or the name of a preset"},
		{`{"decay":{"curves":"three"}}`, `decay.curves must be a list of curves or the name of a preset, single or two, not "three"`},
		{`{"decay":{"curves":"two","scale":"1h"}}`, "decay.curves replaces decay.scale"},
		{`{"decay":{"curves":` + fastAndSlowJSON + `,"decay":0.5}}`, "decay.curves replaces decay.scale"},
		{`{"decay":{"curves":[` + fiveConstants + `]}}`, "decay.curves must be at most 4 curves, not 5"},
	} {
		r := standard
		err := r.Propose([]byte(bad.json))
		require.ErrorIs(t, err, feed.ErrInvalid, bad.json)
		require.ErrorContains(t, err, bad.says)
	}
}

const fiveConstants = `{"shape":"constant"},{"shape":"constant"},{"shape":"constant"},{"shape":"constant"},{"shape":"constant"}`

// TestCurvesAndGaussianReplaceEachOther checks both directions, as a list of changes and as
// JSON.
func TestCurvesAndGaussianReplaceEachOther(t *testing.T) {
	t.Parallel()
	single, err := feed.Preset(feed.PresetSingle)
	require.NoError(t, err)
	two, err := feed.Preset(feed.PresetTwo)
	require.NoError(t, err)
	require.NoError(t, validate(single))
	require.NoError(t, validate(two))
	curves := feed.Decay{Floor: 0.01, Curves: fastAndSlow}
	slower := feed.Decay{Scale: 72 * time.Hour, Offset: 2 * time.Hour, Decay: 0.3, Floor: 0.01}
	for _, tc := range []struct {
		from     feed.Decay
		list     string
		want     feed.Decay
		replaced bool
	}{
		{curves, "scale=48h", feed.Decay{Scale: 48 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 0.01}, true},
		{curves, "offset=2h", feed.Decay{Scale: 24 * time.Hour, Offset: 2 * time.Hour, Decay: 0.5, Floor: 0.01}, true},
		{curves, "decay=0.3,floor=0", feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.3}, true},
		{curves, "curves=[]", feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 0.01}, true},
		{curves, "curves=[],scale=2h", feed.Decay{Scale: 2 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 0.01}, true},
		{curves, "curves=single", single, true},
		{curves, "floor=0.02,weight=1", feed.Decay{Floor: 0.02, Curves: fastAndSlow}, false},
		{curves, "curves=two", two, false},
		{slower, "curves=two", two, false},
		{slower, "floor=0.2,curves=two", feed.Decay{Floor: 0.2, Curves: two.Curves}, false},
		{slower, "curves=[]", slower, false},
		{slower, "curves=single", single, false},
		{slower, "weight=2,curves=" + fastAndSlowJSON + ",base=3", feed.Decay{Floor: 0.01, Curves: fastAndSlow}, false},
		{slower, `curves=[{"shape":"linear", "scale":"1h"}]`, feed.Decay{Floor: 0.01, Curves: feed.Curves{{Shape: feed.Linear, Scale: time.Hour, Decay: 0.5, Weight: 1}}}, false},
	} {
		from := standard
		from.Decay = tc.from
		got, err := from.With(tc.list)
		require.NoError(t, err, tc.list)
		assert.Equal(t, tc.want, got.Decay, tc.list)
		assert.Equal(t, tc.replaced, got.Decay.Replaced(from.Decay) != "", tc.list)

		object, err := feed.ChangesJSON(tc.list)
		require.NoError(t, err, tc.list)
		again := from
		require.NoError(t, again.UnmarshalJSON(object), string(object))
		assert.Equal(t, got, again, tc.list)

		back, err := from.With(got.Changes(from))
		require.NoError(t, err)
		assert.Equal(t, got, back, tc.list)
		back, err = from.With(got.String())
		require.NoError(t, err)
		assert.Equal(t, got, back, tc.list)
	}
	for _, bad := range []string{"curves", "curves=three", "curves=[", "curves=[{]", "scale=1h,curves=two", `curves=[{"shape":"exp","scale":"0s"}]`} {
		_, err := standard.With(bad)
		require.ErrorIs(t, err, feed.ErrInvalid, bad)
	}
}
