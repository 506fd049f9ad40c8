package backup_test

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/backup"
	"github.com/freshet/freshet/server/datadir"
)

// column is a column of a table of a test, as its schema says.
type column struct {
	name, kind string
	key        bool // of the primary key
}

// plantings change one row of a table, whatever its columns are: they return statements.
var plantings = map[string]func(table string, columns []column, row string) string{
	"extra": func(table string, columns []column, _ string) string {
		var names, values []string
		for _, c := range columns {
			names, values = append(names, `"`+c.name+`"`), append(values, valueOf(c.kind))
		}
		return `INSERT INTO "` + table + `" (` + strings.Join(names, ", ") + `) VALUES (` + strings.Join(values, ", ") + `)`
	},
	"missing": func(table string, _ []column, row string) string { return `DELETE FROM "` + table + `" WHERE ` + row },
	"changed": func(table string, columns []column, row string) string {
		which := columns[0]
		for _, c := range columns {
			if !c.key {
				which = c
			}
		}
		return `UPDATE "` + table + `" SET "` + which.name + `" = ` + otherOf(which) + ` WHERE ` + row
	},
}

// planting returns the statement that changes one row of a table. A row that is "before" is there before the
// backup is made, and differs from those that are "extra".
func planting(kind, table string, columns []column, row string) string {
	if kind != "before" {
		return plantings[kind](table, columns, row)
	}
	return strings.NewReplacer("planted", "before", "987654", "123456", "9876", "1234").Replace(plantings["extra"](table, columns, row))
}

func isNumber(kind string) bool {
	return slices.Contains([]string{"integer", "int", "bigint", "smallint", "real", "double precision", "xid8"}, strings.ToLower(kind))
}

// valueOf returns a value of a column of a kind that no other row has.
func valueOf(kind string) string {
	switch kind = strings.ToLower(kind); {
	case kind == "xid8":
		return `'987654'`
	case kind == "smallint":
		return `9876`
	case isNumber(kind):
		return `987654`
	case kind == "boolean":
		return `false`
	case strings.HasPrefix(kind, "json"):
		return `'{}'`
	case kind == "array":
		return `'{}'`
	case kind == "blob", kind == "bytea":
		return `'01'`
	}
	return `'planted'`
}

// otherOf returns an expression that differs from what a column has.
func otherOf(c column) string {
	switch kind := strings.ToLower(c.kind); {
	case kind == "xid8":
		return `'987654'`
	case isNumber(kind):
		return `coalesce("` + c.name + `", 0) + 1`
	case kind == "boolean":
		return `NOT "` + c.name + `"`
	case strings.HasPrefix(kind, "json"):
		return `'{"planted": 1}'`
	case kind == "array":
		return `array_append("` + c.name + `", 'planted')`
	case kind == "blob", kind == "bytea":
		return `'02'`
	}
	return `coalesce("` + c.name + `", '') || 'x'`
}

// TestEveryTableCompared changes one row of every table of every SQLite file, adds one, and removes one: the
// comparison names each table. The tables are those of the schemas, so that a new one is among them.
func TestEveryTableCompared(t *testing.T) {
	t.Parallel()
	cfg, to, dir := stopped(t), embedded(t), filepath.Join(t.TempDir(), "backup")
	tables := map[string]map[string][]column{}
	for _, d := range datadir.Databases(cfg, cfg.DataDir) {
		tables[d.What] = columnsOf(t, d.Path)
		require.NotEmpty(t, tables[d.What])
		plant(t, d.Path, tables[d.What], "before", func(table string, rows int) bool { return rows == 0 })
	}
	makeBackup(t, cfg, dir)
	_, err := backup.Restore(t.Context(), to, dir, backup.Options{})
	require.NoError(t, err)
	require.Empty(t, verified(t, to, dir).Differences)
	for _, d := range datadir.Databases(to, to.DataDir) {
		data, err := os.ReadFile(d.Path)
		require.NoError(t, err)
		for kind := range plantings {
			plant(t, d.Path, tables[d.What], kind, func(table string, _ int) bool { return kind != "changed" || table != "changes_state" })
			found := strings.Join(verified(t, to, dir).Differences, "\n")
			for table := range tables[d.What] {
				if kind == "changed" && table == "changes_state" {
					continue // cursors end with a restoration
				}
				assert.Regexp(t, fmt.Sprintf(`(?m)^%s: (%s has|the \d+ rows of %s are)`, d.What, table, table), found, "%s: %s", d.What, kind)
			}
			require.NoError(t, os.WriteFile(d.Path, data, 0o600))
			for _, more := range []string{"-wal", "-shm", "-journal"} {
				_ = os.Remove(d.Path + more)
			}
		}
	}
	assert.Empty(t, verified(t, to, dir).Differences)
}

// columnsOf returns the columns of each table of a SQLite file, generated ones left out.
func columnsOf(t *testing.T, path string) map[string][]column {
	t.Helper()
	db := openPlain(t, path)
	defer func() { require.NoError(t, db.Close()) }()
	rows, err := db.QueryContext(t.Context(), `SELECT m.name, c.name, c.type, c.pk > 0 FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND c.hidden = 0 ORDER BY m.name, c.cid`)
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	all := map[string][]column{}
	for rows.Next() {
		var table string
		var c column
		require.NoError(t, rows.Scan(&table, &c.name, &c.kind, &c.key))
		all[table] = append(all[table], c)
	}
	require.NoError(t, rows.Err())
	return all
}

func openPlain(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(t.Context(), `PRAGMA ignore_check_constraints = ON`)
	require.NoError(t, err)
	return db
}

// plant changes a row of each table that want selects by its name and its number of rows.
func plant(t *testing.T, path string, tables map[string][]column, kind string, want func(table string, rows int) bool) {
	t.Helper()
	db := openPlain(t, path)
	defer func() { require.NoError(t, db.Close()) }()
	run := func(text string) {
		_, err := db.ExecContext(t.Context(), text)
		require.NoError(t, err, text)
	}
	triggers := map[string]string{}
	rows, err := db.QueryContext(t.Context(), `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
	require.NoError(t, err)
	for rows.Next() {
		var name, text string
		require.NoError(t, rows.Scan(&name, &text))
		triggers[name] = text
	}
	require.NoError(t, rows.Close())
	for name := range triggers { // they would change further tables
		run(`DROP TRIGGER "` + name + `"`)
	}
	for table, columns := range tables {
		var n int
		require.NoError(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM "`+table+`"`).Scan(&n))
		if !want(table, n) {
			continue
		}
		var keys []string
		for _, c := range columns {
			if c.key {
				keys = append(keys, `"`+c.name+`"`)
			}
		}
		if len(keys) == 0 {
			keys = []string{"rowid"}
		}
		of := strings.Join(keys, ", ")
		run(planting(kind, table, columns, `(`+of+`) = (SELECT `+of+` FROM "`+table+`" LIMIT 1)`))
	}
	for _, text := range triggers {
		run(text)
	}
}

// TestEveryPartOfServicesCompared changes one row of every table of PostgreSQL, adds one, and removes one, and
// does so with a document of each index, a bit of a filter, the items that were just shown, and images.
func TestEveryPartOfServicesCompared(t *testing.T) {
	t.Parallel()
	from, to, dir := services(t), services(t), filepath.Join(t.TempDir(), "backup")
	a := start(t, from)
	a.fill(2, 2)
	a.read("reader_0")
	_, err := a.agent("").PutFeed(t.Context(), "stored", 0, client.FeedChange{Filter: feed.Filter{Any: feed.Conditions{Tags: []string{"go"}}}})
	require.NoError(t, err)
	a.stop()
	source, target := connectTo(t, from), connectTo(t, to)
	tables := source.columns()
	require.Greater(t, len(tables), 25)
	source.plant(tables, "before", func(table string, rows int) bool { return rows == 0 })
	m := makeBackup(t, from, dir)
	for table := range tables {
		assert.Contains(t, m.PartOf("social").Tables, table, "a table that no backup has")
	}
	_, err = backup.Restore(t.Context(), to, dir, backup.Options{})
	require.NoError(t, err)
	require.Empty(t, verified(t, to, dir).Differences)
	for kind := range plantings {
		target.plant(tables, kind, func(table string, _ int) bool { return kind != "changed" || table != "changes_state" })
		found := strings.Join(verified(t, to, dir).Differences, "\n")
		for table := range tables {
			if kind == "changed" && table == "changes_state" {
				continue // cursors end with a restoration
			}
			assert.Regexp(t, fmt.Sprintf(`(?m)^social: (%s has|the \d+ rows of %s are)`, table, table), found, kind)
		}
		require.NoError(t, backup.Refill(t.Context(), to, dir))
	}
	require.Empty(t, verified(t, to, dir).Differences)
	target.run(`SELECT setval(pg_get_serial_sequence('jobs', 'id'), 1)`)
	assert.Contains(t, strings.Join(verified(t, to, dir).Differences, "\n"), "social: the sequence of jobs.id is at 1")
	require.NoError(t, backup.Refill(t.Context(), to, dir))

	differs := func(change, undo func(), says string) {
		t.Helper()
		change()
		found := verified(t, to, dir).Differences
		require.Len(t, found, 1, "%v", found)
		assert.Regexp(t, says, found[0])
		undo()
		require.Empty(t, verified(t, to, dir).Differences)
	}
	items := to.Elasticsearch.Index
	for name, index := range map[string]string{"items": items, "profiles": items + "-agents", "ranking": items + "-ranking"} {
		id, source := firstDocument(t, to, index)
		differs(func() { elastic(t, to, http.MethodDelete, index+"/_doc/"+id, "") }, func() { elastic(t, to, http.MethodPut, index+"/_doc/"+id, source) }, "catalog: "+name+" has")
		differs(func() { elastic(t, to, http.MethodPut, index+"/_doc/planted", source) }, func() { elastic(t, to, http.MethodDelete, index+"/_doc/planted", "") }, "catalog: "+name+" has")
		differs(func() {
			elastic(t, to, http.MethodPut, index+"/_doc/"+id, strings.Replace(source, "{", `{"likes":7,`, 1))
		},
			func() { elastic(t, to, http.MethodPut, index+"/_doc/"+id, source) }, `catalog: the \d+ rows of `+name+" are not")
	}
	otherParts(t, to, dir, differs)
}

// otherParts changes impressions and images.
func otherParts(t *testing.T, to configs.Config, dir string, differs func(change, undo func(), says string)) {
	t.Helper()
	ctx := t.Context()
	rdb, _ := testenv.Redis(t)
	prefix := to.Redis.KeyPrefix
	pending := prefix + "feed:pending:reader_0"
	members, err := rdb.ZRangeWithScores(ctx, pending, 0, -1).Result()
	require.NoError(t, err)
	require.NotEmpty(t, members)
	first := members[0]
	differs(func() { rdb.ZRem(ctx, pending, first.Member) }, func() { rdb.ZAdd(ctx, pending, first) }, `of reader_0, 1 of \d+ items that were just shown are missing`)
	differs(func() { rdb.ZIncrBy(ctx, pending, 1, first.Member.(string)) }, func() { rdb.ZAdd(ctx, pending, first) }, `of reader_0, 1 of \d+ items`)
	differs(func() { rdb.ZIncrBy(ctx, pending, 1, "planted") }, func() { rdb.ZRem(ctx, pending, "planted") }, `of reader_0, the backup lacks 1 items`)
	differs(func() { rdb.ZIncrBy(ctx, prefix+"feed:pending:planted", 1, "x") }, func() { rdb.Del(ctx, prefix+"feed:pending:planted") }, `the backup has no items that planted was just shown`)

	images := strings.TrimPrefix(to.Media.URL, "file://")
	found, err := filepath.Glob(filepath.Join(images, "*", "*"))
	require.NoError(t, err)
	path := slices.DeleteFunc(found, func(name string) bool { return filepath.Ext(name) != "" })[0]
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	write := func(data []byte) { require.NoError(t, os.WriteFile(path, data, 0o600)) }
	changed := slices.Clone(data)
	changed[len(changed)/2] ^= 1
	differs(func() { write(changed) }, func() { write(data) }, `the image .* is not that of the backup`)
	differs(func() { require.NoError(t, os.Rename(path, path+"x")) }, func() { require.NoError(t, os.Rename(path+"x", path)) }, `the image .* is missing`)

	keys, err := rdb.Keys(ctx, prefix+"bf:global:*").Result()
	require.NoError(t, err)
	require.NotEmpty(t, keys)
	day, err := time.Parse("20060102", strings.TrimPrefix(keys[0], prefix+"bf:global:"))
	require.NoError(t, err)
	earlier := day.AddDate(0, 0, -1).Format("20060102")
	differs(func() {
		rdb.BFAdd(ctx, prefix+"bf:global:"+earlier, "x")
		rdb.Set(ctx, prefix+"bf:meta:"+earlier, 1, 0)
	}, func() { rdb.Del(ctx, prefix+"bf:global:"+earlier, prefix+"bf:meta:"+earlier) }, `the backup has no filter of`)
	rdb.BFAdd(ctx, keys[0], "one more bit") // nothing takes it back
	differences := verified(t, to, dir).Differences
	require.Len(t, differences, 1)
	assert.Regexp(t, `the filter of \d+, shard 0, is not that of the backup`, differences[0])
}

// elastic calls Elasticsearch, and makes what it has written visible.
func elastic(t *testing.T, cfg configs.Config, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, cfg.Elasticsearch.Addresses[0]+"/"+path+map[bool]string{true: "?refresh=true"}[method == http.MethodPut || method == http.MethodDelete], strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Close = true // the server may close a connection that waits
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Less(t, res.StatusCode, 300, "%s", data)
	return string(data)
}
