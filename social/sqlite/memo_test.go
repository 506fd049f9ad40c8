package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

func TestMemoInvalidatedByChanges(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "social.db"), social.Options{})
	socialtest.MemoInvalidated(t, s, s)
}

func TestMemoReadYourWrites(t *testing.T) {
	t.Parallel()
	s := open(t, filepath.Join(t.TempDir(), "social.db"), social.Options{})
	socialtest.MemoReadYourWrites(t, s, s)
}
