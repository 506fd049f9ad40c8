package testenv

import (
	"fmt"
	"testing"
	"time"

	"github.com/freshet/freshet/internal/freeport"
)

const (
	firstPoll = time.Millisecond
	lastPoll  = 50 * time.Millisecond
	// forCleanup is the time before the test's deadline that is reserved for reporting the failure
	// and cleaning up.
	forCleanup = 20 * time.Second
)

// WaitFor waits until condition returns true. It fails the test only shortly before the deadline of
// the test binary (go test -timeout), so that no test fails because the machine is slow. The
// condition runs in the test's goroutine and may use require. Test code that uses only timers, and
// no real service, in a testing/synctest bubble instead.
func WaitFor(t testing.TB, condition func() bool, what string, args ...any) {
	t.Helper()
	deadline, limited := deadlineOf(t)
	for poll := firstPoll; !condition(); poll = min(2*poll, lastPoll) {
		if t.Context().Err() != nil || limited && time.Until(deadline) < forCleanup {
			t.Fatalf("gave up waiting for: %s", fmt.Sprintf(what, args...))
		}
		time.Sleep(poll)
	}
}

// FreeAddr returns an address of this machine on which nobody listens.
func FreeAddr(t testing.TB) string {
	t.Helper()
	addr, err := freeport.Addr(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// deadlineOf returns the deadline of the test binary; benchmarks and fuzz targets have
// none.
func deadlineOf(t testing.TB) (time.Time, bool) {
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		return d.Deadline()
	}
	return time.Time{}, false
}
