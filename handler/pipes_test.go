package handler

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pipes is an HTTP server whose connections are pipes in this process, without a
// buffer on the way: in a bubble its time is the test's.
type pipes struct {
	*testing.T
	server *http.Server
	accept listener
}

// listener hands over connections until it is closed.
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

// openPipes runs a server until the test ends. It must be called within a bubble.
func openPipes(t *testing.T, server *http.Server) *pipes {
	p := &pipes{T: t, server: server, accept: make(listener)}
	go func() { assert.ErrorIs(t, server.Serve(p.accept), http.ErrServerClosed) }()
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	return p
}

// dial opens a connection, which the test's end closes.
func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.Cleanup(func() { _ = client.Close() })
	p.accept <- server
	return client
}

// send opens a connection that sends what is given and nothing more.
func (p *pipes) send(text string) net.Conn {
	p.Helper()
	conn := p.dial()
	_, err := io.WriteString(conn, text)
	require.NoError(p, err)
	return conn
}
