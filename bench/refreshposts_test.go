package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/words"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
)

// BenchmarkRefreshPosts measures refreshes over real posts, to compare two versions of the code:
// embedded, in the default configuration, with impressions in every filter. Readers have four
// interests; a second group has in addition the maximum number of learned features. "p50-µs" is the
// median of the refreshes.
func BenchmarkRefreshPosts(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			run, err := begin(b.Context(), embeddedOptions())
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, run.end(b.Context())) })
			cfg := run.embeddedConfig(filepath.Join(run.dir, "posts"))
			require.NoError(b, run.fillWindow(b.Context(), cfg, time.Now()))
			s := posted(b, run, cfg, n, readers)
			b.Run("interests", func(b *testing.B) { benchmarkReaders(b, s, 0) })
			b.Run("learned", func(b *testing.B) { benchmarkReaders(b, s, readers) })
		})
	}
}

// BenchmarkSearchPosts measures the search that a refresh sends to Elasticsearch, for the same
// items and readers, without the engine. "took-ms" is the median of the times that Elasticsearch
// reports, "p50-µs" that of the calls.
func BenchmarkSearchPosts(b *testing.B) {
	const asked = 100
	run, err := begin(b.Context(), withServices(b))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, run.end(b.Context())) })
	w := newWatch()
	s := posted(b, run, run.servicesConfig(filepath.Join(run.dir, "posts")), 100_000, asked, w.hooks())
	for which, name := range []string{"interests", "learned"} {
		var searches [][]byte
		for i := range asked {
			_, err := s.Engine.Feed(watched(b.Context()), refresh(reader(which*asked+i)))
			require.NoError(b, err)
			searches = append(searches, w.search)
		}
		b.Run(name, func(b *testing.B) { benchmarkSearches(b, run, searches) })
	}
}

// posted returns a system with n items and 2*half readers with interests; the second half also have
// learned features.
func posted(b *testing.B, run *bench, cfg configs.Config, n, half int, options ...server.Option) *system {
	posts := testenv.Posts(b)
	s, err := run.serve(b.Context(), cfg, options...)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.stop()) })
	require.NoError(b, run.put(b.Context(), s, multiplied(posts, n, time.Now())))
	tags := commonTags(posts)
	for i := range 2 * half {
		require.NoError(b, s.Engine.PutProfile(b.Context(), reader(i), interested(tags, i)))
	}
	for i := range half {
		teach(b, s, posts, reader(half+i), i)
	}
	return s
}

// benchmarkSearches sends the searches in turn.
func benchmarkSearches(b *testing.B, run *bench, searches [][]byte) {
	var calls, took []float64
	for i := 0; b.Loop(); i++ {
		var answer struct{ Took float64 }
		begun := time.Now()
		err := esindex.Do(b.Context(), run.services.elastic, http.MethodPost, "/"+run.name+"/_search",
			"allow_partial_search_results=false&filter_path=took,error,status,hits.hits.sort", searches[i%len(searches)],
			func(body []byte) error { return json.Unmarshal(body, &answer) })
		require.NoError(b, err)
		calls, took = append(calls, float64(time.Since(begun).Nanoseconds())/1e3), append(took, answer.Took)
	}
	b.ReportMetric(median(calls), "p50-µs")
	b.ReportMetric(median(took), "took-ms")
}

// benchmarkReaders refreshes in turn for the readers starting at first.
func benchmarkReaders(b *testing.B, s *system, first int) {
	for i := range readers { // loads their profiles into memory
		_, _ = s.Catalog.Profile(b.Context(), reader(first+i))
	}
	b.ReportAllocs()
	var took []float64
	for i := 0; b.Loop(); i++ {
		begun := time.Now()
		call(b, s, refresh(reader(first+i*7%readers)))
		took = append(took, float64(time.Since(begun).Nanoseconds())/1e3)
	}
	b.ReportMetric(median(took), "p50-µs")
}

// multiplied returns n items made from fewer posts. They keep the posts' distances in time, up to
// an hour from now. Copies of a post are dated at different times, so they are not neighbours.
func multiplied(posts []feed.Item, n int, now time.Time) []feed.Item {
	items := make([]feed.Item, n)
	shift := now.Add(time.Hour).Unix() - posts[len(posts)-1].UpdateTime
	for i := range items {
		lap, at := i/len(posts), i%len(posts)
		it := posts[(at+7919*lap)%len(posts)]
		it.ID = fmt.Sprintf("%s-%d", it.ID, lap)
		it.UpdateTime = posts[at].UpdateTime + shift - int64(37*lap)
		items[i] = it
	}
	return items
}

// commonTags returns the most frequent tags of the posts.
func commonTags(posts []feed.Item) []string {
	count := map[string]int{}
	for i := range posts {
		for _, tag := range posts[i].Tags {
			count[tag]++
		}
	}
	tags := make([]string, 0, len(count))
	for tag := range count {
		tags = append(tags, tag)
	}
	slices.SortFunc(tags, func(a, b string) int {
		if d := count[b] - count[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return tags[:40]
}

// interested returns the profile of the i-th reader; all are different.
func interested(tags []string, i int) feed.Profile {
	p := feed.Profile{Interests: map[string]float64{}}
	for k := range 4 {
		p.Interests[tags[(i+11*k)%len(tags)]] = 1 + float64(k) + float64(i)/1e6
	}
	return p
}

// teach makes a reader act on forty posts: mostly clicks, some dislikes.
func teach(b *testing.B, s *system, posts []feed.Item, agent string, i int) {
	now := time.Now()
	require.NoError(b, s.Catalog.Learn(b.Context(), agent, func(l *feed.Learning) bool {
		for k := range 40 {
			it := &posts[(i*104_729+k*7919)%len(posts)]
			act := feed.LearningAct{Kind: feed.Clicked, Group: it.ID, At: now.Add(-time.Duration(k) * 6 * time.Hour)}
			if k%20 == 7 {
				act.Kind = feed.Disliked
			}
			add := func(kind feed.FeatureKind, value string) {
				act.Features = append(act.Features, feed.WeightedFeature{Feature: feed.Feature{Kind: kind, Value: value}, Weight: 1})
			}
			for _, tag := range it.Tags {
				add(feed.FeatureTag, tag)
			}
			add(feed.FeatureAuthor, it.AuthorID)
			for _, word := range words.Of(it.Title) {
				if len(word) > 3 && !words.Stop(word) {
					add(feed.FeatureWord, word)
				}
			}
			l.Add([]feed.LearningAct{act}, 0, now)
		}
		return len(l.Features) >= feed.MaxLearned
	}))
}
