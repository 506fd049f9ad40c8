package pages

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
)

// TestCORSInBrowser calls the server from a page of another origin, with a custom header, so
// that the browser sends a preflight.
func TestCORSInBrowser(t *testing.T) {
	testenv.Full(t, "pages")
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(w, "<!doctype html><link rel=icon href='data:,'><title>an app</title>")
	}))
	t.Cleanup(page.Close)
	cfg := configs.Default()
	cfg.DataDir, cfg.Server.CORSOrigins = t.TempDir(), []string{page.URL}
	a, err := server.Open(t.Context(), cfg, server.WithDemo())
	require.NoError(t, err)
	srv := httptest.NewServer(a.Handler)
	t.Cleanup(func() {
		srv.Close()
		require.NoError(t, a.Close(context.WithoutCancel(t.Context())))
	})

	script := fmt.Sprintf(`fetch('%s/v1/feed', {method: 'POST', body: '{"action":"refresh"}',
		headers: {'Content-Type': 'application/json', 'X-Agent-ID': 'u_1', 'X-Request-ID': 'call-1', 'Idempotency-Key': 'k1'}})
		.then(async (r) => window.got = r.headers.get('X-Request-ID') + ' ' + (await r.json()).data.items.length)
		.catch((e) => window.got = String(e)); true`, srv.URL)
	tab := chromium.Open(t, chromium.Desktop)
	tab.Go(page.URL)
	chromium.Eval[bool](tab, script)
	tab.Until(`window.got`)
	assert.Equal(t, "call-1 20", chromium.Eval[string](tab, `window.got`))
}
