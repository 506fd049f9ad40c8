package postgres

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// One address may lead to different servers in turn: a name, a virtual IP or a proxy follows the
// primary with a delay, and leads to a standby or to the former primary meanwhile. Connections
// opened then stay open, and would take no writes, and answer reads with old data, until they are
// closed. So they are replaced as soon as one of them reveals it.

const (
	// connLifetime bounds how long a connection to a former primary can remain in use that nothing
	// reveals, such as one whose server accepts writes that no other server receives.
	connLifetime       = 5 * time.Minute
	connLifetimeJitter = time.Minute
	// replaceEvery is the least time between two replacements of all connections: the address may
	// lead to the same server for longer.
	replaceEvery = time.Second / 2
)

// openedKey is the key of the time at which a connection was opened, in its custom data.
const openedKey = "freshet opened"

// noteOpened is the pool's AfterConnect.
func noteOpened(_ context.Context, conn *pgx.Conn) error {
	conn.PgConn().CustomData()[openedKey] = time.Now()
	return nil
}

// onStandby reports whether a connection's server has announced that it is a standby. Servers from
// version 14 on announce this, and its end, without being asked. A pooler does not.
func onStandby(conn *pgx.Conn) bool { return conn.PgConn().ParameterStatus("in_hot_standby") == "on" }

// takesNoTransaction reports whether a transaction that writes was refused because its server is a
// standby or read-only. Other features that are not supported have the same code as the first
// refusal, but are not refused by the check of a setting, or because reads are serializable by default;
// the message may be translated.
func takesNoTransaction(err error) bool {
	if noPrimary(err) || errors.Is(err, errStandby) {
		return true
	}
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	byRecovery := e.Routine == "call_bool_check_hook" || e.Routine == "GetSerializableTransactionSnapshot" || strings.Contains(e.Message, "during recovery")
	return e.Code == readOnlyTransaction || e.Code == notSupported && byRecovery
}

// serverEnds reports whether the server has ended the connection because it stops or restarts. Its
// other connections end, too.
func serverEnds(err error) bool {
	switch code(err) {
	case adminShutdown, crashShutdown, cannotConnectNow:
		return true
	}
	return false
}

// leave closes a connection that leads to the wrong server, and each one that was opened before, as
// soon as it is free. It reports whether it did: not if that was done a moment ago.
func (c *connections) leave(ctx context.Context, conn *pgxpool.Conn) bool {
	opened, _ := conn.Conn().PgConn().CustomData()[openedKey].(time.Time)
	c.mu.Lock()
	earlier := !opened.After(c.left) // it is one of those that were replaced
	due := time.Since(c.left) >= replaceEvery
	if due && !earlier {
		c.left = time.Now()
	}
	c.mu.Unlock()
	if !due && !earlier {
		return false
	}
	_ = conn.Conn().Close(ctx) // the pool drops it on release
	if due && !earlier {
		c.pool.Reset()
	}
	return true
}

// replace is called with the error of a call. If the error shows that the connection leads to the
// wrong server, or to one that ends, it is left. replace reports whether another call gets another
// connection.
func (c *connections) replace(ctx context.Context, conn *pgxpool.Conn, err error) bool {
	return (takesNoTransaction(err) || serverEnds(err)) && c.leave(ctx, conn)
}
