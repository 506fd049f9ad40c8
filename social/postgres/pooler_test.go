package postgres

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// TestPoolerDetected checks that a pooler is detected by the session number that it invents.
func TestPoolerDetected(t *testing.T) {
	t.Parallel()
	direct, err := url.Parse(testenv.Postgres(t))
	require.NoError(t, err)
	pooled := *direct
	pooled.Host = pooler(t, direct.Host)
	for _, c := range []struct {
		at               url.URL
		mode             string
		pooled, prepares bool
	}{
		{*direct, "", false, true},
		{pooled, "", true, true},
		{pooled, "exec", true, false},
		{pooled, "simple_protocol", true, false},
		{pooled, "cache_describe", true, true},
	} {
		if q := c.at.Query(); c.mode != "" {
			q.Set("default_query_exec_mode", c.mode)
			c.at.RawQuery = q.Encode()
		}
		s, err := New(t.Context(), Config{URL: c.at.String() + "&pool_max_conns=2"}, social.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		r, err := s.Check(t.Context())
		require.NoError(t, err)
		assert.Equal(t, c.pooled, r.Pooled, "%+v", c)
		assert.Equal(t, c.prepares, r.Prepares, "%+v", c)
	}
}

// pooler forwards connections and gives each session a different number, as a pooler does.
func pooler(t *testing.T, server string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			back, err := net.Dial("tcp", server)
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(back, client); _ = back.Close() }()
			go func() {
				defer func() { _ = client.Close() }()
				buf := make([]byte, 1<<16)
				for first := true; ; {
					n, err := back.Read(buf)
					if err != nil {
						return
					}
					if at := bytes.Index(buf[:n], []byte{'K', 0, 0, 0, 12}); first && at >= 0 && at+9 <= n {
						binary.BigEndian.PutUint32(buf[at+5:], 1)
						first = false
					}
					if _, err := client.Write(buf[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}
