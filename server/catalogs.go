package server

import (
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/catalog"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/catalog/lru"
	"github.com/freshet/freshet/catalog/rediscache"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/ranking"
	rankingelastic "github.com/freshet/freshet/ranking/elastic"
	rankingsqlite "github.com/freshet/freshet/ranking/sqlite"
	"github.com/freshet/freshet/recall"
	recallelastic "github.com/freshet/freshet/recall/elastic"
	"github.com/freshet/freshet/recall/fallback"
	"github.com/freshet/freshet/recall/indexsync"
	recallmemory "github.com/freshet/freshet/recall/memory"
	"github.com/freshet/freshet/recall/replica"
	"github.com/freshet/freshet/server/itemindex"
	coreadredis "github.com/freshet/freshet/signals/coread/redis"
	"github.com/freshet/freshet/signals/popularity"
	"github.com/freshet/freshet/signals/popularity/popularitysync"
	popularityredis "github.com/freshet/freshet/signals/popularity/redis"
	popularitysqlite "github.com/freshet/freshet/signals/popularity/sqlite"
)

// Equal queries share an answer of recall for sharedFor. While recall is down, the list for all
// readers replaces it for up to staleFor.
const (
	sharedFor = time.Second
	staleFor  = 10 * time.Minute
)

type catalogs struct {
	items    catalog.Catalog // with all layers in front of it except posts
	contents contents        // of items, bypassing the caches
	agents   sampler
	learned  catalog.LearnedAges
	groups   catalog.Groups // of removed items; nil without Redis in front of Elasticsearch
	rankings ranking.Store
	recall   recall.Source // the source behind shared
	popular  recall.Popular
	shared   *recall.Shared
	copied   *replica.Source         // recall if it uses a copy of the index, else nil
	indexed  *indexsync.Catalog      // the catalog if recall is in this process, else nil
	coRead   *coreadredis.Store      // co-readers if they are in Redis, else nil
	live     *popularityredis.Store  // live popularity if recall is in Elasticsearch; nil if off
	readers  popularity.Readers      // who acted on items; nil if that is not counted
	counted  popularity.Index        // the index that ranks by it; nil if off
	folding  *catalogelastic.Catalog // the index of items; nil if they are in a file
}

type contents interface {
	catalog.Reader
	catalog.Lister
	catalog.Census
}

// openCatalogs chains the layers that provide items. A read goes through
//
//	posts      content of posts comes from the social store ([posts.before])
//	timed      mutes of profiles that have ended are left out
//	fallback   while Elasticsearch is down, contents of recall's fallback list
//	rediscache or lru
//	counted    writes: preserves the counted clicks of an item in Elasticsearch
//	indexed    writes: the recall index of this process
//	elastic or sqlite
//
// and a recall through the answers that equal recalls share, to the source.
func (b *builder) openCatalogs(ctx context.Context, c clients) (s catalogs, err error) {
	shared := recall.SharedConfig{Share: b.sharedFor, Timeout: b.cfg.Server.RequestTimeout}
	if b.cfg.UsesElasticsearch() {
		s, shared.Fallback = b.elasticBackend(c), b.staleFor
	} else if s, err = b.fileBackend(ctx); err != nil {
		return s, err
	}
	s.shared = recall.NewShared(s.recall, b.clock, shared)
	if shared.Fallback > 0 {
		s.items = fallback.New(s.items, s.shared)
	}
	s.items = catalog.Timed{Catalog: s.items, Clock: b.clock}
	return s, nil
}

func (b *builder) elasticBackend(c clients) catalogs {
	where := catalogelastic.Config{Index: b.cfg.Elasticsearch.Index, Schema: c.index.Schema()}
	if b.cfg.Elasticsearch.ManageIndex {
		own := itemindex.Fields(b.cfg)
		where.Own = &own
	}
	var coRead *coreadredis.Store
	if c.redis != nil {
		coRead = coreadredis.New(c.redis, b.cfg.Redis.KeyPrefix)
	}
	var live *popularityredis.Store
	if b.cfg.PopularityOff() == "" {
		live = popularityredis.New(c.redis, b.cfg.Redis.KeyPrefix, b.cfg.HalfLives())
		where.Counts = popularitysync.Of(live)
	}
	index := catalogelastic.New(c.elastic, where)
	source := recallelastic.New(c.elastic, recallelastic.Config{Index: where.Index, Schema: where.Schema, Logger: b.log})
	s := catalogs{
		items: index, contents: index, agents: index, learned: index, rankings: rankingelastic.New(c.elastic, where.Index),
		recall: source, popular: source, coRead: coRead, live: live, folding: index,
	}
	if live != nil {
		s.items, s.counted, s.readers = popularitysync.New(index, live), index, live
	}
	if c.redis != nil {
		cached := rediscache.New(s.items, c.redis, rediscache.Config{
			KeyPrefix: b.cfg.Redis.KeyPrefix,
			Logger:    b.log,
			Beside:    coRead.Beside,
			Tombstone: 2 * b.cfg.Server.RequestTimeout, // longer than any request may take
		})
		s.items, s.groups = cached, cached
	}
	if b.cfg.RecallsFromCopy() && !b.probesOnly { // a worker recalls nothing
		s.copied = replica.New(c.elastic, replica.Config{
			Index: where.Index, Schema: where.Schema, Elastic: source, NewIndex: func() replica.Index { return recallmemory.New() },
			Clock: b.clock, Timeout: b.cfg.Server.RequestTimeout, Logger: b.log,
		})
		s.items, s.recall = s.copied.Watch(s.items), s.copied
	}
	return s
}

func (b *builder) fileBackend(ctx context.Context) (catalogs, error) {
	dir, err := b.dataDir("")
	if err != nil {
		return catalogs{}, err
	}
	// A second process would not see this one's changes in its own index.
	lock, err := journal.LockDir(dir)
	if err != nil {
		return catalogs{}, err
	}
	b.onClose("lock of data_dir", func(context.Context) error { return lock.Close() })
	file, err := catalogsqlite.Open(ctx, b.database(dir, catalogsqlite.FileName))
	if err != nil {
		return catalogs{}, err
	}
	b.onClose("catalog", func(context.Context) error { return file.Close() })
	source := recallmemory.New()
	acted := popularitysqlite.New(file.File(), b.cfg.HalfLives())
	synced, err := indexsync.Open(ctx, file, source, acted)
	if err != nil {
		return catalogs{}, fmt.Errorf("build the recall index from the catalog: %w", err)
	}
	b.purgeFile("popularity", synced.Purge)
	return catalogs{
		items: lru.New(synced), contents: file, agents: file, learned: file, groups: file, readers: acted, rankings: rankingsqlite.New(file.File()),
		recall: source, popular: source, indexed: synced,
	}, nil
}
