// Package lru caches recently read items and profiles in this process, in front of a catalog
// that only this process writes: embedded mode. If several servers share a catalog, use
// catalog/rediscache, because this cache does not see the writes of other servers.
package lru

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/metrics"
)

// Limits of the cache.
const (
	maxBytes    = 64 << 20 // size of the cached items, JSON plus overhead
	maxProfiles = 10_000   // number of cached profiles, including absent ones
)

// maxDoc is the size of the largest cached item, in bytes, so that one reader of long articles
// cannot empty the cache for the others.
const maxDoc = 64 << 10

// docOverhead is the approximate memory of an entry in addition to its JSON.
const docOverhead = 192

// Cache is a catalog that answers from memory if it can. Its results, including profiles, are
// shared and read-only.
type Cache struct {
	catalog.WriteHook
	catalog.ProfileHook
	next     catalog.Catalog
	docs     *costLRU[feed.Doc]
	profiles *costLRU[profile]
}

// profile is a cached profile, or the fact that there is none, as for most readers.
type profile struct {
	feed.Profile
	exists bool
}

var _ catalog.Catalog = (*Cache)(nil)

// New returns a cache in front of next. All writes must go through it.
func New(next catalog.Catalog) *Cache { return newCache(next, maxBytes, maxProfiles) }

func newCache(next catalog.Catalog, bytes, profiles int) *Cache {
	c := &Cache{
		next: next,
		docs: newCostLRU(bytes, min(maxDoc, bytes/shards), func(id string, d feed.Doc) int {
			return len(id) + len(d.JSON) + docOverhead
		}),
		profiles: newCostLRU(profiles, 1, func(string, profile) int { return 1 }),
	}
	c.WriteHook = catalog.WriteHook{Catalog: next, OnWrite: func(ids []string) func(context.Context, catalog.Written) error {
		end := c.docs.writing(ids...)
		return func(context.Context, catalog.Written) error { end(); return nil }
	}}
	c.ProfileHook = catalog.ProfileHook{Profiles: next, Change: func(_ context.Context, agent string, write func() error) error {
		defer c.profiles.writing(agent)()
		return write()
	}}
	return c
}

// Docs implements [catalog.Reader]. It reads all items that are not cached with one call to the
// catalog. The absence of an item is not cached.
func (c *Cache) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	docs := make([]feed.Doc, len(ids))
	var missing []string
	var misses []miss
	for i, id := range ids {
		doc, seen, ok := c.docs.get(id)
		if ok {
			docs[i] = doc
			continue
		}
		if misses == nil {
			missing, misses = make([]string, 0, len(ids)-i), make([]miss, 0, len(ids)-i)
		}
		missing, misses = append(missing, id), append(misses, miss{at: i, seen: seen})
	}
	metrics.ItemProcess.Hits.Add(float64(len(ids) - len(misses)))
	if len(misses) == 0 {
		return docs, nil
	}
	metrics.ItemProcess.Misses.Add(float64(len(misses)))
	got, err := c.next.Docs(ctx, missing)
	if err != nil {
		return nil, err
	}
	for i, m := range misses {
		docs[m.at] = got[i]
		if !got[i].Missing() {
			own := strings.Clone(missing[i]) // it may be a part of a long text
			c.docs.offer(own, feed.Doc{ID: own, JSON: got[i].JSON}, m.seen)
		}
	}
	return docs, nil
}

// miss is an id that is not cached, with the ticket of its lookup.
type miss struct {
	at   int
	seen ticket
}

// lookup returns the agent's profile; it is zero if exists is false.
func (c *Cache) lookup(ctx context.Context, agent string) (profile, error) {
	p, seen, ok := c.profiles.get(agent)
	if ok {
		metrics.ProfileProcess.Hits.Inc()
		return p, nil
	}
	metrics.ProfileProcess.Misses.Inc()
	read, err := c.next.Profile(ctx, agent)
	if err != nil && !errors.Is(err, feed.ErrNotFound) {
		return profile{}, err
	}
	p = profile{Profile: read, exists: err == nil}
	c.profiles.offer(strings.Clone(agent), p, seen)
	return p, nil
}

// Profile implements [catalog.Profiles].
func (c *Cache) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	p, err := c.lookup(ctx, agent)
	if err == nil && !p.exists {
		err = fmt.Errorf("profile of %s: %w", agent, feed.ErrNotFound)
	}
	return p.Profile, err
}

// ProfilesOf implements [catalog.Profiles]. It reads those that are not cached with one call,
// and does not cache them.
func (c *Cache) ProfilesOf(ctx context.Context, agents []string) ([]feed.Profile, error) {
	out := make([]feed.Profile, len(agents))
	var missed []string
	var at []int
	for i, agent := range agents {
		p, _, ok := c.profiles.get(agent)
		if ok {
			out[i] = p.Profile
		} else {
			missed, at = append(missed, agent), append(at, i)
		}
	}
	metrics.ProfileProcess.Hits.Add(float64(len(agents) - len(missed)))
	metrics.ProfileProcess.Misses.Add(float64(len(missed)))
	if len(missed) == 0 {
		return out, nil
	}
	read, err := c.next.ProfilesOf(ctx, missed)
	for i := range read {
		out[at[i]] = read[i]
	}
	return out, err
}

// Hydrate implements [catalog.Catalog].
func (c *Cache) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	docs, err := c.Docs(ctx, ids)
	if err != nil {
		return nil, feed.Profile{}, err
	}
	p, err := c.lookup(ctx, agent)
	if err != nil {
		return nil, feed.Profile{}, err
	}
	return docs, p.Profile, nil
}
