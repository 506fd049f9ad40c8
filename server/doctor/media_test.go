package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

func TestDoctorImageStore(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.DataDir = filepath.Join(t.TempDir(), "new")
	found := about(t, Check(t.Context(), cfg, Options{}), "media")
	assert.Equal(t, OK, found.Level)
	assert.Contains(t, found.Detail, "serve creates it")
	assert.NoDirExists(t, cfg.DataDir, "looking creates nothing")
	found = about(t, Check(t.Context(), cfg, Options{Fix: true}), "media")
	assert.Equal(t, OK, found.Level, found.Detail)
	left, err := filepath.Glob(filepath.Join(cfg.DataDir, "media", "*"))
	require.NoError(t, err)
	assert.Empty(t, left)

	folder := filepath.Join(t.TempDir(), "a file")
	require.NoError(t, os.WriteFile(folder, nil, 0o600))
	for address, want := range map[string]Level{
		"file://" + filepath.ToSlash(folder): Broken,
		"s3://freshet?region=us-east-1&endpoint=http://127.0.0.1:1&use_path_style=true&anonymous=true&rate_limiter_capacity=1": Broken,
	} {
		cfg.Media.URL = address
		found := about(t, Check(t.Context(), cfg, Options{}), "media")
		assert.Equal(t, want, found.Level, "%s: %s", address, found.Detail)
		assert.Equal(t, want == Broken, found.Fix != "", "a broken thing says how to fix it")
		assert.Contains(t, found.Detail, "://", "it names the address")
	}
}

// TestNoSpaceAdvice has a disk without inodes, on which nothing can be created although it has free bytes.
func TestNoSpaceAdvice(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		&fs.PathError{Op: "open", Path: "data/.doctor-1", Err: syscall.ENOSPC},
		&fs.PathError{Op: "open", Path: "data/.doctor-1", Err: syscall.EDQUOT},
		errors.New("the image store is unavailable: cannot store a file: mkdirat -probe: no space left on device"),
	} {
		assert.Contains(t, orSpace("name a folder", err), "inodes", err)
	}
	assert.Equal(t, "name a folder", orSpace("name a folder", fs.ErrPermission))
}

func TestDoctorImageSizeLimit(t *testing.T) {
	t.Parallel()
	for memory, want := range map[int]string{configs.Default().Media.Memory: "images of every accepted size", 260: "up to 11 megapixels", 64: "up to 2 megapixels"} {
		cfg := embedded(t)
		cfg.Media.Memory = memory
		found := about(t, Check(t.Context(), cfg, Options{}), "media memory")
		assert.Equal(t, OK, found.Level)
		assert.Contains(t, found.Detail, want)
	}
}
