package doctor

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/connect"
)

// lookAtMasters looks at each server: its settings, its clock, whether the
// filters spread over all, and whether each has the replicas that pages wait
// for.
func (d *doctor) lookAtMasters(ctx context.Context, client redis.UniversalClient) {
	nodes := d.askMasters(ctx, client)
	for _, n := range nodes {
		what := "redis " + n.Addr
		if n.Err != nil {
			d.say(Broken, what, "start it, or let a replica take over", "%v", n.Err)
			continue
		}
		d.skew(what, n.Sent, n.Clock)
		if n.ReadOnly {
			d.say(Broken, what, "name the master in redis.url, or Sentinels that know it",
				"it is a replica, which takes no writes: no impression is recorded, and no session is kept")
		}
		if wait := d.cfg.Redis.WaitReplicas; n.Replicas >= 0 && n.Replicas < wait {
			d.say(Broken, what, "add replicas, or lower redis.wait_replicas",
				"it has %d replicas and redis.wait_replicas is %d: no page of its agents is answered", n.Replicas, wait)
		}
	}
	_, cluster := client.(*redis.ClusterClient)
	d.lookAtSettings(nodes, cluster)
	if !cluster {
		return
	}
	if d.cfg.Dedup.Shards < len(nodes) {
		d.say(Warning, "redis cluster", "set dedup.shards to four for each master or more; it takes effect the next day",
			"a day's filters are %d, the masters %d: not all take part", d.cfg.Dedup.Shards, len(nodes))
	}
}

func (d *doctor) askMasters(ctx context.Context, client redis.UniversalClient) []connect.Master {
	masters, err := connect.CheckMasters(ctx, client, d.clock)
	if err != nil {
		d.say(Broken, "redis cluster", "see the message", "%v", err)
	}
	return masters
}
