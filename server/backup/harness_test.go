package backup_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
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

// target is where a test has its backup, and how it is encrypted.
type target struct {
	address string
	options backup.Options
}

// targets are the kinds of places, each with and without encryption. Those in S3 run with the part s3.
var targets = map[string]func(*testing.T) target{
	"directory":           func(t *testing.T) target { return target{address: filepath.Join(t.TempDir(), "backup")} },
	"encrypted directory": func(t *testing.T) target { return encrypted(t, filepath.Join(t.TempDir(), "backup")) },
	"bucket":              func(t *testing.T) target { return target{address: inBucket(t, testenv.Unique())} },
	"encrypted bucket":    func(t *testing.T) target { return encrypted(t, inBucket(t, testenv.Unique())) },
}

// worthwhile reports whether a long test runs with services in a kind of place: what differs between the places
// is tested embedded in all of them.
func worthwhile(mode, kind string) bool {
	return mode == "embedded" || kind == "directory" || kind == "encrypted bucket"
}

// inBucket returns the address of a prefix in a real bucket.
func inBucket(t *testing.T, prefix string) string {
	t.Helper()
	at, err := url.Parse(testenv.S3(t))
	require.NoError(t, err)
	at.Path = "/" + prefix
	return at.String()
}

// encrypted returns a target that is encrypted to a new identity.
func encrypted(t *testing.T, address string) target {
	t.Helper()
	own := identity(t)
	return target{address, backup.Options{EncryptTo: []age.Recipient{own.Recipient()}, Identities: []age.Identity{own}}}
}

func identity(t *testing.T) *age.X25519Identity {
	t.Helper()
	own, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	return own
}

func (g target) make(t *testing.T, cfg configs.Config) *backup.Manifest {
	t.Helper()
	m, err := backup.Make(t.Context(), cfg, g.address, g.options, time.Now)
	require.NoError(t, err)
	return m
}

func (g target) restore(t *testing.T, cfg configs.Config) {
	t.Helper()
	_, err := backup.Restore(t.Context(), cfg, g.address, g.options)
	require.NoError(t, err)
}

func (g target) verify(t *testing.T, cfg configs.Config) *backup.Comparison {
	t.Helper()
	found, err := backup.Verify(t.Context(), cfg, g.address, g.options)
	require.NoError(t, err)
	return found
}

func (g target) read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := backup.ReadFile(t.Context(), g.address, name)
	require.NoError(t, err)
	return data
}

func (g target) write(t *testing.T, name string, data []byte) {
	t.Helper()
	require.NoError(t, backup.WriteFile(t.Context(), g.address, name, data))
}

func (g target) names(t *testing.T) []string {
	t.Helper()
	names, err := backup.Names(t.Context(), g.address)
	require.NoError(t, err)
	return names
}

// stored returns the names of the files of a part, as they are stored.
func (g target) stored(m *backup.Manifest, p *backup.Part) (names []string) {
	list := p.Files
	if p.Details != nil {
		list = append(slices.Clone(list), *p.Details)
	}
	for _, f := range list {
		names = append(names, g.name(m.ID+"/"+f.Name))
	}
	return names
}

// name returns the name under which a file is stored.
func (g target) name(of string) string {
	if len(g.options.EncryptTo) > 0 && !strings.HasSuffix(of, "/images.ndjson") {
		return of + ".age"
	}
	return of
}

// intact checks that a place has a finished backup with this id, and all files that its manifest names.
func (g target) intact(t *testing.T, id string) {
	t.Helper()
	m, err := backup.ReadManifest(t.Context(), g.address)
	require.NoError(t, err)
	require.Equal(t, id, m.ID)
	check := func(name string, f backup.File) {
		data := g.read(t, name)
		sum := sha256.Sum256(data)
		require.Equal(t, f.SHA256, hex.EncodeToString(sum[:]), name)
	}
	for _, p := range m.Parts {
		for _, f := range p.Files {
			check(g.name(m.ID+"/"+f.Name), f)
		}
		if p.Details != nil {
			check(g.name(m.ID+"/"+p.Details.Name), *p.Details)
		}
		if p.Kind != backup.Images {
			continue
		}
		for line := range bytes.Lines(g.read(t, m.ID+"/images.ndjson")) {
			var f backup.File
			require.NoError(t, json.Unmarshal(line, &f))
			check(g.name("images/"+f.Name), f)
		}
	}
}

// intact checks a directory.
func intact(t *testing.T, dir, id string) {
	t.Helper()
	target{address: dir}.intact(t, id)
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
