package memory

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
)

// TestReplacedDirectoryUntouched puts another directory in the place of an open one, as a volume that is
// mounted late or a restored backup: the store writes nothing there, and removes nothing, neither when
// days end nor when it is closed.
func TestReplacedDirectoryUntouched(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(b *bench, s *Store){
		"closed": func(*bench, *Store) {},
		"closed after the day's end": func(b *bench, s *Store) {
			b.now = midnight.Add(time.Minute)
			s.checkClock()
			_ = s.Claim(b.t.Context(), "u_1", []string{"late"}, b.now)
			b.now = b.now.Add(foldAfter + time.Minute)
			s.checkClock()
		},
		"closed after a window": func(b *bench, s *Store) {
			for range b.cfg.WindowDays + 1 {
				b.now = b.now.Add(23 * time.Hour)
				s.checkClock()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, true)
				volume := b.dir
				s := b.open()
				b.claim(s, "precious")
				b.close(s)
				before := contents(t, volume)
				require.NotEmpty(t, before)

				b.dir = filepath.Join(t.TempDir(), "mounted")
				s = b.open()
				b.claim(s, "meanwhile")
				require.NoError(t, os.Rename(b.dir, b.dir+".before"))
				require.NoError(t, os.Rename(volume, b.dir))
				end(b, s)
				_ = s.Close(t.Context())
				assert.Equal(t, before, contents(t, b.dir))
				if name == "closed" {
					assert.Equal(t, []dedup.Verdict{today}, b.verdicts(b.open(), "precious"))
				}
			})
		})
	}
}

// contents returns the files of a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	all := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		all[e.Name()] = string(data)
	}
	return all
}
