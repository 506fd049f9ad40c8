package cli

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/cmd/freshet/evaluation"
	"github.com/freshet/freshet/engine/offline"
)

// WriteComparison writes the figures as a table and their meaning as a sentence.
func WriteComparison(w io.Writer, c offline.Comparison) error {
	t := newTable("wnnnnnn", "", "MEAN", "SD", "MIN", "MEDIAN", "MAX", "AGENTS")
	f := c.Figures
	for _, row := range []struct {
		name   string
		spread offline.Spread
		text   func(float64) string
	}{
		{fmt.Sprintf("overlap@%d", c.K), f.Overlap, part},
		{"rank-biased overlap", f.RBO, twoDecimals},
		{"Kendall tau", f.KendallTau, twoDecimals},
		{"new in B", f.NewShare, part},
		{"median age A", f.MedianAgeA, preciseAge},
		{"median age B", f.MedianAgeB, preciseAge},
		{"tag coverage A", f.CoverageA, part},
		{"tag coverage B", f.CoverageB, part},
	} {
		s := row.spread
		of := func(v float64) string { return figure(s, row.text(v)) }
		t.add(row.name, of(s.Mean), of(s.SD), of(s.Min), of(s.Median), of(s.Max), s.N)
	}
	_, err := fmt.Fprintf(w, "A  %s\nB  %s\n%s\n%s\n%s\n%s\n", parameters(c.A), parameters(c.B), setting(c), notes(c.Notes)+leftOut(c.LeftOut), t.text(0), conclusion(c))
	return err
}

// notes writes the side effects of changes, one line each.
func notes(list []string) string {
	var b strings.Builder
	for _, note := range list {
		fmt.Fprintf(&b, "note: %s\n", printable(note))
	}
	return b.String()
}

// leftOut names the parts of rankings that an answer about the past leaves out, in one line.
func leftOut(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return "left out, as it is not known for that time: " + printable(strings.Join(parts, ", ")) + "\n"
}

func setting(c offline.Comparison) string {
	s := fmt.Sprintf("the first %d items of %s at %s", c.K, counted(c.Figures.Agents, "agent"), c.At.Format(time.RFC3339))
	if c.Figures.Empty > 0 {
		s += fmt.Sprintf("; %s without any items are left out", counted(c.Figures.Empty, "agent"))
	}
	return s
}

// The least differences that are reported: a twentieth of an age, and one point of coverage. A
// reader could not notice smaller ones.
const (
	noticedAge      = 0.05
	noticedCoverage = 0.01
)

// conclusion describes in a sentence what B changes.
func conclusion(c offline.Comparison) string {
	f := c.Figures
	sameOrder := f.KendallTau.N == 0 || twoDecimals(f.KendallTau.Min) == "1.00"
	hardlyDiffers := sameOrder && twoDecimals(f.RBO.Min) == "1.00"
	switch {
	case f.Overlap.N == 0:
		return "There is nothing to compare: neither ranking has items for these agents."
	case f.RBO.Min == 1 && f.Overlap.Min == 1:
		return fmt.Sprintf("B changes nothing: the first %d are the same, in the same order.", c.K)
	case f.Overlap.Min == 1 && hardlyDiffers:
		return fmt.Sprintf("B hardly changes anything: the first %d are the same items, in nearly the same order.", c.K)
	case f.Overlap.Min == 1:
		return fmt.Sprintf("B changes the order only: the first %d are the same items.", c.K)
	}
	sentence := fmt.Sprintf("With B, %s of the first %d are new, and the items are %s", part(f.NewShare.Mean), c.K, agesCompared(f.MedianAgeA.Mean, f.MedianAgeB.Mean))
	if f.CoverageA.N > 0 {
		sentence += "; they cover " + coverageCompared(f.CoverageA.Mean, f.CoverageB.Mean)
	}
	return sentence + "."
}

func agesCompared(was, is float64) string {
	if math.Abs(is-was) < noticedAge*max(is, was) || preciseAge(is) == preciseAge(was) {
		return fmt.Sprintf("about as old as before (%s at the median)", preciseAge(is))
	}
	change := "younger"
	if is > was {
		change = "older"
	}
	return fmt.Sprintf("%s: %s at the median instead of %s", change, preciseAge(is), preciseAge(was))
}

func coverageCompared(was, is float64) string {
	if math.Abs(is-was) < noticedCoverage || part(is) == part(was) {
		return fmt.Sprintf("about as much of an agent's interests as before (%s)", part(is))
	}
	return fmt.Sprintf("%s of an agent's interests instead of %s", part(is), part(was))
}

// figure returns the text of one of a spread's values, or a dash if there are no agents.
func figure(s offline.Spread, text string) string {
	if s.N == 0 {
		return "-"
	}
	return text
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func twoDecimals(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// part formats a part as a percentage. A part above 0 is never written as 0.
func part(v float64) string {
	text := strconv.FormatFloat(100*v, 'f', 1, 64) + "%"
	if v > 0 && text == "0.0%" {
		return "<0.1%"
	}
	return text
}

// preciseAge formats seconds with one decimal, in the largest unit that fits.
func preciseAge(seconds float64) string {
	for _, unit := range []struct {
		seconds float64
		name    string
	}{{2 * 86400, "d"}, {3600, "h"}, {60, "m"}} {
		if math.Abs(seconds) >= unit.seconds {
			return strconv.FormatFloat(seconds/math.Min(unit.seconds, 86400), 'f', 1, 64) + unit.name
		}
	}
	return strconv.FormatFloat(seconds, 'f', 0, 64) + "s"
}

// WriteSweep writes a table of the means over the agents, one row per point.
func WriteSweep(w io.Writer, s evaluation.Sweep) error {
	var header []any
	for _, axis := range s.Axes {
		header = append(header, strings.ToUpper(axis.Name))
	}
	header = append(header, fmt.Sprintf("OVERLAP@%d", s.K), "RBO", "TAU", "NEW", "MEDIAN AGE", "COVERAGE")
	t := newTable(strings.Repeat("n", len(header)), header...)
	for _, p := range s.Points {
		var row []any
		for change := range strings.SplitSeq(p.Changes, ",") {
			_, value, _ := strings.Cut(change, "=")
			row = append(row, value)
		}
		f := p.Figures
		mean := func(s offline.Spread, text func(float64) string) string { return figure(s, text(s.Mean)) }
		t.add(append(row, mean(f.Overlap, part), mean(f.RBO, twoDecimals), mean(f.KendallTau, twoDecimals),
			mean(f.NewShare, part), mean(f.MedianAgeB, preciseAge), mean(f.CoverageB, part))...)
	}
	first := s.Points[0].Figures
	_, err := fmt.Fprintf(w, "A  %s\n%s; median age by A %s\n%s\n%s", parameters(s.A), setting(offline.Comparison{At: s.At, K: s.K, Figures: first}),
		figure(first.MedianAgeA, preciseAge(first.MedianAgeA.Mean)), notes(s.Notes)+leftOut(s.LeftOut), t.text(0))
	return err
}
