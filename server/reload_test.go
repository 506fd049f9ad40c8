package server

import (
	"bytes"
	"image"
	"image/png"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/livesettings"
)

// TestReloadReachesEveryPart changes each setting that a reload may change, and looks at its effect.
// log.level has its effect in the command.
func TestReloadReachesEveryPart(t *testing.T) {
	t.Parallel()
	loaded := embedded(t)
	live := livesettings.New(loaded, func() (configs.Config, error) { return loaded, nil }, slog.New(slog.DiscardHandler))
	a := open(t, loaded, WithSettings(live))
	call := func(method, path string, header http.Header, body string) *http.Response {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header = header
		w := httptest.NewRecorder()
		a.Handler.ServeHTTP(w, r)
		return w.Result()
	}
	refresh := func(agent, origin string) *http.Response {
		return call(http.MethodPost, "/v1/feed", http.Header{"X-Agent-Id": {agent}, "Origin": {origin}}, `{"action":"refresh"}`)
	}
	const app = "https://app.example.com"
	effects := map[string]struct {
		change func(*configs.Config)
		look   func()
	}{
		"server.rate_limit": {func(c *configs.Config) { c.Server.RateLimit = 0.001 }, func() {
			require.Equal(t, http.StatusOK, refresh("limited", "").StatusCode)
			require.Equal(t, http.StatusTooManyRequests, refresh("limited", "").StatusCode)
		}},
		"server.cors.origins": {func(c *configs.Config) { c.Server.CORSOrigins = []string{app} }, func() {
			require.Equal(t, app, refresh("of_an_app", app).Header.Get("Access-Control-Allow-Origin"))
		}},
		"server.max_in_flight": {func(c *configs.Config) { c.Server.MaxInFlight = 1 }, func() {
			testenv.WaitFor(t, func() bool { return busy(refresh) }, "a call that is refused, because another one is in progress")
		}},
		"media.memory": {func(c *configs.Config) { c.Media.Memory = 64 }, func() {
			require.Equal(t, http.StatusUnprocessableEntity, postImage(t, a.Handler, 3000, 3000))
		}},
		"server.drain":            {func(c *configs.Config) { c.Server.Drain = time.Minute }, func() { require.Equal(t, time.Minute, a.live.Now().Server.Drain) }},
		"server.shutdown_timeout": {func(c *configs.Config) { c.Server.ShutdownTimeout = time.Hour }, func() { require.Equal(t, time.Hour, a.live.Now().Server.ShutdownTimeout) }},
		"log.level":               {func(c *configs.Config) { c.Log.Level = "debug" }, func() {}},
	}
	require.ElementsMatch(t, configs.Reloadable(), slices.Collect(maps.Keys(effects)))
	require.Empty(t, refresh("of_an_app", app).Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, http.StatusCreated, postImage(t, a.Handler, 3000, 3000))
	start := loaded
	for key, of := range effects {
		loaded = start
		of.change(&loaded)
		changes, err := live.Reload(t.Context(), "a test")
		require.NoError(t, err)
		require.True(t, slices.ContainsFunc(changes, func(c api.ConfigChange) bool { return c.Key == key }), key)
		of.look()
	}
}

// busy reports whether one of many concurrent calls is refused.
func busy(refresh func(agent, origin string) *http.Response) bool {
	var calls sync.WaitGroup
	var refused atomic.Bool
	for range 20 {
		calls.Go(func() {
			if refresh("of_many", "").StatusCode == http.StatusServiceUnavailable {
				refused.Store(true)
			}
		})
	}
	calls.Wait()
	return refused.Load()
}

// postImage publishes a post with an image of 16 bits a channel, and returns the status.
func postImage(t *testing.T, routes http.Handler, width, height int) int {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	require.NoError(t, form.WriteField("post", `{"caption":"x","audience":{"public":true}}`))
	part, err := form.CreateFormFile("image", "x.png")
	require.NoError(t, err)
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(part, image.NewRGBA64(image.Rect(0, 0, width, height))))
	require.NoError(t, form.Close())
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/posts", &body)
	r.Header.Set("X-Agent-ID", "ann")
	r.Header.Set("Content-Type", form.FormDataContentType())
	w := httptest.NewRecorder()
	routes.ServeHTTP(w, r)
	return w.Code
}
