package prove

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/freeport"
)

// The child of [TestRestartUntilReady] serves at an address, and exits at once if a file exists, which it removes.
const (
	childAddr = "PROVE_TEST_CHILD_ADDR"
	childExit = "PROVE_TEST_CHILD_EXIT"
)

// child reports whether this process is the child, after it has served.
func child() bool {
	addr := os.Getenv(childAddr)
	if addr == "" {
		return false
	}
	if os.Remove(os.Getenv(childExit)) == nil {
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, http.ListenAndServe(addr, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	return true
}

// TestRestartUntilReady starts a server again that exits while what it needs is down, but not one that has never
// been ready.
func TestRestartUntilReady(t *testing.T) {
	addr, err := freeport.Addr(t.Context())
	require.NoError(t, err)
	exit, log := filepath.Join(t.TempDir(), "exit"), filepath.Join(t.TempDir(), "log")
	t.Setenv(childAddr, addr)
	t.Setenv(childExit, exit)
	command := []string{os.Args[0]}

	require.NoError(t, os.WriteFile(exit, nil, 0o600))
	_, err = StartProgram(t.Context(), command, addr, log, "/")
	require.ErrorIs(t, err, errExited)

	p, err := StartProgram(t.Context(), command, addr, log, "/")
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	require.NoError(t, os.WriteFile(exit, nil, 0o600))
	require.NoError(t, p.Restart(t.Context(), 0))
	require.NoFileExists(t, exit)
	require.NotZero(t, p.ID())
}
