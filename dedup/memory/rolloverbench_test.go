package memory

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup/deduptest"
)

// BenchmarkRollOver begins a day with two million pending groups while claims continue. It reports
// the longest claim and, as a baseline of the machine, the longest of idleClaims claims while
// nothing else happens.
func BenchmarkRollOver(b *testing.B) {
	const agents, each = 100_000, 20
	now := deduptest.Start
	s, err := Open(b.TempDir(), deduptest.DefaultConfig(), atStart, WithLogger(quiet()))
	require.NoError(b, err)
	defer func() { _ = s.Close(cleanupContext()) }()
	groups := groupNames(each)
	for i := range agents {
		err := s.Claim(b.Context(), fmt.Sprintf("reader_%d", i), groups, now)
		require.NoError(b, err)
	}
	idle := claimDuring(b, s, now, idleClaims, func() {})
	var longest time.Duration
	for b.Loop() {
		now = now.AddDate(0, 0, 1)
		longest = max(longest, claimDuring(b, s, now, 0, func() {
			if err := s.enter(now); err != nil {
				b.Error(err)
			}
			s.gate.RUnlock()
			s.rolling.Lock()
			s.fold(now, true)
			s.rolling.Unlock()
		}))
	}
	b.ReportMetric(float64(longest.Microseconds())/1000, "ms-longest-claim")
	b.ReportMetric(float64(idle.Microseconds())/1000, "ms-longest-idle")
}

// idleClaims is the number of claims that each claimer makes in about a second.
const idleClaims = 5000

// claimDuring makes claims for new agents until work is done and each claimer has made at least the
// given number of claims. It returns the duration of the longest claim.
func claimDuring(b *testing.B, s *Store, now time.Time, claims int, work func()) time.Duration {
	var longest atomic.Int64
	var wg sync.WaitGroup
	done := make(chan struct{})
	for w := range 2 {
		wg.Go(func() {
			for n := 0; ; n++ {
				began := time.Now()
				err := s.Claim(b.Context(), fmt.Sprintf("other_%d_%d_%d", now.Unix(), w, n), []string{"a"}, now)
				took := time.Since(began)
				if err != nil {
					b.Error(err)
				}
				if int64(took) > longest.Load() {
					longest.Store(int64(took))
				}
				select {
				case <-done:
					if n >= claims {
						return
					}
				default:
				}
				time.Sleep(100 * time.Microsecond) // the pace of readers, not a wait for a condition
			}
		})
	}
	work()
	close(done)
	wg.Wait()
	return time.Duration(longest.Load())
}
