// Package spool keeps impressions on disk while the dedup store is down, and
// records them when it is back. What it keeps survives a process that is
// killed. It is bounded by size and age: the oldest impressions give way, and
// the log says how many.
package spool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

var (
	spooledTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_spool_kept_total", Help: "Impressions kept on disk because the dedup store was down.",
	})
	drainedTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_spool_recorded_total", Help: "Impressions from the disk that are in a filter now.",
	})
	droppedTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_spool_dropped_total", Help: "Impressions on disk that were dropped, being too old or too many.",
	})
	spoolBytes = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_spool_bytes", Help: "Size of the impressions on disk that wait for the dedup store.",
	})
	spoolOldest = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_spool_oldest_timestamp_seconds",
		Help: "When the oldest impression on disk was delivered, in Unix time; 0 when none waits.",
	})
)

// suffix ends the names of the segments: <serial>.spool, oldest lowest.
const suffix = ".spool"

// Config tunes a Spool. Zero values stand for the defaults.
type Config struct {
	MaxBytes     int64         // all segments together; 64 MiB, some two million impressions
	SegmentBytes int64         // a segment is closed when it is larger; MaxBytes / 16
	MaxAge       time.Duration // older impressions are dropped; 7 days
	Every        time.Duration // pause between attempts to record; 1s
	Timeout      time.Duration // deadline of one write to the store; 5s
	Logger       *slog.Logger  // slog.Default()
}

// WithDefaults fills the zero values in.
func (c Config) WithDefaults() Config {
	if c.MaxBytes <= 0 {
		c.MaxBytes = 64 << 20
	}
	if c.SegmentBytes <= 0 {
		c.SegmentBytes = c.MaxBytes / 16
	}
	if c.MaxAge <= 0 {
		c.MaxAge = 7 * 24 * time.Hour
	}
	if c.Every <= 0 {
		c.Every = time.Second
	}
	if c.Timeout <= 0 {
		c.Timeout = 5 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// Spool keeps impressions in segments, journals of bounded size. It is safe
// for concurrent use.
type Spool struct {
	dir   string
	w     dedup.Writer
	clock feed.Clock
	cfg   Config
	lock  *os.File

	mu      sync.Mutex
	current *journal.Journal // nil: nothing kept since the last rotation
	since   map[uint64]int64 // serial → time of its first impression, Unix ms
	serial  uint64           // of the current segment, or of the last one
	closed  []uint64         // serials of the other segments, oldest first
	bytes   int64            // of the closed segments

	stop  context.CancelFunc
	ended chan struct{}
}

// ErrClosed says that the spool is closed.
var ErrClosed = errors.New("the spool is closed")

// Open opens the spool in a directory, which it makes and locks, and begins to
// record what an earlier process has left there. ctx lends its values, not its
// end: Close ends the spool.
func Open(ctx context.Context, dir string, w dedup.Writer, clock feed.Clock, cfg Config) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("impression spool: %w", err)
	}
	lock, err := journal.LockDir(dir)
	if err != nil {
		return nil, fmt.Errorf("impression spool: %w", err)
	}
	s := &Spool{dir: dir, w: w, clock: clock, cfg: cfg.WithDefaults(), lock: lock, since: map[uint64]int64{}, ended: make(chan struct{})}
	if err := s.find(); err != nil {
		return nil, errors.Join(fmt.Errorf("impression spool: %w", err), lock.Close())
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	go s.run(ctx)
	return s, nil
}

// find lists the segments an earlier process has left.
func (s *Spool) find() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		serial, err := strconv.ParseUint(strings.TrimSuffix(e.Name(), suffix), 10, 64)
		if err != nil || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		s.closed = append(s.closed, serial)
		s.since[serial] = firstIn(s.path(serial))
		s.bytes += info.Size()
	}
	slices.Sort(s.closed)
	if n := len(s.closed); n > 0 {
		s.serial = s.closed[n-1]
	}
	s.publish()
	return nil
}

var errFound = errors.New("found")

// firstIn is the time of a segment's first impression, Unix ms; 0 where none
// can be read.
func firstIn(path string) (at int64) {
	_ = journal.Replay(path, func(e journal.Entry) error { at = e.At; return errFound })
	return at
}

// publish tells the metrics what is on disk. mu is held.
func (s *Spool) publish() {
	size, oldest := s.bytes, int64(0)
	if s.current != nil {
		size += s.current.Size()
	}
	for _, at := range s.since {
		if oldest == 0 || at != 0 && at < oldest {
			oldest = at
		}
	}
	spoolBytes.Set(float64(size))
	spoolOldest.Set(float64(oldest) / 1000)
}

func (s *Spool) path(serial uint64) string {
	return filepath.Join(s.dir, fmt.Sprintf("%020d%s", serial, suffix))
}

// Keep puts an agent's impressions on disk. When it returns nil they survive
// the death of the process.
func (s *Spool) Keep(agent string, groups []string, now time.Time) error {
	if len(groups) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock == nil {
		return ErrClosed
	}
	if s.current == nil {
		j, err := journal.Open(s.path(s.serial+1), nil, journal.WithLogger(s.cfg.Logger))
		if err != nil {
			return fmt.Errorf("impression spool: %w", err)
		}
		s.serial++
		s.current = j
		s.since[s.serial] = now.UnixMilli()
	}
	err := s.current.Append(journal.Entry{Kind: journal.Seen, At: now.UnixMilli(), Agent: agent, Groups: groups})
	if err != nil {
		return fmt.Errorf("impression spool: %w", err)
	}
	spooledTotal.Add(float64(len(groups)))
	if s.current.Size() >= s.cfg.SegmentBytes {
		s.rotate()
	}
	for s.bytes > s.cfg.MaxBytes && len(s.closed) > 0 {
		s.drop(s.closed[0], "the spool is full")
	}
	s.publish()
	return nil
}

// rotate closes the current segment, so that it may be recorded. mu is held.
func (s *Spool) rotate() {
	if s.current == nil {
		return
	}
	size := s.current.Size()
	if err := s.current.Close(); err != nil {
		s.cfg.Logger.Warn("closing a segment of the impression spool", "error", err)
	}
	s.current = nil
	s.closed = append(s.closed, s.serial)
	s.bytes += size
}

// drop deletes a closed segment and says what was in it. mu is held.
func (s *Spool) drop(serial uint64, why string) {
	n := 0
	_ = journal.Replay(s.path(serial), func(e journal.Entry) error { n += len(e.Groups); return nil })
	droppedTotal.Add(float64(n))
	s.cfg.Logger.Warn("impressions dropped: readers may be shown these items again", "impressions", n, "why", why)
	s.forget(serial)
}

// forget deletes a closed segment. mu is held.
func (s *Spool) forget(serial uint64) {
	path := s.path(serial)
	if info, err := os.Stat(path); err == nil {
		s.bytes -= info.Size()
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.cfg.Logger.Warn("a segment of the impression spool cannot be deleted; it will be recorded again", "error", err)
	}
	s.closed = slices.DeleteFunc(s.closed, func(other uint64) bool { return other == serial })
	delete(s.since, serial)
	s.publish()
}

// Close ends recording and closes the files; what is not recorded stays on
// disk for the next Open.
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
