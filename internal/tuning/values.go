package tuning

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
)

// Sweepable are the names of the parameters that can be swept, in the order of the columns.
// Those of home change no list of for-you, which is what is compared.
func Sweepable() (names []string) {
	for i := range feed.Parameters {
		if name := feed.Parameters[i].Name; !strings.HasPrefix(name, "home.") {
			names = append(names, name)
		}
	}
	return names
}

// maxPoints bounds a sweep: each point ranks for every agent.
const maxPoints = 100

// Parameter is one that is swept: the values it takes.
type Parameter struct {
	*feed.Parameter
	Values []float64 // hours, or the number itself
}

// Change is the change to the i-th value, such as scale=12h.
func (p Parameter) Change(i int) string { return p.Name + "=" + p.Text(p.Values[i]) }

// Text writes a value as lists of changes do.
func (p Parameter) Text(v float64) string {
	if p.IsDuration() {
		v = hours(v).Seconds()
	}
	return p.Parameter.Text(v)
}

// Of is the parameter's value in a ranking; NaN where it has none, as the scale of a
// ranking with curves.
func (p Parameter) Of(r feed.Ranking) float64 {
	if p.IsDuration() {
		return p.Parameter.Of(r) / time.Hour.Seconds()
	}
	return p.Parameter.Of(r)
}

// Ratios reports whether a range of the parameter goes in equal ratios, as one drawn
// over a logarithmic axis does.
func (p Parameter) Ratios() bool { return p.IsDuration() && p.Parameter.Ratios }

// ParseRange reads the values of a parameter: one, a list with commas, or
// low..high, which becomes steps values, in equal ratios or in equal steps as
// [feed.Parameter] says.
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
		p.Values = spaced(p.Values[0], p.Values[1], steps, p.Parameter.Ratios && p.Values[0] > 0)
		if p.IsDuration() {
			roundHours(p.Values[1 : len(p.Values)-1])
		}
	}
	p.Values = slices.Compact(p.Values)
	return p, nil
}

// parse reads one value and checks it as the server will.
func (p Parameter) parse(text string) (float64, error) {
	if err := CheckChanges("--"+p.Name, p.Name+"="+text); err != nil {
		return 0, err
	}
	if p.IsDuration() {
		d, err := time.ParseDuration(text)
		return d.Hours(), err
	}
	return strconv.ParseFloat(text, 64)
}

func hours(v float64) time.Duration {
	return time.Duration(math.Round(v*float64(time.Hour)/float64(time.Millisecond)) * float64(time.Millisecond))
}

// spaced are steps values from low to high.
func spaced(low, high float64, steps int, ratios bool) []float64 {
	values := make([]float64, steps)
	for i := range values {
		part := float64(i) / float64(steps-1)
		if values[i] = low + (high-low)*part; ratios {
			values[i] = low * math.Pow(high/low, part)
		}
	}
	values[steps-1] = high
	for i, v := range values { // 0.30000000000000004 is nothing anybody would type
		if rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64); err == nil {
			values[i] = rounded
		}
	}
	return values
}

// roundHours makes numbers that people say of hours: whole ones from twelve on,
// quarters below, minutes below two.
func roundHours(values []float64) {
	for i, v := range values {
		parts := 1.0
		switch {
		case v < 0.1:
			continue
		case v < 2:
			parts = 60
		case v < 12:
			parts = 4
		}
		values[i] = math.Round(v*parts) / parts
	}
}
