package bench

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/server/connect"
)

// mark is the prefix of every name of a run. Names without it are never removed.
const mark = "freshet-bench-"

// cleanUp limits the time for removing the run's data.
const cleanUp = time.Minute

// ownName returns a unique name, for keys, an index and a directory.
func ownName() string { return mark + strings.ToLower(rand.Text()) }

// connect opens the configured connections and checks that each service answers.
func (b *bench) connect(ctx context.Context) (err error) {
	cfg := b.o.Config
	if cfg.UsesRedis() {
		if b.services.redis, err = connect.Redis(ctx, cfg); err != nil {
			return err
		}
		if err := b.services.redis.Ping(ctx).Err(); err != nil {
			return fmt.Errorf("redis.url: %w", err)
		}
	}
	if cfg.Postgres.URL != "" {
		if err := b.openSchema(ctx); err != nil {
			return err
		}
	}
	if len(cfg.Elasticsearch.Addresses) == 0 {
		return nil
	}
	if b.services.elastic, err = connect.Elastic(cfg, b.log); err != nil {
		return err
	}
	err = esindex.Do(ctx, b.services.elastic, http.MethodHead, "/"+b.name, "", nil, nil)
	var answer *esindex.Error
	switch {
	case errors.As(err, &answer) && answer.Status == http.StatusNotFound:
		b.services.pid, _ = localElastic(ctx, b.services.elastic)
		return nil
	case err == nil:
		return fmt.Errorf("the index %s already exists; this run does not use it", b.name)
	}
	return fmt.Errorf("elasticsearch.addresses: %w", err)
}

// prefix returns the prefix of all keys of this run.
func (b *bench) prefix() string { return b.o.Config.Redis.KeyPrefix + b.name + ":" }

// embeddedConfig configures everything in process, in a directory of this run.
func (b *bench) embeddedConfig(dir string) configs.Config { return EmbeddedConfig(b.o.Config, dir) }

// EmbeddedConfig returns cfg with everything in process, in a directory, without posts and
// without limits on callers.
func EmbeddedConfig(cfg configs.Config, dir string) configs.Config {
	standard := configs.Default()
	cfg.DataDir, cfg.Auth, cfg.Server.Addr = dir, standard.Auth, standard.Server.Addr
	cfg.Server.MaxInFlight, cfg.Server.RateLimit = 0, 0
	cfg.Catalog, cfg.Social.Off = standard.Catalog, true // only feeds of items are measured
	cfg.Redis.URL, cfg.Redis.Password, cfg.Elasticsearch, cfg.Postgres.URL = "", "", standard.Elasticsearch, ""
	return cfg
}

// servicesConfig stores everything in the services, under this run's names. A failing service
// causes an error, because degraded answers would be measured as fast.
func (b *bench) servicesConfig(dir string) configs.Config {
	cfg, standard := b.embeddedConfig(dir), configs.Default()
	cfg.Dedup.OnFailure = configs.FailClosed
	cfg.Redis = b.o.Config.Redis
	cfg.Redis.KeyPrefix = b.prefix()
	cfg.Elasticsearch = b.o.Config.Elasticsearch
	cfg.Elasticsearch.Index, cfg.Elasticsearch.ManageIndex = b.name, true
	cfg.Elasticsearch.Fields = standard.Elasticsearch.Fields
	return cfg
}

// end removes everything that this run created and nothing else, also after ctx has ended.
func (b *bench) end(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	var errs []error
	if b.services.redis != nil {
		errs = append(errs, removeKeys(ctx, b.services.redis, b.prefix()), b.services.redis.Close())
	}
	if b.services.elastic != nil {
		errs = append(errs, b.removeIndices(ctx))
	}
	if b.services.postgres != nil {
		errs = append(errs, b.closeSchema(ctx))
	}
	if b.dir != "" {
		errs = append(errs, os.RemoveAll(b.dir))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("clean up after the run %s: %w", b.name, err)
	}
	return nil
}

// removeKeys unlinks the keys with a prefix that this package created.
func removeKeys(ctx context.Context, client redis.UniversalClient, prefix string) error {
	if !strings.Contains(prefix, mark) {
		return fmt.Errorf("%q is not the key prefix of a benchmark; its keys are not deleted", prefix)
	}
	return eachMaster(ctx, client, func(ctx context.Context, c *redis.Client) error {
		var errs []error
		keys := c.Scan(ctx, 0, globEscape.Replace(prefix)+"*", 10_000).Iterator()
		pipe := c.Pipeline()
		flush := func() {
			if pipe.Len() > 0 {
				_, err := pipe.Exec(ctx)
				errs = append(errs, err)
			}
		}
		for keys.Next(ctx) {
			pipe.Unlink(ctx, keys.Val())
			if pipe.Len() == 1000 {
				flush()
			}
		}
		flush()
		return errors.Join(append(errs, keys.Err())...)
	})
}

// globEscape escapes a prefix for use in a glob pattern.
var globEscape = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

// removeIndices deletes every index whose name begins with this run's name: the items' index and
// those derived from it. The wildcard is used only to list them, since many clusters refuse to
// delete by wildcard.
func (b *bench) removeIndices(ctx context.Context) error {
	if !strings.HasPrefix(b.name, mark) || len(b.name) == len(mark) {
		return fmt.Errorf("%q is not an index of a benchmark; it is not deleted", b.name)
	}
	ours, err := b.indices(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, index := range ours {
		err := esindex.Do(ctx, b.services.elastic, http.MethodDelete, "/"+index, "ignore_unavailable=true", nil, nil)
		if !esindex.IsType(err, "index_not_found_exception") {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// indices returns the indices whose names begin with this run's name.
func (b *bench) indices(ctx context.Context) ([]string, error) {
	var found []struct {
		Index string `json:"index"`
	}
	err := esindex.Do(ctx, b.services.elastic, http.MethodGet, "/_cat/indices/"+b.name+"*", "h=index&format=json&expand_wildcards=all", nil,
		func(body []byte) error { return json.Unmarshal(body, &found) })
	var names []string
	for _, f := range found {
		if strings.HasPrefix(f.Index, b.name) {
			names = append(names, f.Index)
		}
	}
	return names, err
}
