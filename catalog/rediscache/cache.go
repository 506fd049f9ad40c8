// Package rediscache caches items and profiles of another catalog in Redis, so that hydrating a
// page takes one round trip. Redis is never authoritative: a failed read or a cache miss falls
// back to the catalog.
package rediscache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/safego"
)

const (
	itemTTL    = 10 * time.Minute
	profileTTL = 24 * time.Hour
	holdoff    = time.Second // how long reads bypass Redis after it was unreachable, to avoid timeouts
)

// Config configures a Cache. Zero values mean the defaults.
type Config struct {
	KeyPrefix string // prefix of every key
	// Tombstone is how long after a change readers may not fill the cache. It must be longer
	// than any request, so that a reader that fetched the old value has finished by then.
	// Default 10s.
	Tombstone time.Duration
	// Beside adds commands to the pipeline of a read, as its context asks, and returns a function to call
	// when it was sent; nil if there is nothing to add. Nil means there never is.
	Beside func(ctx context.Context, pipe redis.Pipeliner) (sent func())
	Clock  feed.Clock   // default time.Now
	Logger *slog.Logger // nil disables logging
}

// Cache is a catalog with a cache in Redis. Reads work without Redis. Writes need it, because
// otherwise other servers would keep returning the old value: they fail with
// [catalog.ErrUnavailable] and may be repeated. After a failed write an item may be stored
// although other servers return the old one for up to ten minutes; a profile is not changed if
// Redis is unavailable when the change starts.
//
// How a reader is prevented from caching an old value: readers fill the cache only with SET NX,
// and a writer leaves a tombstone, a value that readers treat as a miss and that makes their
// SET NX fail until it expires.
type Cache struct {
	catalog.WriteHook
	catalog.ProfileHook
	next      catalog.Catalog
	client    redis.Cmdable
	keys      rediskeys.Keys
	cfg       Config
	downUntil atomic.Int64 // reads bypass Redis until then, Unix nanoseconds
	lately    lately       // items that prefetches have found
}

var _ catalog.Catalog = (*Cache)(nil)

// New returns a cache that uses client in front of next. It does not connect yet.
func New(next catalog.Catalog, client redis.Cmdable, cfg Config) *Cache {
	cfg.Tombstone = cmp.Or(cfg.Tombstone, 10*time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	c := &Cache{next: next, client: client, keys: rediskeys.For(client, cfg.KeyPrefix), cfg: cfg}
	c.lately.period = min(knownFor, cfg.Tombstone)
	// The outcome of a failed write is not known, so its items get tombstones too.
	c.WriteHook = catalog.WriteHook{Catalog: next, OnWrite: func(ids []string) func(context.Context, catalog.Written) error {
		return func(ctx context.Context, _ catalog.Written) error { return c.bury(ctx, ids) }
	}}
	c.ProfileHook = catalog.ProfileHook{Profiles: next, Change: func(ctx context.Context, agent string, write func() error) error {
		return c.changeProfile(ctx, agent, nil, write)
	}}
	return c
}

// Docs implements [catalog.Reader].
func (c *Cache) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	got := c.lookup(ctx, ids)
	missed := got.missed()
	if len(missed) == 0 {
		return got.docs, nil
	}
	found, err := c.next.Docs(ctx, missed)
	if err != nil {
		return got.docs, err
	}
	got.merge(found)
	c.fill(ctx, found, nil)
	return got.docs, nil
}

// Hydrate implements [catalog.Catalog] with one round trip, plus one to the catalog for the
// missing items and one, in parallel, for a missing profile.
func (c *Cache) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	got := c.lookup(ctx, ids, agent)
	known, missed := got.profiles[0], got.missed()
	if known != nil && len(missed) == 0 {
		return got.docs, known.profile, nil
	}
	var (
		found   []feed.Doc
		fetched *knownProfile
		group   errgroup.Group
	)
	if known == nil {
		group.Go(safego.Func(func() (err error) {
			fetched, err = c.fetchProfile(ctx, agent)
			return err
		}))
	}
	if len(missed) > 0 {
		group.Go(safego.Func(func() (err error) {
			found, err = c.next.Docs(ctx, missed)
			return err
		}))
	}
	err := group.Wait()
	c.fill(ctx, found, fetched)
	if known == nil {
		known = fetched
	}
	if known == nil {
		return nil, feed.Profile{}, err
	}
	got.merge(found)
	return got.docs, known.profile, err
}

// Profile implements [catalog.Profiles].
func (c *Cache) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	known := c.lookup(ctx, nil, agent).profiles[0]
	if known == nil {
		var err error
		if known, err = c.fetchProfile(ctx, agent); err != nil {
			return feed.Profile{}, err
		}
		c.fill(ctx, nil, known)
	}
	if known.absent {
		return feed.Profile{}, fmt.Errorf("profile of %s: %w", agent, feed.ErrNotFound)
	}
	return known.profile, nil
}

// knownProfile is an agent's profile from the cache or the catalog.
type knownProfile struct {
	agent   string
	absent  bool
	profile feed.Profile
}

func (c *Cache) fetchProfile(ctx context.Context, agent string) (*knownProfile, error) {
	p, err := c.next.Profile(ctx, agent)
	if errors.Is(err, feed.ErrNotFound) {
		return &knownProfile{agent: agent, absent: true}, nil
	}
	if err != nil {
		return nil, err
	}
	return &knownProfile{agent: agent, profile: p}, nil
}

// down reports whether reads bypass Redis for now.
func (c *Cache) down() bool {
	until := c.downUntil.Load()
	return until != 0 && c.cfg.Clock().UnixNano() < until
}

// failed handles a failed round trip of a read.
func (c *Cache) failed(ctx context.Context, step string, err error) {
	if rediskeys.Unreachable(err) {
		c.downUntil.Store(c.cfg.Clock().Add(holdoff).UnixNano())
	}
	c.log(ctx, step, err)
}

// log logs an error after which the catalog is used instead.
func (c *Cache) log(ctx context.Context, step string, err error) {
	c.cfg.Logger.DebugContext(ctx, "the content cache failed; the catalog is used instead",
		slog.String("step", step), slog.Any("error", err))
}

func contractError(step string, err error) error {
	return rediskeys.Failed(catalog.ErrUnavailable, step, err)
}
