package livesettings

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// TestReload goes from one reload to the next: what may change changes for everything that follows, the
// rest waits for a restart, and a configuration that cannot be used changes nothing.
func TestReload(t *testing.T) {
	var log bytes.Buffer
	start := configs.Default()
	loaded, broken := start, error(nil)
	s := New(start, func() (configs.Config, error) { return loaded, broken }, slog.New(slog.NewTextHandler(&log, nil)))
	var applied []float64
	s.Follow(func(cfg configs.Config) { applied = append(applied, cfg.Server.RateLimit) })
	require.Equal(t, []float64{0}, applied)

	loaded.Server.RateLimit, loaded.Recall.N = 5, 800
	changes, err := s.Diff()
	require.NoError(t, err)
	want := []api.ConfigChange{
		{Key: "server.rate_limit", InForce: "0", Loaded: "5", Effect: api.AtReload},
		{Key: "recall.n", InForce: "500", Loaded: "800", Effect: api.AtRestart},
	}
	require.Equal(t, want, changes)
	require.Equal(t, start, s.Now(), "nothing has changed")
	require.Empty(t, log.String())

	changes, err = s.Reload(t.Context(), "a test")
	require.NoError(t, err)
	require.Equal(t, want, changes)
	require.Equal(t, []float64{0, 5}, applied)
	require.InDelta(t, 5, s.Now().Server.RateLimit, 0)
	require.Equal(t, 500, s.Now().Recall.N)
	require.Contains(t, log.String(), `msg="a setting has changed" key=server.rate_limit before=0 now=5`)
	require.Contains(t, log.String(), `msg="a changed setting needs a restart" key=recall.n in_force=500 loaded=800`)
	require.Contains(t, log.String(), `by="a test" changed=1 need_restart=1`)
	assert.InDelta(t, 1, testutil.ToFloat64(needRestart), 0)
	assert.InDelta(t, 1, testutil.ToFloat64(lastSuccessful), 0)

	changes, err = s.Reload(t.Context(), "a test")
	require.NoError(t, err)
	require.Equal(t, want[1:], changes, "it still waits")
	require.Len(t, applied, 2)

	before := testutil.ToFloat64(lastSuccess)
	broken = errors.New("cannot be parsed")
	for _, ask := range []func() ([]api.ConfigChange, error){s.Diff, func() ([]api.ConfigChange, error) { return s.Reload(t.Context(), "a test") }} {
		changes, err = ask()
		require.ErrorIs(t, err, feed.ErrRule)
		require.ErrorContains(t, err, "cannot be parsed")
		require.Empty(t, changes)
	}
	require.Contains(t, log.String(), `level=ERROR msg="the configuration was not reloaded; the one in force stays" by="a test" error="the configuration cannot be used: cannot be parsed"`)
	require.InDelta(t, 5, s.Now().Server.RateLimit, 0)
	assert.InDelta(t, 0, testutil.ToFloat64(lastSuccessful), 0)
	assert.InDelta(t, before, testutil.ToFloat64(lastSuccess), 0)

	broken, loaded = nil, start
	loaded.Server.RateLimit = -1 // as a rule between settings may refuse it
	_, err = s.Reload(t.Context(), "a test")
	require.ErrorIs(t, err, feed.ErrRule)
	require.ErrorContains(t, err, "server.rate_limit")
	require.Len(t, applied, 2)

	loaded = start
	_, err = s.Reload(t.Context(), "a test")
	require.NoError(t, err)
	require.Equal(t, []float64{0, 5, 0}, applied)
	assert.InDelta(t, 0, testutil.ToFloat64(needRestart), 0)
	assert.InDelta(t, 1, testutil.ToFloat64(lastSuccessful), 0)
}

// TestNothingToLoad checks that settings without a source stay as they are.
func TestNothingToLoad(t *testing.T) {
	s := New(configs.Default(), nil, slog.New(slog.DiscardHandler))
	changes, err := s.Reload(t.Context(), "a test")
	require.NoError(t, err)
	require.Equal(t, []api.ConfigChange{}, changes)
	require.Equal(t, configs.Default(), s.Now())
}

// TestUnset checks that settings which nothing sets any more, as when a file was cut off, are told apart from
// changed ones, and that one that needs a restart stays so.
func TestUnset(t *testing.T) {
	from := map[string]configs.Origin{}
	for _, key := range []string{"server.rate_limit", "log.level", "recall.n", "auth.admin_token"} {
		from[key] = configs.Origin{Kind: configs.OriginFile, Name: "freshet.yaml"}
	}
	start := configs.Default()
	start.Server.RateLimit, start.Recall.N, start.Auth.AdminToken, start.Origins = 5, 800, "a-secret-token", from
	cut := configs.Default()
	cut.Server.RateLimit, cut.Origins = 7, map[string]configs.Origin{"server.rate_limit": from["server.rate_limit"]}
	var log bytes.Buffer
	s := New(start, func() (configs.Config, error) { return cut, nil }, slog.New(slog.NewTextHandler(&log, nil)))
	want := []api.ConfigChange{
		{Key: "server.rate_limit", InForce: "5", Loaded: "7", Effect: api.AtReload},
		{Key: "auth.admin_token", InForce: "******", Loaded: "", Effect: api.AtRestart, Unset: true},
		{Key: "recall.n", InForce: "800", Loaded: "500", Effect: api.AtRestart, Unset: true},
	}
	changes, err := s.Reload(t.Context(), "a test")
	require.NoError(t, err)
	require.Equal(t, want, changes, "log.level had its default")
	require.Contains(t, log.String(), `level=WARN msg="a setting is not set any more; its default needs a restart" key=recall.n in_force=800 default=500`)
	changes, err = s.Diff()
	require.NoError(t, err)
	require.Equal(t, want[1:], changes)

	cut.Server.RateLimit, cut.Origins = 0, nil
	changes, err = s.Reload(t.Context(), "a test")
	require.NoError(t, err)
	require.Equal(t, api.ConfigChange{Key: "server.rate_limit", InForce: "7", Loaded: "0", Effect: api.AtReload, Unset: true}, changes[0])
	require.Contains(t, log.String(), `level=WARN msg="a setting is not set any more; it has its default" key=server.rate_limit before=7 now=0`)
	changes, err = s.Diff()
	require.NoError(t, err)
	require.Equal(t, want[1:], changes)
}
