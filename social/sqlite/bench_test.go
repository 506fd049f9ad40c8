package sqlite_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs/jobstest"
	"github.com/freshet/freshet/social/socialtest"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

func BenchmarkQueue(b *testing.B) {
	jobstest.Benchmark(b, open(b, filepath.Join(b.TempDir(), "s.db"), social.Options{}))
}

// BenchmarkCreatePost runs with one writer and with sixteen.
func BenchmarkCreatePost(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "s.db"), social.Options{})
			var group sync.WaitGroup
			for range writers {
				group.Go(func() {
					for range b.N/writers + 1 {
						if _, _, err := s.CreatePost(b.Context(), social.Post{Author: "a", Caption: "Two sentences. #Like so", Audience: social.Audience{Public: true}}, social.Creation{}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
		})
	}
}

func BenchmarkChanges(b *testing.B) {
	socialtest.BenchmarkChanges(b, func(o social.Options) social.Store { return open(b, filepath.Join(b.TempDir(), "s.db"), o) })
}

func BenchmarkReply(b *testing.B) {
	socialtest.BenchmarkReply(b, open(b, filepath.Join(b.TempDir(), "s.db"), social.Options{}))
}

func BenchmarkGroupPost(b *testing.B) {
	socialtest.BenchmarkGroupPost(b, open(b, filepath.Join(b.TempDir(), "s.db"), social.Options{}))
}

func BenchmarkFollowAll(b *testing.B) {
	socialtest.BenchmarkFollowAll(b, open(b, filepath.Join(b.TempDir(), "s.db"), social.Options{}))
}

// graph returns a store with one reader, who follows the given number of authors with posts each.
func graph(b *testing.B, authors, posts int) *socialsqlite.Store {
	b.Helper()
	s := open(b, filepath.Join(b.TempDir(), "s.db"), social.Options{})
	for i := range authors {
		author := fmt.Sprintf("author%d", i)
		_, err := s.Follow(b.Context(), "r", author, zero)
		require.NoError(b, err)
		for j := range posts {
			_, _, err := s.CreatePost(b.Context(), social.Post{
				Author: author, Caption: "Two sentences. #Like so", CreatedAt: int64(1_700_000_000 + j*authors + i*7919%authors), Audience: social.Audience{Public: true},
			}, social.Creation{})
			require.NoError(b, err)
		}
	}
	return s
}

func BenchmarkPull(b *testing.B) {
	for _, authors := range []int{10, 300} {
		s := graph(b, authors, 30)
		for _, n := range []int{20, 501} {
			b.Run(fmt.Sprintf("%d of %d authors", n, authors), func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Pull(b.Context(), social.PullQuery{Reader: "r", N: n}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkCards20(b *testing.B) {
	s := graph(b, 20, 20)
	list, err := s.Pull(b.Context(), social.PullQuery{Reader: "r", N: 20})
	require.NoError(b, err)
	for name, version := range map[string]int64{"with content": 0, "cached": 1} {
		known := make([]social.PostVersion, len(list))
		for i, e := range list {
			known[i] = social.PostVersion{ID: e.ID, Version: version}
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Cards(b.Context(), "r", known); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
