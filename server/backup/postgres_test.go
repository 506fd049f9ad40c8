package backup_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

// tables is the database of a test, whose tables are changed one by one.
type tables struct {
	t    *testing.T
	conn *pgx.Conn
}

func connectTo(t *testing.T, cfg configs.Config) *tables {
	t.Helper()
	u, err := url.Parse(cfg.Postgres.URL)
	require.NoError(t, err)
	q := u.Query()
	q.Del("pool_max_conns")
	u.RawQuery = q.Encode()
	conn, err := pgx.Connect(t.Context(), u.String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return &tables{t, conn}
}

func (p *tables) run(text string) {
	p.t.Helper()
	_, err := p.conn.Exec(p.t.Context(), text)
	require.NoError(p.t, err, text)
}

// notRows are tables whose rows belong to servers and migrations, not to what is restored.
var notRows = []string{"freshet_settings", "freshet_schema", "freshet_migrations", "touched", "touched_state", "exports", "export_parts"}

// columns returns the columns of each table of the schema whose rows are restored, generated ones left out.
func (p *tables) columns() map[string][]column {
	p.t.Helper()
	rows, err := p.conn.Query(p.t.Context(), `SELECT c.table_name::text, c.column_name::text, c.data_type::text, EXISTS (
			SELECT 1 FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
			WHERE i.indisprimary AND i.indrelid = (quote_ident(c.table_schema) || '.' || quote_ident(c.table_name))::regclass AND a.attname = c.column_name)
		FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
		WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND c.is_generated = 'NEVER' AND c.table_name <> ALL ($1)
		ORDER BY c.table_name, c.ordinal_position`, notRows)
	require.NoError(p.t, err)
	all := map[string][]column{}
	var table string
	var c column
	_, err = pgx.ForEachRow(rows, []any{&table, &c.name, &c.kind, &c.key}, func() error {
		all[table] = append(all[table], c)
		return nil
	})
	require.NoError(p.t, err)
	return all
}

// plant changes a row of each table that want selects, without triggers, which would change further tables.
func (p *tables) plant(all map[string][]column, kind string, want func(table string, rows int) bool) {
	p.t.Helper()
	p.run(`BEGIN`)
	for table, columns := range all {
		var n int
		require.NoError(p.t, p.conn.QueryRow(p.t.Context(), `SELECT count(*) FROM "`+table+`"`).Scan(&n))
		if !want(table, n) {
			continue
		}
		p.run(`ALTER TABLE "` + table + `" DISABLE TRIGGER USER`)
		text := planting(kind, table, columns, `ctid = (SELECT ctid FROM "`+table+`" LIMIT 1)`)
		p.run(strings.Replace(text, ") VALUES (", ") OVERRIDING SYSTEM VALUE VALUES (", 1))
		p.run(`ALTER TABLE "` + table + `" ENABLE TRIGGER USER`)
	}
	p.run(`COMMIT`)
}

// firstDocument returns the id and the content of a document of an index.
func firstDocument(t *testing.T, cfg configs.Config, index string) (id, source string) {
	t.Helper()
	var found struct {
		Hits struct {
			Hits []struct {
				ID     string          `json:"_id"`
				Source json.RawMessage `json:"_source"`
			} `json:"hits"`
		} `json:"hits"`
	}
	answer := elastic(t, cfg, http.MethodPost, index+"/_search", `{"size":1,"query":{"bool":{"must_not":{"exists":{"field":"settings"}}}}}`)
	require.NoError(t, json.Unmarshal([]byte(answer), &found))
	require.NotEmpty(t, found.Hits.Hits, index)
	return url.PathEscape(found.Hits.Hits[0].ID), string(found.Hits.Hits[0].Source)
}
