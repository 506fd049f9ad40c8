package bench

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
)

// TestMain fails the package if a run leaves goroutines behind, except those of idle connections,
// which end later, and of a pool that a library creates before the tests.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreCurrent(),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	)
}

// embeddedOptions returns the options of a short run without services.
func embeddedOptions(only ...string) Options {
	return Options{Config: configs.Default(), Only: only, Short: true}.WithDefaults()
}

// withServices returns the options of a short run with the real services, under this test's prefix.
func withServices(t testing.TB, only ...string) Options {
	t.Helper()
	o := embeddedOptions(only...)
	_, o.Config.Redis.KeyPrefix = testenv.Redis(t)
	o.Config.Redis.URL = testenv.RedisURL(t)
	address, _ := testenv.Elastic(t)
	o.Config.Elasticsearch.Addresses = []string{address}
	o.Config.Postgres.URL = testenv.PostgresURL(t)
	// Calls to Redis get a share of this timeout, and the machine may be busy.
	o.Config.Server.RequestTimeout = 20e9
	return o
}
