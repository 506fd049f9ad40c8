package evaluation

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
)

// Sweepable returns the names of the parameters that can be swept, in the order of the columns. It
// omits those of home, which do not change the for-you lists that are compared.
func Sweepable() (names []string) {
	for i := range feed.Parameters {
		name := feed.Parameters[i].Name
		if !strings.HasPrefix(name, "home.") {
			names = append(names, name)
		}
	}
	return names
}

// maxPoints limits a sweep: each point ranks for every agent.
const maxPoints = 100

// Parameter is a parameter that is swept, with its values; those of a duration are in seconds.
type Parameter struct {
	*feed.Parameter
	Values []float64
}

// Change returns the change to the i-th value, such as scale=12h.
func (p Parameter) Change(i int) string { return p.Name + "=" + p.Text(p.Values[i]) }

// ParseRange parses the values of a parameter: one, a list with commas, or low..high, which becomes
// steps values, in equal ratios or in equal steps as [feed.Parameter] defines.
func ParseRange(name, text string, steps int) (Parameter, error) {
	found, ok := feed.ParameterOf(name)
	if !ok {
		return Parameter{}, CheckChanges("--"+name, name+"="+text)
	}
	p := Parameter{Parameter: found}
	low, high, isRange := strings.Cut(text, "..")
	parts := []string{low, high}
	if !isRange {
		parts = strings.Split(text, ",")
	}
	for _, part := range parts {
		v, err := p.parse(strings.TrimSpace(part))
		if err != nil {
			return p, err
		}
		p.Values = append(p.Values, v)
	}
	switch {
	case !isRange:
		slices.Sort(p.Values)
	case !(p.Values[0] < p.Values[1]):
		return p, fmt.Errorf("%s: %s is not a range: the first value must be the smaller one", name, text)
	case steps < 2 || steps > maxPoints:
		return p, fmt.Errorf("--steps must be 2 to %d, not %d", maxPoints, steps)
	default:
		p.Values = p.spaced(p.Values[0], p.Values[1], steps)
	}
	p.Values = slices.Compact(p.Values)
	return p, nil
}

// parse parses one value and checks it as the server will.
func (p Parameter) parse(text string) (float64, error) {
	r, err := feed.DefaultRanking().With(p.Name + "=" + text)
	if err != nil {
		return 0, fmt.Errorf("--%s: %w", p.Name, err)
	}
	return p.Of(r), nil
}

// spaced returns steps values from low to high, the inner ones rounded.
func (p Parameter) spaced(low, high float64, steps int) []float64 {
	values := make([]float64, steps)
	for i := range values {
		part := float64(i) / float64(steps-1)
		v := low + (high-low)*part
		if p.Ratios && low > 0 {
			v = low * math.Pow(high/low, part)
		}
		values[i] = min(max(p.rounded(v), low), high)
	}
	values[0], values[steps-1] = low, high
	return values
}

// rounded rounds to a number that people would type: a duration to hours from 12 h on, to quarter
// hours from 2 h, to minutes from 6 min; any other number to six digits.
func (p Parameter) rounded(v float64) float64 {
	for _, step := range []struct{ from, unit float64 }{{12 * 3600, 3600}, {2 * 3600, 900}, {360, 60}} {
		if p.IsDuration() && v >= step.from {
			return math.Round(v/step.unit) * step.unit
		}
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return rounded
}
