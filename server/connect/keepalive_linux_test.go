package connect

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

// TestIdleTLSConnectionsAreProbed checks that the kernel probes idle connections before a load balancer
// drops them, silently and after four minutes at the earliest: calls would wait for an answer in vain.
func TestIdleTLSConnectionsAreProbed(t *testing.T) {
	t.Parallel()
	a, own := newAuthority(t, "the authority"), newFiles(t)
	own.write(a, "one")
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = a.serverOf()
	server.StartTLS()
	t.Cleanup(server.Close)
	cfg := configs.Default()
	cfg.Redis.URL, cfg.Redis.CACert, cfg.Redis.ClientCert, cfg.Redis.ClientKey = "rediss://"+strings.TrimPrefix(server.URL, "https://"), own.ca, own.cert, own.key
	o, err := redisOptions(cfg)
	require.NoError(t, err)
	conn, err := o.Dialer(t.Context(), "tcp", o.Addrs[0])
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })

	raw, err := conn.(*tls.Conn).NetConn().(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(socket uintptr) {
		on, err := syscall.GetsockoptInt(int(socket), syscall.SOL_SOCKET, syscall.SO_KEEPALIVE)
		require.NoError(t, err)
		assert.Equal(t, 1, on)
		idle, err := syscall.GetsockoptInt(int(socket), syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE)
		require.NoError(t, err)
		assert.LessOrEqual(t, time.Duration(idle)*time.Second, time.Minute)
	}))
}
