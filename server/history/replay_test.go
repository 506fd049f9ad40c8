package history

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/demo"
	"github.com/freshet/freshet/signals/events"
)

func TestMain(m *testing.M) {
	testenv.FilesInMemory()
	m.Run()
}

const week = 7 * 24 * time.Hour

// made generates items of a week, and clicks of twelve readers at random, some of whom have profiles.
func made(t *testing.T, clicks int) *Community {
	t.Helper()
	end := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	items := demo.Generate(11, 250, end)
	for i := range items {
		items[i].Likes, items[i].Comments, items[i].GroupID = 0, 0, ""
	}
	slices.SortStableFunc(items, func(a, b feed.Item) int { return cmp.Compare(a.UpdateTime, b.UpdateTime) })
	c := &Community{Items: items, Profiles: demo.Profiles()}
	random := rand.New(rand.NewPCG(3, 4))
	from := end.Add(-3 * 24 * time.Hour).Unix()
	past := NewPast(items, week)
	for i := range clicks {
		at := from + int64(i)*3*86_400/int64(clicks)
		reader := fmt.Sprintf("u_%d", 1+random.IntN(12))
		profile := c.Profiles[reader]
		list := slices.DeleteFunc(past.Candidates(reader, at, nil), func(i int) bool { return profile.Refuses(&items[i]) || items[i].By(reader) })
		if len(list) == 0 {
			continue
		}
		item := list[min(random.IntN(len(list)), random.IntN(len(list)))]
		past.Add(reader, item)
		c.Clicks = append(c.Clicks, Click{at, reader, item})
	}
	return c
}

// live is a server in this process, which gets the same clicks.
type live struct {
	*server.App
	now atomic.Int64
}

func startLive(t *testing.T, c *Community) *live {
	t.Helper()
	cfg := configs.Default()
	cfg.DataDir, cfg.Social.Off = t.TempDir(), true
	cfg.Dedup.WindowDays, cfg.Dedup.FalsePositiveRate, cfg.Dedup.DailyCapacity = 20, 1e-9, 1000
	cfg.Popularity.HalfLives = feed.HalfLifeNames
	l := &live{}
	l.now.Store(c.Clicks[0].At)
	var err error
	l.App, err = server.Open(t.Context(), cfg, server.WithClock(func() time.Time { return time.Unix(l.now.Load(), 0).UTC() }),
		server.WithRecallCache(0, 0), server.WithCoReads(), server.WithRecorder(dedup.RecorderConfig{Batch: 1}))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close(context.WithoutCancel(t.Context()))) })
	errs, err := l.Catalog.Put(t.Context(), c.Items)
	require.NoError(t, err)
	for _, err := range errs {
		require.NoError(t, err)
	}
	for agent, profile := range c.Profiles {
		_, err := l.Catalog.EditProfile(t.Context(), agent, func(p *feed.Profile) (bool, error) {
			*p = profile
			return true, nil
		})
		require.NoError(t, err)
	}
	return l
}

func (l *live) click(t *testing.T, c *Community, click Click) {
	t.Helper()
	id := c.Items[click.Item].ID
	require.NoError(t, l.Engine.Seen(t.Context(), click.Reader, []string{id}))
	taken, err := l.Engine.React(t.Context(), click.Reader, []engine.Act{{Kind: events.Click, ID: id}})
	require.NoError(t, err)
	require.Equal(t, 1, taken.Accepted)
	require.NoError(t, l.Flush(t.Context()))
}

// randomRanking returns a ranking with random parameters, those that the scores depend on.
func randomRanking(t *testing.T, random *rand.Rand) feed.Ranking {
	t.Helper()
	decays := []string{
		fmt.Sprintf("scale=%dm,offset=%dm,decay=0.3", 1+random.IntN(9000), random.IntN(300)),
		fmt.Sprintf(`curves=[{"shape":"exp","scale":"%dm","weight":%.2f},{"shape":"linear","scale":"%dh"},{"shape":"constant","weight":0.01}]`, 1+random.IntN(3000), 0.1+random.Float64(), 1+random.IntN(200)),
		fmt.Sprintf(`curves=[{"shape":"gauss","scale":"%dm"},{"shape":"gauss","scale":"%dh","weight":0.3}]`, 1+random.IntN(3000), 1+random.IntN(200)),
	}
	list := []string{"author.decay=1,site.decay=1,tag.decay=1,same_story=0,explore.share=0", decays[random.IntN(len(decays))]}
	set := func(name string, most float64) {
		if random.IntN(4) > 0 {
			list = append(list, fmt.Sprintf("%s=%.4g", name, 1e-4+most*random.Float64()*random.Float64()))
		}
	}
	for _, w := range PopularityWeights() {
		set(w.Name, 5)
	}
	for _, name := range LearnedParameters() {
		set(name, 20) // so much that their sum is bounded for some
	}
	set("co_read.weight", 8)
	set("co_read.scale", 0.5)
	set("base", 2)
	set("summary", 1)
	r, err := feed.DefaultRanking().With(strings.Join(list, ","))
	require.NoError(t, err)
	return r
}

// TestScoresEqualTheEngine: for random rankings, the order of the scores computed from a replay is that
// in which a server that got the same clicks hands out the items, and the scores are the same.
func TestScoresEqualTheEngine(t *testing.T) {
	t.Parallel()
	clicks := testenv.Steps(160, 600)
	c := made(t, clicks)
	l, random := startLive(t, c), rand.New(rand.NewPCG(5, 6))
	r, done := newReplay(t, c)
	defer done()
	near, summaries, learnedSome, declared, bounded := 0, 0, 0, 0, 0
	for i := range c.Clicks {
		click := &c.Clicks[i]
		l.now.Store(click.At)
		if i%4 == 3 {
			m, ok, err := r.moment(t.Context(), click)
			require.NoError(t, err)
			require.True(t, ok)
			for range 4 {
				ranking := randomRanking(t, random)
				sameOrder(t, l, r, &m, ranking)
				sameScores(t, l, r, &m, ranking)
				if 20*ranking.Base*m.totals[3] > 1 {
					bounded++
				}
			}
			near += len(m.Near)
			summaries += len(m.Summaries)
			declared += len(m.Declared)
			learnedSome += len(m.Learned[0]) + len(m.Learned[1]) + len(m.Learned[3])
		}
		l.click(t, c, *click)
		r.act(click)
	}
	for name, n := range map[string]int{"co-readers": near, "keywords in summaries": summaries, "learned": learnedSome, "declared": declared, "bounded": bounded} {
		assert.Positive(t, n, "%s were never part of a score", name)
	}
}

// newReplay returns a replay that the test makes steps of.
func newReplay(t *testing.T, c *Community) (*replay, func()) {
	t.Helper()
	r, done, err := begin(t.Context(), c, Options{Window: week, HalfLife: feed.DefaultLearnedHalfLife, Most: 1000})
	require.NoError(t, err)
	return r, func() { assert.NoError(t, done()) }
}

// sameOrder compares the order of a refresh with that of the scores.
func sameOrder(t *testing.T, l *live, r *replay, m *Moment, ranking feed.Ranking) {
	t.Helper()
	since := time.Unix(m.At, 0).Add(-week - time.Second)
	lists, err := l.Engine.Preview(t.Context(), m.Reader, 20, since, ranking)
	require.NoError(t, err)
	require.Len(t, lists[0], len(r.list), "the same candidates")
	var s Scorer
	s.Use(ranking)
	scores, byID := s.Scores(m), map[string]float32{}
	for k, i := range r.list {
		byID[r.of.Items[i].ID] = scores[k]
	}
	for k, ref := range lists[0] {
		score, known := byID[ref.ID]
		require.True(t, known, ref.ID)
		if k > 0 {
			assert.LessOrEqual(t, float64(score), 1.0001*float64(byID[lists[0][k-1].ID]), "%s at %d, place %d, by %s", m.Reader, m.At, k+1, ranking)
		}
	}
}

// sameScores compares the scores, without co-readers: those depend on all candidates, and the engine
// ranks also what was shown.
func sameScores(t *testing.T, l *live, r *replay, m *Moment, ranking feed.Ranking) {
	t.Helper()
	ranking.CoRead.Weight = 0
	_, lists, err := l.Engine.Rank(t.Context(), m.Reader, time.Time{}, 1000, ranking)
	require.NoError(t, err)
	byID := map[string]float32{}
	for _, c := range lists[0] {
		byID[c.ID] = c.Score
	}
	var s Scorer
	s.Use(ranking)
	for k, score := range s.Scores(m) {
		want := byID[r.of.Items[r.list[k]].ID]
		assert.InEpsilon(t, float64(want), float64(score), 1e-4, "%s at %d by %s", r.of.Items[r.list[k]].ID, m.At, ranking)
	}
}
