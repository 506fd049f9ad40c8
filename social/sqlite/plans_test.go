package sqlite

import (
	"database/sql"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

// scans has, for each step that may read a whole table, a part of its text.
var scans = []string{
	"SCAN jobs USING INDEX jobs_by_priority", // reads pending jobs in order until there are enough
	"SCAN changes",                           // reads the oldest in order until there are enough
}

var scanned = regexp.MustCompile(`SCAN (posts|p|q|authors|a|follows|f|members|m|circles|c|likes|l|blocks|b|jobs|post_\w+|pc|changes)\b`)

// TestNoFullTableScans checks SQLite's plan of each statement that the store has used,
// and that each was compiled only once.
func TestNoFullTableScans(t *testing.T) {
	ctx := t.Context()
	s, err := Open(ctx, filepath.Join(t.TempDir(), "social.db"), social.Options{KeepChanges: time.Hour, KeepNotifications: time.Hour, KeepReports: time.Hour})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	socialtest.Exercise(t, s)
	texts := map[string]bool{}
	for text := range s.file.writer.stmts {
		texts[text] = true
	}
	s.file.readers.stmts.Range(func(text, _ any) bool {
		texts[text.(string)] = true
		return true
	})
	require.Greater(t, len(texts), 70)
	for text := range texts {
		assert.NotRegexp(t, `LIMIT [$@?]`, text, "SQLite recompiles it at each call; write LIMIT +$1")
		for _, step := range plan(t, s, text) {
			if scanned.MatchString(step) && !strings.Contains(step, "json_each") && !allowed(step) {
				t.Errorf("%s\nin %s", step, text)
			}
		}
	}
}

func allowed(step string) bool {
	for _, part := range scans {
		if strings.Contains(step, part) {
			return true
		}
	}
	return false
}

func plan(t *testing.T, s *Store, text string) (steps []string) {
	t.Helper()
	verb, _, _ := strings.Cut(text, " ")
	if verb == "BEGIN" || verb == "COMMIT" || verb == "ROLLBACK" || verb == "PRAGMA" || strings.Contains(text, "pragma_") || strings.Contains(text, "temp.touched") {
		return nil
	}
	var args []any
	for range 30 {
		args = append(args, "")
	}
	for _, name := range []string{"reader", "keys", "below", "belowID", "above", "aboveID", "few", "author", "n"} {
		args = append(args, sql.Named(name, ""))
	}
	rows, err := s.file.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
	require.NoError(t, err, text)
	defer func() { require.NoError(t, rows.Close()) }()
	for rows.Next() {
		var a, b, c int
		var step string
		require.NoError(t, rows.Scan(&a, &b, &c, &step))
		steps = append(steps, step)
	}
	require.NoError(t, rows.Err())
	return steps
}
