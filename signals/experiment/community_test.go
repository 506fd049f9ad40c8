package experiment_test

import (
	"bufio"
	"compress/gzip"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/experiment"
)

// perPage is the number of items of a page: each reader has one on each day with a read.
const perPage = 20

// community holds the numbers of reads of each reader by day, from a first day on.
type community [][]int

// readCommunity reads the days from first to first+days−1 of real readers.
func readCommunity(t *testing.T, first int64, days int) community {
	t.Helper()
	_, path := testenv.Readers(t)
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	gz, err := gzip.NewReader(f)
	require.NoError(t, err)
	index, read := map[string]int{}, map[string]bool{}
	var all community
	for lines := bufio.NewScanner(gz); lines.Scan(); {
		p := strings.Split(lines.Text(), "\t")
		at, err := strconv.ParseInt(p[0], 10, 64)
		require.NoError(t, err)
		day := int(at/86400 - first)
		if p[2] != "click" || read[p[1]+p[3]] {
			continue
		}
		read[p[1]+p[3]] = true
		if day < 0 || day >= days {
			continue
		}
		i, known := index[p[1]]
		if !known {
			i = len(all)
			index[p[1]] = i
			all = append(all, make([]int, days))
		}
		all[i][day]++
	}
	return all
}

// look holds the figures at the end of a day.
type look struct {
	estimate   experiment.Estimate
	rate       float64 // control's
	size       *api.ReportSize
	difference bool // significant
}

// looks simulates an experiment: half of the buckets each side, at random, and one page of each reader
// on each day with a read. keep is the probability that a read of a side happens. before is the number
// of days before the experiment; on the day sized it is said how long the test takes.
func (c community) looks(rnd *rand.Rand, before, sized int, keep [2]float64) (looks []look) {
	arms := [2]experiment.Arm{}
	for i := range arms {
		arms[i] = experiment.Arm{During: events.Cells{}, Columns: [2]events.Column{events.Clicked, events.Shown}}
	}
	buckets := min(len(c), feed.Buckets)
	side := make([]int, buckets)
	for i, at := range rnd.Perm(buckets) {
		side[at] = i % 2
		arms[i%2].Buckets = append(arms[i%2].Buckets, at)
	}
	if before > 0 {
		prior := events.Cells{}
		for day := range before {
			c.day(rnd, day, func(i, clicks int) {
				prior.Add(i%buckets, events.Shown, perPage)
				prior.Add(i%buckets, events.Clicked, int64(clicks))
			}, func(int) float64 { return 1 })
		}
		arms[0].Before, arms[1].Before = prior, prior
	}
	var n, k [2]float64
	parity := [2]events.Cells{{}, {}}
	for day := before; day < len(c[0]); day++ {
		c.day(rnd, day, func(i, clicks int) {
			b := i % buckets
			s := side[b]
			for _, to := range []events.Cells{arms[s].During, parity[day%2]} {
				to.Add(b, events.Shown, perPage)
				to.Add(b, events.Clicked, int64(clicks))
			}
			n[s] += perPage
			k[s] += float64(clicks)
		}, func(i int) float64 { return keep[side[i%buckets]] })
		l := look{estimate: experiment.Compare(arms[0], arms[1]), rate: k[1] / max(1, n[1])}
		if day-before == sized {
			lasting := experiment.Lasting(arms[0], arms[1], parity[0], parity[1])
			l.size = experiment.Size(l.estimate, sized+1, lasting, (n[0]+n[1])/2, l.rate, 0.1)
		}
		l.difference = l.estimate.P(experiment.Width(k[0]/max(1, n[0]), l.rate)) < experiment.Significance
		looks = append(looks, l)
	}
	return looks
}

// day calls add for each reader with a page on a day.
func (c community) day(rnd *rand.Rand, day int, add func(reader, clicks int), keep func(reader int) float64) {
	for i := range c {
		if c[i][day] == 0 {
			continue
		}
		clicks := 0
		for range min(perPage, c[i][day]) {
			if rnd.Float64() < keep(i) {
				clicks++
			}
		}
		add(i, clicks)
	}
}

// resampled returns a community of n readers, drawn with replacement.
func (c community) resampled(rnd *rand.Rand, n int) community {
	all := make(community, n)
	for i := range all {
		all[i] = c[rnd.IntN(len(c))]
	}
	return all
}

const never = -1 // no day

const april = 16892 // 2016-04-01, as a number of days since 1970

// TestFalseVerdicts divides real readers at random, a thousand times, under one ranking. At most one in
// twenty experiments may ever call the sides different, however many days somebody looks.
func TestFalseVerdicts(t *testing.T) {
	testenv.WithoutRace(t)
	testenv.Full(t, "models")
	const splits = 1000
	for _, before := range []int{0, 28} {
		c := readCommunity(t, april, before+92)
		within := map[int]int{}
		for split := range splits {
			looks := c.looks(rand.New(rand.NewPCG(uint64(split), 1)), before, never, [2]float64{1, 1})
			first := slices.IndexFunc(looks, func(l look) bool { return l.difference })
			for _, days := range []int{28, 92} {
				if first >= 0 && first < days {
					within[days]++
				}
			}
		}
		t.Logf("%d readers, with %d days before: false verdicts of %d: %d in 28 days, %d in 92", len(c), before, splits, within[28], within[92])
		assert.LessOrEqual(t, within[28], splits/20)
		assert.LessOrEqual(t, within[92], splits/20)
	}
}

// TestTrueDifferenceFound plants a difference of a tenth. It is found in eight of ten experiments within
// the time that a test is said to take by what the same readers did in the four weeks before.
func TestTrueDifferenceFound(t *testing.T) {
	testenv.WithoutRace(t)
	testenv.Full(t, "models")
	const readers, runs, before, days = 9000, 50, 28, 28
	c := readCommunity(t, april, before+days)
	found, late, said := 0, 0, 0.0
	for run := range runs {
		rnd := rand.New(rand.NewPCG(uint64(run), 2))
		drawn := c.resampled(rnd, readers)
		plan := drawn.looks(rnd, before, 6, [2]float64{1, 1})[6].size // after a week without a difference
		require.NotNil(t, plan)
		if plan.Days == nil || *plan.Days > days {
			late++
			continue
		}
		said += *plan.Days
		looks := drawn.looks(rnd, before, never, [2]float64{0.9, 1})
		if slices.ContainsFunc(looks[:int(math.Ceil(*plan.Days))], func(l look) bool { return l.difference }) {
			found++
		}
	}
	t.Logf("%d readers: %d of %d found within the time said, %.1f days on average; %d would take longer than %d days", readers, found, runs-late, said/float64(max(1, runs-late)), late, days)
	assert.GreaterOrEqual(t, found*10, (runs-late)*8)
	assert.Less(t, late, runs/4)
}
