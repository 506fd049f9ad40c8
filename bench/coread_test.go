package bench

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/signals/events"
)

// BenchmarkCoReaders compares refreshes with and without co-readers, of readers who have read 30 items of
// the last days. The two take turns, and "ratio" is that of the tenths of the calls that took the least,
// which hardly depends on what else the machine does.
func BenchmarkCoReaders(b *testing.B) {
	for _, mode := range []string{Embedded, Services} {
		b.Run(mode, func(b *testing.B) {
			var both [2]*system
			for i, weight := range []float64{3, 0} {
				both[i] = started(b, mode, 10_000, func(cfg *configs.Config) { cfg.Ranking.CoRead.Weight = weight })
				haveRead(b, both[i])
			}
			var took [2][]float64
			for i := 0; b.Loop(); i++ {
				for turn := range both {
					which := (i + turn) % 2
					begun := time.Now()
					call(b, both[which], refresh(reader(i%readers)))
					took[which] = append(took[which], float64(time.Since(begun).Nanoseconds())/1000)
				}
			}
			for which := range took {
				slices.Sort(took[which])
			}
			tenth := len(took[0]) / 10
			b.ReportMetric(took[0][tenth], "with-us")
			b.ReportMetric(took[1][tenth], "without-us")
			b.ReportMetric(took[0][tenth]/took[1][tenth], "ratio")
		})
	}
}

// haveRead gives each reader a profile, and lets them read: most of what was published last.
func haveRead(b *testing.B, s *system) {
	b.Helper()
	items := makeItems(10_000, time.Now()) // the oldest first
	random := rand.New(rand.NewPCG(1, 2))
	for i := range readers {
		require.NoError(b, s.Engine.PutProfile(b.Context(), reader(i), profile(i)))
	}
	for i := range readers {
		var ids []string
		var acts []engine.Act
		for range 30 {
			r := random.Float64()
			it := &items[len(items)-1-int(r*r*2000)]
			ids, acts = append(ids, it.ID), append(acts, engine.Act{Kind: events.Click, ID: it.ID})
		}
		require.NoError(b, s.Engine.Seen(b.Context(), reader(i), ids))
		_, err := s.Engine.React(b.Context(), reader(i), acts)
		require.NoError(b, err)
	}
	require.NoError(b, s.Flush(b.Context()))
}
