package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// Size of the community in the benchmarks of home: each reader follows all authors.
const (
	homeReaders = 100
	homeAuthors = 100
	homePosts   = 800 // more than a list holds
)

// BenchmarkHome compares refreshes of home and for-you, for readers who follow a hundred authors
// and have a full list. The two take turns, and "ratio" is the median of the ratios of neighbours.
func BenchmarkHome(b *testing.B) {
	for _, mode := range []string{Embedded, Services} {
		b.Run(mode, func(b *testing.B) {
			s := withHome(b, mode)
			var home, forYou, ratios []float64
			for i := 0; b.Loop(); i++ {
				var took [2]float64
				for turn := range 2 {
					r := refresh(reader(i % homeReaders))
					if (i+turn)%2 == 0 {
						r.Feed = feed.HomeFeed
					}
					begun := time.Now()
					call(b, s, r)
					took[(i+turn)%2] = float64(time.Since(begun).Microseconds())
				}
				home, forYou, ratios = append(home, took[0]), append(forYou, took[1]), append(ratios, took[0]/took[1])
			}
			for unit, values := range map[string][]float64{"home-us": home, "for-you-us": forYou, "ratio": ratios} {
				slices.Sort(values)
				b.ReportMetric(values[len(values)/2], unit)
			}
		})
	}
}

// withHome returns a system whose home feed gets items from every source except promoted.
func withHome(b *testing.B, mode string) *system {
	b.Helper()
	o := embeddedOptions()
	if mode == Services {
		o = withServices(b)
	}
	run, err := begin(b.Context(), o)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, run.end(b.Context())) })
	dir := filepath.Join(run.dir, "home")
	cfg := run.embeddedConfig(dir)
	cfg.Social.Off = false
	if mode == Services {
		cfg = run.socialConfig(dir)
		run.meter = &run.services
	}
	s, err := run.serve(b.Context(), cfg)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.stop()) })
	require.NoError(b, run.put(b.Context(), s, makeItems(10_000, time.Now())))
	now := time.Now()
	for i := range homePosts {
		at := now.Add(-time.Duration(i+1) * time.Minute)
		_, _, err := s.Social.CreatePost(b.Context(), social.Post{
			ID: fmt.Sprintf("post:%04d", i), Author: author(i % homeAuthors), CreatedAt: at.Unix(), Audience: social.Audience{Public: true},
			Caption: fmt.Sprintf("Some words about number %d, of about the length that people write. #like", i),
		}, social.Creation{At: at})
		require.NoError(b, err)
	}
	var edges []social.Edge
	for i := range homeReaders {
		for k := range homeAuthors {
			edges = append(edges, social.Edge{Agent: reader(i), Author: author(k)})
		}
		require.NoError(b, s.Engine.PutProfile(b.Context(), reader(i), profile(i)))
	}
	for some := range slices.Chunk(edges, social.MaxEdges) {
		_, _, err := s.Social.FollowAll(b.Context(), some, now)
		require.NoError(b, err)
	}
	require.NoError(b, run.idle(b.Context(), s))
	for i := range homeReaders { // fills lists and caches
		warm(b, s, reader(i))
	}
	return s
}

// warm refreshes home until the trending and following sources both contribute.
func warm(b *testing.B, s *system, agent string) {
	b.Helper()
	require.Eventually(b, func() bool {
		answer, err := s.Engine.Feed(b.Context(), engine.Request{Agent: agent, Feed: feed.HomeFeed, Action: engine.ActionRefresh, Limit: page})
		require.NoError(b, err)
		from := func(source feed.Source) bool {
			return slices.ContainsFunc(answer.Refs, func(r feed.Ref) bool { return r.Source == source })
		}
		return from(feed.SourceTrending) && from(feed.SourceFollowing)
	}, time.Minute, 200*time.Millisecond, "nothing trends")
}
