package handler

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pipes is an HTTP server with in-process pipes as connections, without buffers: in a synctest
// bubble it runs on the bubble's clock.
type pipes struct {
	*testing.T
	server *http.Server
	accept listener
}

// listener accepts connections from a channel until it is closed.
type listener chan net.Conn

func (l listener) Accept() (net.Conn, error) {
	conn, ok := <-l
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (l listener) Close() error { close(l); return nil }

func (listener) Addr() net.Addr { return &net.TCPAddr{} }

// openPipes runs a server until the test ends. It must be called within a synctest bubble.
func openPipes(t *testing.T, server *http.Server) *pipes {
	p := &pipes{T: t, server: server, accept: make(listener)}
	go func() { assert.ErrorIs(t, server.Serve(p.accept), http.ErrServerClosed) }()
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	return p
}

// dial opens a connection that is closed when the test ends.
func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.Cleanup(func() { _ = client.Close() })
	p.accept <- server
	return client
}

// send opens a connection and sends this text.
func (p *pipes) send(text string) net.Conn {
	p.Helper()
	conn := p.dial()
	_, err := io.WriteString(conn, text)
	require.NoError(p, err)
	return conn
}
