package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/connect"
)

// lookAtListsRedis looks at a Redis that has lists and kept cards alone. It may
// evict keys, and need not survive a restart.
func (d *doctor) lookAtListsRedis(ctx context.Context) {
	const what = "timeline.redis"
	cfg := d.cfg.WithListsRedis()
	client, err := connect.Redis(ctx, cfg)
	if err != nil {
		d.say(Broken, what, "see the message", "timeline.redis_url: %v", err)
		return
	}
	defer func() { _ = client.Close() }()
	where := strings.Join(cfg.Redis.Server().Addrs, ", ")
	if err := client.Ping(ctx).Err(); err != nil {
		d.say(Broken, what, "start Redis, or correct timeline.redis_url", "%s: %v", where, err)
		return
	}
	info, _ := connect.Info(ctx, client, "server") // an ACL user may not be allowed to ask
	d.say(OK, what, "", "%s answers, version %s", where, cmp.Or(info["redis_version"], "unknown"))
	_, cluster := client.(*redis.ClusterClient)
	nodes := d.askMasters(ctx, client)
	for _, n := range nodes {
		if n.Err != nil {
			d.say(Broken, what+" "+n.Addr, "start it, or let a replica take over", "%v", n.Err)
		}
		if n.ReadOnly {
			d.say(Broken, what+" "+n.Addr, "name the master in timeline.redis_url", "it is a replica, which takes no writes: no list is kept")
		}
	}
	d.lookAtLists(what, nodes, cluster)
	d.judge(what, nodes, cluster, "eviction", judgeListEviction)
}

func (d *doctor) lookAtLists(redis string, nodes []connect.Master, cluster bool) {
	d.judge(redis, nodes, cluster, "lists", func(s connect.Settings) judgement { return judgeLists(s, d.cfg.Timeline.Cap) })
}

// judgeLists says how Redis keeps the lists of timelines. Either is right: one
// takes memory, the other time.
func judgeLists(s connect.Settings, most int) judgement {
	const own = 3 // members of a list that are no posts
	entries, err := strconv.Atoi(s.Listpack)
	switch {
	case err != nil:
		return judgement{level: OK, detail: "zset-max-listpack-entries is not known here: how much memory timelines take depends on it"}
	case entries < most+own:
		return judgement{level: OK, detail: fmt.Sprintf("zset-max-listpack-entries %d: a full list of a timeline is a skiplist, "+
			"about 120 bytes a post; with %d it takes a third of that", entries, max(512, most+own))}
	}
	return judgement{level: OK, detail: fmt.Sprintf("zset-max-listpack-entries %d: lists of timelines are listpacks, about 40 bytes a post", entries)}
}

// judgeListEviction wants what is full to make room: lists that are gone are built
// again, lists that cannot be written are of no use.
func judgeListEviction(s connect.Settings) judgement {
	switch {
	case s.Policy == "":
		return unknown("maxmemory-policy")
	case s.Policy == "noeviction" && s.MaxMemory != "0":
		return judgement{
			Warning, "maxmemory-policy is noeviction: when maxmemory is reached, no list can be written and the database answers all timelines",
			"set maxmemory-policy volatile-lru",
		}
	}
	return judgement{level: OK, detail: "maxmemory-policy " + s.Policy}
}
