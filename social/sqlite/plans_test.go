package sqlite

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

// scans are the statements that may read a whole table, by a part of their text.
var scans = []string{
	"INDEXED BY jobs_by_priority", // in its order, of those that wait, until there are enough
	"WHERE id > ?1 AND (?2 = ''",  // a page of the queue for an operator
}

var scanned = regexp.MustCompile(`SCAN (posts|p|q|authors|a|follows|f|members|m|circles|c|likes|l|blocks|b|jobs|post_\w+|pc)\b`)

// TestNoStatementReadsWholeTables asks SQLite how it runs each statement that
// the store has used, and looks that it compiles each only once.
func TestNoStatementReadsWholeTables(t *testing.T) {
	ctx := t.Context()
	s, err := Open(ctx, filepath.Join(t.TempDir(), "social.db"), social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	socialtest.Exercise(t, s)
	texts := map[string]bool{}
	for text := range s.writer.stmts {
		texts[text] = true
	}
	for text := range s.readers.stmts {
		texts[text] = true
	}
	require.Greater(t, len(texts), 70)
	for text := range texts {
		assert.NotContains(t, text, "LIMIT ?", "SQLite compiles it anew at each call; write LIMIT +?")
		for _, step := range plan(t, s, text) {
			if scanned.MatchString(step) && !strings.Contains(step, "json_each") && !allowed(text) {
				t.Errorf("%s\nin %s", step, text)
			}
		}
	}
}

func allowed(text string) bool {
	for _, part := range scans {
		if strings.Contains(text, part) {
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
	args := make([]any, 30)
	for i := range args {
		args[i] = ""
	}
	n := strings.Count(text, "?")
	if strings.Contains(text, "?1") {
		n = 0
		for i := 1; i <= 9; i++ {
			if strings.Contains(text, "?"+string(rune('0'+i))) {
				n = i
			}
		}
	}
	rows, err := s.readers.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args[:n]...)
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
