package load

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// TestLoadRunFailures loads a server that repeats the same item, and one that only returns errors.
// The test of the command covers a good server.
func TestLoadRunFailures(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		says   []string
	}{
		"an item again": {
			http.StatusOK, `{"code":0,"msg":"success","data":{"items":[{"id":"a"}],"has_more":true}}`,
			[]string{`\nload_more +\d+ +0 +[1-9]\d* `, `\nsilent +\d+ +0 +0 `}, // silent requests show nothing
		},
		"errors": {
			http.StatusServiceUnavailable, `{"code":50301,"msg":"come back later"}`,
			[]string{`\nload_more +\d+ +[1-9]\d* +0 `, `\nload_more: [1-9]\d* times: .*come back later`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			defer server.Close()
			var out strings.Builder
			err := Run(t.Context(), Settings{Server: server.URL, Rate: 1000, Length: 100 * time.Millisecond, Agents: 1, Limit: 1}, &out)
			require.ErrorContains(t, err, "the run failed")
			for _, says := range c.says {
				assert.Regexp(t, says, out.String())
			}
		})
	}
}
