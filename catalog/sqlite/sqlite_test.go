package sqlite_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/catalogtest"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

func open(t testing.TB, path string) *catalogsqlite.Catalog {
	t.Helper()
	c, err := catalogsqlite.Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func fresh(t *testing.T) catalog.Catalog { return open(t, filepath.Join(t.TempDir(), "catalog.db")) }

func TestConformance(t *testing.T) {
	catalogtest.Run(t, fresh)
	catalogtest.RunScanner(t, fresh)
	t.Run("groups of removed items", func(t *testing.T) { catalogtest.Groups(t, open(t, filepath.Join(t.TempDir(), "c.db"))) })
	catalogtest.RunLister(t, func(t *testing.T) catalogtest.Listed { return open(t, filepath.Join(t.TempDir(), "c.db")) }, nil)
	catalogtest.RunSampler(t, func(t *testing.T) catalogtest.Sampler { return open(t, filepath.Join(t.TempDir(), "c.db")) })
}

// newer opens a file that the next version has migrated; see [testenv.NewerSQLite].
func newer(t *testing.T) *catalogsqlite.Catalog {
	path := filepath.Join(t.TempDir(), "c.db")
	c, err := catalogsqlite.Open(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	testenv.NewerSQLite(t, path, 0)
	return open(t, path)
}

// TestFileOfNewerVersion uses a file with columns and a table that this version does not know.
func TestFileOfNewerVersion(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) catalog.Catalog { return newer(t) })
	catalogtest.RunScanner(t, func(t *testing.T) catalog.Catalog { return newer(t) })
	catalogtest.RunLister(t, func(t *testing.T) catalogtest.Listed { return newer(t) }, nil)
	catalogtest.RunSampler(t, func(t *testing.T) catalogtest.Sampler { return newer(t) })
}

func TestReopen(t *testing.T) {
	// The path has every character with a meaning in a file: URI.
	path := filepath.Join(t.TempDir(), "new dir", "50% #1?mode=ro&x.db")
	c, err := catalogsqlite.Open(t.Context(), path)
	require.NoError(t, err)
	it := feed.Item{ID: "a", Title: "A", UpdateTime: 1, Business: map[string]json.RawMessage{"x": json.RawMessage(`[1.0]`)}}
	p := feed.Profile{Keywords: feed.Keywords("go")}
	_, err = c.Put(t.Context(), []feed.Item{it})
	require.NoError(t, err)
	require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", p))

	// A second handle sees the writes of the first although it is not closed: a killed process
	// loses nothing.
	for range 2 {
		again := open(t, path)
		docs, err := again.Docs(t.Context(), []string{"a"})
		require.NoError(t, err)
		got, err := docs[0].Item()
		require.NoError(t, err)
		catalogtest.RequireEqual(t, it, got)
		gotP, err := again.Profile(t.Context(), "u_1")
		require.NoError(t, err)
		require.Equal(t, p, gotP)
		require.NoError(t, c.Close())
	}
	_, err = os.Stat(path)
	require.NoError(t, err, "the file has the name that was asked for")
}

func TestPutReportsUnencodableItem(t *testing.T) {
	c := fresh(t)
	bad := feed.Item{ID: "bad", Title: "x", UpdateTime: 1, Business: map[string]json.RawMessage{"x": json.RawMessage(`{`)}}
	good := feed.Item{ID: "good", Title: "x", UpdateTime: 1}
	perItem, err := c.Put(t.Context(), []feed.Item{bad, good})
	require.NoError(t, err)
	require.Len(t, perItem, 2)
	require.ErrorIs(t, perItem[0], feed.ErrInvalid)
	require.NoError(t, perItem[1])
	docs, err := c.Docs(t.Context(), []string{"bad", "good"})
	require.NoError(t, err)
	require.True(t, docs[0].Missing())
	require.False(t, docs[1].Missing())
}

func TestClosedStoreUnavailable(t *testing.T) {
	c, err := catalogsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "c.db"))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	ctx := t.Context()
	_, err = c.Put(ctx, []feed.Item{{ID: "a", Title: "A", UpdateTime: 1}})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	_, err = c.Docs(ctx, []string{"a"})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	require.ErrorIs(t, c.Remove(ctx, "a"), catalog.ErrUnavailable)
	_, err = c.Profile(ctx, "u")
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	err = nil
	for _, scanErr := range c.Scan(ctx) {
		err = scanErr
	}
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	_, err = c.Agents(ctx, 5, 1)
	require.ErrorIs(t, err, catalog.ErrUnavailable)
}

// TestUpdateDamagedProfile checks that an unreadable profile is not treated as
// missing.
func TestUpdateDamagedProfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.db")
	c := open(t, path)
	require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", feed.Profile{}))
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `DROP TABLE profiles`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.ErrorIs(t, c.RemoveProfile(t.Context(), "u_1"), catalog.ErrUnavailable)
	err = c.Records(t.Context(), "change", "u_1", func(*catalog.Record, bool) (bool, error) {
		require.Fail(t, "nothing was read that could be changed")
		return false, nil
	})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
}

func TestOpenRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(t *testing.T, path string)
		want string
	}{
		{"a directory", func(t *testing.T, path string) {
			require.NoError(t, os.Mkdir(path, 0o750))
		}, "cannot be opened"},
		{"below a file", func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(filepath.Dir(path), nil, 0o600))
		}, "cannot create its directory"},
		{"a text file", func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte("server:\n  addr: 127.0.0.1:8080\n# a config, not a catalog\n"), 0o600))
		}, "not a database"},
		{"a file that cannot be written", func(t *testing.T, path string) {
			if os.Geteuid() == 0 {
				t.Skip("run as another user than root, whom permissions do not stop")
			}
			script(t, path, `CREATE TABLE x (y)`)
			require.NoError(t, os.Chmod(path, 0o400))
		}, "cannot be written"},
		{"another program's database", func(t *testing.T, path string) {
			script(t, path, `CREATE TABLE users (id)`)
		}, "another program"},
		{"another program's empty database", func(t *testing.T, path string) {
			script(t, path, `PRAGMA application_id = 7`)
		}, "another program"},
		{"a newer schema", func(t *testing.T, path string) {
			c, err := catalogsqlite.Open(t.Context(), path)
			require.NoError(t, err)
			require.NoError(t, c.Close())
			script(t, path, `PRAGMA user_version = 99; UPDATE freshet_schema SET oldest = 99`)
		}, "written by a newer freshet (schema 99"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			path := filepath.Join(dir, "catalog.db")
			if tc.name != "below a file" {
				require.NoError(t, os.Mkdir(dir, 0o750))
			}
			tc.make(t, path)
			before, _ := os.ReadFile(path)
			c, err := catalogsqlite.Open(t.Context(), path)
			require.Nil(t, c)
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, path)
			after, _ := os.ReadFile(path)
			require.Equal(t, before, after, "a file that is refused is not changed")
		})
	}
}

func script(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(text)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func batch(n, from int) []feed.Item {
	items := make([]feed.Item, n)
	for i := range items {
		items[i] = feed.Item{
			ID: fmt.Sprintf("doc_%d", (from+i)*7919%1_000_003), Title: "A headline of a usual length, with nothing special in it",
			UpdateTime: 1_772_000_000, Summary: "Two sentences that say what it is about. And one more of the same kind, as feeds have them.",
			URL: "https://example.com/a/b", AuthorID: "author_12", Lang: "en", Tags: []string{"go", "databases", "news"}, Likes: 12, Comments: 3,
		}
	}
	return items
}

func BenchmarkPut1000(b *testing.B) {
	c := open(b, filepath.Join(b.TempDir(), "c.db"))
	n := 0
	for b.Loop() {
		items := batch(1000, n*1000)
		n++
		if _, err := c.Put(context.Background(), items); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*1000/b.Elapsed().Seconds(), "items/s")
}

func BenchmarkUpdate200(b *testing.B) {
	c := open(b, filepath.Join(b.TempDir(), "c.db"))
	items := batch(200, 0)
	_, err := c.Put(context.Background(), items)
	require.NoError(b, err)
	ids := make([]string, len(items))
	for i := range ids {
		ids[i] = items[i].ID
	}
	for b.Loop() {
		if _, err := c.Update(context.Background(), ids, func(it feed.Item) (feed.Item, error) { return it, nil }); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDocs20(b *testing.B) {
	c := open(b, filepath.Join(b.TempDir(), "c.db"))
	items := batch(20_000, 0)
	_, err := c.Put(context.Background(), items)
	require.NoError(b, err)
	ids := make([]string, 20)
	n := 0
	for b.Loop() {
		for i := range ids {
			ids[i] = items[(n*20+i)*31%len(items)].ID
		}
		n++
		if _, err := c.Docs(context.Background(), ids); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkScan(b *testing.B) {
	c := open(b, filepath.Join(b.TempDir(), "c.db"))
	_, err := c.Put(context.Background(), batch(20_000, 0))
	require.NoError(b, err)
	for b.Loop() {
		for _, err := range c.Scan(context.Background()) {
			require.NoError(b, err)
		}
	}
}
