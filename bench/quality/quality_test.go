package quality

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
)

// made generates a community in which each reader reads the item that choose picks from the unread
// ones, newest first; reads has the number of reads of each item within a day. An item is published
// every half hour for two days, and one is read every four minutes.
func made(t testing.TB, choose func(candidates, reads []int) int) *Data {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 7))
	var items, acts []string
	var published []int64
	read := map[[2]int]bool{}
	var reads [][2]int64 // time, item
	for at := int64(start); at < start+2*86_400; at += 240 {
		if (at-start)%1800 == 0 {
			items = append(items, item(fmt.Sprintf("i%d", len(items)), at, ""))
			published = append(published, at)
		}
		reader, now := random.IntN(30), at+1+random.Int64N(200)
		var candidates []int
		for i := len(published) - 1; i >= 0; i-- {
			if !read[[2]int{reader, i}] {
				candidates = append(candidates, i)
			}
		}
		counts := make([]int, len(published))
		for _, r := range reads {
			if r[0] >= now-86_400 {
				counts[r[1]]++
			}
		}
		if len(candidates) == 0 {
			continue
		}
		i := choose(candidates, counts)
		read[[2]int{reader, i}] = true
		reads = append(reads, [2]int64{now, int64(i)})
		acts = append(acts, act(now, fmt.Sprintf("u_%d", reader), "click", fmt.Sprintf("i%d", i)))
	}
	d, err := Load(file(t, "items", items...), file(t, "events", acts...))
	require.NoError(t, err)
	return d
}

func newest(candidates, _ []int) int { return candidates[0] }

func mostRead(candidates, reads []int) int {
	return slices.MaxFunc(candidates, func(a, b int) int {
		if reads[a] != reads[b] {
			return reads[a] - reads[b]
		}
		return a - b // the newer one
	})
}

func options() Options { return Options{Config: configs.Default()}.WithDefaults() }

func figure(t *testing.T, r *Report, ranking, name string) Estimate {
	t.Helper()
	for i := range r.Rankings {
		if r.Rankings[i].Ranking == ranking {
			e, known := r.Rankings[i].Figure(name)
			require.True(t, known)
			return e
		}
	}
	require.Fail(t, "no ranking "+ranking)
	return Estimate{}
}

// If readers take the newest item, newest first is the best ranking, and the engine's decay alone
// is as good; if they follow each other, the most popular is.
func TestBestRanking(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for name, c := range map[string]struct {
		choose func(candidates, reads []int) int
		best   []string
		worse  []string
	}{
		"newest":    {newest, []string{mostRecent, "without own popularity"}, []string{"random", "most popular (1 d)"}},
		"most read": {mostRead, []string{"most popular (1 d)"}, []string{"random", mostRecent, "without own popularity"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, err := Measure(t.Context(), made(t, c.choose), options())
			require.NoError(t, err)
			assert.Equal(t, 30, report.Readers)
			assert.Zero(t, report.Outside)
			for _, ranking := range c.best {
				for _, measure := range []string{"ndcg20", "mrr", "hr5", "hr20"} {
					assert.Equal(t, Estimate{1, 1, 1}, figure(t, report, ranking, measure), "%s, %s", ranking, measure)
				}
			}
			for _, ranking := range c.worse {
				assert.Less(t, figure(t, report, ranking, "ndcg20").High, 0.9, ranking)
			}
			if name == "most read" {
				assert.Positive(t, figure(t, report, byDefault, "ndcg20_minus_most_recent").Low, "live popularity finds it")
			}
			gain := figure(t, report, "random", "ndcg20_minus_most_recent")
			assert.InDelta(t, figure(t, report, "random", "ndcg20").Value-figure(t, report, mostRecent, "ndcg20").Value, gain.Value, 1e-12)
		})
	}
}

func TestReportDeterministic(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	d := made(t, mostRead)
	o := options()
	o.Also, o.Until = []string{"scale=2h,offset=0s"}, time.Unix(start, 0).Add(24*time.Hour)
	var reports [2]strings.Builder
	for i := range reports {
		report, err := Measure(t.Context(), d, o)
		require.NoError(t, err)
		require.NoError(t, report.Write(&reports[i]))
	}
	assert.Equal(t, reports[0].String(), reports[1].String())
	assert.Contains(t, reports[0].String(), `"ranking":"scale=2h,offset=0s"`)
}

// sameCandidates measures, and checks at every read that the engine ranks exactly the candidates
// that the baselines rank.
func sameCandidates(t *testing.T, d *Data, o Options) *Report {
	t.Helper()
	o.Config.Ranking.Diversity.SameStory = 0 // otherwise a page leaves out similar stories
	var r *replay
	compared := 0
	probe := contender{name: "probe", order: func(m *moment) []int {
		lists, err := r.community.rank(t.Context(), m, o.Window, r.rankings)
		require.NoError(t, err)
		require.NotEmpty(t, lists)
		if !assert.ElementsMatch(t, m.candidates, lists[0], "reader %s at %d", m.reader, m.at) {
			t.FailNow()
		}
		compared++
		return m.candidates
	}}
	all, err := contenders(o.Config.Ranking, nil)
	require.NoError(t, err)
	// One of the engine's rankings is enough: all have the same candidates.
	list := slices.DeleteFunc(all, func(c contender) bool { return c.order == nil && c.name != byDefault })
	r, err = begin(t.Context(), d, o, append(list, probe))
	require.NoError(t, err)
	defer func() { require.NoError(t, r.end(context.Background())) }()
	require.NoError(t, r.run(t.Context()))
	report, err := r.report()
	require.NoError(t, err)
	require.Equal(t, report.Events, compared)
	return report
}

func TestEngineRanksCandidates(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	o := options()
	o.Window = 36 * time.Hour
	sameCandidates(t, made(t, mostRead), o)
}

// Measured are the first reads after the item's own time, by the readers that count, within the
// given time.
func TestMeasuredReads(t *testing.T) {
	t.Parallel()
	const hour = 3600
	items := file(t, "items", item("a", start, ""), item("b", start+hour, ""), item("c", start+2*hour, ""))
	acts := file(t, "events",
		act(start, "u_1", "click", "a"),        // the item's first reader
		act(start+hour, "b", "click", "a"),     // measured: b had not read before
		act(start+hour, "u_1", "like", "a"),    // a repeated read
		act(start+hour, "u_1", "click", "b"),   // the item's first reader
		act(start+2*hour, "b", "click", "b"),   // measured
		act(start+2*hour, "b", "like", "b"),    // at the same time: counts once
		act(start+3*hour, "b", "dislike", "c"), // does not count as a read
		act(start+3*hour, "a", "bookmark", "c"),
		act(start+9*24*hour, "u_1", "click", "c"), // too old to be a candidate
	)
	for name, c := range map[string]struct {
		change          func(*Options)
		readers, events int
		leftOut         int
		outside         int
	}{
		"all":                 {func(*Options) {}, 3, 4, 2, 1},
		"odd: b":              {func(o *Options) { o.Half = Odd }, 1, 2, 0, 0},
		"even: a, u_1":        {func(o *Options) { o.Half = Even }, 2, 2, 2, 1},
		"from, until":         {func(o *Options) { o.From, o.Until = time.Unix(start+2*hour, 0), time.Unix(start+3*hour, 0) }, 1, 1, 0, 0},
		"only a":              {func(o *Options) { o.Count = map[string]bool{"a": true, "nobody": true} }, 1, 1, 0, 0},
		"a window of 10 days": {func(o *Options) { o.Window = 10 * day }, 3, 4, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := Load(items, acts)
			require.NoError(t, err)
			o := options()
			c.change(&o)
			report, err := Measure(t.Context(), d, o)
			require.NoError(t, err)
			assert.Equal(t, []int{c.readers, c.events, c.leftOut, c.outside},
				[]int{report.Readers, report.Events, report.LeftOut, report.Outside})
		})
	}
	d, err := Load(items, acts)
	require.NoError(t, err)
	o := options()
	o.From = time.Unix(start+100*day.Milliseconds(), 0)
	_, err = Measure(t.Context(), d, o)
	assert.ErrorContains(t, err, "no reads to measure")
}

func TestMeasureRefuses(t *testing.T) {
	t.Parallel()
	for says, change := range map[string]func(*Options){
		"--window must be 1s to 59d":     func(o *Options) { o.Window = 60 * day },
		"--from must be before":          func(o *Options) { o.From, o.Until = time.Unix(2, 0), time.Unix(2, 0) },
		"--also speed=2: bad ranking":    func(o *Options) { o.Also = []string{"speed=2"} },
		"base must be greater than 0":    func(o *Options) { o.Config.Ranking.Base = 0 },
		"--window must be 1s to 59d, no": func(o *Options) { o.Window = -1 },
	} {
		o := options()
		change(&o)
		_, err := Measure(t.Context(), nil, o)
		assert.ErrorContains(t, err, says)
	}
}

// A run leaves nothing behind, even when it is interrupted.
func TestMeasureInterrupted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	o := options()
	interrupt := contender{name: "interrupt", order: func(m *moment) []int { cancel(); return m.candidates }}
	r, err := begin(ctx, made(t, newest), o, []contender{interrupt, {name: byDefault, ranking: o.Config.Ranking}})
	require.NoError(t, err)
	require.ErrorIs(t, r.run(ctx), context.Canceled)
	require.NoError(t, r.end(ctx))
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestRealReaders replays the first month of a real board. The expected numbers of readers and
// reads, and the figures of newest first, were computed by a separate program from the same files.
func TestRealReaders(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	d, err := Load(testenv.Readers(t))
	require.NoError(t, err)
	o := options()
	o.From, o.Until = time.Date(2016, 4, 8, 0, 0, 0, 0, time.UTC), time.Date(2016, 4, 15, 0, 0, 0, 0, time.UTC)
	report := sameCandidates(t, d, o)
	assert.Equal(t, []int{203, 589}, []int{report.Readers, report.Events})
	assert.InDelta(t, 0.3279, figure(t, report, mostRecent, "ndcg20").Value, 0.00005)
	assert.GreaterOrEqual(t, figure(t, report, byDefault, "ndcg20_minus_most_recent").High, -0.00005, "no worse than the newest first")
	assert.Less(t, figure(t, report, "random", "ndcg20_minus_default").High, 0.0, "better than chance")
}
