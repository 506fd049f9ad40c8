package export

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/personal"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/media"
	"github.com/freshet/freshet/social/media/folder"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

func TestMain(m *testing.M) {
	testenv.FilesInMemory()
	m.Run()
}

// site is a store with the exporters of several servers.
type site struct {
	*testing.T
	*Exporter
	store *socialsqlite.Store
	dir   string
	mu    sync.Mutex
	now   time.Time
}

func newSite(t *testing.T, files func(s *site) Files) *site {
	s := &site{T: t, dir: filepath.Join(t.TempDir(), "exports"), now: time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)}
	var err error
	s.store, err = socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{Clock: s.clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.store.Close()) })
	s.Exporter = s.server(files(s))
	return s
}

func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *site) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func (s *site) server(files Files) *Exporter {
	return New(Config{Store: s.store, Queue: s.store, Files: files, Clock: s.clock})
}

func inDir(s *site) Files {
	f, err := OpenFolder(s.dir)
	require.NoError(s, err)
	s.Cleanup(func() { require.NoError(s, f.Close()) })
	return f
}

// work runs the job of an export as a worker does, whatever its earlier attempts.
func (s *site) work(x *Exporter, attempt int, parts ...personal.Part) error {
	s.Helper()
	return x.Handler(parts).Run(s.Context(), []jobs.Job{{Kind: jobs.Export, Key: "a", Attempts: attempt}})[0]
}

func (s *site) state() social.Export {
	s.Helper()
	e, err := s.State(s.Context(), "a")
	require.NoError(s, err)
	return e
}

func (s *site) ask() {
	s.Helper()
	e, err := s.Ask(s.Context(), "a")
	require.NoError(s, err)
	require.Equal(s, social.ExportRunning, e.State)
}

// left is the number of files in the folder.
func (s *site) left() (n int) {
	s.Helper()
	require.NoError(s, filepath.WalkDir(s.dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}))
	return n
}

// large is a part of some 9 MB, which do not compress well: three parts of a file.
func large() personal.Part {
	return personal.Part{Name: "large", What: "noise", Places: []string{"social t"}, Export: func(_ context.Context, _ string, put func(any) error) error {
		random := rand.NewChaCha8([32]byte{1})
		for range 900 {
			noise := make([]byte, 7500)
			_, _ = random.Read(noise) // it never fails
			if err := put(noise); err != nil {
				return err
			}
		}
		return nil
	}}
}

// meanwhile is a part during whose export something happens.
func meanwhile(do func() error) personal.Part {
	return personal.Part{Name: "meanwhile", What: "x", Places: []string{"social t"}, Export: func(context.Context, string, func(any) error) error { return do() }}
}

func (s *site) fetch() []byte {
	s.Helper()
	f, err := s.Open(s.Context(), "a", false)
	require.NoError(s, err)
	data, err := io.ReadAll(f)
	require.NoError(s, err)
	require.Len(s, data, int(f.Bytes))
	return data
}

// TestExportMade makes an export in each kind of place, and reads it.
func TestExportMade(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for name, files := range map[string]func(s *site) Files{
		"folder": inDir,
		"rows":   func(s *site) Files { return Rows{s.store} },
		"objects": func(s *site) Files {
			store, err := folder.Open(s.dir)
			require.NoError(s, err)
			s.Cleanup(func() { require.NoError(s, store.Close()) })
			return Objects{store}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, files)
			require.Equal(t, social.Export{Agent: "a"}, s.state())
			s.ask()
			withheld := personal.Part{Name: "filters", What: "bits", Places: []string{"redis bf:"}, Without: "they name nobody"}
			require.NoError(t, s.work(s.Exporter, 1, large(), withheld))
			e := s.state()
			require.Equal(t, social.ExportReady, e.State)
			require.Equal(t, 2, e.Parts)
			require.Equal(t, s.clock().Add(Keep).Unix(), e.Until)
			again, err := s.Ask(t.Context(), "a")
			require.NoError(t, err)
			require.Equal(t, e, again, "it is there")

			data := s.fetch()
			z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
			require.NoError(t, err)
			found := map[string]string{}
			for _, f := range z.File {
				r, err := f.Open()
				require.NoError(t, err)
				text, err := io.ReadAll(r)
				require.NoError(t, err)
				found[f.Name] = string(text)
			}
			require.Len(t, found, 3)
			assert.Equal(t, 900, strings.Count(found["large.ndjson"], "\n"))
			assert.Contains(t, found["README.txt"], "filters: bits\n  they name nobody\n")
			var m Manifest
			require.NoError(t, json.Unmarshal([]byte(found["manifest.json"]), &m))
			assert.Equal(t, []Entry{{Name: "large", What: "noise", File: "large.ndjson", Lines: 900}, {Name: "filters", What: "bits", Without: "they name nobody"}}, m.Parts)

			f, err := s.Open(t.Context(), "a", false)
			require.NoError(t, err)
			at, err := f.Seek(-10, io.SeekEnd)
			require.NoError(t, err)
			end, err := io.ReadAll(f)
			require.NoError(t, err)
			assert.Equal(t, data[at:], end)

			s.pass(Keep)
			require.Empty(t, s.state().Name, "it has expired")
			expire(t, s.Exporter)
			n, err := s.store.ExportParts(t.Context())
			require.NoError(t, err)
			assert.Zero(t, n)
			_, err = s.Files.Get(t.Context(), e.Name, 1)
			require.ErrorIs(t, err, feed.ErrNotFound)
		})
	}
}

// TestExportOnce: all of it is sent once; what was cut continues.
func TestExportOnce(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	s := newSite(t, inDir)
	s.ask()
	require.NoError(t, s.work(s.Exporter, 1, large()))
	f, err := s.Open(t.Context(), "a", false)
	require.NoError(t, err)
	sent := func(from, to int64, want social.ExportState) {
		t.Helper()
		require.NoError(t, s.Sent(t.Context(), f, from, to))
		require.Equal(t, want, s.state().State)
	}
	sent(0, 100, social.ExportReady)
	sent(f.Bytes-10, f.Bytes, social.ExportReady) // a reader of zips looks at the end first
	sent(50, 1000, social.ExportReady)
	sent(1000, f.Bytes, social.ExportFetched)
	_, err = s.Open(t.Context(), "a", false)
	require.ErrorIs(t, err, feed.ErrGone)
	_, err = s.Open(t.Context(), "a", true)
	require.NoError(t, err, "the rest of a transfer")
	_, err = s.Ask(t.Context(), "a")
	require.ErrorIs(t, err, feed.ErrTooMany)
	s.pass(KeepFetched)
	_, err = s.Open(t.Context(), "a", true)
	require.ErrorIs(t, err, feed.ErrNotFound)
	expire(t, s.Exporter)
	assert.Zero(t, s.left())
	s.ask()
}

// TestExportKilled: another worker takes up the work of one that was killed, whose file is removed.
func TestExportKilled(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	s := newSite(t, inDir)
	s.ask()
	dies, killed := s.server(s.Files), errors.New("killed")
	require.ErrorIs(t, s.work(dies, 1, large(), meanwhile(func() error { return killed })), killed)
	require.Positive(t, s.left())
	before := s.state()
	require.Equal(t, social.ExportRunning, before.State)
	require.NoError(t, s.work(s.Exporter, 2, large()))
	after := s.state()
	require.Equal(t, social.ExportReady, after.State)
	require.NotEqual(t, before.Name, after.Name)
	expire(t, s.Exporter)
	require.Equal(t, after.Parts, s.left(), "the first file is gone")
	// Another worker had begun at the same time, and had stored nothing yet: each has a file of its own.
	s.pass(Keep)
	s.ask()
	one, err := s.begin(t.Context(), "a")
	require.NoError(t, err)
	two, err := dies.begin(t.Context(), "a")
	require.NoError(t, err)
	require.NotEqual(t, one.Name, two.Name)
	require.ErrorIs(t, s.change(t.Context(), &one, func(*social.Export) {}), errEnded)
	require.NoError(t, s.work(s.Exporter, 3, large()))
	after = s.state()
	// The killed worker was only suspended: it gives up before its next part.
	require.ErrorIs(t, dies.change(t.Context(), &before, func(e *social.Export) { e.Parts = 9 }), errEnded)
	require.Equal(t, after, s.state())
	s.fetch()
}

// TestExportErased: an erasure cancels the export in progress and removes its file.
func TestExportErased(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	erase := func(s *site) error { return s.EraseWith(s.store.EraseAgent)(t.Context(), "a") }
	for name, erase := range map[string]func(s *site) error{
		"by the exporter":                      erase,
		"by the store, whose server then dies": func(s *site) error { return s.store.EraseAgent(t.Context(), "a") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, inDir)
			s.ask()
			require.NoError(t, s.work(s.Exporter, 1, large(), meanwhile(func() error { return erase(s) }), large()))
			require.Empty(t, s.state().Name)
			require.Zero(t, s.left())
			s.ask() // of the next agent with this id
			require.NoError(t, s.work(s.Exporter, 1, large()))
			require.NoError(t, erase(s))
			expire(t, s.Exporter)
			require.Zero(t, s.left(), "one that was ready")
			require.NoError(t, s.EraseWith(s.store.EraseAgent)(t.Context(), "a"), "again")
		})
	}
}

// TestExportFails: after some attempts the agent is told, and may ask again later.
func TestExportFails(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	s := newSite(t, inDir)
	s.ask()
	broken := meanwhile(func() error { return errors.New("a secret of the server") })
	for attempt := range attempts - 1 {
		require.Error(t, s.work(s.Exporter, attempt+1, large(), broken))
	}
	require.Equal(t, social.ExportRunning, s.state().State)
	require.NoError(t, s.work(s.Exporter, attempts, large(), broken))
	e := s.state()
	require.Equal(t, social.ExportFailed, e.State)
	require.NotContains(t, e.Reason, "secret")
	_, err := s.Open(t.Context(), "a", false)
	require.ErrorContains(t, err, e.Reason)
	s.pass(time.Minute)
	_, err = s.Ask(t.Context(), "a")
	require.Equal(t, TooSoon{Pause - time.Minute}, err)
	s.pass(Pause)
	expire(t, s.Exporter)
	require.Zero(t, s.left())
	s.ask()
	down := meanwhile(func() error { return feed.ErrUnavailable })
	require.ErrorIs(t, s.work(s.Exporter, attempts+1, down), jobs.ErrWait, "an outage does not count")
	require.Equal(t, social.ExportRunning, s.state().State)
	s.pass(Keep)
	require.NoError(t, s.work(s.Exporter, 1, down), "too late")
}

// TestExportsAtOnce: a process makes few at the same time, and the others wait.
func TestExportsAtOnce(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	s := newSite(t, inDir)
	s.ask()
	for range atOnce {
		s.places <- struct{}{}
	}
	require.ErrorIs(t, s.work(s.Exporter, 1, large()), jobs.ErrWait)
	<-s.places
	require.NoError(t, s.work(s.Exporter, 1, large()))
}

// TestExportsBounded: no export is begun while others take all the room there is for them.
func TestExportsBounded(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	s := newSite(t, inDir)
	s.ask()
	_, err := s.store.ChangeExport(t.Context(), "b", func(e social.Export) (social.Export, error) {
		return social.Export{Agent: "b", Name: "n", State: social.ExportReady, Parts: maxParts + 1, Until: s.clock().Add(time.Hour).Unix()}, nil
	})
	require.NoError(t, err)
	require.ErrorIs(t, s.work(s.Exporter, 1, large()), jobs.ErrWait)
	require.NoError(t, s.EraseWith(s.store.EraseAgent)(t.Context(), "b"))
	s.pass(2 * time.Hour)
	expire(t, s.Exporter)
	require.NoError(t, s.work(s.Exporter, 1, large()))
}

// TestExportLost: data restored from a backup has records without files.
func TestExportLost(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	s := newSite(t, inDir)
	s.ask()
	require.NoError(t, s.work(s.Exporter, 1, large()))
	require.NoError(t, s.Files.Delete(t.Context(), s.state().Name, 0))
	_, err := s.Open(t.Context(), "a", false)
	require.ErrorIs(t, err, feed.ErrGone)
	require.ErrorContains(t, err, "lost")
	s.ask()
	require.NoError(t, s.work(s.Exporter, 1, large()))
	s.fetch()
}

// TestExportDamaged: a file whose machine has lost power has parts of another length.
func TestExportDamaged(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	s := newSite(t, inDir)
	s.ask()
	require.NoError(t, s.work(s.Exporter, 1, large()))
	require.NoError(t, s.Files.Put(t.Context(), s.state().Name, 1, nil))
	_, err := s.Open(t.Context(), "a", false)
	require.ErrorIs(t, err, feed.ErrGone)
	s.ask()
	expire(t, s.Exporter)
	require.Zero(t, s.left(), "what is left of the file")
}

// TestExportByWrongClock asks for exports while the clock is a year ahead, and then sets it back: the agent can ask
// again, and no file is kept for longer than a day.
func TestExportByWrongClock(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	const year = 365 * 24 * time.Hour
	for made := range 3 { // nothing, the file, and all of it was sent
		s := newSite(t, inDir)
		s.pass(year)
		s.ask()
		if made > 0 {
			require.NoError(t, s.work(s.Exporter, 1, large()))
		}
		if made > 1 {
			f, err := s.Open(t.Context(), "a", false)
			require.NoError(t, err)
			require.NoError(t, s.Sent(t.Context(), f, 0, f.Bytes))
		}
		s.pass(-year)
		require.Empty(t, s.state().Name)
		s.ask()
		require.NoError(t, s.work(s.Exporter, 1, large()))
		s.fetch()
		expire(t, s.Exporter)
		require.Equal(t, 2, s.left(), "the files of the second")
		s.pass(Keep + time.Hour)
		expire(t, s.Exporter)
		require.Zero(t, s.left())
	}
}

// stuck are files of which one cannot be removed.
type stuck struct {
	Files
	name string
}

func (s *stuck) Delete(ctx context.Context, file string, parts int) error {
	if file == s.name {
		return errors.New("permission denied")
	}
	return s.Files.Delete(ctx, file, parts)
}

// TestExpireRest: a file that cannot be removed does not keep the others.
func TestExpireRest(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	bad := &stuck{}
	s := newSite(t, func(s *site) Files {
		bad.Files = inDir(s)
		return bad
	})
	s.ask()
	require.NoError(t, s.work(s.Exporter, 1, large()))
	bad.name = s.state().Name
	s.pass(Keep + time.Minute)
	s.ask()
	require.NoError(t, s.work(s.Exporter, 1, large()))
	s.pass(Keep + time.Minute)
	_, _, err := s.Expire(t.Context())
	require.ErrorContains(t, err, "permission denied")
	require.Equal(t, 2, s.left())
	bad.name = ""
	expire(t, s.Exporter)
	require.Zero(t, s.left())
}

// TestExportImages: an image that was removed meanwhile is counted, and no failure.
func TestExportImages(t *testing.T) {
	t.Parallel()
	s := newSite(t, inDir)
	s.Images = pictures{"k1": "\xff\xd8\xff\xe0 a picture"}
	s.ask()
	list := personal.Part{Name: "images", What: "x", Places: []string{"social files"}, Export: func(_ context.Context, _ string, put func(any) error) error {
		return errors.Join(put(social.ExportedImage{Image: "k1", Post: "p"}), put(social.ExportedImage{Image: "k2", Post: "p"}))
	}}
	require.NoError(t, s.work(s.Exporter, 1, list))
	data := s.fetch()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	picture, err := z.Open("images/k1.jpg")
	require.NoError(t, err)
	text, err := io.ReadAll(picture)
	require.NoError(t, err)
	assert.Equal(t, "\xff\xd8\xff\xe0 a picture", string(text))
	raw, err := z.Open("manifest.json")
	require.NoError(t, err)
	var m Manifest
	require.NoError(t, json.NewDecoder(raw).Decode(&m))
	assert.Equal(t, []int{1, 1, 2}, []int{m.Images, m.Missing, m.Parts[0].Lines})
}

// pictures are images by key.
type pictures map[string]string

type picture struct{ *strings.Reader }

func (picture) Close() error        { return nil }
func (picture) ContentType() string { return "image/jpeg" }

func (p pictures) Open(_ context.Context, key string) (media.Reader, error) {
	if text, ok := p[key]; ok {
		return picture{strings.NewReader(text)}, nil
	}
	return nil, feed.ErrNotFound
}

func expire(t *testing.T, x *Exporter) {
	t.Helper()
	_, _, err := x.Expire(t.Context())
	require.NoError(t, err)
}

// small is a place with room for one part.
type small struct {
	Files
	parts int
}

func (s *small) Put(ctx context.Context, file string, part int, data []byte) error {
	if s.parts == 0 {
		return errors.New("no space left on device")
	}
	s.parts--
	return s.Files.Put(ctx, file, part, data)
}

// TestExportDiskFull: an attempt that fills the disk leaves nothing there, as what else is on it cannot be written
// meanwhile. The next one, with more room, makes the export.
func TestExportDiskFull(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	disk := &small{parts: 1}
	s := newSite(t, func(s *site) Files {
		disk.Files = inDir(s)
		return disk
	})
	s.ask()
	require.ErrorContains(t, s.work(s.Exporter, 1, large()), "no space left")
	require.Equal(t, social.ExportRunning, s.state().State)
	require.Zero(t, s.left())
	disk.parts = 10
	require.NoError(t, s.work(s.Exporter, 2, large()))
	s.fetch()
}
