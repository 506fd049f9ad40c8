package server

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// BenchmarkRefreshOfHeavyReaders measures a refresh of readers who have seen the given number of
// real posts, the best ones first. The clock stands still, so that no refresh runs out of time.
func BenchmarkRefreshOfHeavyReaders(b *testing.B) {
	posts := testenv.Posts(b)
	now := time.Unix(posts[len(posts)-1].UpdateTime, 0).Add(time.Hour)
	for _, m := range modes {
		a := open(b, m.config(b), WithClock(at(now).Now))
		put(b, a, posts...)
		_, lists, err := a.Engine.Rank(b.Context(), "anybody", now, len(posts), a.cfg.Ranking)
		require.NoError(b, err)
		for _, seen := range []int{0, 2000, 10_000, len(posts)} {
			b.Run(fmt.Sprintf("%s/seen=%d", m.name, seen), func(b *testing.B) {
				const readers = 10
				for r := range readers {
					haveSeen(b, a, fmt.Sprintf("u_%d_%d", seen, r), lists[0][:seen], now)
				}
				var took []time.Duration
				for b.Loop() {
					agent := fmt.Sprintf("u_%d_%d", seen, len(took)%readers)
					begun := time.Now()
					answer, err := a.Engine.Feed(b.Context(), refresh(agent, 20))
					took = append(took, time.Since(begun))
					if err != nil || (len(answer.Docs) < 20) != (seen == len(posts)) {
						b.Fatal(len(answer.Docs), err)
					}
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			})
		}
	}
}

func haveSeen(b *testing.B, a *App, agent string, list []feed.Candidate, now time.Time) {
	for part := range slices.Chunk(list, 1000) {
		batch := make([]dedup.Impression, len(part))
		for i, c := range part {
			batch[i] = dedup.Impression{Agent: agent, Group: c.Group}
		}
		_, err := a.stores.dedup.Record(b.Context(), batch, now)
		require.NoError(b, err)
	}
}
