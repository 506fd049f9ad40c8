package connect

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// tables is a database in which migrations end with these results in turn, and then succeed.
type tables struct {
	ends  []error
	tries int
}

func (s *tables) Migrate(context.Context) error {
	s.tries++
	if s.tries > len(s.ends) {
		return nil
	}
	return s.ends[s.tries-1]
}

var errDown = fmt.Errorf("%w: no connection", social.ErrUnavailable)

// TestMigrateDatabaseDown checks that a migration is retried, also while the database is up
// but unusable.
func TestMigrateDatabaseDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		store := &tables{ends: []error{errDown, errDown, errors.New("no permission"), errDown}}
		later, err := Migrate(t.Context(), store, slog.New(slog.NewTextHandler(&text, nil)))
		require.NoError(t, err)
		require.NotNil(t, later)
		began := time.Now()
		later(t.Context())
		assert.Equal(t, 4*time.Second, time.Since(began))
		assert.Equal(t, 5, store.tries)
		for _, line := range []string{"PostgreSQL is down", "PostgreSQL cannot be used", "PostgreSQL is in use"} {
			assert.Equal(t, 1, strings.Count(text.String(), line), line)
		}
	})
}

// TestMigrateDatabaseUp checks that nothing is left for later if the database answers.
func TestMigrateDatabaseUp(t *testing.T) {
	refused := errors.New("a newer version")
	for _, end := range []error{nil, refused} {
		later, err := Migrate(t.Context(), &tables{ends: []error{end}}, slog.New(slog.DiscardHandler))
		assert.Nil(t, later)
		assert.ErrorIs(t, err, end)
	}
}

func TestMigrateServerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &tables{ends: []error{errDown, errDown, errDown, errDown, errDown}}
		later, err := Migrate(t.Context(), store, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		later(ctx)
		assert.Equal(t, 3, store.tries)
	})
}
