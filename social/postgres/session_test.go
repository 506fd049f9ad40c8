package postgres

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlstore"
)

// TestTransactionEndsAfterError ignores the error of a transaction's first statement, in each mode
// in which the driver may send it: no later statement runs outside of the transaction, and the
// error is returned.
func TestTransactionEndsAfterError(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		s, err := Open(t.Context(), Config{URL: testenv.Postgres(t) + "&default_query_exec_mode=" + mode}, social.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() })
		count := func() (n int) {
			require.NoError(t, s.db.Read(t.Context(), func(on sqlstore.Session) error {
				_, err := on.Row([]any{&n}, `SELECT count(*) FROM promotions`)
				return err
			}))
			return n
		}
		insert := `INSERT INTO promotions (id, item, starts, ends, weight, tags, langs) VALUES ($1, 'i', 0, 1, 1, '{}', '{}')`
		for name, first := range map[string]func(on sqlstore.Session) error{
			"no table":  func(on sqlstore.Session) error { _, err := on.Exec(`DELETE FROM no_such_table`); return err },
			"syntax":    func(on sqlstore.Session) error { _, err := on.Row([]any{new(int)}, `SELEC 1`); return err },
			"arguments": func(on sqlstore.Session) error { _, err := on.Exec(insert); return err },
			"second batch": func(on sqlstore.Session) error {
				_, _ = on.Exec(insert, "a")
				_, err := on.Exec(insert, "a")
				return err
			},
		} {
			err := s.db.Write(t.Context(), func(on sqlstore.Writing) error {
				want := first(on)
				_, err := on.Exec(insert, "b")
				assert.Equal(t, want, err, "%s, %s", mode, name)
				return on.Later(sqlstore.Reading{Statement: sqlstore.Statement{Text: insert, Args: []any{"c"}}})
			})
			require.Error(t, err, "%s, %s", mode, name)
			require.Zero(t, count(), "%s, %s", mode, name)
			require.Error(t, s.db.Snapshot(t.Context(), func(on sqlstore.Session) error { _ = first(on); return nil }), "%s, %s", mode, name)
		}
		require.NoError(t, s.db.Write(t.Context(), func(on sqlstore.Writing) error {
			return on.Later(sqlstore.Reading{Statement: sqlstore.Statement{Text: insert, Args: []any{"d"}}})
		}))
		require.Equal(t, 1, count(), mode)
	}
}
