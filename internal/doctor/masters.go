package doctor

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/connect"
)

// node holds the answers of one master of a cluster to the doctor.
type node struct {
	addr        string
	sent, clock time.Time
	replicas    int // connected; -1: unknown
	settings    redisSettings
	err         error
}

// lookAtMasters looks at each server: its settings, its clock, whether the
// filters spread over all, and whether each has the replicas that pages wait
// for.
func (d *doctor) lookAtMasters(ctx context.Context, client redis.UniversalClient) {
	nodes := d.askMasters(ctx, client)
	for _, n := range nodes {
		what := "redis " + n.addr
		if n.err != nil {
			d.say(Broken, what, "start it, or let a replica take over", "%v", n.err)
			continue
		}
		d.skew(what, n.sent, n.clock)
		if wait := d.cfg.Redis.WaitReplicas; n.replicas >= 0 && n.replicas < wait {
			d.say(Broken, what, "add replicas, or lower redis.wait_replicas",
				"it has %d replicas and redis.wait_replicas is %d: no page of its agents is answered", n.replicas, wait)
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

func (d *doctor) askMasters(ctx context.Context, client redis.UniversalClient) []node {
	var mu sync.Mutex
	var nodes []node
	ask := func(ctx context.Context, c *redis.Client) {
		n := node{addr: c.Options().Addr, replicas: -1, sent: d.clock()}
		n.clock, n.err = c.Time(ctx).Result()
		n.settings = readSettings(ctx, c)
		info, _ := connect.Info(ctx, c, "replication")
		if count, err := strconv.Atoi(info["connected_slaves"]); err == nil {
			n.replicas = count
		}
		mu.Lock()
		defer mu.Unlock()
		nodes = append(nodes, n)
	}
	if err := connect.EachMaster(ctx, client, ask); err != nil {
		d.say(Broken, "redis cluster", "see the message", "%v", err)
	}
	slices.SortFunc(nodes, func(a, b node) int { return strings.Compare(a.addr, b.addr) })
	return nodes
}
