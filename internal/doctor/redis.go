package doctor

import (
	"cmp"
	"context"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/internal/agreement"
	"github.com/freshet/freshet/internal/connect"
)

// lookAtRedis looks at the Redis that has all but, maybe, lists and kept cards.
func (d *doctor) lookAtRedis(ctx context.Context) {
	const what = "redis"
	client, masters := d.reachRedis(ctx, d.cfg, what, "redis.url", "no impression is recorded, and no session is kept")
	if client == nil {
		return
	}
	defer func() { _ = client.Close() }()
	d.lookAtSettings(masters)
	if d.cfg.Dedup.Shards < len(masters) {
		d.say(Warning, "redis cluster", "set dedup.shards to four for each master or more; it takes effect the next day",
			"a day's filters are %d, the masters %d: not all take part", d.cfg.Dedup.Shards, len(masters))
	}
	d.lookAtAgreement(ctx, what, agreement.InRedis(client, d.cfg.Redis.KeyPrefix))
	store, err := redisbloom.New(client, connect.Dedup(d.cfg), redisbloom.Config{KeyPrefix: d.cfg.Redis.KeyPrefix})
	if err == nil {
		err = store.Verify(ctx)
	}
	if err != nil {
		d.say(Broken, "redis bloom", "load the RedisBloom module, or use Redis 8", "%v", err)
		return
	}
	d.say(OK, "redis bloom", "", "the Bloom filter type is there")
}

// lookAtListsRedis looks at a Redis that has lists and kept cards alone. It may evict keys,
// and need not survive a restart.
func (d *doctor) lookAtListsRedis(ctx context.Context) {
	const what = "timeline.redis"
	client, masters := d.reachRedis(ctx, d.cfg.WithListsRedis(), what, "timeline.redis_url", "no list is kept")
	if client == nil {
		return
	}
	_ = client.Close()
	d.lookAtLists(what, masters)
	d.judge(what, masters, "eviction", judgeListEviction)
}

// reachRedis looks at the Redis of a setting and at each of its masters: its clock, whether it
// takes writes, without which something is lost, and whether it has the replicas that pages wait
// for. The client, which is to be closed, is nil where nobody answers.
func (d *doctor) reachRedis(ctx context.Context, cfg configs.Config, what, setting, lost string) (redis.UniversalClient, []connect.Master) {
	client, err := connect.Redis(ctx, cfg)
	if err != nil {
		d.say(Broken, what, "see the message", "%s: %v", setting, err)
		return nil, nil
	}
	where, sent := strings.Join(cfg.Redis.Server().Addrs, ", "), d.clock()
	now, err := client.Time(ctx).Result()
	if err != nil {
		d.say(Broken, what, "start Redis, or correct "+setting+" and its password", "%s: %v", where, err)
		_ = client.Close()
		return nil, nil
	}
	d.skew(what, sent, now)
	info, _ := connect.Info(ctx, client, "server") // an ACL user may not be allowed to ask
	d.say(OK, what, "", "%s answers, version %s", where, cmp.Or(info["redis_version"], "unknown"))
	masters, err := connect.CheckMasters(ctx, client, d.clock)
	if err != nil {
		d.say(Broken, what+" cluster", "see the message", "%v", err)
	}
	for _, n := range masters {
		what := what + " " + n.Addr
		if n.Err != nil {
			d.say(Broken, what, "start it, or let a replica take over", "%v", n.Err)
			continue
		}
		d.skew(what, n.Sent, n.Clock)
		if n.ReadOnly {
			d.say(Broken, what, "name the master in "+setting+", or Sentinels that know it", "it is a replica, which takes no writes: %s", lost)
		}
		if wait := cfg.Redis.WaitReplicas; n.Replicas >= 0 && n.Replicas < wait {
			d.say(Broken, what, "add replicas, or lower redis.wait_replicas",
				"it has %d replicas and redis.wait_replicas is %d: no page of its agents is answered", n.Replicas, wait)
		}
	}
	return client, masters
}
