package memory_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
	recallmemory "github.com/freshet/freshet/recall/memory"
)

// synthetic returns items like real posts: about nine words per title from a large vocabulary with
// few common words, one to three of 500 tags, spread over 90 days, in random order of time.
func synthetic(n int) []feed.Item {
	rnd := rand.New(rand.NewPCG(7, 7))
	words := rand.NewZipf(rnd, 1.1, 8, 60_000)
	tags := rand.NewZipf(rnd, 1.05, 10, 500)
	items := make([]feed.Item, n)
	for i := range items {
		title := make([]byte, 0, 80)
		for range 6 + rnd.IntN(7) {
			title = fmt.Appendf(title, "word%d ", words.Uint64())
		}
		it := feed.Item{
			ID: fmt.Sprintf("hn_%d", i), Title: string(title), AuthorID: fmt.Sprintf("author%d", rnd.IntN(20_000)), Lang: "en",
			UpdateTime: now.Unix() - rnd.Int64N(90*24*3600), Likes: int64(rnd.ExpFloat64() * 40), Comments: int64(rnd.ExpFloat64() * 10),
		}
		for range 1 + rnd.IntN(3) {
			it.Tags = append(it.Tags, fmt.Sprintf("tag%d", tags.Uint64()))
		}
		items[i] = it
	}
	return items
}

type profile struct {
	name       string
	popularity float64
	profile    feed.Profile
	later      time.Duration       // time from the newest item to the query
	live       float64             // weight of live popularity
	learned    feed.LearnedWeights // of the features learned in the profile
}

var profiles = []profile{
	{name: "no-profile"},
	// Nothing is fresh: all items are on the decay's floor, and only relevance or popularity
	// distinguishes them.
	{name: "all-stale", later: 1000 * time.Hour, profile: feed.Profile{
		Interests: map[string]float64{"tag3": 3, "tag10": 2, "tag25": 1, "tag60": 1, "tag200": 0.5},
		Keywords:  feed.Keywords("word20", "word500", "word4000"),
	}},
	{name: "all-stale-popular", later: 1000 * time.Hour, popularity: 1},
	{name: "interests", profile: feed.Profile{Interests: map[string]float64{"tag3": 3, "tag10": 2, "tag25": 1, "tag60": 1, "tag200": 0.5}}},
	{name: "rare-interests", profile: feed.Profile{Interests: map[string]float64{"tag400": 3, "tag410": 2, "tag420": 1, "tag430": 1, "tag440": 0.5}}},
	{name: "keywords", profile: feed.Profile{Keywords: feed.Keywords("word20", "word500", "word4000")}},
	{name: "both", profile: feed.Profile{
		Interests: map[string]float64{"tag3": 3, "tag10": 2, "tag25": 1, "tag60": 1, "tag200": 0.5},
		Keywords:  feed.Keywords("word20", "word500", "word4000"),
	}},
	{name: "phrases", profile: feed.Profile{
		Interests: map[string]float64{"tag3": 3, "tag10": 2, "tag25": 1, "tag60": 1, "tag200": 0.5},
		Keywords:  feed.Keywords("word0 word1", "word2 word3", "word20 word21", "word5 word500"),
	}},
	{name: "both-popular-muted", popularity: 0.5, profile: feed.Profile{
		Interests:    map[string]float64{"tag3": 3, "tag10": 2, "tag25": 1, "tag60": 1, "tag200": 0.5},
		Keywords:     feed.Keywords("word20", "word500", "word4000"),
		MutedAuthors: []string{"author1", "author2"}, MutedTags: []string{"tag0", "tag1"}, Langs: []string{"en"},
	}},
}

// decays are one Gaussian over a day, and pairs of a fast and a slow curve, whose long tails are
// hard for a search that walks back in time.
var decays = []struct {
	name  string
	decay feed.Decay
}{
	{"", feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}},
	{"/two-gauss", twoCurves(feed.Gauss)},
	{"/two-exp", twoCurves(feed.Exp)},
}

func twoCurves(shape feed.Shape) feed.Decay {
	return feed.Decay{Floor: 1e-6, Curves: feed.Curves{
		{Shape: shape, Scale: 12 * time.Minute, Decay: 0.5, Weight: 0.56},
		{Shape: shape, Scale: 5 * 24 * time.Hour, Decay: 0.5, Weight: 0.42},
		{Shape: feed.Constant, Weight: 0.02},
	}}
}

// lively returns the profiles with live popularity.
func lively() []profile {
	out := slices.Clone(profiles)
	for i := range out {
		out[i].name, out[i].live = "live-"+out[i].name, 1
	}
	return out
}

// taught returns profiles with the maximum number of learned features, with and without declared
// interests, positive only and mixed with negative ones.
func taught() []profile {
	learned := func(against int) (l feed.Learned) {
		l.At = now.Unix()
		for i := range feed.MaxLearned {
			f := feed.LearnedFeature{Feature: feed.Feature{Kind: feed.FeatureWord, Value: fmt.Sprint("word", 15*i)}, Evidence: float64(1 + i%5)}
			switch i % 5 {
			case 0:
				f.Feature = feed.Feature{Kind: feed.FeatureTag, Value: fmt.Sprint("tag", 3*i)}
			case 1:
				f.Feature = feed.Feature{Kind: feed.FeatureAuthor, Value: fmt.Sprint("author", i)}
			}
			if i%10 < against {
				f.Evidence = -f.Evidence
			}
			l.Features = append(l.Features, f)
		}
		return l
	}
	var out []profile
	for _, p := range profiles {
		if p.name != "no-profile" && p.name != "interests" && p.name != "both" {
			continue
		}
		p.learned = feed.LearnedWeights{Tags: 0.5, Author: 0.5, Words: 0.5, Negative: 0.3, HalfLife: feed.DefaultLearnedHalfLife}
		liking, both := p, p
		liking.name, liking.profile.Learned = "learned-"+p.name, learned(0)
		both.name, both.profile.Learned = "learned-against-"+p.name, learned(3)
		out = append(out, liking, both)
	}
	return out
}

// clicked returns the counts of a busy community: one item in a hundred, and every fifth of the
// last three days, is popular.
func clicked(items []feed.Item) map[string]feed.Counts {
	rnd := rand.New(rand.NewPCG(5, 6))
	counts := map[string]feed.Counts{}
	for i := range items {
		age := now.Unix() - items[i].UpdateTime
		if rnd.IntN(100) > 0 && (age > 3*86_400 || rnd.IntN(5) > 0) {
			continue
		}
		var c feed.Counts
		for range 1 + int(rnd.ExpFloat64()*5) {
			if later := int64(rnd.ExpFloat64() * 86_400); later <= age {
				c = c.Add(items[i].UpdateTime + later)
			}
		}
		counts[items[i].ID] = c
	}
	return counts
}

func BenchmarkRecall(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		if n > 100_000 && testing.Short() {
			continue
		}
		items := synthetic(n)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := recallmemory.New()
		start := time.Now()
		s.Upsert(items)
		b.Logf("%d items took %s", n, time.Since(start))
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.Logf("%d bytes per item, %d segments", (after.HeapAlloc-before.HeapAlloc)/uint64(n), s.Segments())
		s.SetCounts(clicked(items))
		for _, p := range slices.Concat(profiles, lively(), taught()) {
			for _, d := range decays {
				b.Run(fmt.Sprintf("%d/%s%s", n, p.name, d.name), func(b *testing.B) {
					b.ReportAllocs()
					q := feed.Query{Profile: p.profile, Origin: now.Add(p.later), N: 500, Ranking: feed.Ranking{
						Base: 0.1, PopularityWeight: p.popularity, KeywordsSummary: 0.5, Decay: d.decay,
						Popularity2h: 1.5 * p.live, Popularity2d: 0.2 * p.live, Learned: p.learned,
					}}
					for b.Loop() {
						r, err := s.Recall(context.Background(), q)
						if err != nil || len(r.Candidates) != q.N {
							b.Fatal(len(r.Candidates), err)
						}
					}
				})
			}
		}
		runtime.KeepAlive(items)
	}
}

// BenchmarkFilter recalls the best of a million items that meet one condition, for readers with interests.
func BenchmarkFilter(b *testing.B) {
	items := synthetic(1_000_000)
	for i := range items {
		items[i].URL = fmt.Sprintf("https://site%d.example/%d", i%5000, i)
		if i%1000 == 0 {
			items[i].Lang = "de"
		}
	}
	s := recallmemory.New()
	s.Upsert(items)
	for name, any := range map[string]feed.Conditions{
		"tag": {Tags: []string{"tag400"}}, "author": {Authors: []string{"author77"}}, "rare language": {Langs: []string{"de"}},
		"common language": {Langs: []string{"en"}}, "both languages": {Langs: []string{"en", "de"}}, "site": {Sites: []string{"site77.example"}},
		"ten authors": {Authors: names("author", 10)}, "author or site": {Authors: []string{"author77"}, Sites: []string{"site77.example"}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			q := feed.Query{Profile: profiles[3].profile, Origin: now, N: 500, Filter: &feed.Filter{Any: any}, Ranking: feed.Ranking{Base: 0.1, Decay: decays[0].decay}}
			for b.Loop() {
				r, err := s.Recall(context.Background(), q)
				if err != nil || len(r.Candidates) == 0 {
					b.Fatal(len(r.Candidates), err)
				}
			}
		})
	}
}

func names(prefix string, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint(prefix, i))
	}
	return all
}

func BenchmarkUpsert(b *testing.B) {
	items := synthetic(100_000)
	b.Run("100000-at-once", func(b *testing.B) {
		for b.Loop() {
			recallmemory.New().Upsert(items)
		}
		b.ReportMetric(float64(b.N*len(items))/b.Elapsed().Seconds(), "items/s")
	})
	b.Run("batches-of-500", func(b *testing.B) {
		for b.Loop() {
			s := recallmemory.New()
			for i := 0; i < len(items); i += 500 {
				s.Upsert(items[i : i+500])
			}
		}
		b.ReportMetric(float64(b.N*len(items))/b.Elapsed().Seconds(), "items/s")
	})
	b.Run("one-update", func(b *testing.B) {
		s := recallmemory.New()
		s.Upsert(items)
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			it := items[i%len(items)]
			it.Likes++
			s.Upsert([]feed.Item{it})
			i += 7919
		}
	})
}
