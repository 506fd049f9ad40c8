package postgres

import (
	"context"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// nowhere is an address at which nothing answers, not even to refuse.
const nowhere = "2001:db8::1"

// network has host names, and addresses that lead nowhere.
type network struct {
	names map[string][]string
	dead  map[string]bool

	mu    sync.Mutex
	tried []string // addresses, without ports
}

func (n *network) lookup(_ context.Context, host string) ([]string, error) {
	if n.names[host] == nil {
		return []string{host}, nil
	}
	return append([]string(nil), n.names[host]...), nil
}

func (n *network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ip, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.tried = append(n.tried, ip)
	isDead := n.dead[ip]
	n.mu.Unlock()
	if isDead {
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
	}
	return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
}

// take returns the addresses tried since the last call.
func (n *network) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	tried := n.tried
	n.tried = nil
	return tried
}

// in returns a pool whose connections are made in a network.
func (n *network) in(t *testing.T, cfg Config) (*pgxpool.Pool, *dialer) {
	t.Helper()
	c, d, err := cfg.poolConfig()
	require.NoError(t, err)
	d.lookup, d.dial, d.first = n.lookup, n.dial, 20*time.Millisecond
	pool, err := pgxpool.NewWithConfig(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool, d
}

func withHosts(t *testing.T, text, hosts, parameters string) string {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(u.Host)
	require.NoError(t, err)
	u.Host = ""
	for i, host := range strings.Split(hosts, ",") {
		if i > 0 {
			u.Host += ","
		}
		u.Host += net.JoinHostPort(host, port)
	}
	u.RawQuery += parameters
	return u.String()
}

// TestAddressWithoutAnswer connects by a name of which one address, that of IPv6, leads nowhere. The first
// connection tries it for a moment, further ones do not, with each way to encrypt.
func TestAddressWithoutAnswer(t *testing.T) {
	t.Parallel()
	server := testenv.ReusedPostgres(t)
	for _, mode := range []string{"", "&sslmode=prefer"} {
		n := &network{names: map[string][]string{"db.example": {nowhere, "192.0.2.7"}}, dead: map[string]bool{nowhere: true}}
		pool, d := n.in(t, Config{URL: withHosts(t, server, "db.example", mode)})
		first, err := pool.Acquire(t.Context())
		require.NoError(t, err)
		assert.Equal(t, nowhere, n.take()[0])
		assert.Equal(t, []string{nowhere}, d.unanswered())
		second, err := pool.Acquire(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "192.0.2.7", n.take()[0])
		first.Release()
		second.Release()
	}
}

// TestAddressesShareTime has a name without any address that answers, and a caller that waits for a moment:
// all are tried in it.
func TestAddressesShareTime(t *testing.T) {
	t.Parallel()
	n := &network{names: map[string][]string{"db.example": {nowhere, "192.0.2.7"}}, dead: map[string]bool{nowhere: true, "192.0.2.7": true}}
	c, d, err := Config{URL: "postgres://u@db.example/d?sslmode=disable"}.poolConfig()
	require.NoError(t, err)
	d.lookup, d.dial, d.first = n.lookup, n.dial, time.Hour
	for range 2 { // also once it is known that none answers
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, err = c.ConnConfig.LookupFunc(ctx, "db.example")
		require.NoError(t, err)
		for _, address := range n.names["db.example"] {
			_, err := c.ConnConfig.DialFunc(ctx, "tcp", net.JoinHostPort(address, "5432"))
			require.Error(t, err)
			if address == nowhere {
				require.NoError(t, ctx.Err(), "nothing is left for the second address")
			}
		}
		cancel()
		assert.Equal(t, []string{nowhere, "192.0.2.7"}, n.take())
	}
}

// TestHostWithoutAnswer has two hosts, of which the first is off. With target_session_attrs one is as good as
// the other; without it, the first is preferred, and has the time that it had.
func TestHostWithoutAnswer(t *testing.T) {
	t.Parallel()
	for parameters, bounded := range map[string]bool{"": false, "&target_session_attrs=read-write": true} {
		n := &network{dead: map[string]bool{"192.0.2.1": true}}
		c, d, err := Config{URL: "postgres://u@192.0.2.1,192.0.2.2/d?sslmode=disable" + parameters}.poolConfig()
		require.NoError(t, err)
		d.lookup, d.dial, d.first = n.lookup, n.dial, 20*time.Millisecond
		for _, host := range []string{"192.0.2.1", "192.0.2.2"} {
			_, err = c.ConnConfig.LookupFunc(t.Context(), host)
			require.NoError(t, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err = c.ConnConfig.DialFunc(ctx, "tcp", "192.0.2.1:5432")
		require.Error(t, err)
		assert.Equal(t, bounded, ctx.Err() == nil, parameters)
		cancel()
		next := c.ConnConfig.Copy()
		d.order(next)
		assert.Equal(t, bounded, next.Host == "192.0.2.2", parameters)
	}
}

// TestAddressAnswersAgain checks that an address that did not answer is tried first again after a while.
func TestAddressAnswersAgain(t *testing.T) {
	t.Parallel()
	n := &network{names: map[string][]string{"db.example": {nowhere, "192.0.2.7"}}}
	c, d, err := Config{URL: "postgres://u@db.example/d?sslmode=disable"}.poolConfig()
	require.NoError(t, err)
	d.lookup = n.lookup
	order := func() []string {
		found, err := c.ConnConfig.LookupFunc(t.Context(), "db.example")
		require.NoError(t, err)
		return found
	}
	require.Equal(t, []string{nowhere, "192.0.2.7"}, order())
	d.note(nowhere, nowhere, os.ErrDeadlineExceeded)
	require.Equal(t, []string{"192.0.2.7", nowhere}, order())
	d.silent[nowhere] = time.Now().Add(-silentFor)
	require.Equal(t, []string{nowhere, "192.0.2.7"}, order())
	assert.Empty(t, d.unanswered())
}
