package sqlite_test

import (
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// TestManyFirstReads has more readers than connections, and each reader is the first to need its
// statements.
func TestManyFirstReads(t *testing.T) {
	t.Parallel()
	for range 5 {
		synctest.Test(t, func(t *testing.T) {
			s, err := socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{})
			require.NoError(t, err)
			reads := []func() error{
				func() error {
					_, err := s.Pull(t.Context(), social.PullQuery{Reader: "u", N: 5, Whole: true})
					return err
				},
				func() error { _, err := s.Newest(t.Context(), []string{"a", "b"}, social.Position{}, 5); return err },
				func() error { _, err := s.PairEntries(t.Context(), "a", "u", social.Position{}, 5); return err },
				func() error { _, err := s.MemberEntries(t.Context(), "c", "u", social.Position{}, 5); return err },
				func() error { _, err := s.Cards(t.Context(), "u", []social.PostVersion{{ID: "post:a"}}); return err },
				func() error { _, err := s.Following(t.Context(), "u", "", "", 5); return err },
				func() error { _, err := s.ListStatuses(t.Context(), "u", []string{"post:a"}); return err },
			}
			begin := make(chan struct{})
			var group sync.WaitGroup
			for i := range 70 {
				group.Go(func() {
					<-begin
					assert.NoError(t, reads[i%len(reads)]())
				})
			}
			close(begin)
			group.Wait() // panics if readers wait for each other
			require.NoError(t, s.Close())
		})
	}
}
