package backup_test

import (
	"bytes"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server/backup"
)

// TestTargets backs up both modes twice into each kind of place, restores and compares. The second backup keeps the
// images of the first as they are.
func TestTargets(t *testing.T) {
	t.Parallel()
	for mode, config := range modes {
		for kind, place := range targets {
			t.Run(mode+", "+kind, func(t *testing.T) {
				t.Parallel()
				g, from, to := place(t), config(t), config(t)
				a := start(t, from)
				posts := a.fill(4, 3)
				shown := a.read("reader_0")
				first := g.make(t, from)
				images := g.images(t)
				require.NotEmpty(t, images)
				_, err := a.agent("author_1").CreatePost(t.Context(), client.NewPost{Caption: "Another", Images: []client.NewImage{{Data: picture(t, 99)}}})
				require.NoError(t, err)
				m := g.make(t, from)
				a.stop()
				assert.NotEqual(t, first.ID, m.ID)
				g.intact(t, m.ID)
				for name, data := range images {
					assert.Equal(t, data, g.images(t)[name], "an image that was there is not copied again")
				}
				assert.Greater(t, len(g.images(t)), len(images))
				for _, name := range g.names(t) {
					assert.NotContains(t, name, first.ID+"/")
				}

				g.restore(t, to)
				found := g.verify(t, to)
				assert.Empty(t, found.Differences)
				assert.Equal(t, 3, found.Timelines)
				assert.EqualValues(t, len(g.images(t)), found.Images)
				b := start(t, to)
				for _, id := range posts {
					_, err := b.agent("reader_0").Post(t.Context(), id)
					require.NoError(t, err)
				}
				for _, id := range b.read("reader_0") {
					assert.NotContains(t, shown, id)
				}
			})
		}
	}
}

// images returns the images of a backup as they are stored, by their names.
func (g target) images(t *testing.T) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range g.names(t) {
		if strings.HasPrefix(name, "images/") {
			all[name] = g.read(t, name)
		}
	}
	return all
}

// TestNothingReadable looks for what people have written, and for ids, in all files of an encrypted backup and in
// their names, and for copies that are not encrypted outside of data_dir.
func TestNothingReadable(t *testing.T) {
	t.Parallel()
	for mode, config := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			from := config(t)
			a := start(t, from)
			posts := a.fill(3, 2)
			a.read("reader_0")
			secrets := append([]string{"author_1", "reader_0", "A post", "doc_7", "nobody", from.DataDir}, posts...)
			for _, id := range posts {
				post, err := a.agent("reader_0").Post(t.Context(), id)
				require.NoError(t, err)
				secrets = append(secrets, filepath.Base(post.Images[0].URL))
			}
			plain := target{address: filepath.Join(t.TempDir(), "plain")}
			plain.make(t, from)
			for _, secret := range secrets {
				assert.True(t, plain.has(t, secret), "%s is in a backup that is not encrypted", secret)
			}
			g := encrypted(t, filepath.Join(t.TempDir(), "backup"))
			copies := 0
			_, err := backup.Make(backup.WithSteps(t.Context(), func(step string) error {
				_, isCopy := strings.CutPrefix(step, "copied ")
				if isCopy && strings.HasSuffix(step, ".db") {
					copies++
					private(t, from.DataDir)
				}
				for _, secret := range secrets {
					assert.False(t, strings.HasPrefix(step, "made ") && g.has(t, secret), "%s at step %s", secret, step)
				}
				return nil
			}), from, g.address, g.options, time.Now)
			require.NoError(t, err)
			if mode == "embedded" {
				assert.Equal(t, 4, copies)
			}
			for _, secret := range secrets {
				assert.False(t, g.has(t, secret), secret)
			}
			m, err := backup.ReadManifest(t.Context(), g.address)
			require.NoError(t, err)
			assert.NotContains(t, string(g.read(t, "manifest.json")), `"sum"`, "sums of rows")
			assert.Equal(t, []string{g.options.EncryptTo[0].(*age.X25519Recipient).String()}, m.EncryptedTo)
		})
	}
}

// has reports whether a file of a backup, or its name, contains a text.
func (g target) has(t *testing.T, text string) bool {
	t.Helper()
	return slices.ContainsFunc(g.names(t), func(name string) bool {
		return strings.Contains(name, text) || bytes.Contains(g.read(t, name), []byte(text))
	})
}

// private checks that nobody else can read the copies of databases in a data directory.
func private(t *testing.T, dataDir string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dataDir, "backup-*"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, filepath.WalkDir(found[0], func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		assert.Zero(t, info.Mode().Perm()&0o077, path)
		return nil
	}))
}

// TestIdentities restores with no identity, with a wrong one, with one of two, and after the recipients changed:
// each error says what is missing, and nothing is written.
func TestIdentities(t *testing.T) {
	t.Parallel()
	from := stopped(t)
	one, two, other := identity(t), identity(t), identity(t)
	dir := filepath.Join(t.TempDir(), "backup")
	to := func(list ...*age.X25519Identity) (o backup.Options) {
		for _, own := range list {
			o.EncryptTo = append(o.EncryptTo, own.Recipient())
		}
		return o
	}
	with := func(list ...age.Identity) backup.Options { return backup.Options{Identities: list} }
	_, err := backup.Make(t.Context(), from, dir, to(one), time.Now)
	require.NoError(t, err)
	images := target{address: dir}.images(t)
	fails := func(o backup.Options, says ...string) {
		t.Helper()
		cfg := embedded(t)
		_, restored := backup.Restore(t.Context(), cfg, dir, o)
		_, compared := backup.Verify(t.Context(), cfg, dir, o)
		for _, text := range says {
			require.ErrorContains(t, restored, text)
			require.ErrorContains(t, compared, text)
		}
		assert.NoDirExists(t, cfg.DataDir)
	}
	restores := func(o backup.Options) {
		t.Helper()
		cfg := embedded(t)
		_, err := backup.Restore(t.Context(), cfg, dir, o)
		require.NoError(t, err)
		found, err := backup.Verify(t.Context(), cfg, dir, o)
		require.NoError(t, err)
		assert.Empty(t, found.Differences)
	}
	fails(with(), "is encrypted to "+one.Recipient().String(), "--identity FILE")
	fails(with(other), "is encrypted to "+one.Recipient().String(), "none of theirs")
	restores(with(other, one))

	_, err = backup.Make(t.Context(), from, dir, backup.Options{}, time.Now)
	require.ErrorContains(t, err, "is encrypted, and the next would not be: give --encrypt-to")
	_, err = backup.Make(t.Context(), from, dir, to(two, one, two), time.Now)
	require.NoError(t, err)
	for name := range (target{address: dir}).images(t) {
		assert.NotContains(t, images, name, "an image that not all recipients can read")
	}
	restores(with(one))
	restores(with(two))
	fails(with(other), one.Recipient().String(), two.Recipient().String())

	plain := filepath.Join(t.TempDir(), "plain")
	makeBackup(t, from, plain)
	_, err = backup.Restore(t.Context(), embedded(t), plain, with(one))
	require.ErrorContains(t, err, "is not encrypted")
	_, err = backup.Make(t.Context(), from, plain, to(one), time.Now)
	require.NoError(t, err, "a backup that was not encrypted is replaced")
	for _, name := range (target{address: plain}).names(t) {
		known := slices.Contains([]string{"freshet-backup", "manifest.json"}, name) || strings.HasSuffix(name, "/images.ndjson")
		assert.True(t, known || strings.HasSuffix(name, ".age"), name)
	}
}

// TestResumedForOthers interrupts a backup and continues it for another recipient: nothing of the first is in it.
func TestResumedForOthers(t *testing.T) {
	t.Parallel()
	from, one, two := stopped(t), identity(t), identity(t)
	dir := filepath.Join(t.TempDir(), "backup")
	ctx := backup.WithSteps(t.Context(), func(step string) error {
		if step == "create images.ndjson" {
			return errKilled
		}
		return nil
	})
	_, err := backup.Make(ctx, from, dir, backup.Options{EncryptTo: []age.Recipient{one.Recipient()}}, time.Now)
	require.ErrorIs(t, err, errKilled)
	g := target{dir, backup.Options{EncryptTo: []age.Recipient{two.Recipient()}, Identities: []age.Identity{two}}}
	g.make(t, from)
	to := embedded(t)
	g.restore(t, to)
	assert.Empty(t, g.verify(t, to).Differences)
}

// TestDamages truncates, changes, removes and exchanges each file of a backup: a restoration, or a comparison, says
// so, and nothing is in data_dir until the end. With the file as it was the restoration continues.
func TestDamages(t *testing.T) {
	t.Parallel()
	for mode, config := range modes {
		for kind, place := range targets {
			if !worthwhile(mode, kind) {
				continue
			}
			t.Run(mode+", "+kind, func(t *testing.T) {
				t.Parallel()
				g, from, to := place(t), config(t), config(t)
				a := start(t, from)
				a.fill(2, 2)
				a.read("reader_0")
				a.stop()
				m := g.make(t, from)
				for i := range m.Parts {
					g.damage(t, m, &m.Parts[i], to)
				}
				g.damageManifest(t, to)
				g.restore(t, to)
				g.damageRestored(t, m, to)
				assert.Empty(t, g.verify(t, to).Differences)
			})
		}
	}
}

// damage damages the files of a part, which is not restored yet, and then restores it.
func (g target) damage(t *testing.T, m *backup.Manifest, p *backup.Part, to configs.Config) {
	t.Helper()
	if p.Kind == backup.Settings {
		return // nothing reads it
	}
	for _, name := range g.stored(m, p) {
		many := strings.Contains(name, "/postgres/") // of which each attempt would create all tables
		if many && !strings.Contains(name, "/posts.copy") && !strings.Contains(name, "/follows.copy") {
			continue
		}
		old := g.read(t, name)
		verified := strings.Contains(name, "/timelines.json")
		for what, data := range g.damages(t, name, old) {
			g.write(t, name, data)
			if verified {
				continue // a restoration does not read it: see damageRestored
			}
			_, err := backup.Restore(t.Context(), to, g.address, g.options)
			require.Error(t, err, "%s: %s", name, what)
			assert.Regexp(t, `the backup (is damaged|lacks a file): .*`+filepath.Base(name), err.Error(), "%s: %s", name, what)
			entries, err := os.ReadDir(to.DataDir)
			require.True(t, err == nil || os.IsNotExist(err))
			for _, e := range entries {
				assert.Contains(t, []string{"restoring", "lock"}, e.Name())
			}
		}
		g.write(t, name, old)
	}
	if p.Name == "impressions" {
		return // the last
	}
	_, err := backup.Restore(backup.WithSteps(t.Context(), func(step string) error {
		if step == "replaced state.json" {
			return errKilled
		}
		return nil
	}), to, g.address, g.options)
	require.ErrorIs(t, err, errKilled)
}

// damages returns other contents of a file, by what is wrong with them; nil means that it is missing.
func (g target) damages(t *testing.T, name string, old []byte) map[string][]byte {
	t.Helper()
	all := map[string][]byte{"missing": nil, "empty": {}, "longer": append(slices.Clone(old), 'x')}
	if len(old) == 0 {
		delete(all, "empty")
		return all
	}
	flipped := slices.Clone(old)
	flipped[len(old)*2/3] ^= 1
	all["a bit flipped"], all["a byte less"], all["cut in half"], all["one byte"] = flipped, old[:len(old)-1], old[:len(old)/2], old[:1]
	head := slices.Clone(old)
	head[len(old)/40] ^= 1
	all["a bit at the beginning flipped"] = head
	if strings.HasPrefix(g.address, "s3://") { // where each takes longer
		for _, what := range []string{"empty", "longer", "cut in half", "one byte"} {
			delete(all, what)
		}
	}
	if len(g.options.EncryptTo) > 0 && strings.HasSuffix(name, ".age") {
		var again bytes.Buffer
		w, err := age.Encrypt(&again, g.options.EncryptTo...)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		all["another one for the same recipient"] = again.Bytes()
	}
	return all
}

// damageManifest damages the manifest.
func (g target) damageManifest(t *testing.T, to configs.Config) {
	t.Helper()
	old := g.read(t, "manifest.json")
	for what, data := range map[string][]byte{"missing": nil, "empty": {}, "cut": old[:len(old)/2]} {
		g.write(t, "manifest.json", data)
		_, err := backup.Restore(t.Context(), to, g.address, g.options)
		assert.Regexp(t, `manifest.json is damaged|is not finished`, err.Error(), what)
	}
	g.write(t, "manifest.json", old)
	if len(g.options.EncryptTo) == 0 {
		return
	}
	for change, says := range map[[2]string]string{
		{`"encrypted_to"`, `"unknown"`}:                                 "is not encrypted",
		{`"details": {`, `"unknown": {`}:                                "lacks its details",
		{`"name": "details/catalog.json"`, `"name": "../catalog.json"`}: "is not within the backup",
	} {
		g.write(t, "manifest.json", bytes.ReplaceAll(old, []byte(change[0]), []byte(change[1])))
		_, err := backup.Restore(t.Context(), to, g.address, g.options)
		require.ErrorContains(t, err, says)
	}
	g.write(t, "manifest.json", old)
}

// damageRestored damages each file of a backup that is restored: a comparison finds it.
func (g target) damageRestored(t *testing.T, m *backup.Manifest, to configs.Config) {
	t.Helper()
	thoroughly := map[string]bool{g.name(m.ID + "/timelines.json"): true}
	for name := range g.images(t) {
		thoroughly[name] = true
	}
	names := slices.Collect(maps.Keys(thoroughly))
	for i := range m.Parts {
		names = append(names, g.stored(m, &m.Parts[i])...)
	}
	for _, name := range names {
		old := g.read(t, name)
		for what, data := range g.damages(t, name, old) {
			if !thoroughly[name] && what != "missing" && what != "a bit flipped" {
				continue
			}
			g.write(t, name, data)
			_, err := backup.Verify(t.Context(), to, g.address, g.options)
			require.Error(t, err, "%s: %s", name, what)
			assert.Regexp(t, `the backup (is damaged|lacks a file)`, err.Error(), "%s: %s", name, what)
		}
		g.write(t, name, old)
	}
}

// TestAddresses gives addresses that cannot be used.
func TestAddresses(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key-of-a-test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-of-a-test")
	cfg := embedded(t)
	for address, says := range map[string]string{
		"gs://bucket/x":                       "there is no other kind of address",
		"s3://":                               "s3://BUCKET/PREFIX",
		"s3://key:secret@bucket/x?region=r":   "credentials are taken from the environment",
		"s3://bucket/x":                       "the region is missing",
		"s3://bucket/x?regoin=r":              "parameter regoin: unknown",
		"s3://bucket/x?region=r&prefix=y":     "leave the parameter prefix out",
		"s3://bucket/../x?region=r":           "parts that are empty or dots",
		"s3://bucket/x//y?region=r":           "parts that are empty or dots",
		"s3://bucket/x?region=r&endpoint=h:9": "must be http://",
		"s3://bucket/%zz?region=r":            "in quotes",
		"s3://images/x?region=r":              "name another bucket, or set the parameter prefix of media.url",
		"s3://prefixed/a/b?region=r":          "name another bucket, or set the parameter prefix of media.url",
		"s3://prefixed?region=r&endpoint=":    "must be http://",
		"s3://prefixed/?region=r":             "the images of media.url are within s3://prefixed/",
	} {
		c := cfg
		u, err := url.Parse(address)
		switch {
		case err == nil && u.Host == "images":
			c.Media.URL = "s3://images?region=r"
		case err == nil && u.Host == "prefixed":
			c.Media.URL = "s3://prefixed?region=r&prefix=a/"
		}
		_, made := backup.Make(t.Context(), c, address, backup.Options{}, time.Now)
		_, restored := backup.Restore(t.Context(), c, address, backup.Options{})
		for _, err := range []error{made, restored} {
			require.ErrorContains(t, err, says, address)
			assert.NotContains(t, err.Error(), "secret")
		}
	}
}
