package freeport

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAddr checks that a server can listen on the address, and that it is not given again meanwhile.
func TestAddr(t *testing.T) {
	t.Parallel()
	taken := map[string]bool{}
	for range 50 {
		addr, err := Addr(t.Context())
		require.NoError(t, err)
		require.False(t, taken[addr], addr)
		l, err := net.Listen("tcp", addr)
		require.NoError(t, err)
		defer func() { _ = l.Close() }()
		taken[addr] = true
	}
}
