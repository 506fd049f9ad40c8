package fit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server/history"
)

// dial is a part of a ranking that is fitted, on a scale on which equal steps are changes of about equal
// effect.
type dial struct {
	name        string // of the parameter
	at          func(r *feed.Ranking) float64
	set         func(r *feed.Ranking, position float64)
	least, most float64
	step        float64 // the first one; later ones are halves of it
}

// Positions of weights: from 0, each unit about doubles them.
const (
	unitWeight = 0.05
	mostWeight = 10 // of live popularity, learned interests and co-readers
)

func weightAt(position float64) float64 { return unitWeight * (math.Exp2(position) - 1) }
func positionOf(weight float64) float64 { return math.Log2(1 + weight/unitWeight) }

// Bounds of the scales of curves.
const (
	leastScale = time.Minute
	mostScale  = 365 * 24 * time.Hour
)

// dialsFor returns the dials of a ranking that make a difference for some of the moments, without the
// parameters that are kept.
func (f *fitter) dialsFor(r *feed.Ranking, moments []history.Moment) (list []dial) {
	u := usedBy(moments)
	for h, w := range history.PopularityWeights() {
		if u.readers[h] && f.fits(w) {
			list = append(list, weightDial(w.Name))
		}
	}
	list = append(list, curveDials(r)...)
	for k, name := range history.LearnedParameters() {
		if u.learned[k] {
			list = append(list, weightDial(name))
		}
	}
	if u.near {
		list = append(list, weightDial("co_read.weight"))
	}
	if u.declared {
		list = append(list, dial{
			name: "base", least: math.Log2(0.001), most: math.Log2(10), step: 2,
			at:  func(r *feed.Ranking) float64 { return math.Log2(r.Base) },
			set: func(r *feed.Ranking, v float64) { r.Base = rounded(math.Exp2(v)) },
		})
	}
	if u.summaries {
		list = append(list, dial{
			name: "summary", most: 1, step: 0.4,
			at:  func(r *feed.Ranking) float64 { return r.KeywordsSummary },
			set: func(r *feed.Ranking, v float64) { r.KeywordsSummary = rounded(v) },
		})
	}
	return slices.DeleteFunc(list, func(d dial) bool { return slices.Contains(f.keep, d.name) })
}

// fits reports whether a weight of popularity is fitted. Servers do not keep the readers by every
// half-life: those that the ranking in force or the default one weights, and others only if they are
// told to.
func (f *fitter) fits(w history.PopularityWeight) bool {
	isKept := w.Default > 0 || w.Of(f.inForce) > 0 || slices.Contains(f.also, w.Name)
	return isKept && !slices.Contains(f.keep, w.Name)
}

// used tells which lists some moment has.
type used struct {
	readers                   []bool
	learned                   []bool
	near, declared, summaries bool
}

func usedBy(moments []history.Moment) used {
	u := used{readers: make([]bool, len(history.PopularityWeights())), learned: make([]bool, len(history.LearnedParameters()))}
	for i := range moments {
		m := &moments[i]
		for h := range m.Readers {
			u.readers[h] = u.readers[h] || m.Readers[h] != nil
		}
		for k := range m.Learned {
			u.learned[k] = u.learned[k] || m.Learned[k] != nil
		}
		u.near = u.near || m.Near != nil
		u.declared = u.declared || m.Declared != nil || m.Summaries != nil
		u.summaries = u.summaries || m.Summaries != nil
	}
	return u
}

// weightDial returns the dial of a weight that may be 0.
func weightDial(name string) dial {
	p, _ := feed.ParameterOf(name)
	return dial{
		name: name, most: positionOf(min(mostWeight, p.Most)), step: 2,
		at:  func(r *feed.Ranking) float64 { return positionOf(p.Of(*r)) },
		set: func(r *feed.Ranking, v float64) { setNumber(r, name, rounded(weightAt(v))) },
	}
}

// setNumber sets a parameter. The value is within its bounds, as those of dials are.
func setNumber(r *feed.Ranking, name string, value float64) {
	changed, err := r.With(name + "=" + strconv.FormatFloat(value, 'g', -1, 64))
	if err == nil {
		*r = changed
	}
}

// curveDials returns the dials of the decay: the scale and the shape of each curve that is not a
// constant, and the weight of each compared with that of the last. Those of one Gaussian that is not
// among curves are its scale alone.
func curveDials(r *feed.Ranking) (list []dial) {
	n := r.Decay.Curves.Len()
	if n == 0 {
		return []dial{{
			name: "scale", least: math.Log2(leastScale.Seconds()), most: math.Log2(mostScale.Seconds()), step: 2,
			at:  func(r *feed.Ranking) float64 { return math.Log2(r.Decay.Scale.Seconds()) },
			set: func(r *feed.Ranking, v float64) { r.Decay.Scale = roundedScale(math.Exp2(v)) },
		}}
	}
	for i := range n {
		if r.Decay.Curves[i].Shape != feed.Constant {
			list = append(list, scaleDial(i))
			list = append(list, shapeDial(i)...)
		}
		if i < n-1 {
			list = append(list, shareDial(i, n))
		}
	}
	return list
}

func scaleDial(i int) dial {
	return dial{
		name: "curves", least: math.Log2(leastScale.Seconds()), most: math.Log2(mostScale.Seconds()), step: 2,
		at:  func(r *feed.Ranking) float64 { return math.Log2(r.Decay.Curves[i].Scale.Seconds()) },
		set: func(r *feed.Ranking, v float64) { r.Decay.Curves[i].Scale = roundedScale(math.Exp2(v)) },
	}
}

// shapeDial returns the dial that makes a curve an exponential one.
func shapeDial(i int) []dial {
	return []dial{{
		name: "curves", most: 1, step: 1,
		at: func(r *feed.Ranking) float64 {
			if r.Decay.Curves[i].Shape == feed.Exp {
				return 1
			}
			return 0
		},
		set: func(r *feed.Ranking, v float64) {
			c := &r.Decay.Curves[i]
			if v >= 0.5 {
				c.Shape = feed.Exp
			} else if c.Shape == feed.Exp {
				c.Shape = feed.Gauss
			}
		},
	}}
}

// shareDial returns the dial of a curve's weight compared with that of the last of n curves. The sum of
// these two stays.
func shareDial(i, n int) dial {
	return dial{
		name: "curves", least: -5, most: 5, step: 2,
		at: func(r *feed.Ranking) float64 {
			c := &r.Decay.Curves
			return math.Log2(c[i].Weight / c[n-1].Weight)
		},
		set: func(r *feed.Ranking, v float64) {
			c := &r.Decay.Curves
			sum := c[i].Weight + c[n-1].Weight
			own := rounded(sum * math.Exp2(v) / (1 + math.Exp2(v)))
			c[i].Weight, c[n-1].Weight = own, roundedTo(sum-own, 3)
		},
	}
}

// rounded rounds to a number that people would type.
func rounded(v float64) float64 { return roundedTo(v, 2) }

func roundedTo(v float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// roundedScale rounds a number of seconds to hours, minutes or seconds.
func roundedScale(seconds float64) time.Duration {
	d := time.Duration(seconds * float64(time.Second))
	for _, unit := range []time.Duration{time.Hour, time.Minute} {
		if d >= 10*unit {
			return d.Round(unit)
		}
	}
	return d.Round(time.Second)
}

// cutChange splits a change into its name and value.
func cutChange(change string) (name, value string, found bool) {
	return strings.Cut(change, "=")
}

// CheckAlso returns an error for a name that is no weight of live popularity.
func CheckAlso(names []string) error {
	known := history.PopularityWeights()
	for _, name := range names {
		if !slices.ContainsFunc(known, func(w history.PopularityWeight) bool { return w.Name == name }) {
			return fmt.Errorf("%q is no weight of live popularity, such as %s", name, known[0].Name)
		}
	}
	return nil
}

// CheckKeep returns an error for a name that is no parameter.
func CheckKeep(names []string) error {
	for _, name := range names {
		_, known := feed.ParameterOf(name)
		if !known && name != "curves" {
			return fmt.Errorf("%q is no parameter; \"freshet ranking set --help\" lists them", name)
		}
	}
	return nil
}
