package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
)

// parameter is one that is swept: the values it takes.
type parameter struct {
	name   string // as in lists of changes
	texts  []string
	values []float64 // hours, or the number itself
}

func (p parameter) change(i int) string { return p.name + "=" + p.texts[i] }

// isDuration reports whether a parameter is one.
func isDuration(name string) bool { return name == "scale" || name == "offset" }

// parseRange reads the values of a parameter: one, a list with commas, or
// low..high, which becomes steps values. The scale goes in equal ratios, because
// from 6h to 12h is as much of a change as from 3 days to 6; the others in equal
// steps.
func parseRange(name, text string, steps int) (parameter, error) {
	p := parameter{name: name}
	low, high, isRange := strings.Cut(text, "..")
	if !isRange {
		for part := range strings.SplitSeq(text, ",") {
			v, err := parseValue(name, strings.TrimSpace(part))
			if err != nil {
				return p, err
			}
			p.values = append(p.values, v)
		}
		slices.Sort(p.values)
	} else {
		from, err := parseValue(name, low)
		if err != nil {
			return p, err
		}
		to, err := parseValue(name, high)
		if err != nil {
			return p, err
		}
		if !(from < to) {
			return p, fmt.Errorf("%s: %s is not a range: the first value must be the smaller one", name, text)
		}
		if steps < 2 || steps > maxPoints {
			return p, fmt.Errorf("--steps must be 2 to %d, not %d", maxPoints, steps)
		}
		p.values = spaced(from, to, steps, name == "scale")
		if isDuration(name) {
			roundHours(p.values[1 : len(p.values)-1])
		}
	}
	p.values = slices.Compact(p.values)
	for _, v := range p.values {
		p.texts = append(p.texts, valueText(name, v))
	}
	return p, nil
}

// parseValue reads one value and checks it as the server will.
func parseValue(name, text string) (float64, error) {
	if err := checkChanges("--"+name, name+"="+text); err != nil {
		return 0, err
	}
	if isDuration(name) {
		d, err := time.ParseDuration(text)
		return d.Hours(), err
	}
	return strconv.ParseFloat(text, 64)
}

func valueText(name string, v float64) string {
	if isDuration(name) {
		return feed.DurationText(hours(v))
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
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
