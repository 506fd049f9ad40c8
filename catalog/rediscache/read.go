package rediscache

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/metrics"
)

// absent is the cached value for an agent without a profile.
const absent = "null"

// mark is the prefix of profile values that indicate a change in progress. The tombstone of an
// item is the empty string; readers treat both as a miss.
const mark = "~"

// found is the result of a cache lookup.
type found struct {
	docs     []feed.Doc      // one per id; without JSON if not cached
	misses   int             // docs without JSON
	profiles []*knownProfile // one per agent; nil if not cached
}

// lookup reads items and the profiles of agents in one round trip. Values that cannot be read
// count as not cached.
func (c *Cache) lookup(ctx context.Context, ids []string, agents ...string) found {
	got := found{docs: make([]feed.Doc, len(ids)), misses: len(ids), profiles: make([]*knownProfile, len(agents))}
	for i, id := range ids {
		got.docs[i].ID = id
	}
	if c.down() || len(agents)+len(ids) == 0 {
		return got
	}
	keys := c.keys.AppendItems(make([]string, 0, len(ids)+len(agents)), ids)
	for _, agent := range agents {
		keys = append(keys, c.keys.Profile(agent))
	}
	values := c.read(ctx, keys)
	got.take(values[:len(ids)])
	for i, agent := range agents {
		got.profiles[i] = c.readProfile(ctx, agent, values[len(ids)+i])
	}
	metrics.ItemRedis.Hits.Add(float64(len(ids) - got.misses))
	metrics.ItemRedis.Misses.Add(float64(got.misses))
	return got
}

// read returns the values of keys, "" for one that is missing or cannot be read. It is one MGET, or
// on a cluster, where the keys are on different servers, one GET each.
func (c *Cache) read(ctx context.Context, keys []string) []string {
	pipe := c.client.Pipeline()
	var mget *redis.StringSliceCmd
	if c.keys.Cluster() {
		for _, key := range keys {
			pipe.Get(ctx, key)
		}
	} else {
		// Not pipe.MGet, which boxes every value. The client writes a *string as the string, which
		// avoids boxing the keys.
		args := make([]any, 1, 1+len(keys))
		args[0] = "mget"
		for i := range keys {
			args = append(args, &keys[i])
		}
		mget = redis.NewStringSliceCmd(ctx, args...)
		_ = pipe.Process(ctx, mget)
	}
	if c.cfg.Beside != nil { // last, so that the others have their places
		sent := c.cfg.Beside(ctx, pipe)
		if sent != nil {
			defer sent()
		}
	}
	// A cluster answers each command separately: this error is the first failure, or that a key is
	// missing.
	gets, err := pipe.Exec(ctx)
	if err != nil && !errors.Is(err, redis.Nil) {
		c.failed(ctx, "read", err)
	}
	if mget != nil && len(mget.Val()) == len(keys) {
		return mget.Val()
	}
	values := make([]string, len(keys))
	for i, get := range gets {
		if one, ok := get.(*redis.StringCmd); ok {
			values[i] = one.Val() // "" on an error
		}
	}
	return values
}

// take copies the values into the docs, all in one allocation.
func (f *found) take(values []string) {
	size := 0
	for _, v := range values {
		size += len(v)
	}
	all := make([]byte, 0, size)
	for i, v := range values {
		if v == "" {
			continue
		}
		from := len(all)
		all = append(all, v...)
		f.docs[i].JSON = json.RawMessage(all[from:len(all):len(all)])
		f.misses--
	}
}

// ProfilesOf implements [catalog.Profiles] with one round trip for the cached profiles and one
// call to the catalog for the others.
func (c *Cache) ProfilesOf(ctx context.Context, agents []string) ([]feed.Profile, error) {
	known := c.lookup(ctx, nil, agents...).profiles
	out := make([]feed.Profile, len(agents))
	var missed []string
	var at []int
	for i, k := range known {
		if k == nil {
			missed, at = append(missed, agents[i]), append(at, i)
		} else {
			out[i] = k.profile
		}
	}
	if len(missed) == 0 {
		return out, nil
	}
	read, err := c.next.ProfilesOf(ctx, missed)
	if err != nil && !errors.Is(err, catalog.ErrUnavailable) {
		return nil, err
	}
	fetched := make([]*knownProfile, 0, len(read))
	for i := range read {
		out[at[i]] = read[i]
		if err == nil && !reflect.DeepEqual(read[i], feed.Profile{}) { // an empty one may mean that the agent has none
			fetched = append(fetched, &knownProfile{agent: missed[i], profile: read[i]})
		}
	}
	c.fill(ctx, nil, fetched...)
	return out, err
}

func (c *Cache) readProfile(ctx context.Context, agent, text string) *knownProfile {
	known := c.parseProfile(ctx, agent, text)
	if known == nil {
		metrics.ProfileRedis.Misses.Inc()
	} else {
		metrics.ProfileRedis.Hits.Inc()
	}
	return known
}

// parseProfile parses a cached profile; nil if it is invalid.
func (c *Cache) parseProfile(ctx context.Context, agent, text string) *knownProfile {
	if text == "" || text[:1] == mark {
		return nil
	}
	known := &knownProfile{agent: agent, absent: text == absent}
	if !known.absent {
		r, err := catalog.ParseRecord([]byte(text))
		if err != nil {
			c.log(ctx, "profile", err)
			return nil
		}
		known.profile = r.Profile
	}
	return known
}

// missed returns the ids that are not cached, each once.
func (f *found) missed() []string {
	if f.misses == 0 {
		return nil
	}
	ids := make([]string, 0, f.misses)
	seen := make(map[string]struct{}, f.misses)
	for _, d := range f.docs {
		_, twice := seen[d.ID]
		if d.Missing() && !twice {
			seen[d.ID] = struct{}{}
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// merge fills the missing docs with those of the catalog.
func (f *found) merge(docs []feed.Doc) {
	if len(docs) == 0 {
		return
	}
	byID := make(map[string]json.RawMessage, len(docs))
	for _, d := range docs {
		byID[d.ID] = d.JSON
	}
	for i := range f.docs {
		if f.docs[i].Missing() {
			f.docs[i].JSON = byID[f.docs[i].ID]
		}
	}
}

// fill caches values read from the catalog, unless they were written in the meantime. It is one
// more round trip, only after a miss. The absence of items is not cached, because they may be
// added at any time.
func (c *Cache) fill(ctx context.Context, docs []feed.Doc, profiles ...*knownProfile) {
	if c.down() {
		return
	}
	pipe := c.client.Pipeline()
	for _, d := range docs {
		if !d.Missing() {
			pipe.SetNX(ctx, c.keys.Item(d.ID), []byte(d.JSON), itemTTL)
		}
	}
	for _, profile := range profiles {
		if profile == nil {
			continue
		}
		if text, err := profile.text(); err == nil {
			pipe.SetNX(ctx, c.keys.Profile(profile.agent), text, profileTTL)
		}
	}
	if pipe.Len() == 0 {
		return
	}
	if _, err := pipe.Exec(ctx); err != nil {
		c.failed(ctx, "fill", err)
	}
}

// text returns the cached form of the profile.
func (p *knownProfile) text() (string, error) {
	if p.absent {
		return absent, nil
	}
	text, err := json.Marshal(catalog.RecordOf(p.profile))
	return string(text), err
}
