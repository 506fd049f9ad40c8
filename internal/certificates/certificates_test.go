package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// TestCheck connects to servers whose certificates are not accepted.
func TestCheck(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, test := range map[string]struct {
		change        func(*x509.Certificate)
		untrusted     bool
		cause, advice string
	}{
		"unknown authority": {untrusted: true, cause: "its certificate is signed by an unknown authority", advice: "in redis.ca_cert"},
		"only a Common Name": {
			change: func(c *x509.Certificate) { c.DNSNames = nil },
			cause:  "its certificate has no subject alternative name", advice: "as a subject alternative name",
		},
		"no name": {
			change: func(c *x509.Certificate) { c.DNSNames, c.Subject.CommonName = nil, "" },
			cause:  "its certificate has no subject alternative name", advice: "as a subject alternative name",
		},
		"another host": {
			change: func(c *x509.Certificate) { c.DNSNames = []string{"other.example"} },
			cause:  "its certificate is for another host", advice: "name the host as the server's certificate does",
		},
		"expired": {
			change: func(c *x509.Certificate) { c.NotBefore, c.NotAfter = now.Add(-2*time.Hour), now.Add(-time.Hour) },
			cause:  "its certificate has expired", advice: "renew",
		},
		"not valid yet": {
			change: func(c *x509.Certificate) { c.NotBefore, c.NotAfter = now.Add(time.Hour), now.Add(2*time.Hour) },
			cause:  "its certificate is not valid yet", advice: "clock of this machine",
		},
		"for clients": {
			change: func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} },
			cause:  "its certificate is not valid", advice: "the message says",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := handshake(t, test.change, !test.untrusted)
			require.Error(t, err)
			fault, ok := Check(fmt.Errorf("call: %w", err), "redis.ca_cert")
			require.True(t, ok, "%v", err)
			assert.Equal(t, test.cause, fault.Cause)
			assert.Contains(t, fault.Advice, test.advice)
		})
	}
	require.NoError(t, handshake(t, nil, true))
	for _, err := range []error{nil, errors.New("x509")} {
		_, ok := Check(err, "redis.ca_cert")
		assert.False(t, ok)
	}
}

// handshake connects to a server whose certificate for localhost was changed.
func handshake(t *testing.T, change func(*x509.Certificate), trusted bool) error {
	t.Helper()
	certificate := testenv.Certificate(t, change)
	pool := x509.NewCertPool()
	if trusted {
		pool.AddCert(certificate.Leaf)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		if conn, err := listener.Accept(); err == nil {
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
	}()
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: pool, ServerName: "localhost"}}
	conn, err := dialer.DialContext(t.Context(), "tcp", listener.Addr().String())
	if err == nil {
		err = conn.Close()
	}
	return err
}
