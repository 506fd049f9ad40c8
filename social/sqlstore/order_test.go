package sqlstore

import (
	"database/sql"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"
)

// TestPlacedSQLEqualsGo checks that both forms of the rule of who sees a post of a circle agree.
func TestPlacedSQLEqualsGo(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", ":memory:")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	stamps := []int64{0, 1, 2, 3, 1_700_000_000_000_000, math.MaxInt64}
	for _, since := range stamps {
		for _, at := range stamps {
			var want bool
			require.NoError(t, db.QueryRowContext(t.Context(), `SELECT `+placed+` FROM (SELECT ? AS since) m, (SELECT ? AS at) pc`, since, at).Scan(&want))
			assert.Equal(t, want, isPlaced(since, at), "since %d, at %d", since, at)
		}
	}
}
