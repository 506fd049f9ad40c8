package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlstore"
)

// TestSlowReadsLeaveConnections checks that lookups still get a connection, however many
// potentially slow reads run.
func TestSlowReadsLeaveConnections(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	n := s.file.db.Stats().MaxOpenConnections
	began, end, ended := make(chan struct{}, 2*n), make(chan struct{}), make(chan error)
	for range cap(began) {
		go func() {
			ended <- s.file.Snapshot(t.Context(), func(sqlstore.Session) error {
				began <- struct{}{}
				<-end
				return nil
			})
		}()
	}
	for range n / 2 {
		<-began
	}
	require.NoError(t, s.Ping(t.Context()))
	assert.Empty(t, began, "half of the connections are theirs")
	close(end)
	for range cap(began) {
		require.NoError(t, <-ended)
	}
}
