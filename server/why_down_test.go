package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
)

// TestWhyRedisIsDown checks that /readyz says what Redis itself says, without its text, in which addresses
// may be, also while the breaker refuses calls.
func TestWhyRedisIsDown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"LOADING Redis is loading the dataset in memory":         "it is loading its data after a start; wait until it has",
		"MASTERDOWN Link with MASTER is down":                    "it is a replica that has lost its master; name the master, or wait for a failover",
		"WRONGPASS invalid username-password pair":               "Redis refuses this user; correct redis.url and redis.password",
		"READONLY You can't write against a replica":             "reachable, but writes are refused: it is a replica; name the master",
		"MISCONF Redis is configured to save RDB snapshots":      "reachable, but writes are refused: it could not save its data; free its disk and see its log",
		"OOM command not allowed when used memory > 'maxmemory'": "reachable, but writes are refused: it has no memory left; raise maxmemory",
		"ERR something else":                                     "",
	} {
		err := redisReply(text)
		assert.Equal(t, want, whyRedisDown(err))
		assert.Equal(t, want, whyRedisDown(fmt.Errorf("not sent: %w", refusedSince{err})))
	}
	assert.Empty(t, whyRedisDown(io.EOF))
}

// TestWhyPostgresIsDown checks the same of PostgreSQL.
func TestWhyPostgresIsDown(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		nil:                               "",
		io.EOF:                            "",
		&pgconn.PgError{Code: "28P01"}:    "the password is wrong; correct postgres.url",
		&pgconn.PgError{Code: "3D000"}:    "there is no such database; create it or correct postgres.url",
		&net.DNSError{Name: "postgres-1"}: "", // "unknown host name"
		errors.New("server refused TLS connection"): "the server does not use TLS; correct sslmode in postgres.url, or set ssl = on at the server",
	} {
		assert.Equal(t, want, whyPostgresDown(err), err)
		if err != nil {
			assert.Equal(t, want, whyPostgresDown(fmt.Errorf("not sent: %w", refusedSince{err})), err)
		}
	}
}

// redisReply is an error reply of Redis.
type redisReply string

func (r redisReply) Error() string { return string(r) }
func (redisReply) RedisError()     {}

// refusedSince is the error of a call that a breaker refused since an earlier one failed.
type refusedSince struct{ last error }

func (refusedSince) Error() string        { return "circuit breaker is open" }
func (r refusedSince) LastFailure() error { return r.last }
