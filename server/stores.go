package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/cache"
	cachememory "github.com/freshet/freshet/cache/memory"
	"github.com/freshet/freshet/cache/redislist"
	"github.com/freshet/freshet/dedup"
	dedupmemory "github.com/freshet/freshet/dedup/memory"
	"github.com/freshet/freshet/dedup/outage"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/dedup/spool"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/slowdisk"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/server/datadir"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/fanout"
	"github.com/freshet/freshet/social/media"
)

type stores struct {
	catalogs
	dedup    dedup.Store
	sessions cache.Sessions
	recorder *dedup.Recorder
	spool    *spool.Spool  // nil unless failing open
	recovery *outage.Watch // nil unless failing open with filters in Redis
}

func (b *builder) openStores(ctx context.Context, c clients) (stores, error) {
	b.waitForService(b.cfg.UsesRedis(), "redis")
	seen, sessions, err := b.openDedup(ctx, c)
	if err != nil {
		return stores{}, err
	}
	b.waitForService(b.cfg.UsesElasticsearch(), "elasticsearch")
	items, err := b.openCatalogs(ctx, c)
	if err != nil {
		return stores{}, err
	}
	if c.index != nil {
		b.checks["elasticsearch"] = c.index.Check(items.shared.FallbackLeft)
		b.checkCopy(items.copied)
	}
	s := stores{catalogs: items, dedup: seen, sessions: sessions}
	s.recorder, err = b.openRecorder(ctx, seen)
	if err == nil && b.cfg.FailsOpen() {
		err = b.openSpool(ctx, c, &s)
	}
	return s, err
}

func (b *builder) openDedup(ctx context.Context, c clients) (dedup.Store, cache.Sessions, error) {
	if b.cfg.UsesRedis() {
		filters, err := b.openFilters(ctx, c)
		return filters, redislist.New(c.redis, connect.Sessions(b.cfg, c.redis, connect.Replicas(b.cfg, c.breaker), b.log)), err
	}
	dir, err := b.dataDir(datadir.Impressions)
	if err != nil {
		return nil, nil, err
	}
	store, err := dedupmemory.Open(dir, connect.Dedup(b.cfg), b.clock, dedupmemory.WithLogger(b.log))
	if err != nil {
		return nil, nil, err
	}
	b.onClose("journal of impressions", store.Close)
	b.writable = store.Writable
	// After the journal is open: it knows what was claimed before a kill.
	dir, err = b.dataDir(datadir.Pages)
	if err != nil {
		return nil, nil, err
	}
	sessions, err := cachememory.Open(ctx, dir, store, b.cfg.Sessions.TTL, b.clock)
	if err != nil {
		return nil, nil, err
	}
	b.onClose("pages for retries", sessions.Close)
	return store, sessions, nil
}

// checkFiles adds the check of data_dir, once everything in it is open: it fails once the
// directory, or an open database in it, was removed or replaced, or the journal of impressions
// cannot be written. It also reports a database that is damaged.
func (b *builder) checkFiles() error {
	if len(b.files) == 0 {
		return nil
	}
	opened, err := sqlitefile.Identify(append(b.files, filepath.Dir(b.files[0]))...)
	if err != nil {
		return fmt.Errorf("data_dir: %w", err)
	}
	slow := slowDisk{disk: sqlitefile.Disk, log: b.log}
	b.checks["data_dir"] = func(ctx context.Context) handler.Dependency {
		if err := opened.Check(); err != nil {
			return handler.Dependency{Err: err, Reason: err.Error()}
		}
		if err := sqlitefile.Damaged(b.files); err != nil { // other calls succeed
			return handler.Dependency{Err: err, Reason: err.Error(), Optional: true}
		}
		state := handler.Dependency{Warning: slow.warning(ctx, sqlitefile.SlowCommit(b.files))}
		if b.writable != nil {
			state.Err = b.writable(ctx)
		}
		return state
	}
	return nil
}

// slowDisk tells of a disk that takes long to store a commit.
type slowDisk struct {
	disk string
	log  *slog.Logger
	told atomic.Bool
}

// warning returns the text for /readyz, "" if no commit was slow, and logs the first of several.
func (s *slowDisk) warning(ctx context.Context, took time.Duration) string {
	if took == 0 {
		s.told.Store(false)
		return ""
	}
	text := slowdisk.Text(s.disk, took)
	if s.told.CompareAndSwap(false, true) {
		s.log.WarnContext(ctx, text+"; calls that write wait for it, and fail at their deadline")
	}
	return text
}

// warnOfEviction logs that Redis may forget what readers were shown. The doctor says more about its settings.
func (b *builder) warnOfEviction(ctx context.Context, c clients) {
	ctx, cancel := context.WithTimeout(ctx, b.cfg.Server.RequestTimeout)
	defer cancel()
	policy := connect.EvictionPolicy(ctx, c.redis)
	if policy != "" {
		b.log.WarnContext(ctx, "Redis evicts keys when its memory is full, and readers are then shown old items again",
			"maxmemory_policy", policy, "fix", "set maxmemory-policy noeviction in Redis")
	}
}

func (b *builder) openFilters(ctx context.Context, c clients) (dedup.Store, error) {
	tuning := redisbloom.Config{KeyPrefix: b.cfg.Redis.KeyPrefix, Logger: b.log, Replicas: connect.Replicas(b.cfg, c.breaker)}
	store, err := redisbloom.New(c.redis, connect.Dedup(b.cfg), tuning)
	if err != nil {
		return nil, err
	}
	err = store.Verify(ctx)
	if errors.Is(err, dedup.ErrUnavailable) && b.cfg.FailsOpen() {
		b.log.WarnContext(ctx, "Redis is down; serving without it (dedup.on_failure: open)", "error", err)
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	b.warnOfEviction(ctx, c)
	b.checks["redis"] = func(ctx context.Context) handler.Dependency {
		state := handler.Dependency{Err: c.clock.Ask(ctx), Warning: c.clock.Warning(), Optional: b.cfg.FailsOpen()}
		if state.Err != nil {
			state.Reason = whyRedisDown(state.Err)
			return state
		}
		state.Err = store.Verify(ctx)
		if state.Err != nil {
			state.Reason = "reachable, but filters are unavailable: BF.INSERT, the module or the user's permission is missing"
			return state
		}
		state.Err = store.TakesWrites(ctx)
		if state.Err != nil {
			state.Reason = withAdvice(writesRefused, rediskeys.Advice(state.Err))
			return state
		}
		state.Err = rediskeys.TryScript(ctx, c.redis, rediskeys.For(c.redis, b.cfg.Redis.KeyPrefix).FilterProbe())
		if state.Err != nil {
			state.Reason = withAdvice("reachable, but scripts are refused", rediskeys.Advice(state.Err))
		}
		return state
	}
	return store, nil
}

// writesRefused is the reason in /readyz if Redis answers, but accepts no writes.
const writesRefused = "reachable, but writes are refused"

// whyRedisDown returns why a check of Redis failed, or why the breaker refused it, if Redis has said so,
// and "" otherwise.
func whyRedisDown(err error) string {
	err = handler.LastFailure(err)
	if errors.Is(err, connect.ErrCluster) {
		return connect.ErrCluster.Error()
	}
	if rediskeys.RefusesWrites(err) {
		return withAdvice(writesRefused, rediskeys.Advice(err))
	}
	return rediskeys.Advice(err)
}

// withAdvice appends to a reason what an operator can do about it, if that is known.
func withAdvice(reason, advice string) string {
	if advice == "" {
		return reason
	}
	return reason + ": " + advice
}

// openSpool opens the spool that stores impressions on disk while Redis is down and, if filters
// are in Redis, the watch of outages.
func (b *builder) openSpool(ctx context.Context, c clients, s *stores) error {
	dir, err := b.dataDir(datadir.Spool)
	if err != nil {
		return err
	}
	notes := redisbloom.NewOutageMarkers(c.redis, b.cfg.Redis.KeyPrefix)
	cfg := connect.Dedup(b.cfg)
	s.spool, err = spool.Open(ctx, dir, s.recorder.Confirm, b.clock, spool.Config{
		MaxAge: cfg.PendingTTL, OfferedOnly: !cfg.Served, Grace: b.pauses.settle, Every: b.pauses.spool,
		Withdraw: s.sessions.Withdraw, Markers: notes,
		Timeout: b.cfg.Server.RequestTimeout, Logger: b.log,
	})
	if err != nil {
		return err
	}
	b.onClose("spool", s.spool.Close)
	filters, ok := s.dedup.(*redisbloom.Store)
	if !ok {
		return nil
	}
	s.recovery = outage.Open(ctx, filters, notes, outage.Config{
		After: b.pauses.settle, Every: b.pauses.notes, Timeout: b.cfg.Server.RequestTimeout, Logger: b.log,
		Restarted: func(ctx context.Context) (time.Duration, bool, error) {
			used, err := filters.InUse(ctx, b.clock())
			if err != nil || !used {
				return 0, false, err
			}
			ago, err := connect.Uptime(ctx, c.redis)
			return ago, true, err
		},
	})
	c.masters.Notify(s.recovery.Restarted)
	b.background(ctx, "watch of outages", s.recovery.Run)
	return nil
}

// imageShare of imageOf is the share of a request's time for storing the images of a post: the
// rest is for the database, and for the answer if storing fails.
const imageShare, imageOf = 2, 3

// openMedia opens the store of the images of posts; nil if there is none.
func (b *builder) openMedia(rows social.Images) (*media.Files, media.Store, error) {
	address, err := b.mediaURL()
	if err != nil || address == "" {
		return nil, nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, nil, fmt.Errorf("media.url: %w", err)
	}
	if err := connect.RemoveUnfinished(u, b.cfg.UsesPostgres()); err != nil {
		return nil, nil, err
	}
	store, err := connect.Images(u)
	if err != nil {
		return nil, nil, err
	}
	b.disconnects("media", store.Close)
	files := media.NewFiles(store, rows, b.cfg.Server.RequestTimeout*imageShare/imageOf)
	if u.Scheme == "s3" { // listing a folder would cost more than it is worth
		b.checks["media"] = func(ctx context.Context) handler.Dependency {
			err := files.Ping(ctx)
			return handler.Dependency{Err: err, Optional: true, Reason: refused(err)}
		}
	}
	return files, store, nil
}

// refused returns why the store of images refuses, and what to do, or "" if it does not.
func refused(err error) string {
	var r *media.Refusal
	if errors.As(err, &r) {
		return r.Advice
	}
	return ""
}

// mediaURL returns where images are stored: by default in data_dir if posts are in SQLite.
func (b *builder) mediaURL() (string, error) {
	if b.cfg.Media.URL != "" || b.cfg.UsesPostgres() {
		return b.cfg.Media.URL, nil
	}
	dir, err := b.dataDir("media")
	if err != nil {
		return "", err
	}
	return connect.FolderURL(dir)
}

// imageRemover returns the remover of images; nil if there are none.
func imageRemover(files *media.Files) fanout.Files {
	if files == nil {
		return nil
	}
	return files
}
