package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

const (
	// askedEach is the number of candidates of a visit. It is less than in a refresh, so that
	// many visits can be simulated.
	askedEach = 100
	// freshEach is the number of groups in a visit that were never checked before. Only they show
	// the rate of false hits: of the real candidates, a hidden one stays a candidate while the
	// others are shown and disappear.
	freshEach = 25
	// batchOf is the number of impressions recorded at once.
	batchOf = 1000
	// probesFor is the number of false hits that the probes should find, enough for an error of a
	// few percent by chance.
	probesFor = 5_000
	mostProbe = 2_000_000
)

// play is a simulation in progress.
type play struct {
	cfg     configs.Config
	store   dedup.Store
	redis   redis.UniversalClient // nil if the filters are in this process
	traffic Traffic
	size    dedup.FilterSize
	filters int // per day
	random  *rand.Rand
	zipf    *rand.Zipf

	// shown is the ground truth: the day on which each agent was last shown each item.
	shown   map[uint64]feed.Day
	held    map[feed.Day]float64 // impressions in each day's filters
	batch   []dedup.Impression   // shown but not yet recorded
	waiting map[int]struct{}     // agents with impressions in the batch
	repeats int
	fresh   int
}

func newPlay(cfg configs.Config, traffic Traffic) *play {
	p := &play{cfg: cfg, traffic: traffic, held: map[feed.Day]float64{}, waiting: map[int]struct{}{}}
	p.size, p.filters = sized(cfg)
	p.random = rand.New(rand.NewPCG(traffic.Seed, 7))
	p.zipf = rand.NewZipf(p.random, traffic.Zipf, 1, uint64(traffic.Items-1))
	p.shown = make(map[uint64]feed.Day, traffic.Impressions*traffic.Days)
	return p
}

// day simulates the visits of one day. More happen in the evening than at night.
func (p *play) day(ctx context.Context, start time.Time) (DayPlayed, error) {
	today := feed.DayOf(start)
	d := DayPlayed{Day: today.String()}
	expected, hidden := 0.0, 0
	most := 50 * (p.traffic.Impressions/page + 1)
	var now time.Time
	for d.Impressions < p.traffic.Impressions {
		if d.Visits == most {
			return d, fmt.Errorf("%d agents have seen too much of %d items: after %d visits there are only %d new impressions on %s",
				p.traffic.Agents, p.traffic.Items, d.Visits, d.Impressions, d.Day)
		}
		now = start.Add(timeOfDay(float64(d.Impressions) / float64(p.traffic.Impressions)))
		v, err := p.visit(ctx, now, min(page, p.traffic.Impressions-d.Impressions))
		if err != nil {
			return d, err
		}
		d.Visits++
		d.Impressions += v.taken
		hidden += v.hidden
		expected += v.expected
	}
	if err := p.record(ctx, now); err != nil {
		return d, err
	}
	d.Hidden = counted(hidden, expected, d.Visits*freshEach)
	return d, p.observe(ctx, &d, today)
}

// timeOfDay returns the time by which a share of the day's visits has happened.
func timeOfDay(share float64) time.Duration {
	const swing = 0.6
	return time.Duration((share + swing/(2*math.Pi)*math.Sin(2*math.Pi*share)) * float64(24*time.Hour-time.Second))
}

// visited is the outcome of a visit.
type visited struct {
	taken    int
	hidden   int     // fresh groups reported as seen
	expected float64 // expected value of hidden, by the formula
}

// visit simulates a random agent that requests candidates with Zipf popularity and is shown
// unseen ones.
func (p *play) visit(ctx context.Context, now time.Time, limit int) (v visited, err error) {
	agent := p.random.IntN(p.traffic.Agents)
	_, waits := p.waiting[agent]
	if waits {
		if err := p.record(ctx, now); err != nil {
			return v, err
		}
	}
	today := feed.DayOf(now)
	items, groups := p.candidates()
	for range freshEach {
		groups = append(groups, "fresh_"+strconv.Itoa(p.fresh))
		p.fresh++
	}
	name := "u_" + strconv.Itoa(agent)
	checked, err := p.store.Check(ctx, name, groups, now)
	if err != nil {
		return v, err
	}
	v.expected = freshEach * p.rate(today)
	for _, verdict := range checked.Verdicts[len(items):] {
		if verdict != dedup.Unseen {
			v.hidden++
		}
	}
	for i, item := range items {
		pair := uint64(agent)<<32 | item
		last, was := p.shown[pair]
		seen := checked.Verdicts[i] != dedup.Unseen
		if was && int(today-last) < p.cfg.Dedup.WindowDays {
			if !seen {
				p.repeats++
			}
			continue
		}
		if !seen && v.taken < limit {
			v.taken++
			p.shown[pair] = today
			p.batch = append(p.batch, dedup.Impression{Agent: name, Group: groups[i]})
		}
	}
	if v.taken > 0 {
		p.waiting[agent] = struct{}{}
	}
	if len(p.batch) >= batchOf {
		err = p.record(ctx, now)
	}
	return v, err
}

// candidates draws distinct items with Zipf popularity.
func (p *play) candidates() (items []uint64, groups []string) {
	drawn := make(map[uint64]struct{}, askedEach)
	for tries := 0; len(items) < askedEach && tries < 10*askedEach; tries++ {
		item := p.zipf.Uint64()
		_, again := drawn[item]
		if again {
			continue
		}
		drawn[item] = struct{}{}
		items, groups = append(items, item), append(groups, "doc_"+strconv.FormatUint(item, 10))
	}
	return items, groups
}

// rate returns the probability of a false hit in any filter of the window, by the formula.
func (p *play) rate(today feed.Day) float64 {
	var days []float64
	for ago := range p.cfg.Dedup.WindowDays {
		held := p.held[today-feed.Day(ago)]
		days = append(days, p.size.FalsePositives(held/float64(p.filters)))
	}
	return dedup.WindowFalsePositives(days)
}

// record writes the pending impressions.
func (p *play) record(ctx context.Context, now time.Time) error {
	if err := recordAll(ctx, p.store, p.batch, now); err != nil {
		return err
	}
	p.held[feed.DayOf(now)] += float64(len(p.batch))
	p.batch = p.batch[:0]
	clear(p.waiting)
	return nil
}

// observe measures the day's filters.
func (p *play) observe(ctx context.Context, d *DayPlayed, today feed.Day) error {
	n := float64(d.Impressions)
	perFilter := n / float64(p.filters)
	capacity := float64(p.size.Capacity * p.filters)
	// A filter does not count a member whose bits are all set already.
	lost := n * p.size.FalsePositives(perFilter)
	d.Fill = Compared{Expected: n / capacity, Bound: (lost + sigmas*math.Sqrt(lost) + 1) / capacity}
	inWindow := min(len(p.held), p.cfg.Dedup.WindowDays)
	for ago := range inWindow {
		for _, layer := range p.size.Layers(p.held[today-feed.Day(ago)] / float64(p.filters)) {
			d.Memory.Expected += float64(p.filters) * float64(layer.Bytes())
		}
	}
	if p.redis == nil {
		var err error
		d.Fill.Measured, d.Memory.Measured, err = inProcess()
		return err
	}
	keys := rediskeys.For(p.redis, p.cfg.Redis.KeyPrefix)
	var held int64
	for ago := range inWindow {
		for shard := range p.filters {
			key := keys.Filter(today-feed.Day(ago), shard, p.filters)
			used, err := p.redis.MemoryUsage(ctx, key).Result()
			if err != nil {
				return fmt.Errorf("MEMORY USAGE %s: %w", key, err)
			}
			d.Memory.Measured += float64(used)
			if ago > 0 {
				continue
			}
			info, err := p.redis.BFInfo(ctx, key).Result()
			if err != nil {
				return fmt.Errorf("BF.INFO %s: %w", key, err)
			}
			held += info.ItemsInserted
		}
	}
	d.Fill.Measured = float64(held) / capacity
	return nil
}

// inProcess returns the metrics published by the store in process: the fill of today's filter and
// the bytes of all filters.
func inProcess() (fill, bytes float64, err error) {
	families, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		return 0, 0, err
	}
	found := 0
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			switch family.GetName() {
			case "freshet_dedup_filter_fill_ratio":
				if isToday(metric) {
					fill = metric.GetGauge().GetValue()
					found++
				}
			case "freshet_dedup_filter_bytes":
				bytes += metric.GetGauge().GetValue()
				found++
			}
		}
	}
	if found < 2 {
		return 0, 0, errors.New("the metrics of the filters are missing")
	}
	return fill, bytes, nil
}

func isToday(metric *dto.Metric) bool {
	for _, label := range metric.GetLabel() {
		if label.GetName() == "days_ago" && label.GetValue() == "0" {
			return true
		}
	}
	return false
}

// probe checks pairs that were never delivered, at the end of the last day.
func (p *play) probe(ctx context.Context) (Compared, error) {
	var today feed.Day
	for day := range p.held {
		today = max(today, day)
	}
	now := today.Start().Add(24*time.Hour - time.Second)
	rate := p.rate(today)
	n := max(100*candidates, min(mostProbe, int(probesFor/rate)))
	if p.traffic.Impressions <= 10_000 {
		n = min(n, 100_000)
	}
	n = n / candidates * candidates
	hits := 0
	groups := make([]string, candidates)
	for from := 0; from < n; from += candidates {
		for i := range groups {
			groups[i] = "new_" + strconv.Itoa(i)
		}
		checked, err := p.store.Check(ctx, "probe_"+strconv.Itoa(from), groups, now)
		if err != nil {
			return Compared{}, err
		}
		for _, v := range checked.Verdicts {
			if v != dedup.Unseen {
				hits++
			}
		}
	}
	return counted(hits, rate*float64(n), n), nil
}
