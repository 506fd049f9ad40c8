package backup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/server/sharedsettings"
)

// usesAll returns an error if the servers over the services of a configuration keep data that it does not lead
// to: their backup would lack it. A job of cron has not the environment of the servers, which may name a store.
// Redis and Elasticsearch have the settings; those in PostgreSQL can be read only if its tables are up to date.
func usesAll(ctx context.Context, cfg configs.Config) (err error) {
	own := sharedsettings.Of(cfg)
	check := func(store sharedsettings.Store) error {
		places, err := sharedsettings.Elsewhere(ctx, store, own)
		if err != nil {
			return fmt.Errorf("the settings of the servers could not be read: %w", err)
		}
		if len(places) > 0 {
			return fmt.Errorf("the servers over these stores use %s, and this configuration does not, so the backup would not be whole: "+
				"run it with the configuration and the environment of the servers; if no server uses it any more, run freshet doctor --accept-settings",
				strings.Join(places, ", "))
		}
		return nil
	}
	if cfg.UsesRedis() {
		client, err := openRedis(ctx, cfg)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, client.Close()) }()
		if err := check(sharedsettings.InRedis(client, cfg.Redis.KeyPrefix)); err != nil {
			return err
		}
	}
	if cfg.UsesElasticsearch() {
		client, err := openElastic(cfg)
		if err != nil {
			return err
		}
		return check(sharedsettings.InElastic(client, cfg.Elasticsearch.Index))
	}
	return nil
}
