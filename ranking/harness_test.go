package ranking_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/ranking"
	rankingsqlite "github.com/freshet/freshet/ranking/sqlite"
)

// wire is a real store that can be disconnected, with a hook before the next append.
type wire struct {
	ranking.Store
	mu     sync.Mutex
	cut    bool
	other  ranking.Store // replaces Store; nil if not replaced
	before func()        // called once, before the next append
}

var errCut = fmt.Errorf("%w: the wire is cut", ranking.ErrUnavailable)

func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
}

func (w *wire) lead(to ranking.Store) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.other = to
}

func (w *wire) state() (cut bool, before func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, w.before = w.before, nil
	return w.cut, before
}

func (w *wire) Newest(ctx context.Context) (ranking.Version, error) {
	w.mu.Lock()
	cut, to := w.cut, w.other
	w.mu.Unlock()
	switch {
	case cut:
		return ranking.Version{}, errCut
	case to != nil:
		return to.Newest(ctx)
	}
	return w.Store.Newest(ctx)
}

func (w *wire) Append(ctx context.Context, v ranking.Version) error {
	cut, before := w.state()
	if before != nil {
		before()
	}
	if cut {
		return errCut
	}
	return w.Store.Append(ctx, v)
}

func newStore(t *testing.T) *rankingsqlite.Store {
	t.Helper()
	file, err := sqlitefile.Catalog.Open(t.Context(), filepath.Join(t.TempDir(), "c.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	return rankingsqlite.New(file)
}

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

var configured = feed.Ranking{Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}, Base: 0.1}

// syncLog is a log buffer that is safe for concurrent use.
type syncLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *syncLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *syncLog) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.b.String(), text)
}

// gauge returns the value of a metric.
func gauge(t *testing.T, name string) float64 {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

// openLive returns a server's ranking over a store, which it polls every second.
func openLive(t *testing.T, store ranking.Store) (*ranking.Live, *syncLog) {
	t.Helper()
	log := &syncLog{}
	l, err := ranking.Open(t.Context(), store, ranking.Config{
		Clock: func() time.Time { return noon }, Configured: configured,
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	return l, log
}

// with returns an edit in the form of the command line.
func with(changes string) ranking.Edit {
	return func(r *feed.Ranking) (err error) {
		*r, err = r.With(changes)
		return err
	}
}

func change(t *testing.T, l *ranking.Live, c ranking.Change) ranking.Version {
	t.Helper()
	v, err := l.Change(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, v, l.InForce(), "what was changed is in force at once")
	return v
}

// current returns the number of the newest version, as a server reports it.
func current(t *testing.T, l *ranking.Live) int {
	t.Helper()
	v, err := l.Current(t.Context())
	require.NoError(t, err)
	return v.Version
}

// look waits until all servers have polled the store; none polls earlier.
func look() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// reaches checks that a version comes into force with the next poll and not before.
func reaches(t *testing.T, l *ranking.Live, version int) {
	t.Helper()
	time.Sleep(time.Second - 1)
	synctest.Wait()
	require.NotEqual(t, version, l.InForce().Version)
	time.Sleep(time.Nanosecond)
	synctest.Wait()
	require.Equal(t, version, l.InForce().Version)
}
