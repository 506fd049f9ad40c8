package cachetest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

const callers = 64

// handed records which caller was handed out each ref, and reports duplicates.
type handed struct {
	mu sync.Mutex
	by map[string]int
}

func (o *handed) add(t *testing.T, caller int, list []feed.Ref) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range list {
		first, twice := o.by[r.Group]
		if twice {
			t.Errorf("%s was handed out to %d and to %d", r.Group, first, caller)
		}
		o.by[r.Group] = caller
	}
}

// atOnce runs call in 64 goroutines, half of them on each server.
func atOnce(env Env, call func(i int, s cache.Sessions)) {
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range callers {
		wg.Go(func() {
			<-begin
			if i%2 == 0 {
				call(i, env.A)
			} else {
				call(i, env.B)
			}
		})
	}
	close(begin)
	wg.Wait()
}

func concurrentPops(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 10+callers*7-3)
	seen := handed{by: map[string]int{}}
	seen.add(t, -1, replace(t, env.A, 10, all).Refs)
	atOnce(env, func(i int, s cache.Sessions) {
		page, err := s.Pop(t.Context(), cache.Pop{Agent: agent, Limit: 7, Now: Start})
		if err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
		seen.add(t, i, page.Refs)
	})
	assert.Len(t, seen.by, len(all), "64 pops empty the session between them")
	requirePage(t, nil, false, pop(t, env.A, 10))
}

func concurrentReplaceAndPop(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 900)
	seen := handed{by: map[string]int{}}
	atOnce(env, func(i int, s cache.Sessions) {
		for range 3 {
			page, err := s.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: slices.Clone(all), Limit: 3, Now: Start})
			if err != nil {
				t.Errorf("caller %d: %v", i, err)
				return
			}
			seen.add(t, i, page.Refs)
			page, err = s.Pop(t.Context(), cache.Pop{Agent: agent, Limit: 2, Now: Start})
			if err != nil {
				t.Errorf("caller %d: %v", i, err)
				return
			}
			seen.add(t, i, page.Refs)
		}
	})
	require.GreaterOrEqual(t, len(seen.by), callers*3*3, "there was enough for every refresh")
	for i, held := range pending(t, env, Start, all...) {
		_, handed := seen.by[all[i].Group]
		assert.Equal(t, handed, held, "%s", all[i].Group)
	}
}

func concurrentRetries(t *testing.T, open Open) {
	env := open(t, TTL)
	replace(t, env.A, 5, refs(0, 500))
	pages := make([]cache.Page, callers)
	atOnce(env, func(i int, s cache.Sessions) {
		call := retryOf(fmt.Sprintf("r%d", i/8), "load_more")
		page, err := s.Pop(t.Context(), cache.Pop{Agent: agent, Limit: 5, Now: Start, Call: call})
		if err != nil {
			t.Errorf("caller %d: %v", i, err)
		}
		pages[i] = page
	})
	seen := handed{by: map[string]int{}}
	for first := 0; first < callers; first += 8 {
		originals := 0
		for i := first; i < first+8; i++ {
			requirePage(t, pages[first].Refs, true, pages[i])
			if !pages[i].Replayed {
				originals++
			}
		}
		assert.Equal(t, 1, originals, "one call of eight took the page")
		seen.add(t, first, pages[first].Refs)
	}
	assert.Len(t, seen.by, callers/8*5)
	requirePage(t, refs(45, 50), true, pop(t, env.A, 5))
}
