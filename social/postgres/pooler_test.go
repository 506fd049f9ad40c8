package postgres

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
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

// TestMigrateThroughPooler checks that servers which start through a pooler in transaction mode take turns
// to migrate, and leave no lock behind, for which later servers would wait.
func TestMigrateThroughPooler(t *testing.T) {
	t.Parallel()
	address := testenv.Postgres(t)
	pooled, err := url.Parse(address)
	require.NoError(t, err)
	pooled.Host = transactionPooler(t, address)
	q := pooled.Query()
	q.Set("default_query_exec_mode", "exec")
	q.Set("pool_max_conns", "1")
	q.Del("search_path") // the pooler's connections have it
	pooled.RawQuery = q.Encode()
	const servers = 3
	migrated := make(chan error, servers)
	for range servers {
		s, err := New(t.Context(), Config{URL: pooled.String()}, social.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		go func() { migrated <- s.Migrate(t.Context()) }()
	}
	for range servers {
		require.NoError(t, <-migrated)
	}
	observer, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer func() { _ = observer.Close(t.Context()) }()
	var free bool
	require.NoError(t, observer.QueryRow(t.Context(), `SELECT pg_try_advisory_lock(hashtextextended('freshet ' || current_schema(), 0))`).Scan(&free))
	require.True(t, free, "a session of the pooler still has the lock")
}

// TestMigrateNamesOwnerOfLock checks that a server tells whose lock it waits for.
func TestMigrateNamesOwnerOfLock(t *testing.T) {
	t.Parallel()
	address := testenv.Postgres(t)
	owner, err := pgx.Connect(t.Context(), address+"&application_name=the_pooler")
	require.NoError(t, err)
	defer func() { _ = owner.Close(t.Context()) }()
	_, err = owner.Exec(t.Context(), `SELECT pg_advisory_lock(hashtextextended('freshet ' || current_schema(), 0))`)
	require.NoError(t, err)
	reasons, migrated := make(chan error, 100), make(chan error, 1)
	s, err := New(t.Context(), Config{URL: address + "&pool_max_conns=1", Waits: func(err error) { reasons <- err }}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	go func() { migrated <- s.Migrate(t.Context()) }()
	require.ErrorContains(t, <-reasons, "(the_pooler, idle since ")
	require.NoError(t, owner.Close(t.Context()))
	require.NoError(t, <-migrated)
}

// TestCheckNamesMissingPrivilege checks a database whose tables belong to another user, as after a restore.
func TestCheckNamesMissingPrivilege(t *testing.T) {
	t.Parallel()
	address := testenv.Postgres(t)
	s, err := New(t.Context(), Config{URL: address}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	require.NoError(t, s.Migrate(t.Context()))
	_, err = s.db.pool.Exec(t.Context(), `DO $$ BEGIN CREATE ROLE freshet_test_stranger LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN END $$`)
	require.NoError(t, err)
	var schema string
	require.NoError(t, s.db.pool.QueryRow(t.Context(), `SELECT current_schema()`).Scan(&schema))
	_, err = s.db.pool.Exec(t.Context(), `GRANT USAGE, CREATE ON SCHEMA `+pgx.Identifier{schema}.Sanitize()+` TO freshet_test_stranger`)
	require.NoError(t, err)
	stranger, err := url.Parse(address)
	require.NoError(t, err)
	stranger.User = url.User("freshet_test_stranger")
	other, err := New(t.Context(), Config{URL: stranger.String()}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = other.Close() })
	r, err := other.Check(t.Context())
	require.NoError(t, err)
	require.Len(t, r.Schema.Problems, 1)
	require.Contains(t, r.Schema.Problems[0].Text, "permission denied for table freshet_migrations")
	require.Contains(t, r.Schema.Problems[0].Fix, "OWNER TO")
}

// TestCheckTriesCommit checks a database that takes statements and stores no commit, as while a replica is
// missing that commits wait for.
func TestCheckTriesCommit(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(testenv.Postgres(t))
	require.NoError(t, err)
	address.Host = storesNothing(t, address.Host, "freshet_tried")
	s, err := New(t.Context(), Config{URL: address.String()}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	r, err := s.Check(t.Context())
	require.NoError(t, err)
	require.Error(t, r.Refused)
	require.Regexp(t, regexp.QuoteMeta(Disk)+` took \d+s to store a commit`, r.Refused.Error())
}

// storesNothing forwards connections, and swallows commits after a statement that contains a text.
func storesNothing(t *testing.T, server, after string) string {
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
			go func() { _, _ = io.Copy(client, back); _ = client.Close() }()
			go func() {
				defer func() { _ = back.Close() }()
				buf := make([]byte, 1<<16)
				for seen := false; ; {
					n, err := client.Read(buf)
					if err != nil {
						return
					}
					seen = seen || bytes.Contains(buf[:n], []byte(after))
					if seen && bytes.Contains(buf[:n], []byte("commit")) {
						continue
					}
					if _, err := back.Write(buf[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// transactionPooler forwards each transaction of its clients to one of few sessions of the server, in turn,
// as a pooler in transaction mode does.
func transactionPooler(t *testing.T, address string) string {
	idle := make(chan *pgconn.HijackedConn, 5)
	for range cap(idle) {
		conn, err := pgconn.Connect(t.Context(), address)
		require.NoError(t, err)
		session, err := conn.Hijack()
		require.NoError(t, err)
		t.Cleanup(func() { _ = session.Conn.Close() })
		idle <- session
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = client.Close() }()
				poolTransactions(client, idle)
			}()
		}
	}()
	return l.Addr().String()
}

// poolTransactions serves a client until it leaves.
func poolTransactions(client net.Conn, idle chan *pgconn.HijackedConn) {
	c := pgproto3.NewBackend(client, client)
	if _, err := c.ReceiveStartupMessage(); err != nil {
		return
	}
	c.Send(&pgproto3.AuthenticationOk{})
	for _, name := range []string{"standard_conforming_strings", "client_encoding", "server_version"} {
		session := <-idle
		c.Send(&pgproto3.ParameterStatus{Name: name, Value: session.ParameterStatuses[name]})
		idle <- session
	}
	c.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{1, 2, 3, 4}})
	c.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if c.Flush() != nil {
		return
	}
	var session *pgconn.HijackedConn
	// answer passes on the answers of the server until it is ready, and gives the session back after a transaction.
	answer := func() bool {
		if session.Frontend.Flush() != nil {
			return false
		}
		for {
			m, err := session.Frontend.Receive()
			if err != nil {
				return false
			}
			c.Send(m)
			if ready, ok := m.(*pgproto3.ReadyForQuery); ok {
				if ready.TxStatus == 'I' {
					idle <- session
					session = nil
				}
				return c.Flush() == nil
			}
		}
	}
	for {
		m, err := c.Receive()
		if _, left := m.(*pgproto3.Terminate); err != nil || left {
			if session != nil {
				session.Frontend.Send(&pgproto3.Query{String: "ROLLBACK"})
				answer()
			}
			return
		}
		if session == nil {
			session = <-idle
		}
		session.Frontend.Send(m)
		switch m.(type) {
		case *pgproto3.Query, *pgproto3.Sync:
			if !answer() {
				return
			}
		}
	}
}
