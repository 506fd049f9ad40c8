package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/cli"
)

// maxPoints bounds a sweep: each point ranks for every agent.
const maxPoints = 100

type sweepFlags struct {
	*studyFlags
	ranges map[string]*string
	steps  int
	svg    string
}

// sweepable are the parameters that can be swept, in the order of the columns.
var sweepable = []string{"scale", "offset", "weight"}

func newDecaySweepCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Compare a range of parameters with the live ranking, as a table and a drawing",
		Long: "Compares A with each value of a range, or with each pair of values of two: low..high, or a list with commas.\n" +
			"The figures are those of freshet decay compare, as means over the agents.",
		Example: "  freshet decay sweep --scale 6h..168h --svg scale.svg\n  freshet decay sweep --scale 6h..168h --steps 6 --offset 0h,2h,6h",
		Args:    cobra.NoArgs,
	}
	f := &sweepFlags{studyFlags: addStudyFlags(cmd), ranges: map[string]*string{}}
	for _, name := range sweepable {
		f.ranges[name] = cmd.Flags().String(name, "", "values of "+name+": low..high, or a list with commas")
	}
	cmd.Flags().IntVar(&f.steps, "steps", 8, "how many values a range low..high becomes")
	cmd.Flags().StringVar(&f.svg, "svg", "", "file to draw the figures into")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return sweep(cmd, f) }
	return cmd
}

// point is one comparison of a sweep.
type point struct {
	Changes string          `json:"changes"`
	Ranking feed.Ranking    `json:"ranking"`
	Figures offline.Summary `json:"figures"`
	at      [2]int          // which value of each swept parameter
}

// swept is the whole sweep.
type swept struct {
	At     time.Time    `json:"at"`
	K      int          `json:"k"`
	A      feed.Ranking `json:"a"`
	Agents int          `json:"agents"`
	Points []point      `json:"points"`
	axes   []parameter  // one or two
}

func sweep(cmd *cobra.Command, f *sweepFlags) error {
	axes, err := f.axes()
	if err != nil {
		return &usageError{cmd.CommandPath(), err}
	}
	s, err := f.open(cmd)
	if err != nil {
		return err
	}
	defer s.client.Close()
	// Before the work, which would be lost otherwise.
	drawing, err := createBeside(f.svg)
	if err != nil {
		return err
	}
	defer drawing.discard()
	out, err := s.sweep(cmd.Context(), axes, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if f.json {
		err = writeJSON(cmd.OutOrStdout(), out)
	} else {
		err = writeSweep(cmd.OutOrStdout(), out)
	}
	if err != nil || f.svg == "" {
		return err
	}
	if err := cli.WriteChart(drawing, sweepChart(out)); err != nil {
		return err
	}
	return drawing.keep()
}

// axes are the parameters that vary, and those that have one value at the end.
func (f *sweepFlags) axes() ([]parameter, error) {
	var many, single []parameter
	points := 1
	for _, name := range sweepable {
		if *f.ranges[name] == "" {
			continue
		}
		p, err := parseRange(name, *f.ranges[name], f.steps)
		if err != nil {
			return nil, err
		}
		points *= len(p.values)
		if len(p.values) > 1 {
			many = append(many, p)
		} else {
			single = append(single, p)
		}
	}
	switch {
	case len(many) == 0:
		return nil, errors.New("say what to sweep, such as --scale 6h..168h")
	case len(many) > 2:
		return nil, errors.New("sweep one or two parameters at a time, not three")
	case points > maxPoints:
		return nil, fmt.Errorf("these are %d comparisons, at most %d are made; take fewer --steps", points, maxPoints)
	}
	return append(many, single...), nil
}

func (s *study) sweep(ctx context.Context, axes []parameter, errs io.Writer) (swept, error) {
	out := swept{axes: axes}
	second := parameter{texts: []string{""}, values: []float64{0}}
	if len(axes) > 1 && len(axes[1].values) > 1 {
		second = axes[1]
	}
	bar := stepsBar(errs, len(axes[0].values)*len(second.values))
	defer func() { _ = bar.Finish() }()
	for j := range second.values {
		for i := range axes[0].values {
			p := point{Changes: axes[0].change(i), at: [2]int{i, j}}
			for k, axis := range axes[1:] {
				if k == 0 && second.name != "" {
					p.Changes += "," + axis.change(j)
				} else {
					p.Changes += "," + axis.change(0)
				}
			}
			got, err := s.compare(ctx, p.Changes)
			if err != nil {
				return out, fmt.Errorf("%s: %w", p.Changes, err)
			}
			p.Ranking, p.Figures = got.B, got.Figures
			out.At, out.K, out.A, out.Agents = got.At, got.K, got.A, got.Figures.Agents
			out.Points = append(out.Points, p)
			_ = bar.Add(1)
		}
	}
	return out, nil
}

// stepsBar is a bar of steps done, invisible where w is not a terminal.
func stepsBar(w io.Writer, steps int) *progressbar.ProgressBar {
	return progressbar.NewOptions(steps,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(terminalWidth(w) > 0),
		progressbar.OptionSetDescription("comparing"),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30),
		progressbar.OptionClearOnFinish(),
	)
}

func writeSweep(w io.Writer, s swept) error {
	var b strings.Builder
	first := s.Points[0].Figures
	fmt.Fprintf(&b, "A  %s\n%s; median age by A %s\n\n", s.A,
		setting(offline.Comparison{At: s.At, K: s.K, Figures: first}), figure(first.MedianAgeA, age))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, axis := range s.axes {
		fmt.Fprint(t, strings.ToUpper(axis.name), "\t")
	}
	fmt.Fprintf(t, "OVERLAP@%d\tRBO\tTAU\tNEW\tMEDIAN AGE\tCOVERAGE\t\n", s.K)
	for _, p := range s.Points {
		for change := range strings.SplitSeq(p.Changes, ",") {
			_, value, _ := strings.Cut(change, "=")
			fmt.Fprint(t, value, "\t")
		}
		f := p.Figures
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t\n", figure(f.Overlap, share), figure(f.RBO, two), figure(f.KendallTau, two),
			figure(f.NewShare, share), figure(f.MedianAgeB, age), figure(f.CoverageB, share))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// figure is a mean, or a dash where there is none.
func figure(s offline.Spread, text func(float64) string) string {
	if s.N == 0 {
		return "-"
	}
	return text(s.Mean)
}

// sweepChart draws the overlap, what is new, and the median age over the first
// parameter, with a line for each value of the second.
func sweepChart(s swept) cli.Chart {
	x := s.axes[0]
	chart := cli.Chart{
		Title: fmt.Sprintf("What another %s would change", x.name),
		Notes: []string{
			"compared with A: " + s.A.String(),
			setting(offline.Comparison{At: s.At, K: s.K, Figures: s.Points[0].Figures}) + "; means over the agents",
		},
		X: cli.Axis{Name: x.name, Log: x.name == "scale", Ticks: x.values, Format: func(v float64) string { return valueText(x.name, v) }},
	}
	live := map[string]float64{"scale": s.A.Decay.Scale.Hours(), "offset": s.A.Decay.Offset.Hours(), "weight": s.A.PopularityWeight}[x.name]
	if live >= x.values[0] && live <= x.values[len(x.values)-1] {
		chart.Marked, chart.Mark, chart.MarkName = true, live, "A"
	}
	percent := func(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) }
	quarters := []float64{0, 0.25, 0.5, 0.75, 1}
	for _, panel := range []struct {
		axis cli.Axis
		of   func(offline.Summary) (offline.Spread, float64)
	}{
		{cli.Axis{Name: fmt.Sprintf("overlap@%d", s.K), Format: percent, Ticks: quarters}, func(f offline.Summary) (offline.Spread, float64) { return f.Overlap, 1 }},
		{cli.Axis{Name: "share of items that are new", Format: percent, Ticks: quarters}, func(f offline.Summary) (offline.Spread, float64) { return f.NewShare, 1 }},
		{cli.Axis{Name: "median age, hours"}, func(f offline.Summary) (offline.Spread, float64) { return f.MedianAgeB, 3600 }},
	} {
		chart.Panels = append(chart.Panels, cli.Panel{Y: panel.axis, Series: s.series(panel.of)})
	}
	return chart
}

// series are the lines of one figure, a mean divided by a unit.
func (s swept) series(of func(offline.Summary) (offline.Spread, float64)) []cli.Series {
	var lines []cli.Series
	for _, p := range s.Points {
		if p.at[0] == 0 {
			name := ""
			if len(s.axes) > 1 && len(s.axes[1].values) > 1 {
				name = s.axes[1].change(p.at[1])
			}
			lines = append(lines, cli.Series{Name: name})
		}
		spread, unit := of(p.Figures)
		y := spread.Mean / unit
		if spread.N == 0 {
			y = math.NaN()
		}
		line := &lines[len(lines)-1]
		line.X, line.Y = append(line.X, s.axes[0].values[p.at[0]]), append(line.Y, y)
	}
	return lines
}

// newFile is a file that is there under its name whole or not at all. The zero
// one is none.
type newFile struct {
	*os.File
	name string
}

// createBeside makes a file that takes the name once it is kept.
func createBeside(name string) (*newFile, error) {
	if name == "" {
		return &newFile{}, nil
	}
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	return &newFile{file, name}, err
}

func (f *newFile) keep() error {
	if err := errors.Join(f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	err := os.Rename(f.Name(), f.name)
	f.File = nil
	return err
}

func (f *newFile) discard() {
	if f.File != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}
