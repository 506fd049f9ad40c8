package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/freshet/freshet/bench/prove"
	"github.com/freshet/freshet/bench/prove/freshet"
	"github.com/freshet/freshet/bench/prove/gorse"
	"github.com/freshet/freshet/bench/prove/handwritten"
	"github.com/freshet/freshet/server/connect"
)

// serverCommand is the hidden command that runs a server of an adapter in its own process.
const serverCommand = "prove-server"

// kinds are the servers that serverCommand runs.
var kinds = map[string]func(context.Context, prove.Child) error{freshet.Kind: freshet.Serve, handwritten.Kind: handwritten.Serve}

// adapters are the systems that prove judges, in the order of the columns. The path is that of
// gorse-in-one, "" for none, and its version.
func adapters(path, version string) []prove.Adapter {
	return []prove.Adapter{freshet.Embedded(), freshet.Services(), freshet.Strict(), handwritten.Adapter(), gorse.Adapter(path, version)}
}

// rivals are the adapters that are not Freshet.
var rivals = []string{handwritten.Kind, gorse.Name}

// errBroken makes the command exit with code 1 after the report is printed.
var errBroken = errors.New("Freshet repeated, lost or leaked entries; see above")

// proveFlags are the flags of the command prove.
type proveFlags struct {
	options  prove.Options
	adapters []string
	gorse    string
	json     string
	html     string
	svg      string
	redis    string
	elastic  string
	postgres string
	module   string
}

func (f *proveFlags) add(flags *pflag.FlagSet) {
	f.options = prove.Defaults()
	o := &f.options
	flags.StringSliceVar(&f.adapters, "adapters", nil, "systems to judge: "+strings.Join(names(adapters("", "")), ", ")+" (default all that can run)")
	flags.StringVar(&f.gorse, "gorse", "", "path of the program gorse-in-one, for the adapter gorse")
	flags.DurationVar(&o.For, "for", o.For, "how long each system is under load")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "the same seed makes the same calls")
	flags.Float64Var(&o.Rate, "rate", o.Rate, "calls a second, nine reads for each write")
	flags.IntVar(&o.Agents, "agents", o.Agents, "who read, publish and follow; each has two devices")
	flags.IntVar(&o.Follows, "follows", o.Follows, "whom each follows at the begin")
	flags.IntVar(&o.Posts, "posts", o.Posts, "posts from before the load")
	flags.IntVar(&o.Limit, "limit", o.Limit, "entries a page")
	flags.DurationVar(&o.Kill, "kill", o.Kill, "pause between two servers that are killed; 0: none")
	flags.DurationVar(&o.Redis, "redis", o.Redis, "pause between two faults of Redis, a restart and a failover in turn; 0: none")
	flags.DurationVar(&o.Every, "every", o.Every, "pause between two other faults in turn: servers and services paused, connections cut, clocks that jump; 0: none (default a minute if --for is ten minutes or longer)")
	flags.DurationVar(&o.Ahead, "ahead", o.Ahead, "how far the clock of one server is ahead")
	flags.Float64Var(&o.Lost, "lost", o.Lost, "share of the calls whose answer is lost on the way")
	flags.Float64Var(&o.Hangs, "hangs", o.Hangs, "share of the calls whose client hangs up meanwhile")
	flags.DurationVar(&o.Settle, "settle", o.Settle, "how long readers ask on after the load for what they are owed")
	flags.StringVar(&f.json, "json", "", "write the report as JSON to this file; - for standard output, instead of the table")
	flags.StringVar(&f.html, "html", "", "write the report as a page with charts to this file")
	flags.StringVar(&f.svg, "svg", "", "write the chart of what was repeated, lost and leaked to this file")
	flags.StringVar(&f.redis, "redis.url", os.Getenv("FRESHET_REDIS_URL"), "a Redis whose module for Bloom filters is used; the run starts a redis-server of its own")
	flags.StringVar(&f.module, "redis-module", "", "file of the module for Bloom filters, without redis.url; none: they are built in")
	flags.StringVar(&f.elastic, "elasticsearch.addresses", os.Getenv("FRESHET_ELASTICSEARCH_ADDRESSES"), "URL of Elasticsearch, in which the run creates indices of its own")
	flags.StringVar(&f.postgres, "postgres.url", os.Getenv("FRESHET_POSTGRES_URL"), "URL of PostgreSQL, in which the run creates a schema of its own; without one it starts a server of its own, which it may kill")
}

func names(list []prove.Adapter) (all []string) {
	for _, a := range list {
		all = append(all, a.Name)
	}
	return all
}

func newProveCommand() *cobra.Command {
	var f proveFlags
	cmd := &cobra.Command{
		Use:   "prove",
		Short: "Count what feeds repeat, lose and leak while their servers are killed",
		Long: "Drives each system with the same calls: two devices a reader, answers that are lost and calls that are repeated,\n" +
			"servers and Redis killed under load, a clock that is ahead. It knows exactly who may see what and what each reader\n" +
			"is owed, and counts what was shown twice, never, or to the wrong reader (docs/proof.md).\n\n" +
			"It exits 1 on errors, and if Freshet repeated, lost or leaked anything.",
		Example: "  freshet-bench prove\n" +
			"  freshet-bench prove --adapters embedded --for 10m --seed 7\n" +
			"  freshet-bench prove --redis.url redis://127.0.0.1:6379 --elasticsearch.addresses http://127.0.0.1:9200 --postgres.url postgres://…",
		Args: cobra.NoArgs,
	}
	f.add(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }
	return cmd
}

// newServerCommand returns the command that runs a server of an adapter.
func newServerCommand() *cobra.Command {
	return &cobra.Command{
		Use: serverCommand + " DESCRIPTION", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return prove.Serve(cmd.Context(), args[0], kinds) },
	}
}

// long is the length of a run from which on all faults are made.
const long = 10 * time.Minute

func (f *proveFlags) run(cmd *cobra.Command) error {
	if f.options.For >= long && !cmd.Flags().Changed("every") {
		f.options.Every = time.Minute
	}
	chosen, err := f.chosen(cmd.Context())
	if err == nil {
		err = f.options.Validate()
	}
	if err != nil {
		return usageError{err}
	}
	connect.LogRedis(slog.New(slog.DiscardHandler)) // of failovers, which the run itself makes
	services := services{redis: f.redis, module: f.module, elastic: f.elastic, postgres: f.postgres, gates: f.options.Every > 0}
	report, err := prove.All(cmd.Context(), f.options, chosen, services.provide, cmd.ErrOrStderr())
	report.Repeat = again(cmd)
	if err != nil && len(report.Columns) == 0 {
		return err
	}
	if err := errors.Join(err, write("--html", f.html, report.HTML), write("--svg", f.svg, report.Chart), writeReport(cmd, report, f.json)); err != nil {
		return err
	}
	for _, c := range report.Columns {
		if !slices.Contains(rivals, c.Adapter) && c.Skipped == "" && !c.Kept() {
			return errBroken
		}
	}
	return nil
}

// write writes a file of a flag, if it has one.
func write(flag, path string, content func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return errors.Join(content(file), file.Close())
}

// chosen returns the adapters of --adapters.
func (f *proveFlags) chosen(ctx context.Context) ([]prove.Adapter, error) {
	if f.gorse != "" {
		if _, err := exec.LookPath(f.gorse); err != nil {
			return nil, fmt.Errorf("--gorse: %w", err)
		}
	}
	all := adapters(f.gorse, gorse.Version(ctx, f.gorse))
	for _, name := range f.adapters {
		if !slices.Contains(names(all), name) {
			return nil, fmt.Errorf("--adapters: there is no %q; there are %s", name, strings.Join(names(all), ", "))
		}
	}
	return slices.DeleteFunc(all, func(a prove.Adapter) bool {
		if len(f.adapters) == 0 {
			return a.Name == gorse.Name && f.gorse == ""
		}
		return !slices.Contains(f.adapters, a.Name)
	}), nil
}

// again returns the command line that makes the same calls.
func again(cmd *cobra.Command) string {
	text := "freshet-bench prove"
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		secret := strings.Contains(flag.Name, ".") || slices.Contains([]string{"json", "html", "svg", "gorse"}, flag.Name)
		if flag.Changed && !secret {
			text += " --" + flag.Name + " " + strings.Trim(flag.Value.String(), "[]")
		}
	})
	if !cmd.Flags().Changed("seed") {
		text += " --seed " + cmd.Flags().Lookup("seed").Value.String()
	}
	return text
}
