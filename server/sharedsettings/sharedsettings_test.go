package sharedsettings_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/sharedsettings"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postgres"
)

func services() configs.Config {
	cfg := configs.Default()
	cfg.Redis.URL, cfg.Elasticsearch.Addresses, cfg.Postgres.URL = "redis://r", []string{"http://e"}, "postgres://p/f"
	cfg.Media.URL = "s3://images?region=eu"
	return cfg
}

// TestStores stores, compares and replaces settings in each kind of store.
func TestStores(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) sharedsettings.Store{
		"elasticsearch": func(t *testing.T) sharedsettings.Store {
			address, index := testenv.Elastic(t)
			client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}})
			require.NoError(t, err)
			return sharedsettings.InElastic(client, index)
		},
		"redis": func(t *testing.T) sharedsettings.Store {
			client, prefix := testenv.Redis(t)
			return sharedsettings.InRedis(client, prefix)
		},
		"postgres": func(t *testing.T) sharedsettings.Store {
			s, err := postgres.New(t.Context(), postgres.Config{URL: testenv.Postgres(t) + "&pool_max_conns=2"}, social.Options{})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			require.NoError(t, s.Migrate(t.Context()))
			return s.Settings()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t)
			cfg := services()
			own := sharedsettings.Of(cfg)
			require.NoError(t, sharedsettings.Compare(t.Context(), store, own), "nothing is kept yet")
			kept, err := store.Get(t.Context())
			require.NoError(t, err)
			require.Empty(t, kept, "looking changes nothing")
			require.NoError(t, sharedsettings.Check(t.Context(), store, own))
			require.NoError(t, sharedsettings.Check(t.Context(), store, own))
			require.NoError(t, sharedsettings.Compare(t.Context(), store, own))
			unused, err := sharedsettings.Unused(t.Context(), store, own)
			require.NoError(t, err)
			require.Empty(t, unused)
			unused, err = sharedsettings.Unused(t.Context(), store, sharedsettings.Of(configs.Default()))
			require.NoError(t, err)
			require.Equal(t, []string{"Redis (redis.url)", "Elasticsearch (elasticsearch.addresses)", "PostgreSQL (postgres.url)"}, unused)

			cfg.Redis.KeyPrefix, cfg.Dedup.WindowDays = "other:", 14
			other := sharedsettings.Of(cfg)
			for _, check := range []error{sharedsettings.Check(t.Context(), store, other), sharedsettings.Compare(t.Context(), store, other)} {
				require.ErrorIs(t, check, sharedsettings.ErrDiffers)
				require.ErrorContains(t, check, "dedup.window_days is 14 here and 7 on the others; redis.key_prefix is other: here and empty on the others")
			}
			require.NoError(t, sharedsettings.Check(t.Context(), store, own), "nothing was changed")
			require.NoError(t, sharedsettings.Accept(t.Context(), store, other))
			require.NoError(t, sharedsettings.Check(t.Context(), store, other))
			require.ErrorIs(t, sharedsettings.Check(t.Context(), store, own), sharedsettings.ErrDiffers)

			other["of a newer version"] = "x"
			require.NoError(t, sharedsettings.Check(t.Context(), store, other), "it is added")
			delete(other, "dedup.window_days")
			require.NoError(t, sharedsettings.Check(t.Context(), store, other), "an older version knows less")
			other["of a newer version"] = "y"
			require.ErrorContains(t, sharedsettings.Check(t.Context(), store, other), "of a newer version is y here and x on the others")
		})
	}
}

// TestSettingsMismatch changes settings one at a time.
func TestSettingsMismatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*configs.Config)
		agree  bool
	}{
		"another server's address":  {func(c *configs.Config) { c.Redis.URL, c.Server.Addr = "rediss://u:p@other:7000", ":1" }, true},
		"limits":                    {func(c *configs.Config) { c.Dedup.Shards, c.Dedup.DailyCapacity, c.Recall.N = 8, 5, 100 }, true},
		"deadlines, without Redis":  {func(c *configs.Config) { c.Redis.URL, c.Server.RequestTimeout = "", time.Second }, true},
		"sessions, where all count": {func(c *configs.Config) { c.Sessions.TTL = time.Hour }, true},
		"credentials of images":     {func(c *configs.Config) { c.Media.URL += "&anonymous=true" }, true},
		"key prefix":                {func(c *configs.Config) { c.Redis.KeyPrefix = "x:" }, false},
		"deadlines":                 {func(c *configs.Config) { c.Server.RequestTimeout = time.Second }, false},
		"database":                  {func(c *configs.Config) { c.Redis.URL += "/3" }, false},
		"lists elsewhere":           {func(c *configs.Config) { c.Timeline.RedisURL = "redis://lists" }, false},
		"index":                     {func(c *configs.Config) { c.Elasticsearch.Index = "x" }, false},
		"window":                    {func(c *configs.Config) { c.Dedup.WindowDays = 8 }, false},
		"what counts":               {func(c *configs.Config) { c.Impressions.On = configs.OnSeen }, false},
		"groups":                    {func(c *configs.Config) { c.Catalog.GroupBy = configs.GroupByURL }, false},
		"the claim of tokens":       {func(c *configs.Config) { c.Auth.Mode, c.Auth.JWT.Claim = configs.ModeJWT, "uid" }, false},
		"celebrities":               {func(c *configs.Config) { c.Timeline.CelebrityAt = 5 }, false},
		"bucket":                    {func(c *configs.Config) { c.Media.URL = "s3://other?region=eu" }, false},
	} {
		cfg, other := services(), services()
		c.change(&cfg)
		if !cfg.UsesRedis() {
			other.Redis.URL = ""
		}
		assert.Equal(t, c.agree, assert.ObjectsAreEqual(sharedsettings.Of(other), sharedsettings.Of(cfg)), name)
	}
}
