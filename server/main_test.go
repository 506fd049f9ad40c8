package server

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/freshet/freshet/internal/testenv"
)

// waiting is the number of tests that run in parallel. Most of the time they wait: for a service to
// fail, to recover, or to be queried again.
const waiting = "4"

// TestMain fails the package if closed systems have left goroutines behind. It ignores idle
// connections, which end on their own, and goroutines that exist before the tests, namely a pool
// created by a library.
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
