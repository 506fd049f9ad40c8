package handler

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
)

// TestConfigurationRoutes checks what the two routes answer, and that a configuration that cannot be used
// is the error of the call with all its problems.
func TestConfigurationRoutes(t *testing.T) {
	t.Parallel()
	settings := &fakeSettings{changes: []api.ConfigChange{{Key: "server.rate_limit", InForce: "0", Loaded: "5", Effect: api.AtReload}}}
	f := newFixture(t, func(_ *Config, d *Deps) { d.Settings = settings })
	const changes = `{"changes":[{"key":"server.rate_limit","in_force":"0","loaded":"5","effect":"reload"}]}`
	admin := "X-Admin-Token: " + adminToken

	got := f.do(t, "GET", "/v1/config/diff", "", admin)
	require.Equal(t, http.StatusOK, got.status)
	require.JSONEq(t, changes, string(got.Data))
	require.Empty(t, settings.by)
	got = f.do(t, "POST", "/v1/config/reload", "", admin, "X-Request-ID: of-a-test")
	require.Equal(t, http.StatusOK, got.status)
	require.JSONEq(t, changes, string(got.Data))
	require.Equal(t, []string{"request of-a-test"}, settings.by)

	settings.err = feed.Errorf(feed.ErrRule, "server.rate_limit must be a number")
	for path, method := range map[string]string{"/v1/config/diff": "GET", "/v1/config/reload": "POST"} {
		got = f.do(t, method, path, "", admin)
		assert.Equal(t, http.StatusUnprocessableEntity, got.status)
		assert.Equal(t, 42201, got.Code)
		assert.Equal(t, "server.rate_limit must be a number", got.Msg)
		assert.Equal(t, http.StatusUnauthorized, f.do(t, method, path, "").status, "it is for admins")
	}
}

// TestAdjustable checks that limits and origins change while the routes are served, and that what a lower
// limit exceeds is not cut off.
func TestAdjustable(t *testing.T) {
	t.Parallel()
	var adjust func(Adjustable)
	f := newFixture(t, func(c *Config, d *Deps) {
		c.MaxInFlight = 2
		d.Follow = func(apply func(Adjustable)) { adjust = apply }
	})
	refresh := func(headers ...string) reply {
		return f.do(t, "POST", "/v1/feed", `{"action":"refresh"}`, append(headers, "X-Agent-ID: u_1")...)
	}
	require.Equal(t, http.StatusOK, refresh().status)

	adjust(Adjustable{RateLimit: 1})
	require.Equal(t, http.StatusOK, refresh().status)
	require.Equal(t, http.StatusTooManyRequests, refresh().status)
	adjust(Adjustable{RateLimit: 1000})
	testenv.WaitFor(t, func() bool { return refresh().status == http.StatusOK }, "the bucket fills at the new rate")
	adjust(Adjustable{})
	for range 5 {
		require.Equal(t, http.StatusOK, refresh().status)
	}

	require.Empty(t, refresh("Origin: "+app).header.Get("Access-Control-Allow-Origin"))
	adjust(Adjustable{CORS: CORS{Origins: []string{app}}})
	require.Equal(t, app, refresh("Origin: "+app).header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, http.StatusOK, refresh("Origin: "+app, "Sec-Fetch-Site: cross-site").status)
	adjust(Adjustable{CORS: CORS{Origins: []string{otherOrigin}}})
	require.Empty(t, refresh("Origin: "+app).header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, http.StatusForbidden, refresh("Origin: "+app, "Sec-Fetch-Site: cross-site").status)

	adjust(Adjustable{RateLimit: 1, CORS: CORS{Origins: []string{"not an origin"}}})
	require.Equal(t, http.StatusOK, refresh().status, "none of them is applied")
	require.Contains(t, f.log.String(), "the routes keep their limits and origins")
}

func TestGateResized(t *testing.T) {
	t.Parallel()
	g := newGate("test", 2)
	require.NoError(t, g.enter(1))
	require.NoError(t, g.enter(1))
	require.ErrorIs(t, g.enter(1), feed.ErrBusy)
	g.resize(3)
	require.NoError(t, g.enter(1))
	g.resize(1)
	for range 3 {
		require.ErrorIs(t, g.enter(1), feed.ErrBusy)
		g.leave(1)
	}
	require.NoError(t, g.enter(1))
	g.resize(0)
	for range 100 {
		require.NoError(t, g.enter(1000))
	}
}
