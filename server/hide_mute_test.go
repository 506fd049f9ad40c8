package server

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/signals/events"
)

// TestHiddenIsNeverOnALaterPage has one agent page through the feed on all servers while it hides
// items on others: no page requested after the answer to a hide has the item, whatever calls were
// in progress.
func TestHiddenIsNeverOnALaterPage(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			all := servers(t, m, nil)
			items := authored(500)
			put(t, all[0], items...)
			var mu sync.Mutex
			hidden := map[string]bool{}
			snapshot := func() map[string]bool {
				mu.Lock()
				defer mu.Unlock()
				before := make(map[string]bool, len(hidden))
				for id := range hidden {
					before[id] = true
				}
				return before
			}
			var paging, hiding sync.WaitGroup
			stop := make(chan struct{})
			for w := range 4 {
				paging.Go(func() {
					for i := 0; ; i++ {
						select {
						case <-stop:
							return
						default:
						}
						r := refresh("u_1", 5)
						switch i % 3 {
						case 1:
							r = loadMore("u_1", 5)
							r.RequestID = fmt.Sprint("r", i/2) // every other one is a retry
						case 2:
							r.Silent = true
						}
						before := snapshot()
						answer, err := all[(i+w)%len(all)].Engine.Feed(t.Context(), r)
						if !assert.NoError(t, err) {
							return
						}
						for _, id := range ids(answer) {
							assert.False(t, before[id], "%s was hidden before this page was asked for", id)
						}
					}
				})
			}
			for w := range 2 {
				hiding.Go(func() {
					dice := rand.New(rand.NewPCG(uint64(w), 7))
					for i := range 25 {
						id := items[dice.IntN(len(items))].ID
						_, err := all[(i+w+1)%len(all)].Engine.React(t.Context(), "u_1", []engine.Act{act(events.Hide, id)})
						if !assert.NoError(t, err) {
							return
						}
						mu.Lock()
						hidden[id] = true
						mu.Unlock()
					}
				})
			}
			hiding.Wait()
			close(stop)
			paging.Wait()
			for _, a := range all {
				p, err := a.Engine.Profile(t.Context(), "u_1")
				require.NoError(t, err)
				for id := range hidden {
					require.Contains(t, p.MutedItems, id, "no hide is lost")
				}
			}
		})
	}
}
