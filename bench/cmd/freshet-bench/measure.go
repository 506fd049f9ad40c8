package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/freshet/freshet/bench"
	"github.com/freshet/freshet/configs"
)

// errImpossible makes the command exit with code 1 after the report is printed.
var errImpossible = errors.New("impossible results; see above")

// benchFlags are the flags of the command line.
type benchFlags struct {
	only     []string
	duration time.Duration
	items    []int
	json     string
	freshet  string
	short    bool
	simulate bool
	traffic  bench.Traffic
	quality  qualityFlags
}

func newMeasureCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "freshet-bench",
		Short: "Measure Freshet's budgets, each next to its baseline; or simulate days of traffic, or measure rankings",
		Long: "Measures speed and memory here, each alternating with a baseline in the same run.\n" +
			"What needs services runs when redis.url, elasticsearch.addresses and postgres.url name them, with\n" +
			"keys, an index and a schema of its own, which it removes at the end, also after Ctrl-C.\n\n" +
			"With --simulate it plays days of traffic on compressed time in Redis, or without redis.url in this process, and\n" +
			"compares its filters with the formulas.\n\n" +
			"With --quality it replays what a community published and read through the engine and says where each\n" +
			"ranking would have placed what was read next (docs/quality.md).\n\n" +
			"It exits 1 on errors and on impossible results, such as an item delivered twice; never because\n" +
			"something took long.",
		Example: "  freshet-bench\n" +
			"  freshet-bench --only refresh,start --items 100000,1000000 --freshet ./freshet\n" +
			"  freshet-bench --redis.url redis://127.0.0.1:6379 --elasticsearch.addresses http://127.0.0.1:9200\n" +
			"  freshet-bench --simulate --agents 50000 --impressions 1000000\n" +
			"  freshet-bench --quality items.ndjson.gz events.tsv.gz --from 2016-06-01 --until 2016-09-01 --half odd",
	}
	var f benchFlags
	cmd.Args = f.args
	flags := cmd.Flags()
	flags.StringSliceVar(&f.only, "only", nil, "parts to measure: "+strings.Join(bench.Parts(), ", ")+" (default all)")
	flags.DurationVar(&f.duration, "duration", 5*time.Second, "how long each side of a comparison is measured")
	flags.IntSliceVar(&f.items, "items", []int{100_000}, "items in the catalog; several sizes may be given")
	flags.StringVar(&f.json, "json", "", "write the report as JSON to this file; - or nothing for standard output, instead of the tables")
	flags.Lookup("json").NoOptDefVal = toStdout
	flags.StringVar(&f.freshet, "freshet", "", "the freshet binary, which the part start runs (default: that part is skipped)")
	flags.BoolVar(&f.short, "short", false, "a short run of everything, the simulations included, to find impossible results")
	flags.BoolVar(&f.simulate, "simulate", false, "simulate days of traffic instead")
	flags.IntVar(&f.traffic.Agents, "agents", 10_000, "with --simulate: readers")
	flags.IntVar(&f.traffic.Impressions, "impressions", 200_000, "with --simulate: impressions a day, of all readers together")
	flags.IntVar(&f.traffic.Capacity, "capacity", 0, "with --simulate: impressions a day's filters are made for (default as --impressions)")
	flags.IntVar(&f.traffic.Days, "days", 0, "with --simulate: days to play (default one more than dedup.window_days)")
	flags.Float64Var(&f.traffic.Zipf, "zipf", 1.1, "with --simulate: exponent of the popularity of items, above 1")
	f.quality.add(flags)
	cmd.MarkFlagsMutuallyExclusive("quality", "simulate")
	flags.Uint64Var(&f.traffic.Seed, "seed", 1, "with --simulate: the same seed plays the same traffic")
	path := flags.String("config", "", "configuration file (YAML)")
	configs.AddFlags(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := configs.Load(configs.Options{Path: *path, Environ: os.Environ(), Flags: flags})
		if err != nil {
			return err
		}
		cmd.SetOut(configs.Masking(cmd.OutOrStdout(), cfg))
		cmd.SetErr(configs.Masking(cmd.ErrOrStderr(), cfg))
		if f.quality.on {
			return runQuality(cmd, cfg, f, args)
		}
		return runBench(cmd, cfg, f)
	}
	return cmd
}

// toStdout is the file name that means standard output.
const toStdout = "-"

// args checks the positional arguments: files with --quality, otherwise only an optional file
// name after --json.
func (f *benchFlags) args(cmd *cobra.Command, args []string) error {
	if f.quality.on {
		return qualityArgs(args)
	}
	if f.json == toStdout && len(args) == 1 {
		f.json = args[0]
		return nil
	}
	return cobra.NoArgs(cmd, args)
}

func runBench(cmd *cobra.Command, cfg configs.Config, f benchFlags) error {
	o := bench.Options{
		Config: cfg, Only: f.only, Duration: f.duration, Items: f.items, Short: f.short, Executable: f.freshet, Progress: cmd.ErrOrStderr(),
	}
	if err := o.Validate(); err != nil {
		return usageError{err}
	}
	f.traffic.Items = f.items[0]
	report, err := measure(cmd.Context(), o, f)
	if report == nil {
		return err
	}
	if err := errors.Join(err, writeReport(cmd, report, f.json)); err != nil {
		return err
	}
	if len(report.Impossible) > 0 {
		return errImpossible
	}
	return nil
}

// measure runs the selected measurement; a short run includes the simulations.
func measure(ctx context.Context, o bench.Options, f benchFlags) (*bench.Report, error) {
	if f.simulate {
		return bench.Simulate(ctx, o, f.traffic)
	}
	report, err := bench.Run(ctx, o)
	if !o.Short || len(f.only) > 0 || err != nil {
		return report, err
	}
	urls := []string{""}
	if o.Config.UsesRedis() {
		urls = append(urls, o.Config.Redis.URL)
	}
	for _, url := range urls {
		o.Config.Redis.URL = url
		played, err := bench.Simulate(ctx, o, f.traffic)
		if played != nil {
			report.Simulations = append(report.Simulations, played.Simulations...)
			report.Impossible = append(report.Impossible, played.Impossible...)
			report.Seconds += played.Seconds
		}
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

// report is the output of a run, as tables and as JSON.
type report interface {
	Print(w io.Writer) error
	Write(w io.Writer) error
}

func writeReport(cmd *cobra.Command, report report, path string) error {
	if path == toStdout {
		return report.Write(cmd.OutOrStdout())
	}
	if err := report.Print(cmd.OutOrStdout()); err != nil || path == "" {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("--json: %w", err)
	}
	return errors.Join(report.Write(file), file.Close())
}
