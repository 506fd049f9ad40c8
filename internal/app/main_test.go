package app

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/freshet/freshet/internal/testenv"
)

// waiting is how many tests run at once. Most of the time they wait: for a service
// to fail, to come back, to be asked again.
const waiting = "4"

// TestMain fails the package when a system that was closed has left goroutines
// behind. Idle connections do not count: they end by themselves. Nor does what runs
// before the tests, which is a pool that a library makes.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", waiting); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(testenv.Reuse(m),
		goleak.IgnoreCurrent(),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	)
}
