package stores

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/bench/prove"
)

// Replicated is a Redis master with two replicas, and three Sentinels, which promote a replica when the master
// has not answered for three seconds.
type Replicated struct {
	Sentinels []string

	nodes     []*Redis
	sentinels []*Redis
}

// settings are a Sentinel's. Three seconds without an answer are more than a restart takes.
const settings = `sentinel monitor %[1]s %[2]s %[3]s 2
sentinel down-after-milliseconds %[1]s 3000
sentinel failover-timeout %[1]s 5000
`

const (
	replicas  = 2
	sentinels = 3
	settling  = time.Minute // bounds the waits for Sentinels
)

// StartReplicated starts all in a directory, with the module for Bloom filters, or without one if module is "",
// and further settings of the master and its replicas.
func StartReplicated(ctx context.Context, dir, module string, more ...string) (_ *Replicated, err error) {
	p := &Replicated{}
	defer func() {
		if err != nil {
			p.Kill()
		}
	}()
	host, port := "", ""
	for n := range 1 + replicas {
		r, err := StartRedis(ctx, filepath.Join(dir, fmt.Sprint("redis", n)), module, more...)
		if err != nil {
			return nil, err
		}
		p.nodes = append(p.nodes, r)
		if n == 0 {
			host, port, _ = net.SplitHostPort(r.Addr)
			more = append(slices.Clip(more), "replicaof "+host+" "+port)
		}
	}
	for n := range sentinels {
		folder := filepath.Join(dir, fmt.Sprint("sentinel", n))
		s, err := startServer(ctx, folder, fmt.Sprintf(settings, prove.Master, host, port), "--sentinel")
		if err != nil {
			return nil, err
		}
		p.sentinels, p.Sentinels = append(p.sentinels, s), append(p.Sentinels, s.Addr)
	}
	return p, p.until(ctx, "the Sentinels do not see the master, its replicas and each other", p.known)
}

// known reports whether all Sentinels see all of it.
func (p *Replicated) known(ctx context.Context) bool {
	for _, addr := range p.Sentinels {
		c := redis.NewSentinelClient(&redis.Options{Addr: addr})
		m, err := c.Master(ctx, prove.Master).Result()
		_ = c.Close()
		if err != nil || m["num-slaves"] != fmt.Sprint(replicas) || m["num-other-sentinels"] != fmt.Sprint(sentinels-1) {
			return false
		}
	}
	return p.replicated(ctx)
}

// replicated reports whether the master has all its replicas, which follow it.
func (p *Replicated) replicated(ctx context.Context) bool {
	m := p.master(ctx)
	if m == nil {
		return false
	}
	c := m.client()
	defer func() { _ = c.Close() }()
	info, err := c.Info(ctx, "replication").Result()
	return err == nil && strings.Contains(info, "role:master") && strings.Count(info, "state=online") == replicas
}

// master returns the node that the Sentinels name, nil if none answers.
func (p *Replicated) master(ctx context.Context) *Redis {
	for _, addr := range p.Sentinels {
		c := redis.NewSentinelClient(&redis.Options{Addr: addr})
		at, err := c.GetMasterAddrByName(ctx, prove.Master).Result()
		_ = c.Close()
		if err != nil {
			continue
		}
		for _, r := range p.nodes {
			if r.Addr == net.JoinHostPort(at[0], at[1]) {
				return r
			}
		}
	}
	return nil
}

// errNoMaster means that no Sentinel names a master.
var errNoMaster = errors.New("no Sentinel names the master")

// Faults are a restart of the master and a failover, in turn.
func (p *Replicated) Faults() []prove.Fault {
	return []prove.Fault{
		{Name: "kill -9 of Redis's master, which starts again with its file", Await: p.Await, Do: p.Restart},
		{Name: "kill -9 of Redis's master, one of whose replicas takes over", Await: p.Await, Do: p.Failover},
	}
}

// Await returns when all replicas follow the master.
func (p *Replicated) Await(ctx context.Context) error {
	return p.until(ctx, "the replicas do not follow the master", p.replicated)
}

// Restart kills the master and starts it again with its file, a second later.
func (p *Replicated) Restart(ctx context.Context) error {
	m := p.master(ctx)
	if m == nil {
		return errNoMaster
	}
	return m.Restart(ctx)
}

// Pause stops the master for two seconds.
func (p *Replicated) Pause(ctx context.Context) error {
	m := p.master(ctx)
	if m == nil {
		return errNoMaster
	}
	return m.Pause(ctx)
}

// Failover kills the master, waits until the Sentinels have promoted a replica, and starts the old one again,
// which the Sentinels then make a replica.
func (p *Replicated) Failover(ctx context.Context) error {
	old := p.master(ctx)
	if old == nil {
		return errNoMaster
	}
	old.Kill()
	err := p.until(ctx, "the Sentinels promote no replica", func(ctx context.Context) bool {
		m := p.master(ctx)
		if m == nil || m == old {
			return false
		}
		c := m.client()
		defer func() { _ = c.Close() }()
		role, err := c.Do(ctx, "ROLE").Slice()
		return err == nil && role[0] == "master"
	})
	return errors.Join(err, old.start(ctx))
}

// until waits for a condition.
func (p *Replicated) until(ctx context.Context, otherwise string, holds func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, settling)
	defer cancel()
	for !holds(ctx) {
		if pause(ctx, 100*time.Millisecond) != nil {
			return errors.New(otherwise)
		}
	}
	return nil
}

// Client returns a client of the master.
func (p *Replicated) Client() redis.UniversalClient {
	return redis.NewFailoverClient(&redis.FailoverOptions{MasterName: prove.Master, SentinelAddrs: p.Sentinels})
}

// Kill ends all processes at once.
func (p *Replicated) Kill() {
	for _, r := range append(p.sentinels, p.nodes...) {
		r.Kill()
	}
}
