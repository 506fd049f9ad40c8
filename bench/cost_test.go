package bench

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEstimate compares an estimate with figures computed by hand.
func TestEstimate(t *testing.T) {
	t.Parallel()
	c := Costs{Entry: 1 << 20, CPU: map[string]map[string]float64{
		costPage:   {"freshet": 500, "redis": 100, "postgres": 50},
		costPush:   {"freshet": 10, "redis": 20},
		costRemove: {"redis": 5},
	}}
	p := Plan{Pages: 1000, Pushes: 10_000, Deletes: 10, Followers: 100, Readers: 512, Cap: 2, Busy: 0.5, Cores: 4, CoreHour: 0.1, GiBHour: 0.01}
	e := p.Estimate(c)
	// Pages: 0.5, 0.1 and 0.05 cores. Pushes: 0.1 and 0.2. Removals, 1000 a second: 0.005.
	assert.InDelta(t, 0.6, e.Cores["freshet"], 1e-9)
	assert.InDelta(t, 0.305, e.Cores["redis"], 1e-9)
	assert.InDelta(t, 0.05, e.Cores["postgres"], 1e-9)
	assert.Equal(t, map[string]int{"freshet": 1, "redis": 1, "elasticsearch": 0}, e.Machines)
	assert.Equal(t, 1, e.Database)
	assert.InDelta(t, 1, e.Memory, 1e-9)
	// One server of 4 cores; master, primary and a replica of each: 8 cores. Memory twice.
	assert.InDelta(t, 8*0.1+2*0.01, e.Hour, 1e-9)
	// 650 µs at half load are 1.3 ms of a core; a million are 1300 s.
	assert.InDelta(t, 1300.0/3600*0.1, e.Million[costPage], 1e-9)
	// 1000 pages, 100 posts, 10,000 pushes, 1000 removals.
	assert.InDelta(t, e.Hour/3600/12_100, e.Each, 1e-12)
	assert.Zero(t, Plan{Followers: 1, Busy: 1, Cores: 1, CoreHour: 1, GiBHour: 1}.Estimate(c).Hour, "nothing costs nothing")
}

func TestPlanRefused(t *testing.T) {
	t.Parallel()
	require.NoError(t, DefaultPlan().Validate())
	for name, change := range map[string]func(*Plan){
		"negative rate":  func(p *Plan) { p.Pages = -1 },
		"negative price": func(p *Plan) { p.CoreHour = -1 },
		"no followers":   func(p *Plan) { p.Followers = 0 },
		"no core":        func(p *Plan) { p.Cores = 0 },
		"never busy":     func(p *Plan) { p.Busy = 0 },
		"more than busy": func(p *Plan) { p.Busy = 1.1 },
	} {
		p := DefaultPlan()
		change(&p)
		assert.Error(t, p.Validate(), name)
	}
}

// TestCostsOfReport takes costs from a report, and reads them back.
func TestCostsOfReport(t *testing.T) {
	t.Parallel()
	one := func(name string, us float64) Case { return Case{Name: name, CPU: map[string]float64{"freshet": us}} }
	r := Report{Machine: Machine{Time: time.Date(2026, 12, 1, 4, 0, 0, 0, time.UTC), Cores: 2, CPU: "fast"}, Results: []Result{
		{Part: "load_more", Mode: Embedded, Cases: []Case{one("freshet", 1)}},
		{Part: "load_more", Mode: Services, Cases: []Case{one("bare gin, LPOP + MGET", 2), one("freshet", 3)}},
		{Part: "refresh", Mode: Services, Cases: []Case{one("freshet", 4)}},
		{Part: "timeline", Mode: Services, Cases: []Case{one("freshet", 5)}, Figures: []Value{{"bytes an entry, listpack", 41, "bytes"}}},
		{Part: "timeline", Mode: Services, Cases: []Case{one("freshet", 6)}},
		{Part: "posts", Mode: Services, What: "publish, to the answer", Cases: []Case{one("the database's own commit", 7), one("freshet", 8)}},
		{Part: "posts", Mode: Services, What: "unfollow, to the answer", Cases: []Case{one("freshet", 9)}},
		{Part: "posts", Mode: Services, Cases: []Case{one("published", 1000), one("deleted", 500)}, Figures: []Value{{"lists", 500, ""}}},
		{Part: "posts", Mode: Services, Cases: []Case{one("published", 9000), one("deleted", 9000)}, Figures: []Value{{"lists", 5000, ""}}},
	}}
	var text bytes.Buffer
	require.NoError(t, r.Write(&text))
	c, err := ReadCosts(&text)
	require.NoError(t, err)
	want := map[string]float64{costLoadMore: 3, costRefresh: 4, costPage: 5, costPublish: 8, costUnfollow: 9, costPush: 2, costRemove: 1}
	for operation, us := range want {
		assert.Equal(t, map[string]float64{"freshet": us}, c.CPU[operation], operation)
	}
	assert.Len(t, c.CPU, len(want))
	assert.InDelta(t, 41, c.Entry, 0)
	assert.Equal(t, "2026-12-01", c.Measured)
	require.NoError(t, c.Write(&text))
	back, err := ReadCosts(&text)
	require.NoError(t, err)
	assert.Equal(t, c, back)

	r.Results = r.Results[:4]
	require.NoError(t, r.Write(&text))
	_, err = ReadCosts(&text)
	require.ErrorContains(t, err, "lacks publish, push into a list, unfollow, removal from a list: measure --only")
	_, err = ReadCosts(strings.NewReader("pages: 5"))
	require.ErrorContains(t, err, "no report and no costs")
}
