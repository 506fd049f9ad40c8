package server

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/doctor"
)

// TestPgBouncerRestarts has two servers behind a PgBouncer in transaction mode, which is killed three times
// while their clients write, and repeat what was not confirmed: no post is lost, and none is there twice.
func TestPgBouncerRestarts(t *testing.T) {
	testenv.Full(t, "poolers")
	p := testenv.StartPostgres(t)
	b := testenv.StartPgBouncer(t, p, "pool_mode = transaction", "default_pool_size = 5")
	cfg := services(t)
	cfg.Postgres.URL = b.URL("", "default_query_exec_mode=exec", "pool_max_conns=8")
	shortTimeouts(&cfg)
	other := cfg
	other.DataDir = t.TempDir()
	servers := []*httpSystem{{t, open(t, cfg)}, {t, open(t, other)}}
	const authors, each = 6, 20
	for a := range authors {
		require.Equal(t, 200, servers[0].call("reader", "PUT", fmt.Sprint("/v1/agents/reader/following/a", a), "").status)
	}

	var posts sync.WaitGroup
	var mu sync.Mutex
	var confirmed []string
	reached := make(chan int, each) // the confirmed posts of the first author
	for a := range authors {
		posts.Go(func() {
			if a == 0 {
				defer close(reached)
			}
			for n := range each {
				body := fmt.Sprintf(`{"caption":"%d of a%d"}`, n, a)
				var last httpAnswer
				testenv.WaitFor(t, func() bool {
					last = servers[(a+n)%2].call(fmt.Sprint("a", a), "POST", "/v1/posts", body, "Idempotency-Key", fmt.Sprint("key", a, "-", n))
					return last.status == 201 || last.status == 200 // 200: it had been stored
				}, "post %d of a%d: %s", n, a, last.body)
				mu.Lock()
				confirmed = append(confirmed, last.Data.ID)
				mu.Unlock()
				if a == 0 {
					reached <- n
				}
			}
		})
	}
	for _, at := range []int{3, 8, 13} {
		for n := range reached {
			if n >= at {
				break
			}
		}
		b.Kill()
		b.Start()
	}
	posts.Wait()

	slices.Sort(confirmed)
	require.Len(t, slices.Compact(confirmed), authors*each)
	for _, s := range servers {
		waitSettled(t, s.a)
		testenv.WaitFor(t, func() bool {
			ids, last := s.scroll("reader", "50")
			slices.Sort(ids)
			return last.status == 200 && slices.Equal(ids, confirmed)
		}, "all posts, each once")
	}
	for _, f := range doctor.Check(t.Context(), cfg, doctor.Options{}) {
		if strings.HasPrefix(f.What, "postgres") && f.What != "postgres durability" { // fsync is off
			assert.Equal(t, doctor.OK, f.Level, "%+v", f)
		}
	}
}
