package testenv

import (
	"os"
	"runtime"
	"syscall"
	"testing"
)

// nobody is the id of a user who owns no file.
const nobody = 65534

// AsNobody runs do in this goroutine as a user who owns no file, if this user may do so, as root may.
// Otherwise it skips the test.
func AsNobody(t testing.TB, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // it is not unlocked, so the thread ends with the goroutine
		if err := syscall.Setfsuid(nobody); err != nil {
			t.Errorf("become another user: %v", err)
			return
		}
		do()
	}()
	<-done
}
