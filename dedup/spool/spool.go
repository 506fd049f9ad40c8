// Package spool stores impressions on disk that are served while the dedup store is down, and
// records them when the store is back. They survive when the process is killed. The spool is
// bounded by size and age: the oldest impressions are dropped, and their number is logged.
//
// Other servers do not know of these impressions. Therefore the spool leaves a marker for them
// ([dedup.OutageMarkers]), moves the groups from the sessions to the pending sets, and then records them.
package spool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

var (
	droppedTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_spool_dropped_total", Help: "Impressions on disk that were dropped because they were too old or too many.",
	})
	spoolBytes = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_spool_bytes", Help: "Size in bytes of the impressions on disk that wait for the dedup store.",
	})
)

// Config configures a Spool. Zero values mean the defaults.
type Config struct {
	MaxBytes     int64         // all segments together; 64 MiB, about two million impressions
	SegmentBytes int64         // size at which a segment is closed; MaxBytes / 16
	MaxAge       time.Duration // older impressions are dropped; 7 days
	Every        time.Duration // pause between attempts to record; 1s
	Timeout      time.Duration // deadline of one write to the store; 5s
	Logger       *slog.Logger  // nil disables logging

	// OfferedOnly means that a delivery is not yet an impression (impressions.on: seen): it becomes
	// pending and is not recorded.
	OfferedOnly bool
	// Grace is how long the marker lasts after everything was recorded.
	Grace time.Duration
	// Withdraw removes groups from the sessions, which may still contain what was served without them.
	// Nil means that no sessions survive an outage of the store.
	Withdraw dedup.Withdraw
	// Markers warn the other servers that impressions wait here. Nil means there are no other servers.
	Markers dedup.OutageMarker
}

// WithDefaults replaces zero values with the defaults.
func (c Config) WithDefaults() Config {
	c.MaxBytes = cmp.Or(c.MaxBytes, 64<<20)
	c.SegmentBytes = cmp.Or(c.SegmentBytes, c.MaxBytes/16)
	c.MaxAge = cmp.Or(c.MaxAge, 7*24*time.Hour)
	c.Every = cmp.Or(c.Every, time.Second)
	c.Timeout = cmp.Or(c.Timeout, 5*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Spool stores impressions in segments, which are journals of bounded size. It is safe for
// concurrent use.
type Spool struct {
	dir     string
	confirm Confirm
	clock   feed.Clock
	cfg     Config
	lock    io.Closer
	id      string // of the directory; the name of its marker
	marked  bool   // the marker of the directory may exist; only run uses it
	renews  bool   // this process has left it; only run uses it
	idle    int    // passes since there was something to record; only run uses it

	mu      sync.Mutex
	current *journal.Journal // nil if nothing was stored since the last rotation
	serial  uint64           // of the current segment, or of the last one
	closed  []*segment       // the other segments, oldest first
	bytes   int64            // of the closed segments

	stop  context.CancelFunc
	ended chan struct{}
}

// Confirm records the groups that an agent was shown and waits for the result, as
// [dedup.Recorder.Confirm] does.
type Confirm func(ctx context.Context, agent string, groups []string) error

// Open opens the spool in a directory, which it creates and locks. If an earlier process left
// impressions there, it tries to leave a marker for the other servers, and recording begins in the
// background. A marker that an earlier process left is removed once nothing needs it. It ignores cancellation of ctx: Close ends the spool.
func Open(ctx context.Context, dir string, confirm Confirm, clock feed.Clock, cfg Config) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("impression spool: %w", err)
	}
	lock, err := journal.LockDir(dir)
	if err != nil {
		return nil, fmt.Errorf("impression spool: %w", err)
	}
	s := &Spool{dir: dir, confirm: confirm, clock: clock, cfg: cfg.WithDefaults(), lock: lock, marked: true, ended: make(chan struct{})}
	s.id, err = identify(dir)
	if err == nil {
		err = s.find()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("impression spool: %w", err), lock.Close())
	}
	if s.waiting() {
		_ = s.mark(ctx, true) // run tries again
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	go s.run(ctx)
	return s, nil
}

// Keep stores an agent's impressions on disk. When it returns nil they survive the death of the
// process.
func (s *Spool) Keep(agent string, groups []string, now time.Time) error {
	if len(groups) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock == nil {
		return errors.New("the spool is closed")
	}
	if err := s.begin(); err != nil {
		return fmt.Errorf("impression spool: %w", err)
	}
	kind := journal.Seen
	if s.cfg.OfferedOnly {
		kind = journal.Offered
	}
	err := s.current.Append(journal.Entry{Kind: kind, At: now.UnixMilli(), Agent: agent, Groups: groups})
	if err != nil {
		return fmt.Errorf("impression spool: %w", err)
	}
	if s.current.Size() >= s.cfg.SegmentBytes {
		s.rotate()
	}
	for s.bytes > s.cfg.MaxBytes && len(s.closed) > 0 {
		s.drop(s.closed[0], "the spool is full")
	}
	s.publish()
	return nil
}

// begin opens a segment to append to if there is none. mu must be held.
func (s *Spool) begin() error {
	if s.current != nil {
		return nil
	}
	j, err := journal.Open(s.path(s.serial+1), s.cfg.Logger)
	if err != nil {
		return err
	}
	s.serial++
	s.current = j
	return nil
}

// Close stops recording and closes the files; unrecorded impressions stay on disk for the next
// Open.
func (s *Spool) Close(context.Context) error {
	s.stop()
	<-s.ended
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock == nil {
		return nil
	}
	s.rotate()
	err := s.lock.Close()
	s.lock = nil
	return err
}
