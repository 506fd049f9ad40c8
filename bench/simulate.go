package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// Traffic configures a simulation.
type Traffic struct {
	Agents      int     `json:"agents"`
	Impressions int     `json:"impressions"` // a day, of all agents together
	Capacity    int     `json:"capacity"`    // impressions a day's filter is made for
	Days        int     `json:"days"`
	Items       int     `json:"items"`
	Zipf        float64 `json:"zipf"` // exponent of the items' popularity, above 1
	Seed        uint64  `json:"seed"`
}

// WithDefaults fills in what is not set, for a window of so many days: one day
// more than the window, so that a filter leaves it.
func (t Traffic) WithDefaults(window int) Traffic {
	set := func(v *int, standard int) {
		if *v == 0 {
			*v = standard
		}
	}
	set(&t.Agents, 10_000)
	set(&t.Impressions, 200_000)
	set(&t.Capacity, t.Impressions)
	set(&t.Days, window+1)
	set(&t.Items, 100_000)
	if t.Zipf == 0 {
		t.Zipf = 1.1
	}
	return t
}

// short is little traffic of the same kind.
func (t Traffic) short() Traffic {
	t.Agents, t.Impressions, t.Items = min(t.Agents, 500), min(t.Impressions, 10_000), min(t.Items, 20_000)
	t.Capacity = t.Impressions
	return t
}

// Validate says what cannot be played.
func (t Traffic) Validate() error {
	switch {
	case t.Agents < 1 || t.Impressions < page || t.Capacity < 1 || t.Days < 1:
		return fmt.Errorf("--agents, --days and the capacity must be at least 1, and --impressions at least %d", page)
	case t.Items < 10*page:
		return fmt.Errorf("--items must be at least %d, not %d", 10*page, t.Items)
	case !(t.Zipf > 1 && t.Zipf <= 4):
		return fmt.Errorf("--zipf must be above 1 and at most 4, not %v", t.Zipf)
	case t.Impressions*t.Days > 200_000_000:
		return errors.New("--impressions times --days must be at most 200 million: every one is remembered, to compare")
	}
	return nil
}

// Simulation is the result of some days of traffic.
type Simulation struct {
	Backend string      `json:"backend"`
	Window  int         `json:"window_days"`
	Rate    float64     `json:"false_positive_rate"` // configured, of the whole window
	Traffic Traffic     `json:"traffic"`
	Days    []DayPlayed `json:"days"`
	// Probes are pairs that were never delivered, asked at the end, when each filter of
	// the window is as full as it gets.
	Probes  Compared `json:"probes"`
	Repeats int      `json:"repeats"` // shown within the window and taken for unseen
	Seconds float64  `json:"seconds"`
}

// DayPlayed is one day.
type DayPlayed struct {
	Day         string   `json:"day"`
	Visits      int      `json:"visits"`
	Impressions int      `json:"impressions"`
	Fill        Compared `json:"fill"`   // of the day's filters at its end
	Memory      Compared `json:"memory"` // bytes, of all filters of the window so far
	Hidden      Compared `json:"hidden"` // groups asked for once, by the visits, and taken for seen
}

// Compared is a formula's value and what was found.
type Compared struct {
	Expected float64 `json:"expected"`
	Measured float64 `json:"measured"`
	// Bound is the largest difference that chance and the formula's own
	// approximation explain; 0: none is stated.
	Bound float64 `json:"bound,omitempty"`
	Of    int     `json:"of,omitempty"` // how many were asked, of a count
}

// possible reports whether the difference can be explained.
func (c Compared) possible() bool { return c.Bound == 0 || math.Abs(c.Measured-c.Expected) <= c.Bound }

const (
	// sigmas of chance are allowed; six are passed once in five hundred
	// million times.
	sigmas = 6
	// approximation is how far the formula itself may be off: it takes the
	// positions of a member for independent of each other.
	approximation = 0.1
)

// counted compares a count of rare, independent events with its expectation.
func counted(measured int, expected float64, of int) Compared {
	return Compared{
		Expected: expected, Measured: float64(measured), Of: of,
		Bound: sigmas*math.Sqrt(expected) + approximation*expected + 1,
	}
}

// Simulate plays days of traffic on compressed time in Redis, or without redis.url
// in this process, and compares its filters with the formulas. Repeats, and false hits
// beyond the bound, are listed in [Report.Impossible].
func Simulate(ctx context.Context, o Options, traffic Traffic) (*Report, error) {
	o = o.WithDefaults()
	o.Only = []string{"simulate"}
	o.Config.Elasticsearch, o.Config.Postgres.URL = configs.Default().Elasticsearch, ""
	b, err := begin(ctx, o)
	if err != nil {
		return nil, err
	}
	return b.finish(ctx, b.simulate(ctx, traffic))
}

func (b *bench) simulate(ctx context.Context, traffic Traffic) (err error) {
	cfg := b.o.Config
	traffic = traffic.WithDefaults(cfg.Dedup.WindowDays)
	if b.o.Short {
		traffic = traffic.short()
	}
	if err := traffic.Validate(); err != nil {
		return err
	}
	cfg.DataDir = filepath.Join(b.dir, "simulate")
	cfg.Redis.KeyPrefix = b.prefix() + "simulate:"
	cfg.Dedup.DailyCapacity = traffic.Capacity
	cfg.Dedup.OnFailure = configs.FailClosed
	_, impressions, _ := cfg.Stores()
	b.progress("simulate, %s: %d days of %d impressions", impressions, traffic.Days, traffic.Impressions)

	start := feed.DayOf(time.Now()).Start().AddDate(0, 0, -traffic.Days)
	p := newPlay(cfg, traffic)
	store, stop, err := b.openDedup(ctx, cfg, start)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop(context.WithoutCancel(ctx))) }()
	p.store, p.redis = store, b.services.redis
	sim := Simulation{
		Backend: impressions, Window: cfg.Dedup.WindowDays, Rate: cfg.Dedup.FalsePositiveRate, Traffic: traffic,
	}
	began := time.Now()
	for i := range traffic.Days {
		day, err := p.day(ctx, start.AddDate(0, 0, i))
		if err != nil {
			return err
		}
		sim.Days = append(sim.Days, day)
		b.progress("  %s: %d impressions, fill %.4f, %.0f of %d unseen hidden (expected %.1f)",
			day.Day, day.Impressions, day.Fill.Measured, day.Hidden.Measured, day.Hidden.Of, day.Hidden.Expected)
	}
	if sim.Probes, err = p.probe(ctx); err != nil {
		return err
	}
	sim.Repeats, sim.Seconds = p.repeats, time.Since(began).Seconds()
	b.report.Simulations = append(b.report.Simulations, sim)
	b.judge(sim)
	return nil
}

// judge lists what cannot be.
func (b *bench) judge(sim Simulation) {
	if sim.Repeats > 0 {
		b.impossible("simulation, %s: %d candidates that were shown within the window were taken for unseen", sim.Backend, sim.Repeats)
	}
	check := func(what string, c Compared) {
		if !c.possible() {
			b.impossible("simulation, %s: %s: %.6g where %.6g is expected, give or take %.3g", sim.Backend, what, c.Measured, c.Expected, c.Bound)
		}
	}
	for _, day := range sim.Days {
		check(day.Day+": unseen taken for seen", day.Hidden)
		check(day.Day+": fill of the filters", day.Fill)
	}
	check("false hits of the whole window", sim.Probes)
}

// heapNow is the size of the heap, in bytes.
func heapNow() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools release what they hold at the second
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// sized are the filters of a day.
func sized(cfg configs.Config) (size dedup.FilterSize, filters int) {
	d := dedup.Config{
		WindowDays: cfg.Dedup.WindowDays, FalsePositiveRate: cfg.Dedup.FalsePositiveRate,
		DailyCapacity: cfg.Dedup.DailyCapacity, Shards: cfg.Dedup.Shards,
	}
	if cfg.UsesRedis() {
		return d.RedisFilter(d.Shards), d.Shards
	}
	return d.MemoryFilter(), 1
}
