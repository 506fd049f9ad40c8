package handler_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

// TestRequestIDReusedByOtherCall sends the request id of each kind of call in each other kind.
func TestRequestIDReusedByOtherCall(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, change func(*configs.Config)) {
		t.Helper()
		c := openLogged(t, slog.New(slog.DiscardHandler), change)
		m := &rights{t: t, server: c.server, store: c.social}
		var lines strings.Builder
		for i := range 200 {
			fmt.Fprintf(&lines, `{"id":"i%d","title":"Item %d","update_time":%d}`+"\n", i, i, 1772790000+i)
		}
		require.Equal(t, http.StatusOK, m.ask("admin", "POST", "/v1/items", lines.String()).Code)
		var calls []string
		for _, feed := range []string{"for_you", "home"} {
			for _, limit := range []int{3, 4} {
				for _, action := range []string{`"refresh"`, `"load_more"`, `"refresh","silent":true`} {
					calls = append(calls, fmt.Sprintf(`"feed":%q,"limit":%d,"action":%s`, feed, limit, action))
				}
			}
		}
		for i, first := range calls {
			ask := func(agent, call string) (status int, body string) {
				got := m.ask(agent, "POST", "/v1/feed", fmt.Sprintf(`{%s,"request_id":"r%d"}`, call, i))
				return got.Code, got.Body.String()
			}
			status, answer := ask("ann", first)
			require.Equal(t, http.StatusOK, status, answer)
			if strings.Contains(first, "silent") {
				continue // it hands out nothing, so its id is still unused
			}
			var page struct {
				Data struct{ Items []json.RawMessage }
			}
			require.NoError(t, json.Unmarshal([]byte(answer), &page))
			require.NotEmpty(t, page.Data.Items, first)
			for _, other := range calls {
				status, body := ask("ann", other)
				if other == first {
					require.Equal(t, answer, body, "a retry")
					continue
				}
				require.Equal(t, http.StatusConflict, status, "%s after %s: %s", other, first, body)
				require.Contains(t, body, "40901")
			}
			_, body := ask("ann", first+`,"why":true`)
			require.Contains(t, body, string(page.Data.Items[0][:20]), "reasons may be asked for by a retry")
			status, body = ask("ben", first)
			require.Equal(t, http.StatusOK, status, "another agent's ids are others: %s", body)
		}
	})
}
