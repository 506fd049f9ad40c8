package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/sqlitefile"
)

// Level says how bad a finding is.
type Level string

// Levels of findings.
const (
	OK      Level = "ok"
	Warning Level = "warning" // it works, but not as it should
	Broken  Level = "broken"  // it does not work
)

// Finding is one thing the doctor looked at.
type Finding struct {
	Level  Level  `json:"level"`
	What   string `json:"what"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do about it
}

// doctor collects findings.
type doctor struct {
	cfg      configs.Config
	fix      bool
	clock    feed.Clock
	findings []Finding
}

// Doctor looks at every dependency the configuration needs: is it reachable,
// of a version that will do, with what it must have, its clock right, set as
// docs/production.md says? With fix it creates what is missing.
func Doctor(ctx context.Context, cfg configs.Config, fix bool) []Finding {
	d := &doctor{cfg: cfg, fix: fix, clock: time.Now}
	d.lookAtDataDir(ctx)
	if usesRedis(cfg) {
		d.lookAtRedis(ctx)
	}
	if len(cfg.Timeline.Redis.Addrs) > 0 {
		d.lookAtListsRedis(ctx)
	}
	if usesElastic(cfg) {
		d.lookAtElastic(ctx)
	}
	d.lookAtPopularity()
	if cfg.Social.Backend == configs.SocialPostgres {
		d.lookAtPostgres(ctx)
	}
	if cfg.Social.Backend != configs.SocialOff {
		d.lookAtMedia(ctx)
	}
	return d.findings
}

func (d *doctor) say(level Level, what, fix, detail string, args ...any) {
	d.findings = append(d.findings, Finding{Level: level, What: what, Detail: fmt.Sprintf(detail, args...), Fix: fix})
}

// lookAtPopularity says where what readers click and like changes no ranking.
func (d *doctor) lookAtPopularity() {
	if why := livePopularity(d.cfg); why != "" {
		d.say(OK, "live popularity", "", "off: %s. So weight_2h and weight_2d of the ranking have no effect", why)
	}
}

func (d *doctor) lookAtDataDir(ctx context.Context) {
	dir := d.cfg.DataDir
	const what = "data_dir"
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		if !d.fix {
			d.say(OK, what, "", "%s does not exist yet; serve creates it", dir)
			return
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			d.say(Broken, what, "name a directory this user may create", "%v", err)
			return
		}
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		d.say(Broken, what, "name a directory this user may write to", "%v", err)
		return
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	d.say(OK, what, "", "%s is writable", dir)
	if d.cfg.Catalog.Backend == configs.CatalogSQLite {
		d.lookAtSQLite(ctx, dir)
	}
}

func (d *doctor) lookAtSQLite(ctx context.Context, dir string) {
	path := catalogFile(dir)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		d.say(OK, "catalog", "", "%s does not exist yet; serve creates it", path)
		return
	}
	older, err := sqlitefile.Look(ctx, path)
	switch {
	case err != nil:
		d.say(Broken, "catalog", "restore the file from a backup, or move it away to start anew", "%v", err)
	case older:
		d.say(OK, "catalog", "", "%s has the schema of an older version; serve brings it up to date, and the older version cannot open it afterwards", path)
	default:
		d.say(OK, "catalog", "", "%s can be read", path)
	}
}

func (d *doctor) lookAtRedis(ctx context.Context) {
	const what = "redis"
	client, err := ConnectRedis(ctx, d.cfg)
	if err != nil {
		d.say(Broken, what, "see the message", "%v", err)
		return
	}
	defer func() { _ = client.Close() }()
	sent := d.clock()
	now, err := client.Time(ctx).Result()
	if err != nil {
		d.say(Broken, what, "start Redis, or correct redis.addrs, username, password or tls", "%s: %v", strings.Join(d.cfg.Redis.Addrs, ", "), err)
		return
	}
	d.skew(what, sent, now)
	text, _ := client.Info(ctx, "server").Result() // an ACL user may not be allowed to ask
	d.say(OK, what, "", "%s answers, version %s", strings.Join(d.cfg.Redis.Addrs, ", "), cmp.Or(infoFields(text)["redis_version"], "unknown"))
	d.lookAtMasters(ctx, client)
	if d.cfg.Dedup.Backend != configs.DedupRedisBloom {
		return
	}
	store, err := redisbloom.New(client, dedupConfig(d.cfg), redisbloom.Config{KeyPrefix: d.cfg.Redis.KeyPrefix})
	if err == nil {
		err = store.Verify(ctx)
	}
	if err != nil {
		d.say(Broken, "redis bloom", "load the RedisBloom module, or use Redis 8", "%v", err)
		return
	}
	d.say(OK, "redis bloom", "", "the Bloom filter type is there")
}

func (d *doctor) skew(what string, sent, theirs time.Time) {
	if off := skew(sent, theirs, d.clock()); off > maxSkew {
		d.say(Warning, what, "run NTP on both machines", "its clock differs from this machine's by %s", off.Round(time.Millisecond))
	}
}

func (d *doctor) lookAtElastic(ctx context.Context) {
	const what = "elasticsearch"
	where := strings.Join(d.cfg.Elasticsearch.Addresses, ", ")
	client, err := ConnectElastic(d.cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		d.say(Broken, what, "correct elasticsearch.addresses or ca_cert", "%v", err)
		return
	}
	var info struct {
		Version struct {
			Number string `json:"number"`
		} `json:"version"`
	}
	if err := esindex.Do(ctx, client, http.MethodGet, "/", "", nil, readJSON(&info)); err != nil {
		d.say(Broken, what, "start Elasticsearch, or correct elasticsearch.addresses, username, password or api_key", "%s: %v", where, err)
		return
	}
	if !strings.HasPrefix(info.Version.Number, "8.") {
		d.say(Warning, what, "use Elasticsearch 8", "%s is version %s; Freshet is tested with 8", where, info.Version.Number)
	} else {
		d.say(OK, what, "", "%s answers, version %s", where, info.Version.Number)
	}
	var stats struct {
		Nodes map[string]struct {
			Timestamp int64 `json:"timestamp"`
		} `json:"nodes"`
	}
	sent := d.clock()
	if err := esindex.Do(ctx, client, http.MethodGet, "/_nodes/stats/process", "", nil, readJSON(&stats)); err == nil {
		for id, node := range stats.Nodes {
			d.skew(what+" node "+id, sent, time.UnixMilli(node.Timestamp))
		}
	}
	d.lookAtIndex(ctx, client)
	d.lookAtReplicas(ctx, client)
	d.lookAtDisks(ctx, client)
}

func (d *doctor) lookAtIndex(ctx context.Context, client esindex.Client) {
	index := d.cfg.Elasticsearch.Index
	what := "index " + index
	if d.fix {
		created, err := d.createIndices(ctx, client)
		if err != nil {
			d.say(Broken, what, "see the message; the user needs the create_index privilege", "%v", err)
			return
		}
		if len(created) > 0 {
			d.say(OK, what, "", "created %s", strings.Join(created, " and "))
		}
	}
	report, err := inspectIndex(ctx, client, d.cfg)
	if err == nil && report.Err() == nil && d.fix && d.cfg.Elasticsearch.ManageIndex {
		report, err = d.extendIndex(ctx, client, report)
	}
	if err != nil {
		fix := "run freshet doctor --fix, or set elasticsearch.manage_index: true"
		if !d.cfg.Elasticsearch.ManageIndex {
			fix = "create the index, or correct elasticsearch.index"
		}
		d.say(Broken, what, fix, "%v", err)
		return
	}
	for _, p := range report.Problems {
		level := Warning
		if p.Fatal {
			level = Broken
		}
		fix := "correct elasticsearch.fields or the index's mapping"
		if p.Field == noTokens {
			fix = "create the index anew, as the message says"
		} else if esindex.Extends(p.Field) && d.cfg.Elasticsearch.ManageIndex {
			fix = "run freshet doctor --fix"
		}
		d.say(level, what, fix, "%s", p)
	}
	if report.Err() == nil {
		d.say(OK, what, "", "its mapping fits; time is kept as %s", report.Schema.Time)
		if usesRedis(d.cfg) && !report.Schema.Live {
			d.say(OK, "live popularity", "", "off: the index has not the four fields for it (docs/own-index.md). So weight_2h and weight_2d of the ranking have no effect")
		}
		d.tryRecall(ctx, client, report.Schema)
	}
}

// extendIndex adds to an index of an older version what its mapping lacks.
func (d *doctor) extendIndex(ctx context.Context, client esindex.Client, report esindex.Report) (esindex.Report, error) {
	index, fields := d.cfg.Elasticsearch.Index, indexFields(d.cfg)
	added, err := esindex.Extend(ctx, client, index, report.Schema, esindex.Definition{Fields: fields})
	if err != nil || len(added) == 0 {
		return report, err
	}
	d.say(OK, "index "+index, "", "added to its mapping: %s; items have the fields from when they are put again", strings.Join(added, ", "))
	return inspectIndex(ctx, client, d.cfg)
}

// createIndices creates what is missing: all indices, or only those beside the
// items' one where Freshet does not manage that.
func (d *doctor) createIndices(ctx context.Context, client esindex.Client) ([]string, error) {
	def := esindex.Definition{Fields: indexFields(d.cfg)}
	if d.cfg.Elasticsearch.ManageIndex {
		return esindex.Ensure(ctx, client, d.cfg.Elasticsearch.Index, def)
	}
	return esindex.EnsureBeside(ctx, client, d.cfg.Elasticsearch.Index, def)
}
