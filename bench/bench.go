// Package bench measures the speed and memory that Freshet's documentation promises. Every
// ratio has its baseline in the same run: the two sides take turns, so that drift of the
// machine's speed affects both.
//
// A run uses its own temporary directory, key prefix and index, and removes them at the
// end, also when it is interrupted.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/configs"
)

// Modes of a measurement.
const (
	Embedded = "embedded" // one process, no services
	Services = "services" // Redis and Elasticsearch, for posts PostgreSQL too
)

// Options selects the parts to measure and their duration.
type Options struct {
	// Config names the services; parts whose service has no address are skipped. Its backends,
	// key prefix, index, data directory and authentication are ignored; its other settings are
	// the ones measured.
	Config   configs.Config
	Only     []string      // parts to measure; empty means all
	Duration time.Duration // measuring time of each side of a comparison
	Items    []int         // catalog sizes for embedded mode; the first is also the size of the index, up to 100,000
	Short    bool          // a short run of everything, to find impossible results
	// Executable is the path of the freshet binary, for parts that measure a separate process; ""
	// skips those.
	Executable string
	Progress   io.Writer // one line per part; nil for none
}

// WithDefaults returns the options with defaults for unset fields.
func (o Options) WithDefaults() Options {
	if len(o.Only) == 0 {
		o.Only = Parts()
	}
	if o.Duration <= 0 {
		o.Duration = 5 * time.Second
	}
	if len(o.Items) == 0 {
		o.Items = []int{100_000}
	}
	if o.Short {
		o.Duration, o.Items = min(o.Duration, 300*time.Millisecond), []int{min(o.Items[0], 2000)}
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o
}

// leastItems is the number of items that two refreshes with the default N need.
const leastItems = 1000

// Validate checks the options.
func (o Options) Validate() error {
	for _, name := range o.Only {
		if !slices.Contains(Parts(), name) {
			return fmt.Errorf("--only: there is no part %q; the parts are %s", name, strings.Join(Parts(), ", "))
		}
	}
	for _, n := range o.Items {
		if n < leastItems {
			return fmt.Errorf("--items: must be at least %d, not %d", leastItems, n)
		}
	}
	return nil
}

// part is a part of the measurement in one mode.
type part struct {
	name, mode string
	needs      func(*bench) string // why it cannot be measured; "" if it can
	run        func(*bench, context.Context) ([]Result, error)
}

var parts = []part{
	{"load_more", Embedded, nothing, (*bench).loadMoreEmbedded},
	{"load_more", Services, bothServices, (*bench).loadMoreServices},
	{"refresh", Embedded, nothing, (*bench).refreshEmbedded},
	{"refresh", Services, bothServices, (*bench).refreshServices},
	{"dedup", Embedded, nothing, (*bench).dedupEmbedded},
	{"dedup", Services, bothServices, (*bench).dedupServices},
	{"ingest", Embedded, nothing, (*bench).ingest},
	{"start", Embedded, anExecutable, (*bench).start},
	{"timeline", Embedded, nothing, (*bench).timelineEmbedded},
	{"timeline", Services, allServices, (*bench).timelineServices},
	{"posts", Services, allServices, (*bench).postsServices},
	{"statements", Services, bothServices, (*bench).statementsServices},
	{"crowd", Services, allServices, (*bench).crowdServices},
	{"connected", Services, allServices, (*bench).connectedServices},
	{"streams", Embedded, nothing, (*bench).streamsEmbedded},
	{"streams", Services, allServices, (*bench).streamsServices},
	{"live", Embedded, nothing, (*bench).liveEmbedded},
	{"live", Services, allServices, (*bench).liveServices},
}

// Parts returns the names that --only accepts.
func Parts() []string {
	var names []string
	for _, p := range parts {
		if !slices.Contains(names, p.name) {
			names = append(names, p.name)
		}
	}
	return names
}

func nothing(*bench) string { return "" }

func bothServices(b *bench) string {
	switch {
	case b.services.redis == nil:
		return "redis.url is empty"
	case b.services.elastic == nil:
		return "elasticsearch.addresses is empty"
	}
	return ""
}

func allServices(b *bench) string {
	if b.services.postgres == nil {
		return "postgres.url is empty"
	}
	return bothServices(b)
}

func anExecutable(b *bench) string {
	if b.o.Executable == "" {
		return "it runs the freshet binary; give its path with --freshet"
	}
	return ""
}

// bench is one run.
type bench struct {
	o        Options
	began    time.Time
	name     string // prefix of this run's keys and index
	dir      string
	log      *slog.Logger
	services meter
	meter    *meter // meter of the running part
	report   Report
	filled   map[int]string // data directory by number of items
	peopled  bool           // the network is in PostgreSQL

	postgresURL string // connects to this run's schema
}

// Run measures the selected parts. With an error, the report contains the results up to it.
// Results that must never occur are listed in [Report.Impossible].
func Run(ctx context.Context, o Options) (*Report, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	b, err := begin(ctx, o)
	if err != nil {
		return nil, err
	}
	return b.finish(ctx, b.measure(ctx))
}

// finish removes everything that the run created and completes the report.
func (b *bench) finish(ctx context.Context, err error) (*Report, error) {
	err = errors.Join(err, b.end(ctx))
	b.report.Machine.LoadAfter = loadAverages()
	b.report.Budgets = budgets(b.report.Results)
	b.report.Seconds = time.Since(b.began).Seconds()
	return &b.report, err
}

// measure runs the selected parts.
func (b *bench) measure(ctx context.Context) error {
	for _, p := range parts {
		if !slices.Contains(b.o.Only, p.name) {
			continue
		}
		if err := b.measurePart(ctx, p); err != nil {
			return fmt.Errorf("%s, %s: %w", p.name, p.mode, err)
		}
	}
	return nil
}

func (b *bench) measurePart(ctx context.Context, p part) error {
	why := p.needs(b)
	if why != "" {
		b.progress("skipped: %s, %s: %s", p.name, p.mode, why)
		b.report.Results = append(b.report.Results, Result{Part: p.name, Mode: p.mode, Skipped: why})
		return nil
	}
	b.progress("%s, %s", p.name, p.mode)
	b.meter = &meter{}
	if p.mode == Services {
		b.meter = &b.services
	}
	results, err := p.run(b, ctx)
	for i := range results {
		results[i].Part, results[i].Mode = p.name, p.mode
		for _, wrong := range results[i].unsound(b.rounds()) {
			b.impossible("%s, %s: %s", p.name, p.mode, wrong)
		}
	}
	b.report.Results = append(b.report.Results, results...)
	return err
}

func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(b.o.Progress, format+"\n", args...)
}

// impossible records a result that must not occur.
func (b *bench) impossible(format string, args ...any) {
	b.report.Impossible = append(b.report.Impossible, fmt.Sprintf(format, args...))
}

// rounds returns the number of turns of each side.
func (b *bench) rounds() int {
	if b.o.Short {
		return 2
	}
	return 9
}

// slice returns the length of a turn.
func (b *bench) slice() time.Duration { return b.o.Duration / time.Duration(b.rounds()) }

// begin creates the directory, the name and the connections of a run.
func begin(ctx context.Context, o Options) (*bench, error) {
	b := &bench{
		o: o, began: time.Now(), name: ownName(), filled: map[int]string{},
		report: Report{Results: []Result{}, Simulations: []Simulation{}, Impossible: []string{}},
	}
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	b.log = slog.New(slog.NewTextHandler(nowhere, nil)) // log lines are formatted and written, so that they cost as much as in a server
	if b.dir, err = os.MkdirTemp("", b.name+"-"); err != nil {
		return nil, err
	}
	if err := b.connect(ctx); err != nil {
		return nil, errors.Join(err, b.end(ctx))
	}
	b.report.Machine = inspectMachine(ctx, &b.services)
	b.report.Settings = Settings{
		Only: o.Only, Items: o.Items, Duration: o.Duration.String(), Rounds: b.rounds(), Clients: clients, Page: page, Short: o.Short,
	}
	return b, nil
}
