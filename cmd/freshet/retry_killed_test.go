package main

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRetryAfterKill9 kills a server that has answered calls with request ids, as if the answers had
// been lost: after the restart, a retry of each gets the same page, and what the pages had comes in no
// other.
func TestRetryAfterKill9(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"embedded", "services"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := settings(t, mode)
			p := start(t, s)
			p.fill(t, 200)
			searchable(t, p)
			ask := func(action, feed, id string) (ids []string) {
				t.Helper()
				var page struct{ Items []struct{ ID string } }
				body := fmt.Sprintf(`{"action":%q,"limit":10,"feed":%q,"request_id":%q}`, action, feed, id)
				require.NoError(t, p.post(t.Context(), http.DefaultClient, "/v1/feed", "u_1", body, &page))
				for _, it := range page.Items {
					ids = append(ids, it.ID)
				}
				return ids
			}
			calls := [][3]string{{"refresh", "for_you", "a"}, {"load_more", "for_you", "b"}, {"refresh", "home", "c"}, {"load_more", "home", "d"}}
			var pages [][]string
			shown := map[string]bool{}
			for _, c := range calls {
				page := ask(c[0], c[1], c[2])
				require.Len(t, page, 10)
				pages = append(pages, page)
				for _, id := range page {
					require.False(t, shown[id], id)
					shown[id] = true
				}
			}
			for range 2 { // the second time, the answer to the retry is lost, too
				p.kill(t)
				p = start(t, s)
				for i, c := range calls {
					assert.Equal(t, pages[i], ask(c[0], c[1], c[2]), "%v", c)
				}
			}
			for _, id := range append(ask("refresh", "for_you", "e"), ask("refresh", "home", "f")...) {
				assert.False(t, shown[id], id)
			}
		})
	}
}
