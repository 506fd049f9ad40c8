//go:build !linux

package testenv

import "testing"

// AsNobody skips the test: only Linux has users of threads.
func AsNobody(t testing.TB, _ func()) {
	t.Helper()
	t.Skip("only Linux can change the user of a thread")
}
