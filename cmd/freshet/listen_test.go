package main

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestServeAddressRefused checks that the error of an address that cannot be listened on says what to do.
func TestServeAddressRefused(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	for addr, says := range map[string]string{
		taken.Addr().String(): "address already in use; stop the process that listens there, or set another server.addr",
		"192.0.2.1:0":         "; set server.addr to an address of this machine, or to :8080 for all of them",
	} {
		r := freshet(t, "", "serve", "--server.addr", addr, "--auth.trusted_gateway", "--data_dir", t.TempDir())
		assert.Equal(t, exitError, r.code, addr)
		assert.Contains(t, r.errs, says)
	}
}
