package doctor

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/server/datadir"
	"github.com/freshet/freshet/server/erasures"
)

// TestDoctorTriesErasuresFile checks that what a server appends to is tried, and that nothing remains.
func TestDoctorTriesErasuresFile(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	folder := t.TempDir()
	cfg.Erasures.File = filepath.Join(folder, "erased.ndjson")
	assert.Equal(t, OK, about(t, Check(t.Context(), cfg, Options{}), "erasures.file").Level)
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, entries)

	log, err := erasures.Open(cfg.Erasures.File)
	require.NoError(t, err)
	require.NotNil(t, log)
	assert.Equal(t, OK, about(t, Check(t.Context(), cfg, Options{}), "erasures.file").Level)

	for _, file := range []string{filepath.Join(folder, "missing", "erased.ndjson"), folder, filepath.Join(cfg.Erasures.File, "below")} {
		cfg.Erasures.File = file
		found := about(t, Check(t.Context(), cfg, Options{}), "erasures.file")
		assert.Equal(t, Broken, found.Level, file)
		assert.Contains(t, found.Fix, "the user of the server may write to")
	}
}

// TestReadOnlyForThisProcess checks the advice on places that a container or a unit of systemd makes read-only.
func TestReadOnlyForThisProcess(t *testing.T) {
	t.Parallel()
	err := &fs.PathError{Op: "open", Path: "/backups/erased.ndjson", Err: syscall.EROFS}
	fix := orSpace("name a folder", err)
	assert.Contains(t, fix, "mount a volume")
	assert.Contains(t, fix, "ReadWritePaths=")
	assert.Equal(t, "name a folder", orSpace("name a folder", fs.ErrNotExist))
}

// TestDoctorNamesWholePath checks that a relative data_dir is shown whole: a service is started elsewhere than
// the doctor.
func TestDoctorNamesWholePath(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.DataDir = "./no-such-data"
	here, err := os.Getwd()
	require.NoError(t, err)
	assert.Contains(t, about(t, Check(t.Context(), cfg, Options{}), "data_dir").Detail, filepath.Join(here, "no-such-data"))
}

// TestDoctorWarnsOfMemory puts everything that an operator can place into memory.
func TestDoctorWarnsOfMemory(t *testing.T) {
	t.Parallel()
	memory, err := os.MkdirTemp("/dev/shm", "freshet-*")
	if err != nil || datadir.Fleeting(memory) == "" {
		t.Skip("this machine has no file system in memory at /dev/shm")
	}
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(memory)) })
	cfg := embedded(t)
	cfg.Erasures.File, cfg.Media.URL = filepath.Join(memory, "erased.ndjson"), "file://"+memory
	warned := func() (settings []string) {
		for _, f := range Check(t.Context(), cfg, Options{}) {
			if f.Level == Warning && f.Fix == datadir.FleetingAdvice {
				settings = append(settings, f.What)
			}
		}
		return settings
	}
	assert.Equal(t, []string{"erasures.file", "media"}, warned())
	for _, dir := range []string{memory, filepath.Join(memory, "not", "yet")} {
		cfg.DataDir = dir
		assert.Equal(t, []string{"data_dir", "erasures.file", "media"}, warned())
	}
}
