package app

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the package when a system that was closed has left goroutines
// behind. Idle connections are none: they end by themselves. Nor is what runs
// before the tests, which is a pool a library makes for itself.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreCurrent(),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
	)
}
