package postgres_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs/jobstest"
	"github.com/freshet/freshet/social/postgres"
	"github.com/freshet/freshet/social/socialtest"
)

func BenchmarkQueue(b *testing.B) {
	jobstest.Benchmark(b, open(b, testenv.Postgres(b), social.Options{}))
}

// BenchmarkCreatePost runs with one writer and with sixteen.
func BenchmarkCreatePost(b *testing.B) {
	for _, writers := range []int{1, 16} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			s, err := postgres.Open(b.Context(), postgres.Config{URL: testenv.Postgres(b) + fmt.Sprint("&pool_max_conns=", writers)}, social.Options{})
			require.NoError(b, err)
			b.Cleanup(func() { _ = s.Close() })
			b.ResetTimer()
			var group sync.WaitGroup
			for w := range writers {
				group.Go(func() {
					for range b.N/writers + 1 {
						p := social.Post{Author: fmt.Sprint("author", w), Caption: "Two sentences. #Like so", Audience: social.Audience{Public: true}}
						if _, _, err := s.CreatePost(b.Context(), p, social.Creation{}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "posts/s")
		})
	}
}

func BenchmarkChanges(b *testing.B) {
	socialtest.BenchmarkChanges(b, func(o social.Options) social.Store { return open(b, testenv.Postgres(b), o) })
}

func BenchmarkReply(b *testing.B) {
	socialtest.BenchmarkReply(b, open(b, testenv.Postgres(b), social.Options{}))
}

func BenchmarkGroupPost(b *testing.B) {
	socialtest.BenchmarkGroupPost(b, open(b, testenv.Postgres(b), social.Options{}))
}

func BenchmarkFollowAll(b *testing.B) {
	socialtest.BenchmarkFollowAll(b, open(b, testenv.Postgres(b), social.Options{}))
}

// graph fills a schema with authors that have the given number of posts each, and with readers of
// the first 10, 300, 1,000 and 5,000 of them. It bypasses the store.
func graph(b *testing.B, authors, posts int) *postgres.Store {
	b.Helper()
	url := testenv.Postgres(b)
	s := open(b, url, social.Options{})
	c, err := pgx.Connect(b.Context(), url)
	require.NoError(b, err)
	defer func() { _ = c.Close(b.Context()) }()
	for _, text := range []string{
		fmt.Sprintf(`INSERT INTO posts SELECT 'post:' || lpad(n::text, 10, '0'), 'author' || n::bigint * 7919 %% %d, 1700000000 + n / 20, 2, '', 'public', 'public', 1, 0, 0, 0,
			1700000000000000 + n, 0, 0, 0, 0, 0, 0, '{like}', '{}', '{"id":"post:' || lpad(n::text, 10, '0') || '","caption":"Two sentences. #Like so"}'
			FROM generate_series(1, %d) n`, authors, authors*posts),
		fmt.Sprintf(`INSERT INTO authors (id, name, has_card) SELECT 'author' || n, 'Author ' || n, true FROM generate_series(0, %d) n`, authors-1),
		fmt.Sprintf(`INSERT INTO follows SELECT 'r' || r, 'author' || n, 1, 0 FROM unnest('{10,300,1000,5000}'::int[]) r, generate_series(0, %d) n WHERE n < r`, authors-1),
		`VACUUM ANALYZE posts`, `VACUUM ANALYZE follows`, `VACUUM ANALYZE authors`,
	} {
		_, err := c.Exec(b.Context(), text)
		require.NoError(b, err)
	}
	return s
}

// BenchmarkPull reads timelines over a million posts of ten thousand authors.
func BenchmarkPull(b *testing.B) {
	s := graph(b, 10_000, 100)
	for _, followees := range []int{10, 300, 1000, 5000} {
		for _, n := range []int{20, 501} {
			b.Run(fmt.Sprintf("%d of %d authors", n, followees), func(b *testing.B) {
				for b.Loop() {
					list, err := s.Pull(b.Context(), social.PullQuery{Reader: fmt.Sprint("r", followees), N: n})
					if err != nil || len(list) != n {
						b.Fatal(len(list), err)
					}
				}
			})
		}
	}
}

// BenchmarkCards20 reads pages for readers of 300 and of 5,000 authors. The number of other authors
// that a reader follows must not affect the cost.
func BenchmarkCards20(b *testing.B) {
	s := graph(b, 5000, 4)
	for _, reader := range []string{"r300", "r5000"} {
		list, err := s.Pull(b.Context(), social.PullQuery{Reader: reader, N: 20})
		require.NoError(b, err)
		for name, version := range map[string]int64{"with content": 0, "cached": 1} {
			known := make([]social.PostVersion, len(list))
			for i, e := range list {
				known[i] = social.PostVersion{ID: e.ID, Version: version}
			}
			b.Run(reader+" "+name, func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Cards(b.Context(), reader, known); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
