package cli

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/internal/tuning"
)

// WriteSweep writes a line of means over the agents for each point.
func WriteSweep(w io.Writer, s tuning.Sweep) error {
	var b strings.Builder
	first := s.Points[0].Figures
	fmt.Fprintf(&b, "A  %s\n%s; median age by A %s\n%s\n", parameters(s.A),
		setting(offline.Comparison{At: s.At, K: s.K, Figures: first}), figure(first.MedianAgeA, first.MedianAgeA.Mean, preciseAge), notes(s.Notes))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, axis := range s.Axes {
		fmt.Fprint(t, strings.ToUpper(axis.Name), "\t")
	}
	fmt.Fprintf(t, "OVERLAP@%d\tRBO\tTAU\tNEW\tMEDIAN AGE\tCOVERAGE\t\n", s.K)
	for _, p := range s.Points {
		for change := range strings.SplitSeq(p.Changes, ",") {
			_, value, _ := strings.Cut(change, "=")
			fmt.Fprint(t, value, "\t")
		}
		f := p.Figures
		mean := func(s offline.Spread, text func(float64) string) string { return figure(s, s.Mean, text) }
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t\n", mean(f.Overlap, part), mean(f.RBO, two), mean(f.KendallTau, two),
			mean(f.NewShare, part), mean(f.MedianAgeB, preciseAge), mean(f.CoverageB, part))
	}
	_ = t.Flush()
	return write(w, &b)
}

// SweepChart draws the overlap, what is new, and the median age over the first
// parameter, with a line for each value of the second.
func SweepChart(s tuning.Sweep) Chart {
	x := s.Axes[0]
	chart := Chart{
		Title: fmt.Sprintf("What another %s would change", x.Name),
		Notes: []string{
			"compared with A: " + parameters(s.A),
			setting(offline.Comparison{At: s.At, K: s.K, Figures: s.Points[0].Figures}) + "; means over the agents",
		},
		X: Axis{Name: x.Name, Log: x.Ratios(), Ticks: x.Values, Format: x.Text},
	}
	live := x.Of(s.A)
	if live >= x.Values[0] && live <= x.Values[len(x.Values)-1] {
		chart.Marked, chart.Mark, chart.MarkName = true, live, "A"
	}
	percent := func(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) }
	quarters := []float64{0, 0.25, 0.5, 0.75, 1}
	for _, panel := range []struct {
		axis Axis
		of   func(offline.Summary) (offline.Spread, float64)
	}{
		{Axis{Name: fmt.Sprintf("overlap@%d", s.K), Format: percent, Ticks: quarters}, func(f offline.Summary) (offline.Spread, float64) { return f.Overlap, 1 }},
		{Axis{Name: "share of items that are new", Format: percent, Ticks: quarters}, func(f offline.Summary) (offline.Spread, float64) { return f.NewShare, 1 }},
		{Axis{Name: "median age, hours"}, func(f offline.Summary) (offline.Spread, float64) { return f.MedianAgeB, 3600 }},
	} {
		chart.Panels = append(chart.Panels, Panel{Y: panel.axis, Series: series(s, panel.of)})
	}
	return chart
}

// series are the lines of one figure, a mean divided by a unit.
func series(s tuning.Sweep, of func(offline.Summary) (offline.Spread, float64)) []Series {
	var lines []Series
	for _, p := range s.Points {
		if p.At[0] == 0 {
			name := ""
			if len(s.Axes) > 1 && len(s.Axes[1].Values) > 1 {
				name = s.Axes[1].Change(p.At[1])
			}
			lines = append(lines, Series{Name: name})
		}
		spread, unit := of(p.Figures)
		y := spread.Mean / unit
		if spread.N == 0 {
			y = math.NaN()
		}
		line := &lines[len(lines)-1]
		line.X, line.Y = append(line.X, s.Axes[0].Values[p.At[0]]), append(line.Y, y)
	}
	return lines
}
