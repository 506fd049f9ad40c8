package main

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

// TestExport fetches the export of an agent, once.
func TestExport(t *testing.T) {
	t.Setenv(configs.EnvAdminToken, adminToken)
	url := startNetwork(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "author.zip")
	got := freshet(t, "", "export", "author", "-o", path, "--server", url)
	require.Equal(t, exitOK, got.code, got.errs)
	assert.Contains(t, got.out, path+": ")
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	z, err := zip.OpenReader(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, z.Close()) }()
	names := map[string]bool{}
	for _, f := range z.File {
		names[f.Name] = true
	}
	assert.True(t, names["README.txt"] && names["manifest.json"] && names["posts.ndjson"], names)

	got = freshet(t, "", "export", "author", "-o", path, "--server", url)
	assert.Equal(t, exitError, got.code)
	assert.Contains(t, got.errs, "file exists", "it is not overwritten")
	other := filepath.Join(t.TempDir(), "again.zip")
	got = freshet(t, "", "export", "author", "-o", other, "--server", url)
	assert.Equal(t, exitError, got.code)
	assert.Contains(t, got.errs, "once in 60 minutes")
	assert.NoFileExists(t, other)
	got = freshet(t, "", "export", "author", "--json", "--server", url)
	assert.Equal(t, exitOK, got.code, got.errs)
	assert.Contains(t, got.out, `"state": "fetched"`)
}
