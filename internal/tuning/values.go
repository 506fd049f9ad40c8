package tuning

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
)

// Sweepable are the parameters that can be swept, in the order of the columns.
var Sweepable = []string{
	"scale", "offset", "decay", "floor", "weight", "weight_2h", "weight_2d", "base", "summary",
	"author.decay", "author.floor", "site.decay", "site.floor", "tag.decay", "tag.floor", "same_story", "explore.share",
	"learned.tags", "learned.author", "learned.lang", "learned.words", "learned.negative", halfLife,
}

const halfLife = "learned.half_life"

// maxPoints bounds a sweep: each point ranks for every agent.
const maxPoints = 100

// Parameter is one that is swept: the values it takes.
type Parameter struct {
	Name   string    // as in lists of changes
	Values []float64 // hours, or the number itself
}

// Change is the change to the i-th value, such as scale=12h.
func (p Parameter) Change(i int) string { return p.Name + "=" + p.Text(p.Values[i]) }

// Text writes a value as lists of changes do.
func (p Parameter) Text(v float64) string {
	if isDuration(p.Name) {
		return feed.DurationText(hours(v))
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Of is the parameter's value in a ranking; NaN where it has none, as the scale of a
// ranking with curves.
func (p Parameter) Of(r feed.Ranking) float64 {
	if slices.Contains([]string{"scale", "offset", "decay"}, p.Name) && r.Decay.Curves.Len() > 0 {
		return math.NaN()
	}
	return map[string]float64{
		"scale": r.Decay.Scale.Hours(), "offset": r.Decay.Offset.Hours(), "decay": r.Decay.Decay, "weight": r.PopularityWeight,
		"weight_2h": r.Popularity2h, "weight_2d": r.Popularity2d,
		"floor": r.Decay.Floor, "base": r.Base, "summary": r.KeywordsSummary,
		"author.decay": written(r.Diversity.Author), "author.floor": r.Diversity.Author.Floor,
		"site.decay": written(r.Diversity.Site), "site.floor": r.Diversity.Site.Floor,
		"tag.decay": written(r.Diversity.Tag), "tag.floor": r.Diversity.Tag.Floor,
		"same_story": r.Diversity.SameStory, "explore.share": r.Explore.Share,
		"learned.tags": r.Learned.Tags, "learned.author": r.Learned.Author, "learned.lang": r.Learned.Lang,
		"learned.words": r.Learned.Words, "learned.negative": r.Learned.Negative,
		halfLife: cmp.Or(r.Learned.HalfLife, feed.DefaultLearnedHalfLife).Hours(),
	}[p.Name]
}

// written is the decay of a spread as rankings write it, where off is 1.
func written(s feed.Spread) float64 {
	if s == (feed.Spread{}) {
		return 1
	}
	return s.Decay
}

// isDuration reports whether a parameter is one.
func isDuration(name string) bool { return name == "scale" || name == "offset" || name == halfLife }

// Ratios reports whether a range of the parameter goes in equal ratios, as one drawn
// over a logarithmic axis does.
func (p Parameter) Ratios() bool { return p.Name == "scale" || p.Name == halfLife }

// ParseRange reads the values of a parameter: one, a list with commas, or
// low..high, which becomes steps values. The scale, the half-life, the base and a floor of the decay
// above 0 go in equal ratios, because from 6h to 12h is as much of a change as from
// 3 days to 6; the others in equal steps.
func ParseRange(name, text string, steps int) (Parameter, error) {
	p := Parameter{Name: name}
	low, high, isRange := strings.Cut(text, "..")
	parts := []string{low, high}
	if !isRange {
		parts = strings.Split(text, ",")
	}
	for _, part := range parts {
		v, err := parseValue(name, strings.TrimSpace(part))
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
		p.Values = spaced(p.Values[0], p.Values[1], steps, p.Ratios() || p.Values[0] > 0 && (name == "base" || name == "floor"))
		if isDuration(name) {
			roundHours(p.Values[1 : len(p.Values)-1])
		}
	}
	p.Values = slices.Compact(p.Values)
	return p, nil
}

// parseValue reads one value and checks it as the server will.
func parseValue(name, text string) (float64, error) {
	if err := CheckChanges("--"+name, name+"="+text); err != nil {
		return 0, err
	}
	if isDuration(name) {
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
