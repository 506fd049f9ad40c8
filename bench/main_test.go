package bench

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
)

// TestMain fails the package when a run has left goroutines behind. Idle
// connections are none: they end by themselves. Nor does the pool that a library makes
// for itself before the tests.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreCurrent(),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	)
}

// embeddedOptions is a short run without services.
func embeddedOptions(only ...string) Options {
	return Options{Config: configs.Default(), Only: only, Short: true}.WithDefaults()
}

// withServices is a short run with the real ones, under this test's prefix.
func withServices(t testing.TB, only ...string) Options {
	t.Helper()
	o := embeddedOptions(only...)
	_, o.Config.Redis.KeyPrefix = testenv.Redis(t)
	o.Config.Redis.URL = testenv.RedisURL(t)
	address, _ := testenv.Elastic(t)
	o.Config.Elasticsearch.Addresses = []string{address}
	o.Config.Postgres.URL = testenv.PostgresURL(t)
	// A call to Redis may take a share of it, on a machine that is busy.
	o.Config.Server.RequestTimeout = 20e9
	return o
}
