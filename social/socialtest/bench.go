package socialtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/freshet/freshet/social"
)

// BenchmarkFollowAll imports a network of 30,000 agents and 5,000 authors.
func BenchmarkFollowAll(b *testing.B, s social.Store) {
	edges := make([]social.Edge, 1000)
	n := 0
	for b.Loop() {
		for i := range edges {
			n++
			edges[i] = social.Edge{Agent: fmt.Sprint("agent", n/10%30_000), Author: fmt.Sprint("author", n*7919%5000)}
		}
		if _, _, err := s.FollowAll(b.Context(), edges, time.Time{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "edges/s")
}
