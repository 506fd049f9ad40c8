package sqlite

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social/sqlstore"
)

// TestStatementsRewritten checks that lists become JSON, except lists of one text, and that
// parameters retain their numbers where they are not in order.
func TestStatementsRewritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]forms{
		`SELECT 1 WHERE id = $1 AND at > $2`:          {many: `SELECT 1 WHERE id = ? AND at > ?`},
		`SELECT 1 WHERE id = $2 AND at > $1`:          {many: `SELECT 1 WHERE id = $2 AND at > $1`},
		`SELECT 1 WHERE id = $1 OR other = $1`:        {many: `SELECT 1 WHERE id = $1 OR other = $1`},
		`SELECT 1 LIMIT $1`:                           {many: `SELECT 1 LIMIT +?`},
		`SELECT 1 WHERE id = ANY ($1)`:                {many: `SELECT 1 WHERE id IN (SELECT value FROM json_each(?))`, one: `SELECT 1 WHERE id = ?`},
		`SELECT 1 FROM json_each($1) WHERE value = 2`: {many: `SELECT 1 FROM json_each(?) WHERE value = 2`},
		`SELECT 1 FROM unnest($1::text[]) j (value)`:  {many: `SELECT 1 FROM (SELECT value AS value FROM json_each(?)) j`},
		`FROM unnest($2::text[]) WITH ORDINALITY j (id, i)
			JOIN posts p ON p.id = j.id WHERE p.author = $1`: {many: `FROM (SELECT value AS id, key + 1 AS i FROM json_each($2)) j CROSS JOIN posts p ON p.id = j.id WHERE p.author = $1`},
		`SELECT * FROM unnest($2::text[], $3::bigint[]) d (id, n) WHERE n > $1`: {
			many: `SELECT * FROM (SELECT value ->> 0 AS id, value ->> 1 AS n FROM json_each($2) LIMIT -1) d WHERE n > $1`,
		},
		`SELECT least(1, $1::bigint) FROM posts WHERE id = $2 OFFSET 0 FOR UPDATE SKIP LOCKED`: {many: `SELECT min(1, ?) FROM posts WHERE id = ?`},
		`SELECT ` + sqlstore.Either(`now()`, `$1`) + sqlstore.Either(``, ` + 1`):               {many: `SELECT ? + 1`},
	} {
		require.Equal(t, want, rewrite(text), text)
		known.Delete(text) // the store has not used it
	}
}

func TestListsAreJSON(t *testing.T) {
	t.Parallel()
	texts := []string{"a", "", `"`, `\`, "é", "\x00", "a\nb", "<&>", "\u2028", "~ "}
	var back []string
	require.NoError(t, json.Unmarshal([]byte(list(sqlstore.Table{texts})), &back))
	require.Equal(t, texts, back)
	require.Equal(t, `[["a",1,-3],["b",2,4]]`, list(sqlstore.Table{[]string{"a", "b"}, []int{1, 2}, []int64{-3, 4}}))
	require.Equal(t, `[]`, list(sqlstore.Table{[]string(nil)}))
}
