package faultproxy

import (
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

func TestPostgresCuts(t *testing.T) {
	ctx := t.Context()
	for kind, want := range map[Kind]int{Before: 1, After: 2, Within: 2} {
		t.Run(kind.String(), func(t *testing.T) {
			address := testenv.Postgres(t)
			u, err := url.Parse(address)
			require.NoError(t, err)
			p := StartPostgres(t, u.Host)
			direct, err := pgx.Connect(ctx, address)
			require.NoError(t, err)
			defer func() { _ = direct.Close(ctx) }()
			u.Host = p.Addrs[0]
			connect := func() *pgx.Conn {
				c, err := pgx.Connect(ctx, u.String())
				require.NoError(t, err)
				t.Cleanup(func() { _ = c.Close(ctx) })
				return c
			}
			c := connect()
			seen := p.Record(func() {
				_, err = c.Exec(ctx, `CREATE TABLE n (i int)`)
				require.NoError(t, err)
				_, err = c.Exec(ctx, `INSERT INTO n VALUES ($1)`, 1)
				require.NoError(t, err)
			})
			require.Contains(t, seen, Command{"sync", `INSERT INTO n VALUES ($1)`})
			fault := p.Arm(Fault{Kind: kind, Match: func(c Command) bool { return c.Name() == "query" && strings.EqualFold(c[1], "commit") }})
			insert := func(c *pgx.Conn) error {
				tx, err := c.Begin(ctx)
				require.NoError(t, err)
				_, err = tx.Exec(ctx, `INSERT INTO n VALUES ($1)`, 2)
				require.NoError(t, err)
				return tx.Commit(ctx)
			}
			require.Error(t, insert(c))
			assert.True(t, fault.Fired())
			<-fault.Over()
			var n int
			require.NoError(t, direct.QueryRow(ctx, `SELECT count(*) FROM n`).Scan(&n))
			assert.Equal(t, want, n)
			require.NoError(t, insert(connect()), "a fault happens once")
		})
	}
}
