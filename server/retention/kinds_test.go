package retention

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/sqlitefile"
	coreadsqlite "github.com/freshet/freshet/signals/coread/sqlite"
	eventssqlite "github.com/freshet/freshet/signals/events/sqlite"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

var update = flag.Bool("update", false, "write the table of docs/retention.md anew")

// missing says what to do about something stored that the list lacks.
const missing = "server/retention/kinds.go must say of everything that is stored how long it is kept, and what removes it"

// listed returns the names of one sort in the list.
func listed(of func(Kind) []string) []string {
	all := map[string]bool{}
	for _, k := range Kinds() {
		for _, name := range of(k) {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// TestTables compares the list with the tables of each file of SQLite.
func TestTables(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		schema *sqlitefile.Schema
		listed func(Kind) []string
	}{
		"catalog.db": {&sqlitefile.Catalog, func(k Kind) []string { return k.Catalog }},
		"events.db":  {&eventssqlite.Schema, func(k Kind) []string { return k.Events }},
		"coread.db":  {&coreadsqlite.Schema, func(k Kind) []string { return k.CoRead }},
		"social.db":  {&socialsqlite.Schema, func(k Kind) []string { return k.Social }},
	} {
		file, err := of.schema.Open(t.Context(), filepath.Join(t.TempDir(), name))
		require.NoError(t, err)
		rows, err := file.Readers.QueryContext(t.Context(), `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`)
		var tables []string
		for row := range sqlitefile.Rows(rows, &err) {
			var table string
			err = row.Scan(&table)
			tables = append(tables, table)
		}
		require.NoError(t, err)
		require.NoError(t, file.Close())
		assert.Equal(t, tables, listed(of.listed), "%s: %s", name, missing)
	}
}

// TestPostgresTables compares the list with the tables that PostgreSQL is expected to have.
func TestPostgresTables(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../social/postgres/expected.txt")
	require.NoError(t, err)
	tables := []string{"freshet_migrations"} // of the migrations themselves
	for _, found := range regexp.MustCompile(`(?m)^\d+ table (\w+)$`).FindAllStringSubmatch(string(raw), -1) {
		tables = append(tables, found[1])
	}
	slices.Sort(tables)
	assert.Equal(t, slices.Compact(tables), listed(func(k Kind) []string { return append(slices.Clone(k.Social), k.Postgres...) }), missing)
}

// TestRedisKeys builds a key with each method of rediskeys: the list has a pattern for each, and none that
// no method builds.
func TestRedisKeys(t *testing.T) {
	t.Parallel()
	patterns := listed(func(k Kind) []string { return append(slices.Clone(k.Redis), k.Untimed...) })
	used := map[string]bool{}
	names := reflect.ValueOf(rediskeys.New("", false))
	for i := range names.NumMethod() {
		method := names.Type().Method(i).Name
		for _, key := range keysBy(names.Method(i)) {
			if key == rediskeys.New("", false).Wakes() { // a channel
				continue
			}
			found := slices.DeleteFunc(slices.Clone(patterns), func(p string) bool { return !Matches(p, key) })
			assert.NotEmpty(t, found, "%s builds %q: %s", method, key, missing)
			for _, p := range found {
				used[p] = true
			}
		}
	}
	for _, p := range patterns {
		assert.True(t, used[p] || p == "bf:global:probe:size", "no key is like %q any more", p)
	}
}

// keysBy calls a method that builds keys with sample values, in all the forms that these have.
func keysBy(method reflect.Value) (keys []string) {
	shape := method.Type()
	if shape.NumOut() != 1 || shape.Out(0).Kind() != reflect.String && shape.Out(0) != reflect.TypeFor[[]string]() {
		return nil
	}
	for _, sample := range []struct {
		event rediskeys.EventKey
		name  feed.Name
		n     int
	}{
		{rediskeys.EventCounts, "", 60},
		{rediskeys.EventAgents, "home", 3600},
		{rediskeys.EventAuthors, "tag:x", 60},
		{rediskeys.EventOnce, "", 60},
		{rediskeys.EventSenders, "", 60},
		{rediskeys.EventCells + "5", "", 60},
	} {
		var in []reflect.Value
		for i := range shape.NumIn() {
			v := reflect.New(shape.In(i)).Elem()
			switch {
			case v.Type() == reflect.TypeFor[rediskeys.EventKey]():
				v.SetString(string(sample.event))
			case v.Type() == reflect.TypeFor[feed.Name]():
				v.SetString(string(sample.name))
			case v.Kind() == reflect.String:
				v.SetString("x1")
			case v.CanInt():
				v.SetInt(int64(sample.n))
			case v.CanUint():
				v.SetUint(uint64(sample.n))
			}
			in = append(in, v)
		}
		switch out := method.Call(in)[0].Interface().(type) {
		case string:
			keys = append(keys, out)
		case []string:
			keys = append(keys, out...)
		}
	}
	return keys
}

// TestSettings checks that each setting that says how long something is kept is in the list.
func TestSettings(t *testing.T) {
	t.Parallel()
	var durations []string
	for _, key := range configs.Keys() {
		if strings.HasSuffix(key, ".retention") || strings.HasSuffix(key, ".ttl") || key == "dedup.window_days" {
			durations = append(durations, key)
		}
	}
	slices.Sort(durations)
	assert.Equal(t, durations, slices.DeleteFunc(listed(func(k Kind) []string { return []string{k.Setting} }), func(key string) bool { return key == "" }), missing)
}

// TestPage compares the table of docs/retention.md with the list.
func TestPage(t *testing.T) {
	t.Parallel()
	const path, begin, end = "../../docs/retention.md", "<!-- the table: go test ./server/retention -run TestPage -update -->\n", "<!-- its end -->\n"
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(raw), begin)
	require.True(t, found)
	_, after, found := strings.Cut(rest, end)
	require.True(t, found)
	page := before + begin + table() + end + after
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
		return
	}
	assert.Equal(t, page, string(raw), "go test ./server/retention -run TestPage -update")
}

// table renders the list.
func table() string {
	var b strings.Builder
	b.WriteString("| what | where | kept | removed by | a million readers |\n|---|---|---|---|---|\n")
	for _, k := range Kinds() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", k.What, where(k), kept(k), k.Removed, size(k))
	}
	return b.String()
}

func where(k Kind) string {
	var parts []string
	add := func(store string, names []string) {
		if len(names) > 0 {
			parts = append(parts, store+" `"+strings.Join(names, "` `")+"`")
		}
	}
	add("`catalog.db`:", k.Catalog)
	add("`events.db`:", k.Events)
	add("`coread.db`:", k.CoRead)
	add("`social.db`, PostgreSQL:", k.Social)
	add("PostgreSQL:", k.Postgres)
	index := slices.Clone(k.Index)
	for i, suffix := range index {
		index[i] = "<index>" + suffix
	}
	add("Elasticsearch:", index)
	add("Redis:", slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(k.Redis), k.Untimed...)))))
	add("files", k.Files)
	return strings.Join(parts, "; ")
}

func kept(k Kind) string {
	var parts []string
	if k.Setting != "" {
		for _, s := range configs.Settings(configs.Default()) {
			if s.Key == k.Setting {
				parts = append(parts, fmt.Sprintf("`%s` (%s)", k.Setting, short(s.Value)))
			}
		}
	}
	if k.Kept != "" {
		parts = append(parts, k.Kept)
	}
	if k.Grows != "" {
		parts = append(parts, "*grows:* "+k.Grows)
	}
	return strings.Join(parts, "; ")
}

// short renders the default of a setting.
func short(value string) string {
	switch {
	case value == "0s":
		return "0: for ever"
	case strings.HasSuffix(value, "h0m0s"):
		return strings.TrimSuffix(value, "0m0s")
	case strings.HasSuffix(value, "m0s"):
		return strings.TrimSuffix(value, "0s")
	}
	return value
}

// size renders what a kind takes.
func size(k Kind) string {
	if k.Rows == 0 {
		return "–"
	}
	total, unit := float64(k.Rows*k.Bytes), "B"
	for _, next := range []string{"kB", "MB", "GB"} {
		if total < 1000 {
			break
		}
		total, unit = total/1000, next
	}
	text := fmt.Sprintf("%.2g %s", total, unit)
	if total >= 100 {
		text = fmt.Sprintf("%.0f %s", total, unit)
	}
	if k.Grows != "" {
		return "+ " + text + " a month"
	}
	return text
}
