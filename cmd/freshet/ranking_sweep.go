package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/freshet/freshet/cmd/freshet/cli"
	"github.com/freshet/freshet/cmd/freshet/evaluation"
)

type sweepFlags struct {
	*analysisFlags
	ranges map[string]*string
	steps  int
	svg    string
}

func newRankingSweepCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Compare a range of parameters with the live ranking, as a table and a chart",
		Long: "Compares A with each value of a range, or with each pair of values of two: low..high, or a list with commas.\n" +
			"The figures are those of freshet ranking compare, as means over the agents.",
		Example: "  freshet ranking sweep --scale 6h..168h --svg scale.svg\n  freshet ranking sweep --scale 6h..168h --steps 6 --offset 0h,2h,6h",
		Args:    cobra.NoArgs,
	}
	f := &sweepFlags{analysisFlags: addAnalysisFlags(cmd), ranges: map[string]*string{}}
	for _, name := range evaluation.Sweepable() {
		f.ranges[name] = cmd.Flags().String(name, "", "values of "+name+": low..high, or a list with commas")
	}
	cmd.Flags().IntVar(&f.steps, "steps", 8, "number of values in a range low..high")
	cmd.Flags().StringVar(&f.svg, "svg", "", "SVG file for a chart of the figures; - writes it to standard output instead of the table")
	cmd.RunE = func(*cobra.Command, []string) error { return f.sweep() }
	return cmd
}

func (f *sweepFlags) sweep() error {
	ranges := map[string]string{}
	for name, text := range f.ranges {
		ranges[name] = *text
	}
	if f.svg == "-" && *f.json {
		return f.usage(errors.New("--svg - and --json both write to standard output; give --svg a file"))
	}
	axes, err := evaluation.Axes(ranges, f.steps)
	if err != nil {
		return f.usage(err)
	}
	analysis, c, err := f.open()
	if err != nil {
		return err
	}
	defer c.Close()
	switch f.svg {
	case "":
		return f.print(f.run(analysis, axes))
	case "-":
		found, err := f.run(analysis, axes)
		if err != nil {
			return err
		}
		return cli.WriteSweepChart(f.cmd.OutOrStdout(), found)
	}
	// Create the file before the work, whose result would be lost if that failed later. It gets
	// its final name only when complete.
	drawing, err := os.CreateTemp(filepath.Dir(f.svg), filepath.Base(f.svg)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(drawing.Name()) }()
	found, err := f.run(analysis, axes)
	err = f.print(found, err)
	if err == nil {
		err = errors.Join(cli.WriteSweepChart(drawing, found), drawing.Chmod(0o644))
	}
	if err = errors.Join(err, drawing.Close()); err != nil {
		return err
	}
	return os.Rename(drawing.Name(), f.svg)
}

func (f *sweepFlags) run(analysis *evaluation.Analysis, axes []evaluation.Parameter) (evaluation.Sweep, error) {
	bar := progress(f.cmd.ErrOrStderr(), int64(evaluation.Points(axes)), "comparing", progressbar.OptionShowCount())
	found, err := analysis.Sweep(f.cmd.Context(), axes, func() { _ = bar.Add(1) })
	_ = bar.Finish()
	return found, err
}

// print prints a sweep unless it failed.
func (f *sweepFlags) print(found evaluation.Sweep, err error) error {
	if err != nil {
		return err
	}
	return answer(f.call, found, cli.WriteSweep)
}
