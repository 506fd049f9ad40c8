package server

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ofOthers are the places in the social store that name an erased agent because of another agent,
// and remain until that agent changes them; and the mark of the erasure.
var ofOthers = []string{"social blocks.other", "social authors.id"}

// perKey matches keys that exist once per post or request.
var perKey = regexp.MustCompile(`^(feed:post:|feed:page:<agent>:).*`)

// told checks that the documentation gives the purpose and the lifetime of each place that still
// names the agent.
func (e *erased) told() {
	text, err := os.ReadFile("../docs/security.md")
	require.NoError(e, err)
	_, section, found := strings.Cut(string(text), "### What remains after an erase")
	require.True(e, found)
	section, _, _ = strings.Cut(section, "\n## ")
	for place := range e.remains() {
		store, name, _ := strings.Cut(place, " ")
		assert.Contains(e, section, "`"+name+"`", "a place in %s that docs/security.md does not list", store)
	}
}

// remains searches every store for the agent: each table and column of PostgreSQL and of the SQLite
// files, each key and value of Redis, each document of Elasticsearch, and the other files of the
// data directory. It counts the hits by kind of place.
func (e *erased) remains() map[string]int {
	places := map[string]int{}
	if e.cfg.UsesPostgres() {
		e.searchPostgres(places)
	}
	if e.cfg.UsesRedis() {
		e.searchRedis(places)
	}
	if e.cfg.UsesElasticsearch() {
		e.searchElasticsearch(places)
	}
	if e.cfg.DataDir != "" {
		e.searchFiles(places)
	}
	return places
}

func (e *erased) searchPostgres(places map[string]int) {
	cfg, err := pgxpool.ParseConfig(e.cfg.Postgres.URL)
	require.NoError(e, err)
	c, err := pgx.ConnectConfig(e.Context(), cfg.ConnConfig)
	require.NoError(e, err)
	defer func() { require.NoError(e, c.Close(e.Context())) }()
	rows, err := c.Query(e.Context(), `SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = current_schema()`)
	require.NoError(e, err)
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Table, Column string }])
	require.NoError(e, err)
	require.NotEmpty(e, columns)
	for _, of := range columns {
		var n int
		text := fmt.Sprintf(`SELECT count(*) FROM %q WHERE %q::text LIKE $1`, of.Table, of.Column)
		require.NoError(e, c.QueryRow(e.Context(), text, "%"+e.agent+"%").Scan(&n))
		if n > 0 {
			places["social "+of.Table+"."+of.Column] += n
		}
	}
}

func (e *erased) searchRedis(places map[string]int) {
	client := redis.NewClient(&redis.Options{Addr: e.cfg.Redis.Server().Addrs[0]})
	defer func() { require.NoError(e, client.Close()) }()
	ctx := e.Context()
	all := client.Scan(ctx, 0, e.cfg.Redis.KeyPrefix+"*", 1000).Iterator()
	for all.Next(ctx) {
		key := all.Val()
		var value any
		switch client.Type(ctx, key).Val() {
		case "string":
			value = client.Get(ctx, key).Val()
		case "hash":
			value = client.HGetAll(ctx, key).Val()
		case "set":
			value = client.SMembers(ctx, key).Val()
		case "zset":
			value = client.ZRange(ctx, key, 0, -1).Val()
		case "list":
			value = client.LRange(ctx, key, 0, -1).Val()
		case "stream":
			value = client.XRange(ctx, key, "-", "+").Val()
		}
		if name := strings.TrimPrefix(key, e.cfg.Redis.KeyPrefix); strings.Contains(name, e.agent) || strings.Contains(fmt.Sprint(value), e.agent) {
			name = strings.ReplaceAll(strings.ReplaceAll(name, "{"+e.agent+"}", "<agent>"), e.agent, "<agent>")
			places["redis "+perKey.ReplaceAllString(name, "$1*")]++
		}
	}
	require.NoError(e, all.Err())
}

func (e *erased) searchElasticsearch(places map[string]int) {
	url := e.cfg.Elasticsearch.Addresses[0] + "/" + e.cfg.Elasticsearch.Index + "*/"
	for _, step := range []string{"_refresh", "_search?size=10000"} {
		req, err := http.NewRequestWithContext(e.Context(), http.MethodGet, url+step, nil) // a retry is allowed if an idle connection has closed
		require.NoError(e, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(e, err)
		var found struct {
			Hits struct {
				Hits []struct {
					Index string          `json:"_index"`
					ID    string          `json:"_id"`
					Doc   json.RawMessage `json:"_source"`
				}
			}
		}
		require.NoError(e, json.NewDecoder(res.Body).Decode(&found))
		require.NoError(e, res.Body.Close())
		for _, h := range found.Hits.Hits {
			if strings.Contains(h.ID+string(h.Doc), e.agent) {
				kind := ""
				if strings.Contains(h.Index, "-agents") {
					kind = "-agents"
				}
				places["elasticsearch <index>"+kind]++
			}
		}
	}
}

func (e *erased) searchFiles(places map[string]int) {
	require.NoError(e, filepath.WalkDir(e.cfg.DataDir, func(path string, d fs.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case err != nil || d.IsDir() || strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm"):
			return err
		case strings.HasSuffix(name, ".db"):
			e.searchSQLite(path, strings.TrimSuffix(name, ".db"), places)
		default:
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if bytes.Contains(raw, []byte(e.agent)) || strings.Contains(name, e.agent) {
				places["file "+filepath.Base(filepath.Dir(path))+"/*"+filepath.Ext(name)]++
			}
		}
		return nil
	}))
}

func (e *erased) searchSQLite(path, name string, places map[string]int) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	require.NoError(e, err)
	defer func() { require.NoError(e, db.Close()) }()
	rows, err := db.QueryContext(e.Context(), `SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'`)
	require.NoError(e, err)
	var columns [][2]string
	for rows.Next() {
		var of [2]string
		require.NoError(e, rows.Scan(&of[0], &of[1]))
		columns = append(columns, of)
	}
	require.NoError(e, rows.Err())
	for _, of := range columns {
		var n int
		text := fmt.Sprintf(`SELECT count(*) FROM %q WHERE instr(CAST(%q AS TEXT), ?) > 0`, of[0], of[1])
		require.NoError(e, db.QueryRowContext(e.Context(), text, e.agent).Scan(&n))
		if n > 0 {
			places[name+" "+of[0]+"."+of[1]] += n
		}
	}
}
