package backup_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server/backup"
)

// embedded returns the configuration of a server with everything in a directory.
func embedded(t *testing.T) configs.Config {
	t.Helper()
	cfg := configs.Default()
	cfg.DataDir, cfg.Auth.AdminToken, cfg.Server.RequestTimeout = filepath.Join(t.TempDir(), "data"), adminToken, 20*time.Second
	require.NoError(t, cfg.Validate())
	return cfg
}

// modes are the kinds of installations.
var modes = map[string]func(*testing.T) configs.Config{"embedded": embedded, "services": services}

// intact checks that a directory has a finished backup with this id, and all files that its manifest names.
func intact(t *testing.T, dir, id string) {
	t.Helper()
	m, err := backup.ReadManifest(dir)
	require.NoError(t, err)
	require.Equal(t, id, m.ID)
	for _, p := range m.Parts {
		for _, f := range p.Files {
			data, err := os.ReadFile(filepath.Join(dir, m.ID, f.Name))
			require.NoError(t, err)
			sum := sha256.Sum256(data)
			require.Equal(t, f.SHA256, hex.EncodeToString(sum[:]), f.Name)
		}
	}
}

// editManifest changes the manifest of a backup, as JSON.
func editManifest(t *testing.T, dir string, change func(m map[string]any)) {
	t.Helper()
	path := filepath.Join(dir, "manifest.json")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(data, &m))
	change(m)
	data, err = json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o600))
}

// partIn returns a part of a manifest.
func partIn(m map[string]any, name string) map[string]any {
	for _, p := range m["parts"].([]any) {
		p := p.(map[string]any)
		if p["name"] == name {
			return p
		}
	}
	return nil
}

// publish creates posts of one author.
func (r *running) publish(n int) {
	r.t.Helper()
	for range n {
		_, err := r.agent("author_0").CreatePost(r.t.Context(), client.NewPost{Caption: "One more"})
		require.NoError(r.t, err)
	}
}

// firstChange returns the first change after a cursor.
func (r *running) firstChange(after string) (client.Change, error) {
	for change, err := range r.agent("").Changes(r.t.Context(), after) {
		return change, err
	}
	return client.Change{}, nil
}

// movable creates a folder, and returns a function that moves it away, and back.
func movable(t *testing.T, folder string) func(away bool) {
	t.Helper()
	require.NoError(t, os.MkdirAll(folder, 0o700))
	return func(away bool) {
		from, to := folder, folder+".away"
		if !away {
			from, to = to, from
		}
		require.NoError(t, os.Rename(from, to))
	}
}
