package doctor

import (
	"fmt"
	"strconv"

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
func (d *doctor) lookAtSettings(nodes []connect.Master, cluster bool) {
	d.judge("redis", nodes, cluster, "eviction", judgeEviction)
	if d.cfg.UsesPostgres() && d.cfg.Timeline.RedisURL == "" {
		d.lookAtLists("redis", nodes, cluster)
	}
	d.judge("redis", nodes, cluster, "persistence", judgePersistence)
	need := int64(d.cfg.Dedup.DailyCapacity) * int64(d.cfg.Dedup.WindowDays) * bytesPerImpression / int64(max(len(nodes), 1))
	d.judge("redis", nodes, cluster, "memory", func(s connect.Settings) judgement { return judgeMemory(s, need) })
}

// judge reports each master whose setting differs, and says it once where none
// does.
func (d *doctor) judge(redis string, nodes []connect.Master, cluster bool, what string, judge func(connect.Settings) judgement) {
	var good judgement
	differ := false
	for _, n := range nodes {
		if n.Err != nil {
			continue
		}
		found := judge(n.Settings)
		if n.Settings.Inferred && n.Settings.Policy != "" {
			found.detail += " (from INFO: CONFIG GET is refused)"
		}
		if found.level == OK {
			good = found
			continue
		}
		differ = true
		name := redis
		if cluster {
			name += " " + n.Addr
		}
		d.say(found.level, name+" "+what, found.fix, "%s", found.detail)
	}
	if !differ && good.level == OK {
		d.say(OK, redis+" "+what, "", "%s", good.detail)
	}
}

func judgeEviction(s connect.Settings) judgement {
	switch s.Policy {
	case "":
		return unknown("maxmemory-policy")
	case "noeviction":
		return judgement{level: OK, detail: "maxmemory-policy noeviction"}
	}
	return judgement{Warning, fmt.Sprintf("maxmemory-policy is %s. %s", s.Policy, needsNoEviction), "set maxmemory-policy noeviction"}
}

func judgePersistence(s connect.Settings) judgement {
	const fix = "set appendonly yes and appendfsync everysec"
	switch {
	case s.AppendOnly == "":
		return unknown("appendonly")
	case s.AppendOnly == "no" && s.Inferred:
		return judgement{Warning, "appendonly is no. " + needsPersistence, fix}
	case s.AppendOnly == "no" && s.Save == "":
		return judgement{Warning, "appendonly is no and save is empty. " + needsPersistence, fix}
	case s.AppendOnly == "no":
		return judgement{Warning, fmt.Sprintf("appendonly is no, save is %s. %s", s.Save, needsPersistence), fix}
	case s.AppendSync == "no":
		return judgement{Warning, needsSync, fix}
	case s.Inferred:
		return judgement{level: OK, detail: "appendonly yes"}
	}
	return judgement{level: OK, detail: "appendonly yes, appendfsync " + s.AppendSync}
}

func judgeMemory(s connect.Settings, need int64) judgement {
	limit, err := strconv.ParseInt(s.MaxMemory, 10, 64)
	fix := fmt.Sprintf("set maxmemory to more than %s, with room for sessions and saving: docs/capacity.md", mebibytes(need))
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
