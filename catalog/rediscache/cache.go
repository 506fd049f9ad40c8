// Package rediscache keeps items and profiles of another catalog in Redis, so
// that hydrating a page is one round trip there. Redis is never the truth: a
// read that fails or finds nothing goes on to the catalog.
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
	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/internal/rediskeys"
)

const (
	itemTTL    = 10 * time.Minute
	profileTTL = 24 * time.Hour
	holdoff    = time.Second // reads go around Redis after it was not reached, so that each costs no timeout
)

// Config tunes a Cache. Zero values stand for the defaults.
type Config struct {
	KeyPrefix string // goes before every key
	// Tombstone is how long after a change readers may not fill the cache;
	// it must be longer than any request, so that a reader who fetched the old
	// value is gone by then; 10s.
	Tombstone time.Duration
	Clock     feed.Clock   // time.Now
	Logger    *slog.Logger // nil: none
}

// Cache is a catalog behind a cache in Redis. Reads work without Redis; writes
// need it, because otherwise other servers would go on answering the old
// value: they fail with [catalog.ErrUnavailable] and may be repeated. Then an
// item may be stored, and other servers go on answering the old one for up to
// ten minutes; a profile is not changed.
//
// How a reader is kept from putting an old value back: readers fill the cache
// by SET NX only, and a writer leaves a tombstone, a value that readers take
// for a miss but that makes their SET NX fail until it expires.
type Cache struct {
	catalog.Watched
	catalog.WatchedProfiles
	next   catalog.Catalog
	client redis.Cmdable
	keys   rediskeys.Keys
	cfg    Config
	downTo atomic.Int64 // Unix nanoseconds until which reads go around Redis
}

var _ catalog.Catalog = (*Cache)(nil)

// New puts a cache behind client in front of next. It does not dial yet.
func New(next catalog.Catalog, client redis.Cmdable, cfg Config) *Cache {
	cfg.Tombstone = cmp.Or(cfg.Tombstone, 10*time.Second)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	c := &Cache{next: next, client: client, keys: rediskeys.For(client, cfg.KeyPrefix), cfg: cfg}
	// Of a write that failed nothing is known, so its items are buried too.
	c.Watched = catalog.Watched{Catalog: next, Watch: func(ids []string) func(context.Context, catalog.Written) error {
		return func(ctx context.Context, _ catalog.Written) error { return c.bury(ctx, ids) }
	}}
	c.WatchedProfiles = catalog.WatchedProfiles{Profiles: next, Change: func(ctx context.Context, agent string, write func() error) error {
		return c.changeProfile(ctx, agent, write, nil)
	}}
	return c
}

// Docs implements [catalog.Reader].
func (c *Cache) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	got := c.look(ctx, ids)
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

// Hydrate implements [catalog.Catalog]: one round trip, and where something
// is not cached one more to the catalog, for items and profile at once.
func (c *Cache) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	got := c.look(ctx, ids, agent)
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
		group.Go(guard.Func(func() (err error) {
			fetched, err = c.fetchProfile(ctx, agent)
			return err
		}))
	}
	if len(missed) > 0 {
		group.Go(guard.Func(func() (err error) {
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
	known := c.look(ctx, nil, agent).profiles[0]
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

// knownProfile is an agent's profile as the cache or the catalog has it.
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

// down reports whether reads go around Redis for now.
func (c *Cache) down() bool {
	until := c.downTo.Load()
	return until != 0 && c.cfg.Clock().UnixNano() < until
}

// failed takes note of a round trip of a read that failed.
func (c *Cache) failed(ctx context.Context, step string, err error) {
	if rediskeys.Unreachable(err) {
		c.downTo.Store(c.cfg.Clock().Add(holdoff).UnixNano())
	}
	c.log(ctx, step, err)
}

// log logs an error that the catalog makes up for.
func (c *Cache) log(ctx context.Context, step string, err error) {
	c.cfg.Logger.DebugContext(ctx, "the content cache failed; the catalog answers instead",
		slog.String("step", step), slog.Any("error", err))
}

func contractError(step string, err error) error {
	return rediskeys.Failed(catalog.ErrUnavailable, step, err)
}
