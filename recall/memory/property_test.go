package memory_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	recallmemory "github.com/freshet/freshet/recall/memory"
	"github.com/freshet/freshet/recall/recalltest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var now = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// world generates random items, profiles and rankings from small vocabularies, so that matches,
// ties and groups are common.
type world struct {
	*rand.Rand
	ids  int           // number of different ids
	span time.Duration // maximum age of an item
}

func (w *world) words(most int) string {
	var b strings.Builder
	for range w.IntN(most + 1) {
		// Some words are common, most are rare.
		if w.IntN(8) == 0 {
			b.WriteString("the ")
		}
		fmt.Fprintf(&b, "w%d ", int(w.ExpFloat64()*6))
	}
	return b.String()
}

func (w *world) some(prefix string, most, of int) []string {
	var out []string
	for range w.IntN(most + 1) {
		out = append(out, fmt.Sprint(prefix, w.IntN(of)))
	}
	return out
}

func (w *world) one(prefix string, of int) string {
	if s := w.some(prefix, 1, of); s != nil {
		return s[0]
	}
	return ""
}

func (w *world) item() feed.Item {
	it := feed.Item{
		ID: fmt.Sprint("i", w.IntN(w.ids)), Title: "x " + w.words(8), Summary: w.words(w.IntN(60)),
		UpdateTime: now.Add(time.Hour - time.Duration(w.Int64N(int64(w.span)))).Unix(),
		Tags:       w.some("t", 4, 9), AuthorID: w.one("a", 5), Lang: w.one("l", 3),
	}
	if w.IntN(2) == 0 {
		it.URL = fmt.Sprintf("https://www.s%d.example/%d", w.IntN(4), w.IntN(9))
	}
	if w.IntN(4) == 0 {
		it.UpdateTime -= it.UpdateTime % 36_000 // many with the same time
	}
	if w.IntN(3) == 0 {
		it.GroupID = fmt.Sprint("i", w.IntN(w.ids/3+1))
	}
	if w.IntN(2) == 0 {
		it.Likes = int64(w.ExpFloat64() * 50)
		if w.IntN(w.ids) < 2 {
			it.Likes = 1 << 40
		}
	}
	return it
}

// acts changes the counts of some items, in the source and in k. Acts are up to an hour, four days
// or seven months old.
func (w *world) acts(s *recallmemory.Source, k *keep) {
	changed := map[string]feed.Counts{}
	for range w.IntN(1 + len(k.items)/4) {
		it := &k.items[w.IntN(len(k.items))]
		c, kept := k.counts[it.ID], []feed.HalfLives{0, 1, feed.AllHalfLives}[w.IntN(3)]
		for range 1 + int(w.ExpFloat64()*4) {
			c = kept.Add(c, now.Unix()-w.Int64N([]int64{3600, 100 * 3600, 5000 * 3600}[w.IntN(3)]))
		}
		if w.IntN(10) == 0 {
			c = feed.Counts{}
		}
		k.counts[it.ID], changed[it.ID] = c, c
	}
	changed["no such item"] = feed.Counts{}.Add(now.Unix())
	s.SetCounts(changed)
}

func (w *world) items(n int) []feed.Item {
	out := make([]feed.Item, n)
	for i := range out {
		out[i] = w.item()
	}
	return out
}

func (w *world) query() feed.Query {
	q := feed.Query{Origin: now.Add(-time.Duration(w.Int64N(int64(w.span / 8)))), N: 1 + w.IntN(40)}
	if w.IntN(3) > 0 {
		q.Origin = now
	}
	q.Ranking = feed.Ranking{Base: 0.1, Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}}
	switch w.IntN(5) {
	case 0:
		q.Ranking.Decay = feed.Decay{Scale: time.Duration(1 + w.Int64N(int64(w.span))), Decay: 0.1 + 0.8*w.Float64()}
		q.Ranking.Decay.Scale = max(q.Ranking.Decay.Scale, time.Second)
	case 1:
		q.Ranking.PopularityWeight = w.Float64() * 3
		q.Ranking.Base = w.Float64() + 0.01
	case 2:
		q.Ranking.Decay.Floor = 0.2 * w.Float64()
	case 3:
		q.Ranking.Decay = feed.Decay{Floor: q.Ranking.Decay.Floor * float64(w.IntN(2)), Curves: w.curves()}
		if w.IntN(3) == 0 {
			q.Ranking.Decay.Floor = 0.5 * w.Float64()
		}
		if w.IntN(2) == 0 {
			q.Ranking.PopularityWeight = w.Float64() * 3
		}
	}
	if w.IntN(3) == 0 {
		q.Ranking.Popularity2h, q.Ranking.Popularity2d = w.Float64()*3, w.Float64()*float64(w.IntN(2))
	}
	if w.IntN(3) == 0 {
		q.Ranking.PopularityMore[w.IntN(4)], q.Ranking.PopularityMore[w.IntN(4)] = w.Float64()*3, w.Float64()
	}
	if w.IntN(6) == 0 {
		q.Since = q.Origin.Add(-time.Duration(w.Int64N(int64(w.span))))
	}
	q.Ranking.KeywordsSummary = []float64{0, 0.5, 1, w.Float64()}[w.IntN(4)]
	q.Profile = w.profile()
	if w.IntN(3) == 0 {
		q.Filter = w.filter()
	}
	if w.IntN(3) > 0 {
		q.Ranking.Learned, q.Profile.Learned = w.learned()
	}
	return q
}

// filter returns conditions of every kind, few of each.
func (w *world) filter() *feed.Filter {
	conditions := func(most int) feed.Conditions {
		var c feed.Conditions
		for range w.IntN(most + 1) {
			switch w.IntN(5) {
			case 0:
				c.Tags = append(c.Tags, fmt.Sprint("T", w.IntN(10)))
			case 1:
				c.Langs = append(c.Langs, fmt.Sprint("l", w.IntN(3)))
			case 2:
				c.Authors = append(c.Authors, fmt.Sprint("a", w.IntN(6)))
			case 3:
				c.Sites = append(c.Sites, fmt.Sprintf("s%d.example", w.IntN(5)))
			case 4:
				c.Words = append(c.Words, fmt.Sprintf("w%d%s", w.IntN(12), []string{"", " w1"}[w.IntN(2)]))
			}
		}
		return c
	}
	return &feed.Filter{All: conditions(2), Any: conditions(4), None: conditions(1)}
}

// curves returns curves of every shape, with scales from seconds to the whole span.
func (w *world) curves() (curves feed.Curves) {
	for i := range curves[:1+w.IntN(len(curves))] {
		scale := time.Duration(math.Exp(w.Float64()*math.Log(w.span.Seconds()))) * time.Second
		c := feed.Curve{Shape: feed.Constant, Weight: 0.01 + w.Float64()}
		if shape := w.IntN(4); shape < 3 {
			c.Shape = []feed.Shape{feed.Gauss, feed.Exp, feed.Linear}[shape]
			c.Scale, c.Decay = max(scale, time.Second), 0.1+0.8*w.Float64()
			c.Offset = time.Duration(w.IntN(2)) * time.Duration(w.Int64N(int64(w.span/10)))
		}
		curves[i] = c
	}
	return curves
}

func (w *world) profile() feed.Profile {
	var p feed.Profile
	if w.IntN(3) > 0 {
		p.Interests = map[string]float64{}
		for _, tag := range w.some("t", 6, 11) {
			p.Interests[tag] = w.Float64() * 4
		}
	}
	if w.IntN(2) > 0 {
		p.Keywords = feed.Keywords(append(w.some("w", 4, 30), w.some("W", 1, 9)...)...)
		for range w.IntN(4) {
			p.Keywords = append(p.Keywords, feed.Keyword{Term: "the " + w.words(3), Weight: 3 * w.Float64()}, feed.Keyword{Term: w.words(3), Weight: 3 * w.Float64()})
		}
	}
	if w.IntN(4) == 0 {
		p.MutedAuthors, p.MutedTags, p.Langs = w.some("a", 2, 5), w.some("t", 2, 9), w.some("l", 2, 3)
		for range w.IntN(3) {
			p.MutedWords = append(p.MutedWords, feed.MutedWord{Term: "w9 " + w.words(1)})
		}
	}
	if w.IntN(4) == 0 {
		p.MutedItems = w.some("i", 12, w.ids)
	}
	return p
}

// learned returns interests inferred for a reader, positive and negative, and their weights.
func (w *world) learned() (weights feed.LearnedWeights, l feed.Learned) {
	weights = feed.LearnedWeights{
		Tags: w.Float64(), Author: w.Float64() * float64(w.IntN(2)), Lang: w.Float64() * float64(w.IntN(2)), Words: 4 * w.Float64(),
		Negative: 0.9 * w.Float64() * float64(w.IntN(2)), HalfLife: time.Hour * time.Duration(1+w.IntN(1000)),
	}
	l.At = now.Unix() - w.Int64N(2e6)
	met := map[feed.Feature]bool{}
	for range w.IntN(feed.MaxLearned) {
		f := []feed.Feature{
			{Kind: feed.FeatureTag, Value: fmt.Sprint("t", w.IntN(11))},
			{Kind: feed.FeatureAuthor, Value: fmt.Sprint("a", w.IntN(7))},
			{Kind: feed.FeatureLang, Value: fmt.Sprint("l", w.IntN(4))},
			{Kind: feed.FeatureWord, Value: fmt.Sprint("w", w.IntN(30))},
		}[w.IntN(4)]
		if !met[f] {
			met[f] = true
			l.Features = append(l.Features, feed.LearnedFeature{Feature: f, Evidence: 6 * (w.Float64() - 0.4)})
		}
	}
	return weights, l
}

// check compares one round, and occasionally all rounds, with the reference: ids, scores and order
// must be equal.
func check(t *testing.T, w *world, s *recallmemory.Source, k *keep) {
	t.Helper()
	q := w.query()
	r, err := s.Recall(context.Background(), q)
	require.NoError(t, err)
	live := map[string]recalltest.Live{}
	for id, c := range k.counts {
		n2h, n2d := c.At(q.Origin.Unix())
		live[id] = recalltest.Live{In2h: n2h, In2d: n2d, More: c.MoreAt(q.Origin.Unix())}
	}
	ranked := recalltest.RankedLive(k.items, live, q)
	want := recalltest.Best(ranked, q.N+1)
	require.Equal(t, len(want) > q.N, r.Next != "", "%+v", q)
	want = want[:min(q.N, len(want))]
	for i := range want {
		want[i].Source = "memory"
	}
	require.Equal(t, want, r.Candidates, "%+v", q)
	if w.IntN(4) == 0 {
		checkRounds(t, s, q, ranked)
	}
}

// checkRounds compares each round with the reference, restricted to the candidates after its
// cursor.
func checkRounds(t *testing.T, s *recallmemory.Source, q feed.Query, ranked []feed.Candidate) {
	t.Helper()
	for round := 0; round < 50; round++ {
		r, err := s.Recall(context.Background(), q)
		require.NoError(t, err)
		want := recalltest.Best(ranked, q.N)
		for i := range want {
			want[i].Source = "memory"
		}
		require.Equal(t, want, r.Candidates, "round %d of %+v", round, q)
		if r.Next == "" {
			return
		}
		last := r.Candidates[len(r.Candidates)-1]
		for len(ranked) > 0 && recalltest.Order(ranked[0], last) <= 0 {
			ranked = ranked[1:]
		}
		q.After = r.Next
	}
}

// keep holds the items that a catalog has after the same writes.
type keep struct {
	at     map[string]int
	items  []feed.Item
	counts map[string]feed.Counts
}

func newKeep() *keep { return &keep{at: map[string]int{}, counts: map[string]feed.Counts{}} }

func (k *keep) upsert(items []feed.Item) {
	for _, it := range items {
		if i, ok := k.at[it.ID]; ok {
			k.items[i] = it
			continue
		}
		k.at[it.ID] = len(k.items)
		k.items = append(k.items, it)
	}
}

func (k *keep) remove(id string) {
	delete(k.counts, id)
	k.items = slices.DeleteFunc(k.items, func(it feed.Item) bool { return it.ID == id })
	clear(k.at)
	for i := range k.items {
		k.at[k.items[i].ID] = i
	}
}

// TestEqualsReference makes random writes to small catalogs and compares after every few of them.
func TestEqualsReference(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for seed := range uint64(80) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 1)), ids: 5 + int(seed)*2, span: time.Duration(seed%5+1) * 200 * time.Hour}
		s, k := recallmemory.New(), newKeep()
		for range 20 {
			if w.IntN(10) == 0 {
				s.LookForUnusedTerms()
			}
			batch := w.items(1 + w.IntN(1+w.IntN(1+w.ids)))
			s.Upsert(batch)
			k.upsert(batch)
			for range w.IntN(4) {
				id := fmt.Sprint("i", w.IntN(w.ids))
				s.Delete(id)
				k.remove(id)
			}
			require.Equal(t, len(k.items), s.Len())
			check(t, w, s, k)
			if len(k.items) > 0 {
				w.acts(s, k)
			}
			check(t, w, s, k)
		}
	}
}

// TestEqualsReferenceInBlocks is TestEqualsReference on catalogs of many blocks, which use bounds,
// jumps and skips.
func TestEqualsReferenceInBlocks(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for seed := range uint64(6) {
		w := &world{Rand: rand.New(rand.NewPCG(seed, 2)), ids: 9000, span: []time.Duration{50, 500, 5000}[seed%3] * time.Hour}
		s, k := recallmemory.New(), newKeep()
		batch := w.items(6000 + 1500*int(seed%4))
		s.Upsert(batch)
		k.upsert(batch)
		for range 2 {
			batch = w.items(w.IntN(300))
			s.Upsert(batch)
			k.upsert(batch)
			w.acts(s, k)
			for range 6 {
				check(t, w, s, k)
			}
		}
	}
}

// TestPopularFarBehind hides one popular item behind many blocks of others that cannot be among
// the results.
func TestPopularFarBehind(t *testing.T) {
	t.Parallel()
	items := make([]feed.Item, 5000)
	for i := range items {
		items[i] = feed.Item{ID: fmt.Sprint(i), Title: "t", UpdateTime: now.Unix() - int64(i)*3600}
	}
	items[0].Likes = 1000
	items[4500].Likes = 1e8
	s := recallmemory.New()
	s.Upsert(items)
	r, err := s.Recall(context.Background(), feed.Query{N: 2, Origin: now, Ranking: feed.Ranking{
		Base: 0.1, PopularityWeight: 1, Decay: feed.Decay{Scale: 24 * time.Hour, Decay: 0.5, Floor: 0.4},
	}})
	require.NoError(t, err)
	require.Len(t, r.Candidates, 2)
	assert.Equal(t, []string{"0", "4500"}, []string{r.Candidates[0].ID, r.Candidates[1].ID})
}

// TestUnusedTermsDropped fills a catalog with words, replaces them, and checks the remaining
// terms.
func TestUnusedTermsDropped(t *testing.T) {
	t.Parallel()
	s := recallmemory.New()
	items := make([]feed.Item, 500)
	for i := range items {
		items[i] = feed.Item{ID: fmt.Sprint(i), Title: fmt.Sprintf("old%d", i), UpdateTime: 1, Tags: []string{fmt.Sprint("tag", i)}}
	}
	s.Upsert(items)
	assert.Equal(t, 1000, s.Terms())
	for i := range items {
		items[i].Title, items[i].Tags = "new", []string{"tag"}
	}
	s.LookForUnusedTerms()
	s.Upsert(items)
	assert.Equal(t, 2, s.Terms())

	r, err := s.Recall(context.Background(), feed.Query{
		N: 1000, Origin: now, Ranking: feed.Ranking{Base: 1, Decay: feed.Decay{Scale: time.Hour, Decay: 0.5, Floor: 0.1}},
		Profile: feed.Profile{Interests: map[string]float64{"tag": 1, "tag7": 5}},
	})
	require.NoError(t, err)
	require.Len(t, r.Candidates, 500)
	assert.InEpsilon(t, 0.2, r.Candidates[0].Score, 1e-6)
}

// TestSegmentsMerged writes items one at a time.
func TestSegmentsMerged(t *testing.T) {
	t.Parallel()
	s := recallmemory.New()
	for i := range 3000 {
		s.Upsert([]feed.Item{{ID: fmt.Sprint(i % 2000), Title: "t", UpdateTime: int64(i + 1)}})
		require.LessOrEqual(t, s.Segments(), 7*5)
	}
	assert.Equal(t, 2000, s.Len())
	for i := range 2000 {
		s.Delete(fmt.Sprint(i))
	}
	assert.Zero(t, s.Len())
	assert.Zero(t, s.Segments())
}

// TestConcurrentReadsSeeWholeBatches reads while items are replaced: every answer is a
// consistent snapshot, and a write is visible when it returns.
func TestConcurrentReadsSeeWholeBatches(t *testing.T) {
	t.Parallel()
	s := recallmemory.New()
	version := func(n int) []feed.Item {
		items := make([]feed.Item, 50)
		for i := range items {
			items[i] = feed.Item{ID: fmt.Sprint(i), Title: "t", UpdateTime: int64(1000 + n)}
		}
		return items
	}
	s.Upsert(version(0))
	q := feed.Query{N: 100, Origin: now, Ranking: feed.Ranking{Base: 1, Decay: feed.Decay{Scale: time.Hour, Decay: 0.5, Floor: 0.1}}}
	done := make(chan struct{})
	finished := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { finished <- struct{}{} }()
			for {
				select {
				case <-done:
					return
				default:
				}
				r, err := s.Recall(context.Background(), q)
				if !assert.NoError(t, err) || !assert.Len(t, r.Candidates, 50) {
					return
				}
				assert.Equal(t, r.Candidates[0].UpdateTime, r.Candidates[49].UpdateTime)
			}
		}()
	}
	for n := 1; n <= 300; n++ {
		s.Upsert(version(n))
		r, err := s.Recall(context.Background(), q)
		require.NoError(t, err)
		require.Equal(t, int64(1000+n), r.Candidates[0].UpdateTime)
	}
	close(done)
	for range 4 {
		<-finished
	}
}

// TestConcurrentReadsDuringCounts reads while items become popular and are replaced: every answer
// contains every item once.
func TestConcurrentReadsDuringCounts(t *testing.T) {
	t.Parallel()
	s := recallmemory.New()
	items := make([]feed.Item, 50)
	for i := range items {
		items[i] = feed.Item{ID: fmt.Sprint(i), Title: "t", UpdateTime: now.Unix() - int64(i)}
	}
	s.Upsert(items)
	q := feed.Query{N: 100, Origin: now, Ranking: feed.Ranking{Base: 1, Popularity2h: 1, Decay: feed.Decay{Scale: time.Hour, Decay: 0.5, Floor: 0.1}}}
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for {
			select {
			case <-done:
				return
			default:
			}
			r, err := s.Recall(context.Background(), q)
			if !assert.NoError(t, err) || !assert.Len(t, r.Candidates, 50) {
				return
			}
		}
	}()
	var c feed.Counts
	for i := range 300 {
		c = c.Add(now.Unix())
		s.SetCounts(map[string]feed.Counts{items[i%50].ID: c})
		s.Upsert(items[i%50 : i%50+1])
		r, err := s.Recall(context.Background(), q)
		require.NoError(t, err)
		require.Equal(t, items[i%50].ID, r.Candidates[0].ID)
	}
	close(done)
	<-finished
}
