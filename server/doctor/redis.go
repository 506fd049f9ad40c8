package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/internal/ownmachine"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/server/sharedsettings"
	timelineredis "github.com/freshet/freshet/social/timeline/redis"
)

// checkRedis checks the main Redis, which holds everything, except lists and cached cards if these
// have a Redis of their own.
func (d *doctor) checkRedis(ctx context.Context) {
	const what = "redis"
	client, masters := d.reachRedis(ctx, d.cfg, what, "redis.url", "no impressions and sessions can be stored")
	if client == nil {
		return
	}
	defer func() { _ = client.Close() }()
	d.checkRedisSettings(masters)
	if d.cfg.Dedup.Shards < len(masters) {
		d.report(Warning, "redis cluster", "set dedup.shards to four for each master or more; it takes effect the next day",
			"a day has %d filters, but there are %d masters: some hold none", d.cfg.Dedup.Shards, len(masters))
	}
	d.checkAgreement(ctx, what, sharedsettings.InRedis(client, d.cfg.Redis.KeyPrefix))
	store, err := redisbloom.New(client, connect.Dedup(d.cfg), redisbloom.Config{KeyPrefix: d.cfg.Redis.KeyPrefix})
	if err == nil {
		err = store.Verify(ctx)
	}
	if err != nil {
		d.report(Broken, "redis bloom", "see the message", "%v", err)
		return
	}
	if d.cfg.UsesPostgres() && d.cfg.Timeline.RedisURL == "" {
		d.tryWakes(ctx, what, client)
	}
	d.report(OK, "redis bloom", "", "the Bloom filter type is available")
	d.tryCommands(ctx, what, client, false)
	d.tryRedisWrites(ctx, store)
}

// tryCommands tries the commands by which servers use a Redis: a user may lack the right to one, and a proxy
// or another server of the protocol may not know it.
func (d *doctor) tryCommands(ctx context.Context, redis string, client redis.UniversalClient, lists bool) {
	key := rediskeys.For(client, d.cfg.Redis.KeyPrefix).FilterProbe() + ":commands"
	if err := rediskeys.TryCommands(ctx, client, key, lists); err != nil {
		d.report(Broken, redis+" commands", "see the message", "it refuses %v", err)
		return
	}
	d.report(OK, redis+" commands", "", "it takes each command that servers send")
}

// tryRedisWrites tries what serving writes: an impression, and a filter of a day.
func (d *doctor) tryRedisWrites(ctx context.Context, store *redisbloom.Store) {
	const what, fix = "redis writes", "see the message"
	if err := store.TryEverywhere(ctx); err != nil {
		d.report(Broken, what, fix, "no impressions can be written: %v", err)
		return
	}
	shards := max(d.cfg.Dedup.Shards, 1)
	size := connect.Dedup(d.cfg).ShardCapacity(shards)
	most, err := store.TrySize(ctx)
	switch {
	case err != nil:
		d.report(Broken, what, "raise the server's limit of a filter's size (Valkey: bf.bloom-memory-usage-limit), or dedup.shards",
			"a filter of a day, for %d impressions, cannot be created: %v", size, err)
	case most > 0 && most < 3*int64(size):
		d.report(Warning, what, "raise the server's limit of a filter's size (Valkey: bf.bloom-memory-usage-limit), or dedup.shards",
			"a filter of a day, for %d impressions, can hold %d at most: further ones are refused on that day", size, most)
	default:
		d.report(OK, what, "", "impressions can be written, and a filter of a day can be created")
	}
}

// checkListsRedis checks a Redis that holds only lists and cached cards. It may evict keys, and
// need not survive a restart.
func (d *doctor) checkListsRedis(ctx context.Context) {
	const what = "timeline.redis"
	client, masters := d.reachRedis(ctx, d.cfg.WithListsRedis(), what, "timeline.redis_url", "no lists can be stored")
	if client == nil {
		return
	}
	defer func() { _ = client.Close() }()
	if err := rediskeys.TryWrites(ctx, client, rediskeys.For(client, d.cfg.Redis.KeyPrefix).ListProbes()); err != nil {
		d.report(Broken, what+" writes", "see the message", "no lists can be written: %v", err)
	}
	d.tryCommands(ctx, what, client, true)
	d.checkLists(what, masters)
	d.tryWakes(ctx, what, client)
	d.judge(what, masters, "eviction", judgeListEviction)
}

// tryWakes tries the channel by which servers hear of new posts for their streams.
func (d *doctor) tryWakes(ctx context.Context, redis string, client redis.UniversalClient) {
	cfg := timelineredis.Config{KeyPrefix: d.cfg.Redis.KeyPrefix, Clock: d.clock}
	err := timelineredis.NewWakes(client, cfg, slog.New(slog.DiscardHandler)).Try(ctx)
	if err != nil {
		d.report(Warning, redis+" streams", "see the message", "streams report new posts up to two seconds late: %v", err)
		return
	}
	d.report(OK, redis+" streams", "", "servers can tell each other of new posts for streams")
}

// reachRedis checks the Redis of a setting and each of its masters: its clock, whether it takes
// writes (lost names the effect if not), and whether it has the replicas that pages wait for. The
// caller must close the client. It is nil if Redis does not answer.
func (d *doctor) reachRedis(ctx context.Context, cfg configs.Config, what, setting, lost string) (redis.UniversalClient, []connect.Master) {
	client, err := connect.Redis(ctx, cfg)
	if err != nil {
		d.report(Broken, what, "see the message", "%s: %v", setting, err)
		return nil, nil
	}
	where, sent := strings.Join(cfg.Redis.Server().Addrs, ", "), d.clock()
	now, err := client.Time(ctx).Result()
	if err != nil {
		schemes := connect.Schemes{Plain: "redis://", TLS: "rediss://", Settings: "redis", Encrypted: cfg.Redis.Server().TLS}
		fix := connect.TLSAdvice(err, schemes)
		announced := connect.Announced(ctx, client, cfg.Redis.Server(), err)
		switch {
		case announced != "":
			fix = "start it, or let Redis announce an address that servers reach (replica-announce-ip and sentinel announce-ip, or cluster-announce-ip): " +
				"Sentinels, or the cluster, name " + announced + ", which cannot be reached from here"
		case rediskeys.Refused(err), rediskeys.Advice(err) != "":
			fix = "see the message"
		case schemes.Encrypted && connect.AnswersPlain(ctx, cfg.Redis.Server().Addrs[0]):
			fix = connect.TLSAdvice(tls.RecordHeaderError{}, schemes)
		}
		d.report(Broken, what, cmp.Or(fix, ownmachine.Advice(err, setting), "start Redis, or correct "+setting+" and its password"), "%s: %v", where, rediskeys.Advise(err))
		_ = client.Close()
		return nil, nil
	}
	d.skew(what, sent, now)
	info, _ := connect.Info(ctx, client, "server") // an ACL user may lack the permission
	d.report(OK, what, "", "%s answers, version %s", where, versionOf(info))
	masters, err := connect.CheckMasters(ctx, client, d.clock)
	if err != nil {
		d.report(Broken, what+" cluster", "see the message", "%v", err)
	}
	for _, n := range masters {
		what := what + " " + n.Addr
		if n.Err != nil {
			d.report(Broken, what, "start it, or let a replica take over", "%v", n.Err)
			continue
		}
		d.skew(what, n.Sent, n.Clock)
		if n.ReadOnly {
			d.report(Broken, what, "name the master in "+setting+", or Sentinels that monitor it", "it is a read-only replica: %s", lost)
		}
		wait := cfg.Redis.WaitReplicas
		if n.Replicas >= 0 && n.Replicas < wait {
			d.report(Broken, what, "add replicas, or lower redis.wait_replicas",
				"it has %d replicas but redis.wait_replicas is %d: its agents get no pages", n.Replicas, wait)
		}
	}
	return client, masters
}

// versionOf returns the version of a server by what it says in INFO server. Other makers' servers also
// report a version of Redis, with which they are compatible.
func versionOf(info map[string]string) string {
	for name, field := range map[string]string{"Valkey": "valkey_version", "Dragonfly": "dragonfly_version"} {
		if info[field] != "" {
			return strings.TrimPrefix(info[field], "df-v") + " of " + name
		}
	}
	return cmp.Or(info["redis_version"], "unknown")
}

// The requirements on Redis in docs/production.md, verbatim; a test compares them.
const (
	needsNoEviction  = "It must not evict keys: every key has a TTL, so any policy but noeviction evicts filters sooner or later, and readers are shown old items again."
	needsPersistence = "It must survive a restart: without an append-only file it forgets what was written since the last snapshot, without snapshots everything, and readers are shown old items again."
	needsSync        = "With appendfsync no, a crash of the machine loses up to half a minute of impressions."
	needsMemory      = "It needs a maxmemory of at least dedup.daily_capacity × dedup.window_days × 2 bytes for the filters, on a cluster divided by the number of masters."
)

// bytesPerImpression is the size of an impression in a RedisBloom filter at the usual
// false-positive rates, rounded up.
const bytesPerImpression = 2

// unknown returns the finding about a setting that could not be read.
func unknown(setting string) Finding {
	return Finding{Level: Warning, Detail: setting + " could not be checked: CONFIG GET and INFO are refused", Fix: "let the user call INFO, or compare with docs/production.md"}
}

// checkRedisSettings compares the masters' settings with the requirements in docs/production.md.
func (d *doctor) checkRedisSettings(masters []connect.Master) {
	d.judge("redis", masters, "eviction", judgeEviction)
	if d.cfg.UsesPostgres() && d.cfg.Timeline.RedisURL == "" {
		d.checkLists("redis", masters)
	}
	d.judge("redis", masters, "persistence", judgePersistence)
	need := int64(d.cfg.Dedup.DailyCapacity) * int64(d.cfg.Dedup.WindowDays) * bytesPerImpression / int64(max(len(masters), 1))
	d.judge("redis", masters, "memory", func(s connect.Settings) Finding { return judgeMemory(s, need) })
}

func (d *doctor) checkLists(redis string, masters []connect.Master) {
	d.judge(redis, masters, "lists", func(s connect.Settings) Finding { return judgeLists(s, d.cfg.Timeline.Cap) })
}

// judge reports each master with a bad setting, or one OK finding if there is none, and nothing for
// an empty finding.
func (d *doctor) judge(redis string, masters []connect.Master, what string, judge func(connect.Settings) Finding) {
	var good *Finding
	differ := false
	for _, n := range masters {
		if n.Err != nil {
			continue
		}
		found := judge(n.Settings)
		if found.Detail == "" {
			continue
		}
		if n.Settings.Inferred && n.Settings.Policy != "" {
			found.Detail += " (from INFO: CONFIG GET is refused)"
		}
		found.What = redis + " " + what
		if found.Level == OK {
			good = &found
			continue
		}
		differ = true
		if len(masters) > 1 {
			found.What = redis + " " + n.Addr + " " + what
		}
		d.findings = append(d.findings, found)
	}
	if !differ && good != nil {
		d.findings = append(d.findings, *good)
	}
}

func judgeEviction(s connect.Settings) Finding {
	switch s.Policy {
	case "":
		return unknown("maxmemory-policy")
	case "noeviction":
		return Finding{Level: OK, Detail: "maxmemory-policy noeviction"}
	}
	return Finding{Level: Warning, Detail: fmt.Sprintf("maxmemory-policy is %s. %s", s.Policy, needsNoEviction), Fix: "set maxmemory-policy noeviction"}
}

func judgePersistence(s connect.Settings) Finding {
	const fix = "set appendonly yes and appendfsync everysec"
	switch {
	case s.AppendOnly == "":
		return unknown("appendonly")
	case s.AppendOnly == "no" && s.Inferred:
		return Finding{Level: Warning, Detail: "appendonly is no. " + needsPersistence, Fix: fix}
	case s.AppendOnly == "no" && s.Save == "":
		return Finding{Level: Warning, Detail: "appendonly is no and save is empty. " + needsPersistence, Fix: fix}
	case s.AppendOnly == "no":
		return Finding{Level: Warning, Detail: fmt.Sprintf("appendonly is no, save is %s. %s", s.Save, needsPersistence), Fix: fix}
	case s.AppendSync == "no":
		return Finding{Level: Warning, Detail: needsSync, Fix: fix}
	case s.Inferred:
		return Finding{Level: OK, Detail: "appendonly yes"}
	}
	return Finding{Level: OK, Detail: "appendonly yes, appendfsync " + s.AppendSync}
}

func judgeMemory(s connect.Settings, need int64) Finding {
	limit, err := strconv.ParseInt(s.MaxMemory, 10, 64)
	fix := fmt.Sprintf("set maxmemory to more than %s, with room for sessions and saving: docs/capacity.md", mebibytes(need))
	switch {
	case err != nil:
		return unknown("maxmemory")
	case limit == 0:
		return Finding{Level: Warning, Detail: fmt.Sprintf("maxmemory is not set; here the filters take up to %s. %s", mebibytes(need), needsMemory), Fix: fix}
	case limit < need:
		return Finding{Level: Warning, Detail: fmt.Sprintf("maxmemory is %s, and the filters take up to %s. %s", mebibytes(limit), mebibytes(need), needsMemory), Fix: fix}
	}
	return Finding{Level: OK, Detail: fmt.Sprintf("maxmemory %s; the filters take up to %s", mebibytes(limit), mebibytes(need))}
}

// judgeLists reports how Redis stores the lists of timelines. Both encodings are fine: one costs
// memory, the other time. So there is nothing to report if the setting cannot be read.
func judgeLists(s connect.Settings, most int) Finding {
	const own = 3 // members of a list that are not posts
	entries, err := strconv.Atoi(s.Listpack)
	switch {
	case err != nil:
		return Finding{}
	case entries < most+own:
		return Finding{Level: OK, Detail: fmt.Sprintf("zset-max-listpack-entries %d: a full list of a timeline is a skiplist, "+
			"about 120 bytes a post; with %d it takes a third of that", entries, max(512, most+own))}
	}
	return Finding{Level: OK, Detail: fmt.Sprintf("zset-max-listpack-entries %d: lists of timelines are listpacks, about 40 bytes a post", entries)}
}

// judgeListEviction expects a full Redis to evict: lists that were evicted are rebuilt, lists that
// cannot be written are useless.
func judgeListEviction(s connect.Settings) Finding {
	switch {
	case s.Policy == "":
		return unknown("maxmemory-policy")
	case s.Policy == "noeviction" && s.MaxMemory != "0":
		return Finding{
			Level: Warning, Detail: "maxmemory-policy is noeviction: when maxmemory is reached, lists cannot be written and all timelines are read from the database",
			Fix: "set maxmemory-policy volatile-lru",
		}
	}
	return Finding{Level: OK, Detail: "maxmemory-policy " + s.Policy}
}

// mebibytes prints a size in MiB, or from 1 GiB on in GiB.
func mebibytes(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
