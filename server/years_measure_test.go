package server

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/server/datadir"
	"github.com/freshet/freshet/server/retention"
)

// yearSizes holds what is stored after some days: rows of tables and indices, keys of Redis by pattern, and files and
// their bytes by pattern.
type yearSizes struct {
	day  int
	of   map[string]int
	done map[string]int // acts until then
}

// newYearWorld opens a system with members and readers.
func newYearWorld(t *testing.T, cfg configs.Config, plan yearPlan) *yearWorld {
	t.Helper()
	cfg.Auth.AdminToken = rankingSecret
	w := &yearWorld{T: t, plan: plan, now: at(noon), rnd: rand.New(rand.NewPCG(1, 1)), done: map[string]int{}}
	w.a = open(t, cfg, WithClock(w.now.Now))
	for range plan.readers {
		w.readers = append(w.readers, w.name("reader"))
	}
	for range plan.members {
		w.members = append(w.members, w.join())
	}
	return w
}

// letPass moves by a day the times that SQLite takes from the machine's clock: those of removed items.
func (w *yearWorld) letPass() {
	if w.a.cfg.UsesElasticsearch() {
		return
	}
	db, err := sqlitefile.Connect(filepath.Join(w.a.root(), "catalog.db"), "rw")
	require.NoError(w, err)
	_, err = db.ExecContext(w.Context(), `UPDATE removed_groups SET at = at - 86400`)
	require.NoError(w, err)
	require.NoError(w, db.Close())
}

// measure notes what is stored, and checks that the list knows it.
func (w *yearWorld) measure(day int) {
	w.settle()
	w.purge()
	now := yearSizes{day, map[string]int{}, maps.Clone(w.done)}
	for _, d := range datadir.Databases(w.a.cfg, w.a.root()) {
		w.countSQLite(d.Path, now.of)
	}
	w.countFiles(now.of)
	if w.a.cfg.UsesPostgres() {
		w.countPostgres(now.of)
		w.countRedis(now.of)
		w.countElasticsearch(now.of)
	}
	w.sizes = append(w.sizes, now)
}

// countSQLite counts the rows of a file, and how much of it is in use.
func (w *yearWorld) countSQLite(path string, of map[string]int) {
	db, err := sqlitefile.ReadOnly(path)
	require.NoError(w, err)
	defer func() { require.NoError(w, db.Close()) }()
	one := func(text string) (n int) {
		require.NoError(w, db.QueryRowContext(w.Context(), text).Scan(&n), text)
		return n
	}
	rows, err := db.QueryContext(w.Context(), `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
	var tables []string
	for row := range sqlitefile.Rows(rows, &err) {
		var table string
		err = row.Scan(&table)
		tables = append(tables, table)
	}
	require.NoError(w, err)
	name := filepath.Base(path)
	for _, table := range tables {
		n := one(fmt.Sprintf(`SELECT count(*) FROM %q`, table))
		of[name+" "+table] = n
		if n > 0 {
			of["bytes a row of "+name+" "+table] = one(fmt.Sprintf(`SELECT sum(d.pgsize) FROM dbstat d JOIN sqlite_schema s ON s.name = d.name WHERE s.tbl_name = '%s'`, table)) / n
		}
	}
	of["bytes in use of "+name] = one(`SELECT (p.page_count - f.freelist_count) * s.page_size FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s`)
}

// countFiles counts the files of data_dir and their bytes, each of which the list must know.
func (w *yearWorld) countFiles(of map[string]int) {
	require.NoError(w, filepath.WalkDir(w.a.root(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(w.a.root(), path)
		require.NoError(w, err)
		pattern := retention.OfFile(filepath.ToSlash(name))
		assert.NotEmpty(w, pattern, "server/retention/kinds.go lacks the file %s", name)
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it is gone
		}
		of["files "+pattern]++
		if !strings.Contains(pattern, ".db") { // see the bytes in use
			of["bytes of files "+pattern] += int(info.Size())
		}
		return nil
	}))
}

func (w *yearWorld) countPostgres(of map[string]int) {
	cfg, err := pgxpool.ParseConfig(w.a.cfg.Postgres.URL)
	require.NoError(w, err)
	c, err := pgx.ConnectConfig(w.Context(), cfg.ConnConfig)
	require.NoError(w, err)
	defer func() { require.NoError(w, c.Close(w.Context())) }()
	rows, err := c.Query(w.Context(), `SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()`)
	require.NoError(w, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(w, err)
	for _, table := range tables {
		var n, bytes int
		require.NoError(w, c.QueryRow(w.Context(), fmt.Sprintf(`SELECT count(*), pg_total_relation_size('%s') FROM %q`, table, table)).Scan(&n, &bytes))
		of["postgres "+table] = n
		if n > 0 {
			of["bytes a row of postgres "+table] = bytes / n
		}
	}
}

// countRedis counts keys by pattern. The list must know each of them, and whether it has a TTL.
func (w *yearWorld) countRedis(of map[string]int) {
	client := redis.NewClient(&redis.Options{Addr: w.a.cfg.Redis.Server().Addrs[0]})
	defer func() { require.NoError(w, client.Close()) }()
	ctx := w.Context()
	all := client.Scan(ctx, 0, w.a.cfg.Redis.KeyPrefix+"*", 1000).Iterator()
	for all.Next(ctx) {
		key := strings.TrimPrefix(all.Val(), w.a.cfg.Redis.KeyPrefix)
		pattern, untimed := retention.OfKey(key)
		require.NotEmpty(w, pattern, "server/retention/kinds.go lacks the key %s", key)
		ttl, err := client.TTL(ctx, all.Val()).Result()
		require.NoError(w, err)
		require.True(w, untimed || ttl != -1, "%s has no TTL", key) // -2 if it has ended meanwhile
		of["redis "+pattern]++
	}
	require.NoError(w, all.Err())
}

// countElasticsearch counts the documents of the indices, each of which the list must know.
func (w *yearWorld) countElasticsearch(of map[string]int) {
	index := w.a.cfg.Elasticsearch.Index
	status, _ := callElasticsearch(w.T, w.a.cfg, http.MethodPost, "/"+index+"*/_refresh", "")
	require.Equal(w, http.StatusOK, status)
	status, answer := callElasticsearch(w.T, w.a.cfg, http.MethodGet, "/_cat/indices/"+index+"*?h=index,docs.count", "")
	require.Equal(w, http.StatusOK, status)
	for line := range strings.Lines(answer) {
		var name string
		var n int
		_, err := fmt.Sscan(line, &name, &n)
		require.NoError(w, err, line)
		of["index "+strings.TrimPrefix(name, index)] += n
	}
}

// mayGrow are the acts by which a table grows for ever: see retention.Kinds.
var mayGrow = map[string][]string{
	"catalog.db profiles":         {"erasures", "hide"},
	"catalog.db ranking_versions": {"ranking"},
	"social.db authors":           {"erasures"},
	"social.db audit":             {"decisions", "reports"},
	"postgres authors":            {"erasures"},
	"postgres audit":              {"decisions", "reports"},
	"index -agents":               {"erasures", "hide"},
	"index -ranking":              {"ranking"},
}

// check prints the curves, and compares the two halves of the time in which nothing may grow.
func (w *yearWorld) check() {
	var names []string
	for _, s := range w.sizes {
		names = append(names, slices.Collect(maps.Keys(s.of))...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	w.Logf("%d days; acts: %v", w.plan.days, w.done)
	var counted []yearSizes
	for _, s := range w.sizes {
		if s.day >= w.plan.from {
			counted = append(counted, s)
		}
	}
	if len(counted) < 2 {
		return
	}
	half := len(counted) / 2
	for _, name := range names {
		var curve []string
		for _, s := range w.sizes {
			curve = append(curve, fmt.Sprint(s.of[name]))
		}
		w.Logf("%-50s %s", name, strings.Join(curve, " "))
		if strings.HasPrefix(name, "redis ") || strings.HasPrefix(name, "bytes a row") || name == "postgres touched" || strings.HasSuffix(name, ".journal") {
			continue // by clocks of theirs; journals become filters at the pace of the machine
		}
		most := func(all []yearSizes) (n int) {
			for _, s := range all {
				n = max(n, s.of[name])
			}
			return n
		}
		before, after := most(counted[:half]), most(counted[half:])
		slack := before/10 + 50
		if strings.HasPrefix(name, "bytes") {
			slack = before/10 + 64<<10
		}
		for _, act := range mayGrow[name] {
			slack += counted[len(counted)-1].done[act] - counted[0].done[act]
		}
		assert.LessOrEqual(w, after, before+slack, "%s grows", name)
	}
}
