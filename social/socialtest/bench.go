package socialtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/freshet/freshet/social"
)

// BenchmarkFollowAll measures the import of a network of 30,000 agents and 5,000 authors.
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

// BenchmarkChanges compares publishing with and without changes that are kept. The two take turns, and
// "ratio" is that of the tenths of the calls that took the least, which hardly depends on what else the
// machine does.
func BenchmarkChanges(b *testing.B, open func(social.Options) social.Store) {
	stores := [2]social.Store{open(social.Options{KeepChanges: keepChanges}), open(social.Options{})}
	var took [2][]float64
	for i := 0; b.Loop(); i++ {
		for turn := range stores {
			which := (i + turn) % 2
			p := social.Post{Author: fmt.Sprint("author", i%16), Caption: "Two sentences. #Like so", Audience: public()}
			begun := time.Now()
			_, _, err := stores[which].CreatePost(b.Context(), p, social.Creation{})
			took[which] = append(took[which], float64(time.Since(begun).Microseconds()))
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	for which := range took {
		slices.Sort(took[which])
	}
	tenth := len(took[0]) / 10
	b.ReportMetric(took[0][tenth], "with-us")
	b.ReportMetric(took[1][tenth], "without-us")
	b.ReportMetric(took[0][tenth]/took[1][tenth], "ratio")
}

// BenchmarkReply measures publishing replies under one post.
func BenchmarkReply(b *testing.B, s social.Store) {
	root, _, err := s.CreatePost(b.Context(), social.Post{Author: "root", Caption: "x", Audience: public()}, social.Creation{})
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		n++
		r := social.Post{Author: fmt.Sprint("agent", n%1000), Caption: "Two sentences. #Like so", ReplyTo: root.ID}
		if _, _, err := s.CreatePost(b.Context(), r, social.Creation{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGroupPost measures publishing posts to a group of 1,000 members and reading the
// receivers of each.
func BenchmarkGroupPost(b *testing.B, s social.Store) {
	members := make([]string, 1000)
	for i := range members {
		members[i] = fmt.Sprint("agent", i)
	}
	c := social.Circle{ID: "g", Owner: "agent0", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}
	if err := second(s.PutCircle(b.Context(), c, members, time.Time{})); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p, _, err := s.CreatePost(b.Context(), social.Post{Author: "agent1", Caption: "Two sentences. #Like so", Audience: inCircles("g")}, social.Creation{})
		if err != nil {
			b.Fatal(err)
		}
		if list, err := s.Receivers(b.Context(), []social.ReceiverPage{{Post: p.ID}}, 2000); err != nil || len(list[0].List) != 1000 {
			b.Fatal(list, err)
		}
	}
}
