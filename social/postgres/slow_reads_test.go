package postgres

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlstore"
)

// TestSlowReadsLeaveConnections checks that lookups still get a connection, however many
// potentially slow reads run.
func TestSlowReadsLeaveConnections(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: testenv.ReusedPostgres(t) + "&pool_max_conns=4"}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	began, end, ended := make(chan struct{}, 10), make(chan struct{}), make(chan error)
	for range cap(began) {
		go func() {
			ended <- s.db.Snapshot(t.Context(), func(sqlstore.Session) error {
				began <- struct{}{}
				<-end
				return nil
			})
		}()
	}
	for range 2 {
		<-began
	}
	require.NoError(t, s.Ping(t.Context()))
	assert.Empty(t, began, "half of the connections are theirs")
	close(end)
	for range cap(began) {
		require.NoError(t, <-ended)
	}
}
