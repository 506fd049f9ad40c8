package app

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/ranking"
)

// logged is a log that may be read while it is written.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// lines are those with a text in them.
func (l *logged) lines(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.b.String()) {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

func (l *logged) one(t *testing.T, text string) string {
	t.Helper()
	testenv.WaitFor(t, func() bool { return len(l.lines(text)) > 0 }, "%q is logged", text)
	lines := l.lines(text)
	require.Len(t, lines, 1)
	return lines[0]
}

// loader reads a configuration as serve does: the file, over what the mode
// needs, and the environment over both.
func loader(base configs.Config, path string, environ ...string) func() (configs.Config, error) {
	return func() (configs.Config, error) {
		read, err := configs.Load(configs.Options{Path: path, Environ: environ})
		cfg := base
		cfg.Ranking, cfg.Recall.N = read.Ranking, read.Recall.N
		return cfg, err
	}
}

func writeConfig(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestConfigFileIsFollowed edits a real file under a running server, as editors and
// Kubernetes do.
func TestConfigFileIsFollowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "freshet.yaml")
	writeConfig(t, path, "ranking:\n  decay:\n    offset: 2h\n")
	base := embedded(t)
	base.Auth.AdminToken = rankingSecret
	load := loader(base, path)
	cfg, err := load()
	require.NoError(t, err)
	log := &logged{}
	a := open(t, cfg, WithConfigFile(path, load), WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	scale := func() string { return a.ranking.InForce().Live.Ranking.Changes(cfg.Parameters()) }

	writeConfig(t, path, "ranking:\n  decay:\n    offset: 2h\n    scale: 48h\n")
	inForce(t, a, 1)
	require.Equal(t, "scale=48h", scale())
	require.Equal(t, "the file says scale=48h", a.ranking.InForce().Why)
	require.True(t, strings.HasPrefix(a.ranking.InForce().By, "config "))

	// What is wrong is refused, and told in one line; the old one stays.
	writeConfig(t, path, "ranking:\n  decay:\n    scale: 0s\n    decay: 7\n  popularity:\n    wait: 1\n")
	require.Contains(t, log.one(t, "is refused"), "ranking.popularity.wait")
	writeConfig(t, path, "ranking: [\n")
	testenv.WaitFor(t, func() bool { return len(log.lines("is refused")) == 2 }, "what is no YAML is refused")
	require.Equal(t, 1, a.ranking.InForce().Version)

	// An editor puts a new file in the old one's place.
	writeConfig(t, path+"~", "ranking:\n  decay:\n    offset: 2h\n    scale: 96h\n  base: 0.3\n")
	require.NoError(t, os.Rename(path+"~", path))
	inForce(t, a, 2)
	require.Equal(t, "scale=96h,base=0.3", scale())

	// Kubernetes turns a link to a directory.
	for i, text := range []string{"ranking:\n  decay:\n    offset: 2h\n    scale: 96h\n", "ranking:\n  decay:\n    offset: 2h\n    scale: 12h\n"} {
		data := filepath.Join(dir, []string{"first", "second"}[i])
		require.NoError(t, os.Mkdir(data, 0o700))
		writeConfig(t, filepath.Join(data, "freshet.yaml"), text)
		require.NoError(t, os.Symlink(data, filepath.Join(dir, "data~")))
		require.NoError(t, os.Rename(filepath.Join(dir, "data~"), filepath.Join(dir, "data")))
		if i == 0 {
			require.NoError(t, os.Symlink(filepath.Join("data", "freshet.yaml"), path+"~"))
			require.NoError(t, os.Rename(path+"~", path))
		}
		inForce(t, a, 3+i)
	}
	require.Equal(t, "scale=12h", scale())

	// Somebody else's change stands until the file is edited again.
	putRanking(t, a, `{"ranking":{"decay":{"scale":"5h"},"popularity":{"weight":1}}}`)
	writeConfig(t, filepath.Join(dir, "second", "freshet.yaml"), "ranking:\n  decay:\n    scale: 6h\n    offset: 2h\n")
	inForce(t, a, 6)
	require.Equal(t, "scale=6h,weight=1", scale())

	closeApp(t, a)
	again := open(t, cfg, WithConfigFile(path, load), WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	require.Equal(t, 6, again.ranking.InForce().Version)
	require.Contains(t, log.one(t, "not the configuration's"), "stored=\"scale=6h,weight=1\"")
}

// watched is a system whose file the test itself has looked at.
func watched(t *testing.T, text string, environ ...string) (a *App, f *configFile, path string, log *logged) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "freshet.yaml")
	writeConfig(t, path, text)
	load := loader(embedded(t), path, environ...)
	cfg, err := load()
	require.NoError(t, err)
	a = open(t, cfg)
	log = &logged{}
	f = &configFile{path: path, load: load}
	f.start(cfg, a.ranking, slog.New(slog.NewTextHandler(log, nil)))
	f.look(t.Context())
	f.look(t.Context())
	return a, f, path, log
}

func TestHalfWrittenFilesAreNotTaken(t *testing.T) {
	t.Parallel()
	const whole = "ranking:\n  decay:\n    scale: 48h\n    offset: 2h\n"
	a, f, path, log := watched(t, whole)
	require.Zero(t, a.ranking.InForce().Version, "a file that says what was loaded is no edit")
	for _, half := range []string{"", whole[:10], whole[:len(whole)-20]} {
		writeConfig(t, path, half)
		f.look(t.Context())
	}
	require.NoError(t, os.Remove(path))
	f.look(t.Context())
	f.look(t.Context())
	writeConfig(t, path, "ranking:\n  decay:\n    scale: 72h\n    offset: 2h\n")
	f.look(t.Context())
	require.Zero(t, a.ranking.InForce().Version, "once is not enough")
	f.look(t.Context())
	require.Equal(t, 1, a.ranking.InForce().Version)
	require.Equal(t, "the file says scale=72h", a.ranking.InForce().Why)
	require.Len(t, log.lines("cannot be read"), 1, "a missing file is told once")
	f.look(t.Context())
	f.look(t.Context())
	require.Equal(t, 1, a.ranking.InForce().Version)
}

func TestEnvironmentGoesBeforeAnEditOfTheFile(t *testing.T) {
	t.Parallel()
	a, f, path, _ := watched(t, "ranking:\n  decay:\n    scale: 48h\n", "FRESHET_RANKING_DECAY_SCALE=6h")
	require.Equal(t, 6*time.Hour, a.ranking.InForce().Live.Ranking.Decay.Scale)
	writeConfig(t, path, "ranking:\n  decay:\n    scale: 96h\n    offset: 3h\n")
	f.look(t.Context())
	f.look(t.Context())
	require.Equal(t, "the file says offset=3h", a.ranking.InForce().Why)
	require.Equal(t, 6*time.Hour, a.ranking.InForce().Live.Ranking.Decay.Scale)
}

func TestOtherSettingsWaitForTheNextStart(t *testing.T) {
	t.Parallel()
	a, f, path, log := watched(t, "recall:\n  n: 400\n")
	writeConfig(t, path, "recall:\n  n: 300\n")
	f.look(t.Context())
	f.look(t.Context())
	require.Len(t, log.lines("the rest at the next start"), 1)
	require.Zero(t, a.ranking.InForce().Version)
}

// severed is a store of rankings that may be away.
type severed struct {
	ranking.Store
	away atomic.Bool
}

func (s *severed) Newest(ctx context.Context) (ranking.Version, error) {
	if s.away.Load() {
		return ranking.Version{}, ranking.ErrUnavailable
	}
	return s.Store.Newest(ctx)
}

func (s *severed) Append(ctx context.Context, v ranking.Version) error {
	if s.away.Load() {
		return ranking.ErrUnavailable
	}
	return s.Store.Append(ctx, v)
}

// TestAnEditWaitsForTheCatalog has the file edited while the store of rankings is away.
func TestAnEditWaitsForTheCatalog(t *testing.T) {
	t.Parallel()
	a, f, path, log := watched(t, "")
	store := &severed{Store: a.stores.rankings}
	live, err := ranking.Open(t.Context(), store, ranking.Config{Clock: a.clock, Configured: a.cfg.Parameters()})
	require.NoError(t, err)
	f.ranking = live
	store.away.Store(true)
	writeConfig(t, path, "ranking:\n  decay:\n    scale: 48h\n")
	for range 4 {
		f.look(t.Context())
	}
	require.Len(t, log.lines("cannot be stored yet"), 1, "it is told once")
	require.Zero(t, live.InForce().Version)
	store.away.Store(false)
	f.look(t.Context())
	require.Equal(t, 1, live.InForce().Version)
}
