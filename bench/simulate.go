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
	Impressions int     `json:"impressions"` // per day, over all agents
	Capacity    int     `json:"capacity"`    // impressions that a day's filter is sized for
	Days        int     `json:"days"`
	Items       int     `json:"items"`
	Zipf        float64 `json:"zipf"` // exponent of the items' popularity, above 1
	Seed        uint64  `json:"seed"`
}

// WithDefaults returns the traffic with defaults for unset fields. The default number of days is
// one more than the window, so that a filter leaves it.
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

// short returns the same kind of traffic at a smaller scale.
func (t Traffic) short() Traffic {
	t.Agents, t.Impressions, t.Items = min(t.Agents, 500), min(t.Impressions, 10_000), min(t.Items, 20_000)
	t.Capacity = t.Impressions
	return t
}

// Validate checks the traffic.
func (t Traffic) Validate() error {
	switch {
	case t.Agents < 1, t.Days < 1, t.Capacity < 1, t.Impressions < page:
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
	Rate    float64     `json:"false_positive_rate"` // configured, for the whole window
	Traffic Traffic     `json:"traffic"`
	Days    []DayPlayed `json:"days"`
	// Probes are pairs that were never delivered, checked at the end, when each filter of the
	// window is full.
	Probes  Compared `json:"probes"`
	Repeats int      `json:"repeats"` // items shown within the window but reported as unseen
	Seconds float64  `json:"seconds"`
}

// DayPlayed is one day.
type DayPlayed struct {
	Day         string   `json:"day"`
	Visits      int      `json:"visits"`
	Impressions int      `json:"impressions"`
	Fill        Compared `json:"fill"`   // of the day's filters, at its end
	Memory      Compared `json:"memory"` // bytes of all filters in the window so far
	Hidden      Compared `json:"hidden"` // groups checked once by the visits and reported as seen
}

// Compared is the value of a formula and the measured value.
type Compared struct {
	Expected float64 `json:"expected"`
	Measured float64 `json:"measured"`
	// Bound is the largest difference explained by chance and the approximation in the formula; 0
	// means none is stated.
	Bound float64 `json:"bound,omitempty"`
	Of    int     `json:"of,omitempty"` // sample size, for a count
}

// possible reports whether the difference is within the bound.
func (c Compared) possible() bool { return c.Bound == 0 || math.Abs(c.Measured-c.Expected) <= c.Bound }

const (
	// sigmas is the allowed deviation in standard deviations; six are exceeded once in five
	// hundred million times.
	sigmas = 6
	// approximation is the relative error of the formula: it assumes that the positions of a
	// member are independent.
	approximation = 0.1
)

// counted compares a count of rare, independent events with its expectation.
func counted(measured int, expected float64, of int) Compared {
	return Compared{
		Expected: expected, Measured: float64(measured), Of: of,
		Bound: sigmas*math.Sqrt(expected) + approximation*expected + 1,
	}
}

// Simulate simulates days of traffic on compressed time, in Redis or without redis.url in this
// process, and compares its filters with the formulas. Repeats, and false hits beyond the bound,
// are listed in [Report.Impossible].
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

// judge records impossible results.
func (b *bench) judge(sim Simulation) {
	if sim.Repeats > 0 {
		b.impossible("simulation, %s: %d candidates that were shown within the window counted as unseen", sim.Backend, sim.Repeats)
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

// heapNow returns the size of the heap, in bytes.
func heapNow() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // the second collection frees pooled objects
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// sized returns the size and number of a day's filters.
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
