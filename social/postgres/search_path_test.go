package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// TestTriggersWithoutSearchPath changes and restores the rows of each table with triggers as pg_restore does,
// which empties search_path: the functions of triggers find their tables.
func TestTriggersWithoutSearchPath(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: testenv.Postgres(t) + "&pool_max_conns=4"}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	group := social.Circle{ID: "g", Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}
	_, err = s.PutCircle(t.Context(), group, []string{"m"}, time.Time{})
	require.NoError(t, err)
	for _, audience := range []social.Audience{{Public: true}, {Circles: []string{"g"}}} {
		_, _, err = s.CreatePost(t.Context(), social.Post{Author: "o", Caption: "x", Audience: audience}, social.Creation{})
		require.NoError(t, err)
	}
	home := s.schema(t)
	rows, err := s.db.pool.Query(t.Context(), `SELECT c.relname, (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = '' LIMIT 1)
		FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal)`, home)
	require.NoError(t, err)
	type table struct{ Name, Column string }
	tables, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	require.NoError(t, err)
	require.Greater(t, len(tables), 10)
	for _, x := range tables {
		name := pgx.Identifier{home, x.Name}.Sanitize()
		_, err := s.db.pool.Exec(t.Context(), fmt.Sprintf(`BEGIN; SET LOCAL search_path = ''; CREATE TEMP TABLE kept AS SELECT * FROM %[1]s;
			UPDATE %[1]s SET %[2]s = %[2]s; DELETE FROM %[1]s; INSERT INTO %[1]s OVERRIDING SYSTEM VALUE SELECT * FROM kept; ROLLBACK`, name, x.Column))
		assert.NoError(t, err, x.Name)
	}
	var open []string
	require.NoError(t, s.db.pool.QueryRow(t.Context(), `SELECT coalesce(array_agg(proname::text), '{}') FROM pg_proc WHERE pronamespace = $1::regnamespace AND prorettype = 'trigger'::regtype
		AND NOT coalesce(array_to_string(proconfig, ' ') LIKE '%search_path=%', false)`, home).Scan(&open))
	assert.Empty(t, open)
}
