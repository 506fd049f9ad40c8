package doctor

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/connect"
)

// What docs/production.md asks of Redis, in its words; a test compares them.
const (
	needsNoEviction  = "It must not evict keys: every key has a TTL, so any policy but noeviction evicts filters sooner or later, and readers are shown old items again."
	needsPersistence = "It must survive a restart: without an append-only file it forgets what was written since the last snapshot, without snapshots everything, and readers are shown old items again."
	needsSync        = "With appendfsync no, a crash of the machine loses up to half a minute of impressions."
	needsMemory      = "It needs a maxmemory of at least dedup.daily_capacity × dedup.window_days × 2 bytes for the filters, on a cluster divided by the number of masters."
)

// bytesPerImpression is the size of an impression in a filter of RedisBloom at
// the usual false-positive rates, rounded up.
const bytesPerImpression = 2

// redisSettings are the settings of one Redis that the doctor judges, by their
// names in CONFIG. What is not known is "" (save may be known and empty).
type redisSettings struct {
	maxMemory, policy, appendOnly, appendSync, save string

	listpack string // zset-max-listpack-entries

	inferred bool // from INFO, which lacks appendfsync and save
}

// readSettings asks CONFIG GET, and INFO where that is refused, as managed
// Redis does.
func readSettings(ctx context.Context, c *redis.Client) redisSettings {
	var s redisSettings
	pipe, names := c.Pipeline(), []string{"maxmemory", "maxmemory-policy", "appendonly", "appendfsync", "save", "zset-max-listpack-entries"}
	replies := make([]*redis.MapStringStringCmd, len(names))
	for i, name := range names {
		replies[i] = pipe.ConfigGet(ctx, name)
	}
	if _, err := pipe.Exec(ctx); err == nil {
		for i, to := range []*string{&s.maxMemory, &s.policy, &s.appendOnly, &s.appendSync, &s.save, &s.listpack} {
			*to = replies[i].Val()[names[i]]
		}
		return s
	}
	info, _ := connect.Info(ctx, c) // refused too: nothing is known
	on := map[string]string{"0": "no", "1": "yes"}
	return redisSettings{maxMemory: info["maxmemory"], policy: info["maxmemory_policy"], appendOnly: on[info["aof_enabled"]], inferred: true}
}

// judgement is the doctor's finding about one of a server's settings.
type judgement struct {
	level       Level
	detail, fix string
}

// unknown is the judgement of a setting that could not be read.
func unknown(setting string) judgement {
	return judgement{Warning, setting + " could not be checked: CONFIG GET and INFO are refused", "let the user call INFO, or compare with docs/production.md"}
}

// lookAtSettings compares the masters' settings with what docs/production.md
// asks for.
func (d *doctor) lookAtSettings(nodes []node, cluster bool) {
	d.judge("redis", nodes, cluster, "eviction", judgeEviction)
	if d.cfg.UsesPostgres() && d.cfg.Timeline.RedisURL == "" {
		d.lookAtLists("redis", nodes, cluster)
	}
	d.judge("redis", nodes, cluster, "persistence", judgePersistence)
	need := int64(d.cfg.Dedup.DailyCapacity) * int64(d.cfg.Dedup.WindowDays) * bytesPerImpression / int64(max(len(nodes), 1))
	d.judge("redis", nodes, cluster, "memory", func(s redisSettings) judgement { return judgeMemory(s, need) })
}

// judge reports each master whose setting differs, and says it once where none
// does.
func (d *doctor) judge(redis string, nodes []node, cluster bool, what string, judge func(redisSettings) judgement) {
	var good judgement
	differ := false
	for _, n := range nodes {
		if n.err != nil {
			continue
		}
		found := judge(n.settings)
		if n.settings.inferred && n.settings.policy != "" {
			found.detail += " (from INFO: CONFIG GET is refused)"
		}
		if found.level == OK {
			good = found
			continue
		}
		differ = true
		name := redis
		if cluster {
			name += " " + n.addr
		}
		d.say(found.level, name+" "+what, found.fix, "%s", found.detail)
	}
	if !differ && good.level == OK {
		d.say(OK, redis+" "+what, "", "%s", good.detail)
	}
}

func judgeEviction(s redisSettings) judgement {
	switch s.policy {
	case "":
		return unknown("maxmemory-policy")
	case "noeviction":
		return judgement{level: OK, detail: "maxmemory-policy noeviction"}
	}
	return judgement{Warning, fmt.Sprintf("maxmemory-policy is %s. %s", s.policy, needsNoEviction), "set maxmemory-policy noeviction"}
}

func judgePersistence(s redisSettings) judgement {
	const fix = "set appendonly yes and appendfsync everysec"
	switch {
	case s.appendOnly == "":
		return unknown("appendonly")
	case s.appendOnly == "no" && s.inferred:
		return judgement{Warning, "appendonly is no. " + needsPersistence, fix}
	case s.appendOnly == "no" && s.save == "":
		return judgement{Warning, "appendonly is no and save is empty. " + needsPersistence, fix}
	case s.appendOnly == "no":
		return judgement{Warning, fmt.Sprintf("appendonly is no, save is %s. %s", s.save, needsPersistence), fix}
	case s.appendSync == "no":
		return judgement{Warning, needsSync, fix}
	case s.inferred:
		return judgement{level: OK, detail: "appendonly yes"}
	}
	return judgement{level: OK, detail: "appendonly yes, appendfsync " + s.appendSync}
}

func judgeMemory(s redisSettings, need int64) judgement {
	limit, err := strconv.ParseInt(s.maxMemory, 10, 64)
	fix := fmt.Sprintf("set maxmemory to more than %s, with room for sessions and saving: docs/sizing.md", mebibytes(need))
	switch {
	case err != nil:
		return unknown("maxmemory")
	case limit == 0:
		return judgement{Warning, fmt.Sprintf("maxmemory is not set; here the filters take up to %s. %s", mebibytes(need), needsMemory), fix}
	case limit < need:
		return judgement{Warning, fmt.Sprintf("maxmemory is %s, and the filters take up to %s. %s", mebibytes(limit), mebibytes(need), needsMemory), fix}
	}
	return judgement{level: OK, detail: fmt.Sprintf("maxmemory %s; the filters take up to %s", mebibytes(limit), mebibytes(need))}
}

// mebibytes prints a size in MiB, or from 1 GiB on in GiB.
func mebibytes(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
