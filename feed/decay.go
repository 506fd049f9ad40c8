package feed

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Decay lowers a score with the distance in time, |t − origin|, but never below Floor. It has one
// of two forms; the fields of the other are zero:
//
//	factor(t) = max(Floor, gauss(t))                one Gaussian, by Scale, Offset and Decay
//	factor(t) = max(Floor, Σ weightᵢ · curveᵢ(t))   a sum of Curves
//
// The Gaussian is 1 up to Offset and exactly Decay at Offset + Scale; [Curve] has the formulas. A
// sum may begin above or below 1: the order depends only on how far it falls, and when.
type Decay struct {
	Scale  time.Duration // distance beyond Offset at which the factor is Decay; ≥ 1 s
	Offset time.Duration // distance up to which nothing decays; ≥ 0
	Decay  float64       // factor at Offset + Scale; in (0, 1)
	Floor  float64       // least factor; in [0, 1), 0 for none
	Curves Curves
}

// Sum returns the curves that are added: those of the decay, or its one Gaussian with a weight of
// 1.
func (d Decay) Sum() []Curve {
	n := d.Curves.Len()
	if n > 0 {
		return d.Curves[:n]
	}
	return []Curve{{Shape: Gauss, Scale: d.Scale, Offset: d.Offset, Decay: d.Decay, Weight: 1}}
}

// DecayFunc is a Decay prepared for many evaluations. It is safe for concurrent use.
type DecayFunc struct {
	floor float64
	n     int
	parts [MaxCurves]preparedCurve
}

// Func prepares the decay for evaluation; d must be valid.
func (d Decay) Func() *DecayFunc {
	f := &DecayFunc{floor: d.Floor}
	for _, c := range d.Sum() {
		f.parts[f.n] = c.prepare()
		f.n++
	}
	return f
}

// At returns the factor at a distance from the origin, in seconds, regardless of sign. It never
// rises with the distance.
func (f *DecayFunc) At(seconds float64) float64 {
	return max(f.floor, f.sum(math.Abs(seconds)))
}

func (f *DecayFunc) sum(seconds float64) float64 {
	sum := f.parts[0].at(seconds)
	for i := 1; i < f.n; i++ {
		sum += f.parts[i].at(seconds)
	}
	return sum
}

// Parts returns the contribution of each curve of [Decay.Sum] at a distance in seconds, with its
// weight but without the floor.
func (f *DecayFunc) Parts(seconds float64) []float64 {
	parts := make([]float64, f.n)
	for i := range parts {
		parts[i] = f.parts[i].at(math.Abs(seconds))
	}
	return parts
}

// FloorAge returns the greatest distance, in whole seconds, at which the curves sum to at least
// the floor. It returns −1 if they never do; ok is false if they do at every distance.
func (f *DecayFunc) FloorAge() (seconds int64, ok bool) {
	low, high := int64(-1), int64(1)<<60
	if f.sum(float64(high)) >= f.floor {
		return 0, false
	}
	for high-low > 1 {
		mid := low + (high-low)/2
		if f.sum(float64(mid)) >= f.floor {
			low = mid
		} else {
			high = mid
		}
	}
	return low, true
}

// Shape is the form of a [Curve].
type Shape string

// The shapes of curves.
const (
	Gauss    Shape = "gauss"
	Exp      Shape = "exp"
	Linear   Shape = "linear"
	Constant Shape = "constant"
)

// Indices of the shapes, used in evaluations because comparing strings is slower.
const (
	gaussKind = iota
	expKind
	linearKind
	constantKind
)

var shapes = []Shape{gaussKind: Gauss, expKind: Exp, linearKind: Linear, constantKind: Constant}

// Bounds of the curves of a decay.
const (
	MaxCurves      = 4 // curves in a sum
	maxCurveWeight = maxWeight
)

// Curve is one of the curves a [Decay] adds, with the definitions of
// Elasticsearch. With x = max(0, |t − origin| − Offset), in the unit of Scale:
//
//	gauss     exp(−x² / 2σ²), σ² = −Scale² / (2 ln Decay)
//	exp       exp(λ·x),       λ  = ln(Decay) / Scale
//	linear    max(0, (s − x) / s), s = Scale / (1 − Decay)
//	constant  1
//
// Each shape but the constant is 1 up to Offset and exactly Decay at Offset + Scale;
// exp with a Decay of 0.5 has Scale as its half-life. Source: the "Decay
// functions" chapter of Elasticsearch's function_score reference.
type Curve struct {
	Shape  Shape         // "" only in unused elements of [Curves]
	Scale  time.Duration // ≥ 1 s; 0 for a constant
	Offset time.Duration // ≥ 0; 0 for a constant
	Decay  float64       // in (0, 1); 0 for a constant
	Weight float64       // factor of the curve; > 0, at most 1000. The weights need not sum to 1
}

// Curves holds the curves of a [Decay], followed by unused zero elements. It is an array so that
// rankings can be copied and compared with ==.
type Curves [MaxCurves]Curve

// Len returns the number of curves; 0 means the decay is one Gaussian.
func (c *Curves) Len() int {
	n := slices.IndexFunc(c[:], func(one Curve) bool { return one == Curve{} })
	if n >= 0 {
		return n
	}
	return MaxCurves
}

// Validate reports the first invalid curve by its index; the error wraps [ErrInvalid].
func (c *Curves) Validate() error {
	n := c.Len()
	for i, one := range c {
		field, problem := one.problem()
		switch {
		case i < n && problem == "" || one == Curve{}:
			continue
		case i > n:
			field, problem = "", "follows an empty entry"
		}
		return Errorf(ErrInvalid, "bad ranking parameters: decay.curves[%d]%s %s", i, field, problem)
	}
	return nil
}

// problem returns the first invalid field and its problem; "" if there is none.
func (c Curve) problem() (field, problem string) {
	switch {
	case !slices.Contains(shapes, c.Shape):
		return ".shape", fmt.Sprintf("must be gauss, exp, linear or constant, not %q", string(c.Shape))
	case !(c.Weight > 0 && c.Weight <= maxCurveWeight):
		return ".weight", fmt.Sprintf("must be greater than 0 and at most %d, not %v", maxCurveWeight, c.Weight)
	case c.Shape == Constant:
		if c.Scale != 0 || c.Offset != 0 || c.Decay != 0 {
			return "", "is a constant, which takes only a weight"
		}
		return "", ""
	}
	return gaussProblem(c.Scale, c.Offset, c.Decay)
}

// gaussProblem checks the bounds that one Gaussian and every curve share.
func gaussProblem(scale, offset time.Duration, decay float64) (field, problem string) {
	r := Ranking{Decay: Decay{Scale: scale, Offset: offset, Decay: decay}}
	for _, name := range []string{"scale", "offset", "decay"} {
		p, _ := ParameterOf(name)
		problem := p.problem(p.Of(r))
		if problem != "" {
			return "." + name, problem
		}
	}
	return "", ""
}

// preparedCurve is a curve with everything precomputed that does not depend on the distance.
type preparedCurve struct {
	kind           uint8 // index in shapes
	weight, offset float64
	// rate is −1/2σ² for gauss, λ for exp and s for linear.
	rate float64
}

func (c Curve) prepare() preparedCurve {
	p := preparedCurve{kind: uint8(slices.Index(shapes, c.Shape)), weight: c.Weight, offset: c.Offset.Seconds()}
	scale := c.Scale.Seconds()
	switch c.Shape {
	case Gauss:
		p.rate = math.Log(c.Decay) / (scale * scale)
	case Exp:
		p.rate = math.Log(c.Decay) / scale
	case Linear:
		p.rate = scale / (1 - c.Decay)
	}
	return p
}

func (p *preparedCurve) at(seconds float64) float64 {
	x := seconds - p.offset
	if x <= 0 || p.kind == constantKind {
		return p.weight
	}
	switch p.kind {
	case gaussKind:
		return p.weight * math.Exp(x*x*p.rate)
	case expKind:
		return p.weight * math.Exp(x*p.rate)
	}
	return p.weight * max(0, (p.rate-x)/p.rate)
}

// Names of the presets: decays that a change or a configuration may name instead of listing
// curves.
const (
	PresetSingle = "single"
	PresetTwo    = "two"
)

var presets = map[string]Decay{
	PresetSingle: {Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6},
	PresetTwo: {Floor: 1e-6, Curves: Curves{
		{Shape: Gauss, Scale: 12 * time.Minute, Decay: 0.5, Weight: 0.56},
		{Shape: Gauss, Scale: 5 * 24 * time.Hour, Decay: 0.5, Weight: 0.44},
	}},
}

// Preset returns the named decay, floor included: single is one Gaussian over a day, two a fast
// curve and a slow one. Any other name is an error that wraps [ErrInvalid].
func Preset(name string) (Decay, error) {
	d, ok := presets[name]
	if !ok {
		return d, Errorf(ErrInvalid, "bad ranking parameters: decay.curves must be a list of curves or the name of a preset, %s or %s, not %q", PresetSingle, PresetTwo, clipped(name))
	}
	return d, nil
}

// clipped shortens text from a caller, for errors.
func clipped(text string) string {
	const most = 64
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Replaced returns a sentence if a change from was, a decay of curves, to d, one Gaussian, has
// replaced the curves, and "" otherwise.
func (d Decay) Replaced(was Decay) string {
	n := was.Curves.Len()
	if n == 0 || d.Curves.Len() > 0 {
		return ""
	}
	return fmt.Sprintf("one Gaussian, with scale, offset and decay, replaces %d curves", n)
}
