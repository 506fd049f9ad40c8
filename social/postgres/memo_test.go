package postgres_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postgres"
	"github.com/freshet/freshet/social/socialtest"
	"github.com/freshet/freshet/social/sqlstore"
)

func twoServers(t *testing.T) (url string, a, b *postgres.Store) {
	t.Helper()
	url = testenv.Postgres(t)
	return url, open(t, url, social.Options{}), open(t, url, social.Options{})
}

// TestMemoInvalidatedByChanges changes data at one server, and reads at another, and at the same.
func TestMemoInvalidatedByChanges(t *testing.T) {
	t.Parallel()
	_, a, b := twoServers(t)
	t.Run("another server", func(t *testing.T) { socialtest.MemoInvalidated(t, a, b) })
	s := open(t, testenv.Postgres(t)+forPoolers, social.Options{})
	t.Run("this server", func(t *testing.T) { socialtest.MemoInvalidated(t, s, s) })
}

func TestMemoReadYourWrites(t *testing.T) {
	t.Parallel()
	_, a, b := twoServers(t)
	socialtest.MemoReadYourWrites(t, a, b)
}

// TestMemoUnvalidated checks that the comparison of these tests notices a memo that is not brought up
// to date.
func TestMemoUnvalidated(t *testing.T) {
	t.Parallel()
	_, a, b := twoServers(t)
	w := socialtest.NewMemoWorld(t, a, b)
	require.Empty(t, w.Different())
	b.WithoutValidation()
	differs := false
	w.Change(100, func(string) { differs = differs || w.Different() != "" })
	assert.True(t, differs)
}

// TestMemoDatabaseEmptied checks that everything is evicted when the tables of the memo are emptied, as by
// a crash, and when the rows that a server lacks have been removed.
func TestMemoDatabaseEmptied(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"crash":       `TRUNCATE touched, touched_state`,
		"slept":       `DELETE FROM touched; UPDATE touched_state SET trimmed = pg_snapshot_xmax(pg_current_snapshot())`,
		"restoration": `DELETE FROM touched; UPDATE touched_state SET epoch = 'another'`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, a, b := twoServers(t)
			w := socialtest.NewMemoWorld(t, a, b)
			require.Empty(t, w.Different())
			w.Change(100, func(string) {})
			script(t, url, statement)
			require.Empty(t, w.Different())
			w.Change(testenv.Steps(40, 200), func(name string) { require.Empty(t, w.Different(), name) })
		})
	}
}

// TestMemoTransactionInProgress commits a change after a page that was read while it was in progress, and
// after later changes.
func TestMemoTransactionInProgress(t *testing.T) {
	t.Parallel()
	url, a, b := twoServers(t)
	p, _, err := a.CreatePost(t.Context(), social.Post{Author: "ann", Caption: "c", Audience: social.Audience{Public: true}}, social.Creation{})
	require.NoError(t, err)
	visible := func() bool {
		cards, err := b.Cards(t.Context(), "bob", []social.PostVersion{{ID: p.ID}})
		require.NoError(t, err)
		return cards[0].Visible
	}
	require.True(t, visible())
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) }()
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `INSERT INTO blocks (agent, other, at) VALUES ('ann', 'bob', 1)`)
	require.NoError(t, err)
	for range 3 {
		_, err = a.Follow(t.Context(), "cy", "dee", zero)
		require.NoError(t, err)
		require.True(t, visible())
	}
	require.NoError(t, tx.Commit(t.Context()))
	assert.False(t, visible())
	script(t, url, `DELETE FROM blocks`)
	assert.True(t, visible(), "also changes that no store makes")
}

// TestMemoTriggersOff checks that no memo is used while a trigger is off or missing.
func TestMemoTriggersOff(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]string{
		"off":     `ALTER TABLE blocks DISABLE TRIGGER blocks_touched_insert`,
		"missing": `DROP TRIGGER blocks_touched_insert ON blocks`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, a, b := twoServers(t)
			w := socialtest.NewMemoWorld(t, a, b)
			require.Empty(t, w.Different())
			script(t, url, off)
			testenv.WaitFor(t, func() bool { return !b.UsesMemo(t.Context()) }, "the memo is not used")
			w.Change(100, func(name string) { require.Empty(t, w.Different(), name) })
			r, err := a.Check(t.Context())
			require.NoError(t, err)
			require.Len(t, r.Schema.Problems, 1)
			assert.Contains(t, r.Schema.Problems[0].Text, "blocks_touched_insert")
			assert.False(t, r.Schema.Problems[0].Fatal, "pages are answered without it")
			socialtest.Exercise(t, open(t, url, social.Options{KeepChanges: time.Hour, KeepNotifications: time.Hour, KeepReports: time.Hour}))
		})
	}
}

// TestMemoTrimmed removes old rows.
func TestMemoTrimmed(t *testing.T) {
	t.Parallel()
	url, a, b := twoServers(t)
	rows := func() (n int) {
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close(t.Context())) }()
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM touched`).Scan(&n))
		return n
	}
	w := socialtest.NewMemoWorld(t, a, b)
	require.Empty(t, w.Different())
	now := time.Now()
	w.Change(100, func(string) {})
	before := rows()
	require.Positive(t, before)
	minutes := 0
	testenv.WaitFor(t, func() bool { // a transaction of another test holds the horizon back
		require.NoError(t, a.Trim(t.Context(), now.Add(time.Duration(minutes)*time.Minute)))
		minutes++
		return rows() < before
	}, "old rows are removed")
	require.Empty(t, w.Different(), "the server lacks rows")
}

// TestMemoTriggers compares the triggers with the list of what touches which entries, and checks that
// the list has every table that cards depend on.
func TestMemoTriggers(t *testing.T) {
	t.Parallel()
	var text []byte
	for _, name := range []string{"00017_touched", "00023_moderation", "00025_not_recommended"} {
		more, err := os.ReadFile("migrations/" + name + ".sql")
		require.NoError(t, err)
		text = append(text, more...)
	}
	triggers := regexp.MustCompile(`(?s)CREATE TRIGGER (\S+) AFTER ([A-Z ]+?)(?: OF ([a-z_, ]+?))? ON (\w+)`).FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, triggers)
	watched := map[string]bool{}
	for _, on := range sqlstore.Watched {
		watched[on.Table] = true
		for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
			if on.Table == "posts" && event == "INSERT" {
				continue // see there
			}
			var columns []string // of all triggers
			found := false
			for _, tr := range triggers {
				if tr[4] != on.Table || !slices.Contains(strings.Split(tr[2], " OR "), event) {
					continue
				}
				columns = append(columns, strings.Split(tr[3], ", ")...)
				found = found || event != "UPDATE" || tr[3] == "" && on.Columns == nil
			}
			assert.True(t, found || len(on.Columns) > 0 && isSubset(on.Columns, columns), "%s of %s", event, on.Table)
		}
	}
	// Cards do not depend on these.
	others := []string{
		"audit", "moderated", "moderated_circles", "reported", "reports", // what is hidden is in posts and removals
		"changes", "changes_state", "export_parts", "exports", "files", "inboxes", "notifications", "freshet_migrations", "freshet_schema", "freshet_settings", "invitations", "post_counts", "post_keys", "promotions", "public_authors",
		"refusals", "reply_mentions", "revived", "suggestions", "touched", "touched_state",
	}
	for _, column := range columnsOf(t, "text", "bigint", "boolean", "smallint", "integer", "ARRAY", "double precision", "xid8") {
		table, _, _ := strings.Cut(column, ".")
		assert.True(t, watched[table] != slices.Contains(others, table), "%s: say in sqlstore.Watched what its changes touch, or here that cards do not depend on it", table)
	}
}

func isSubset(all, of []string) bool {
	return !slices.ContainsFunc(all, func(one string) bool { return !slices.Contains(of, one) })
}
