package connect

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/freshet/freshet/configs"
)

// TestBothFamiliesAreTried checks that for each request timeout a dialer of Redis gets to the addresses of the
// other family: with the usual delay, servers whose names have an IPv6 address that leads nowhere would never
// be reached.
func TestBothFamiliesAreTried(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{time.Millisecond, 500 * time.Millisecond, 2 * time.Second, 5 * time.Second, 30 * time.Second} {
		cfg := configs.Default()
		cfg.Redis.URL, cfg.Server.RequestTimeout = "redis://redis-1", timeout
		o, err := redisOptions(cfg)
		require.NoError(t, err)
		d := plainDialer(o.DialTimeout)
		assert.Positive(t, d.FallbackDelay, "0 is the usual delay")
		assert.LessOrEqual(t, 2*d.FallbackDelay, d.Timeout, timeout)
	}
}

// TestIPv6LeadsNowhere dials a name with two addresses, of which that of IPv6 does not answer.
func TestIPv6LeadsNowhere(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	d := plainDialer(20 * time.Second)
	d.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go answerNames(server)
		return client, nil
	}}
	d.ControlContext = func(ctx context.Context, network, _ string, _ syscall.RawConn) error {
		if network != "tcp6" {
			return nil
		}
		<-ctx.Done()
		return errors.New("no answer")
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	conn, err := d.DialContext(t.Context(), "tcp", net.JoinHostPort("redis-1.example", port))
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

// answerNames answers the questions on a connection to a name server: each name has an address of both
// families.
func answerNames(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for {
		var length [2]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		question := make([]byte, int(length[0])<<8|int(length[1]))
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(question); err != nil {
			return
		}
		m.Response, m.Additionals = true, nil
		head := dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: 60}
		var body dnsmessage.ResourceBody = &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}
		if m.Questions[0].Type == dnsmessage.TypeAAAA {
			body = &dnsmessage.AAAAResource{AAAA: [16]byte{0x20, 0x01, 0x0d, 0xb8, 15: 1}}
		}
		m.Answers = []dnsmessage.Resource{{Header: head, Body: body}}
		answer, err := m.Pack()
		if err != nil {
			return
		}
		if _, err := conn.Write(append([]byte{byte(len(answer) >> 8), byte(len(answer))}, answer...)); err != nil {
			return
		}
	}
}
