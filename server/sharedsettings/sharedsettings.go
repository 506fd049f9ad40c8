// Package sharedsettings compares the settings that must be equal on all servers over the same stores.
// If they differ, servers repeat items that others have shown, or miss data that others have
// stored. The first server writes its settings into each store that servers may share.
package sharedsettings

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/rediskeys"
)

// ErrDiffers is wrapped by errors that name the settings that differ.
var ErrDiffers = errors.New("this server's settings differ from those of the servers over the same stores")

// Advice says how to resolve [ErrDiffers].
const Advice = "correct them, or make these the settings of all servers: freshet doctor --accept-settings, then restart each"

// Store stores one text shared by all servers.
type Store interface {
	// Get returns the text, or "" if none is stored.
	Get(ctx context.Context) (string, error)
	// Put stores the text in place of any other. With once, it leaves an existing text unchanged.
	Put(ctx context.Context, text string, once bool) error
}

// Settings holds the values of the settings that must agree, by name. None is secret.
type Settings map[string]string

// Of returns the settings of a configuration.
func Of(cfg configs.Config) Settings {
	s := Settings{
		"dedup.window_days": strconv.Itoa(cfg.Dedup.WindowDays),
		"impressions.on":    cfg.Impressions.On,
		"catalog.group_by":  cfg.Catalog.GroupBy,
	}
	if cfg.Impressions.On == configs.OnSeen { // an item that is not reported counts as shown until its session expires
		s["sessions.ttl"] = cfg.Sessions.TTL.String()
	}
	if cfg.Auth.Mode == configs.ModeJWT {
		s["auth.jwt.claim"] = cfg.Auth.JWT.Claim
	}
	if cfg.UsesRedis() {
		s["redis.key_prefix"] = cfg.Redis.KeyPrefix
		s["the database of redis.url"] = strconv.Itoa(cfg.Redis.Server().DB)
		// The pending grace derives from it: impressions stay pending for as long as any server may
		// take for a page.
		s["server.request_timeout"] = cfg.Server.RequestTimeout.String()
	}
	if cfg.UsesElasticsearch() {
		s["elasticsearch.index"] = cfg.Elasticsearch.Index
	}
	if cfg.UsesPostgres() {
		s["changes.retention"] = cfg.Changes.Retention.String()
		s["notifications.retention"] = cfg.Notifications.Retention.String()
		s["timeline.celebrity.at"] = strconv.Itoa(cfg.Timeline.CelebrityAt)
		s["the database of timeline.redis_url"] = "none"
		if cfg.Timeline.RedisURL != "" {
			s["the database of timeline.redis_url"] = strconv.Itoa(cfg.WithListsRedis().Redis.Server().DB)
		}
		s["media.url"] = withoutParameters(cfg.Media.URL)
	}
	return s
}

// WithDatabase returns the settings with the identity of the database of posts, unless that is "": what
// other stores have about posts is about those of one database. It is not for the database's own store,
// which a copy brings with it.
func (s Settings) WithDatabase(identity string) Settings {
	s = maps.Clone(s)
	if identity != "" {
		s["the database that postgres.url leads to"] = identity
	}
	return s
}

// withoutParameters reduces an address to its scheme, host and path.
func withoutParameters(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// parse decodes stored settings.
func parse(text string) (Settings, error) {
	var s Settings
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, fmt.Errorf("decode the settings shared by all servers: %w", err)
	}
	return s, nil
}

// compare returns an error that names the settings that differ, or nil. A setting that only one
// side has belongs to another version and is ignored.
func (s Settings) compare(kept Settings) error {
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if theirs, ok := kept[name]; ok && theirs != s[name] {
			differ = append(differ, fmt.Sprintf("%s is %s here and %s on the others", name, cmp.Or(s[name], "empty"), cmp.Or(theirs, "empty")))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrDiffers, strings.Join(differ, "; "))
}

// Check compares the settings with the stored ones, and stores those that are missing there. The
// error wraps [ErrDiffers], or is the store's.
func Check(ctx context.Context, store Store, s Settings) error {
	found, err := store.Get(ctx)
	if err == nil && found == "" {
		if err = s.keep(ctx, store, true); err == nil {
			found, err = store.Get(ctx)
		}
	}
	if err != nil {
		return err
	}
	kept, err := parse(found)
	if err != nil {
		return err
	}
	if err := s.compare(kept); err != nil {
		return err
	}
	before := len(kept)
	maps.Copy(kept, s)
	if len(kept) == before {
		return nil
	}
	return Accept(ctx, store, kept)
}

// Compare checks the settings against the stored ones and changes nothing.
func Compare(ctx context.Context, store Store, s Settings) error {
	found, err := store.Get(ctx)
	if err != nil || found == "" {
		return err
	}
	kept, err := parse(found)
	if err != nil {
		return err
	}
	return s.compare(kept)
}

// uses names settings that only servers with a store have, and the store.
var uses = []struct{ setting, store string }{
	{"redis.key_prefix", "Redis (redis.url)"},
	{"elasticsearch.index", "Elasticsearch (elasticsearch.addresses)"},
	{"timeline.celebrity.at", "PostgreSQL (postgres.url)"},
}

// Unused returns the stores that the servers over the same stores use, and a server with these settings
// does not.
func Unused(ctx context.Context, store Store, s Settings) (stores []string, err error) {
	found, err := store.Get(ctx)
	if err != nil || found == "" {
		return nil, err
	}
	kept, err := parse(found)
	for _, u := range uses {
		_, theirs := kept[u.setting]
		_, ours := s[u.setting]
		if theirs && !ours {
			stores = append(stores, u.store)
		}
	}
	return stores, err
}

// where are the settings that say where servers keep data, besides the stores themselves.
var where = []string{"redis.key_prefix", "the database of redis.url", "the database of timeline.redis_url", "elasticsearch.index", "media.url"}

// Elsewhere returns what the servers over a store use and s does not: stores, and places in stores. What has
// only the settings s misses the data there.
func Elsewhere(ctx context.Context, store Store, s Settings) (places []string, err error) {
	places, err = Unused(ctx, store, s)
	if err != nil {
		return nil, err
	}
	found, err := store.Get(ctx)
	if err != nil || found == "" {
		return nil, err
	}
	kept, err := parse(found)
	for _, name := range where {
		theirs, used := kept[name]
		ours, known := s[name]
		if used && known && theirs != ours {
			places = append(places, fmt.Sprintf("%s %s (here %s)", name, cmp.Or(theirs, "empty"), cmp.Or(ours, "empty")))
		}
	}
	return places, err
}

// Accept stores the settings as those of all servers.
func Accept(ctx context.Context, store Store, s Settings) error { return s.keep(ctx, store, false) }

func (s Settings) keep(ctx context.Context, store Store, once bool) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return store.Put(ctx, string(text), once)
}

// DocID is the id of the settings document in the index of the ranking versions. No version has
// this id.
const DocID = "settings"

// elastic stores the text in the index of the ranking versions of an item index.
type elastic struct {
	client esindex.Client
	items  string
}

// InElastic returns a store of settings in the index of the ranking versions of the item index.
func InElastic(client esindex.Client, items string) Store { return elastic{client, items} }

type document struct {
	Settings string `json:"settings"`
}

// Get implements [Store].
func (e elastic) Get(ctx context.Context) (string, error) {
	docs, err := esindex.Get(ctx, e.client, []esindex.DocID{{Index: esindex.Rankings(e.items), ID: DocID}})
	if err == nil {
		err = docs[0].Err()
	}
	if err != nil || len(docs[0].Source) == 0 {
		if esindex.Missing(err) {
			err = nil
		}
		return "", err
	}
	var d document
	err = json.Unmarshal(docs[0].Source, &d)
	return d.Settings, err
}

// Put implements [Store].
func (e elastic) Put(ctx context.Context, text string, once bool) error {
	if _, err := esindex.EnsureBeside(ctx, e.client, e.items); err != nil {
		return err
	}
	body, err := json.Marshal(document{text})
	if err != nil {
		return err
	}
	how := "/_doc/"
	if once {
		how = "/_create/"
	}
	err = esindex.Do(ctx, e.client, http.MethodPut, "/"+esindex.Rankings(e.items)+how+DocID, esindex.Patience(ctx), body, nil)
	var refused *esindex.Error
	if once && errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return nil // it exists
	}
	return err
}

// inRedis stores the text under the key prefix: servers with different prefixes share nothing.
type inRedis struct {
	client redis.Cmdable
	key    string
}

// InRedis returns a store of settings in Redis, under the key prefix.
func InRedis(client redis.Cmdable, prefix string) Store {
	return inRedis{client, rediskeys.For(client, prefix).Settings()}
}

// Get implements [Store].
func (r inRedis) Get(ctx context.Context) (string, error) {
	text, err := r.client.Get(ctx, r.key).Result()
	if errors.Is(err, redis.Nil) {
		return "", nil
	}
	return text, err
}

// Put implements [Store].
func (r inRedis) Put(ctx context.Context, text string, once bool) error {
	if once {
		return r.client.SetNX(ctx, r.key, text, 0).Err()
	}
	return r.client.Set(ctx, r.key, text, 0).Err()
}
