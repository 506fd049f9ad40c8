package server

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server/datadir"
	"github.com/freshet/freshet/server/health"
	"github.com/freshet/freshet/server/itemindex"
	"github.com/freshet/freshet/server/livesettings"
	"github.com/freshet/freshet/server/retention"
	"github.com/freshet/freshet/server/rlimit"
)

type settings struct {
	cfg        configs.Config         // as at the start
	live       *livesettings.Settings // those in force
	clock      feed.Clock
	queueClock feed.Clock // nil means that of the database
	log        *slog.Logger
	demo       bool
	feeds      []string // see WithDemoFeeds
	probesOnly bool
	apart      bool // see WithSettingsApart
	coReads    bool // see WithCoReads
	coalesce   time.Duration
	streams    int           // maximum number of open streams
	sharedFor  time.Duration // how long equal recalls share an answer
	staleFor   time.Duration // maximum age of an answer used while recall is down
	recording  dedup.RecorderConfig
	hooks      Hooks
	waitFor    func(dependency, why string) // is told what the start waits for; why may be empty
	pauses     pauses
}

const (
	// coalesce is how recent a refresh must be for one that waited for it to page from its
	// session: an app that refreshes twice, as on a double tap, does so within a second.
	coalesce = time.Second
	// mostStreams bounds the streams of a server, each of which holds a connection. The limit is
	// also at most half of the files that the process may open.
	mostStreams = 10_000
)

// pauses holds the intervals of background work; tests shorten them.
type pauses struct {
	settle time.Duration // before recorded impressions are no longer pending
	notes  time.Duration // between two reads of the servers' notes
	spool  time.Duration // between two attempts to record impressions stored on disk
	index  itemindex.Pauses
	watch  time.Duration // between two checks of the services for the metrics
	mode   time.Duration // between two questions to a Redis whose mode is unknown
	spans  time.Duration // maximum time at a stop until the collector has the last spans

	streams time.Duration // between two checks of all streams; 0 means the default
}

func newSettings(cfg configs.Config, options []Option) settings {
	s := settings{
		cfg: cfg, clock: time.Now, waitFor: func(_, _ string) {}, log: slog.New(slog.DiscardHandler), coalesce: coalesce, sharedFor: sharedFor, staleFor: staleFor,
		streams: rlimit.Half(mostStreams),
		pauses: pauses{
			settle: cfg.PendingGrace(), notes: time.Second, spool: time.Second, watch: 5 * time.Second, mode: time.Second, spans: 2 * time.Second,
			index: itemindex.Pauses{WarmUp: time.Second, Fallback: time.Minute, Mapping: 5 * time.Second},
		},
	}
	for _, o := range options {
		o(&s)
	}
	if s.live == nil {
		s.live = livesettings.New(cfg, nil, s.log)
	}
	return s
}

// builder opens the parts of a system, and collects their closers and health checks.
type builder struct {
	settings
	checks   health.Checks
	files    []string                    // open databases in data_dir
	writable func(context.Context) error // checks the journal of impressions; nil if they are in Redis
	purges   []retention.Task            // of the files of this process
	purger   *retention.Purger
	drain    func(context.Context) // called before anything is closed; nil if there is nothing to drain
	closers  []closer              // in the order of opening
	closing  sync.Once
	fatal    chan error // gets the first reason why a running server must end; has room for it
}

func newBuilder(cfg configs.Config, options []Option) *builder {
	return &builder{settings: newSettings(cfg, options), checks: health.Checks{}, fatal: make(chan error, 1)}
}

// fail ends a running server with an error.
func (b *builder) fail(err error) {
	select {
	case b.fatal <- err:
	default: // it ends already
	}
}

// waitForService tells what the start waits for: a service if it is used, otherwise the files.
func (b *builder) waitForService(used bool, name string) {
	if !used {
		name = "data_dir"
	}
	b.waitFor(name, "")
}

// database returns the path of a database in a directory, and registers it as open.
func (b *builder) database(dir, name string) string {
	b.files = append(b.files, filepath.Join(dir, name))
	return b.files[len(b.files)-1]
}

// root returns the directory that has the files of this process.
func (b *builder) root() string {
	switch {
	case b.demo && len(b.feeds) > 0: // apart from generated items of an earlier run
		return filepath.Join(b.cfg.DataDir, "demo-rss")
	case b.demo:
		return filepath.Join(b.cfg.DataDir, "demo")
	}
	return b.cfg.DataDir
}

// dataDir creates and returns a directory below the data directory.
func (b *builder) dataDir(name string) (string, error) {
	dir := filepath.Join(b.root(), name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("data_dir %s: %w; %s", datadir.Absolute(b.cfg.DataDir), err, datadir.OrMount("name a directory that this user may create and write to", err))
	}
	return dir, nil
}
