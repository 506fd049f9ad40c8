package stream

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/redis/go-redis/v9"
)

var waitingEvents = promauto.NewGauge(prometheus.GaugeOpts{
	Name: "freshet_graph_stream_waiting",
	Help: "Events in the stream that no server has applied yet; measured every 10 seconds.",
})

// upkeep takes over events that other servers have abandoned, trims both streams, counts the
// waiting events and removes consumers that are no longer active.
func (c *Consumer) upkeep() error {
	c.unsettled = true // a reply that was lost inside the client is not detected otherwise
	if err := c.takeOver(); err != nil {
		return err
	}
	if err := c.trim(); err != nil {
		return err
	}
	oldest := strconv.FormatInt(c.cfg.Clock().Add(-keep).UnixMilli(), 10)
	if err := c.client.XTrimMinID(c.ctx, c.dead, oldest).Err(); err != nil {
		return err
	}
	return c.forget(c.ctx, "")
}

// takeOver claims and settles events that were read so long ago that their consumer must be dead.
func (c *Consumer) takeOver() error {
	for start := "0-0"; ; {
		entries, next, err := c.client.XAutoClaim(c.ctx, &redis.XAutoClaimArgs{
			Stream: c.key, Group: Group, Consumer: c.name, MinIdle: c.cfg.Idle, Start: start, Count: int64(c.cfg.Batch),
		}).Result()
		if err != nil {
			return err
		}
		if err := c.settle(entries); err != nil || next == "0-0" || c.closing() {
			return err
		}
		start = next
	}
}

// trim removes events that every group of the stream has read and acknowledged: other systems may
// read the stream, too.
//
// A group's bound only rises, so a stale bound is too low and only retains more. XINFO returns the
// number of pending events and the last one delivered as of one moment. If there are pending
// events, the oldest of them is read afterwards.
func (c *Consumer) trim() error {
	groups, err := c.client.XInfoGroups(c.ctx, c.key).Result()
	if err != nil {
		return err
	}
	var bound streamID
	for i, g := range groups {
		id := g.LastDeliveredID
		if g.Pending > 0 {
			p, err := c.client.XPending(c.ctx, c.key, g.Name).Result()
			if err != nil {
				return err
			}
			if p.Count > 0 {
				id = p.Lower
			}
		}
		own, err := parseID(id)
		if err != nil {
			return err
		}
		if i == 0 || own.compare(bound) < 0 {
			bound = own
		}
		if g.Name == Group {
			waitingEvents.Set(float64(g.Pending + max(g.Lag, 0)))
		}
	}
	if bound == (streamID{}) {
		return nil
	}
	return c.client.XTrimMinID(c.ctx, c.key, bound.String()).Err()
}

// streamID is the id of an entry: milliseconds, and a number within them.
type streamID struct{ ms, seq uint64 }

func parseID(text string) (id streamID, err error) {
	_, err = fmt.Sscanf(text, "%d-%d", &id.ms, &id.seq)
	return id, err
}

func (i streamID) compare(o streamID) int {
	return cmp.Or(cmp.Compare(i.ms, o.ms), cmp.Compare(i.seq, o.seq))
}

func (i streamID) String() string { return fmt.Sprintf("%d-%d", i.ms, i.seq) }

// forgotten is the idle time after which a consumer is removed. Running servers reset theirs
// with every read.
const forgotten = time.Hour

// forgetting removes from the group the named consumer and those that have been idle too long,
// except consumers with pending events, which would be lost. It is one script because a consumer
// may become active again at any time.
var forgetting = redis.NewScript(`
for _, c in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local f = {}
  for i = 1, #c, 2 do f[c[i]] = c[i + 1] end
  if f.pending == 0 and (f.name == ARGV[2] or f.idle > tonumber(ARGV[3])) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], f.name)
  end
end
return 0`)

// forget removes a consumer by name, and those that have been idle too long; the name may be "".
func (c *Consumer) forget(ctx context.Context, name string) error {
	return forgetting.Run(ctx, c.client, []string{c.key}, Group, name, forgotten.Milliseconds()).Err()
}

// leave removes this consumer from the group. If that fails another server does it later.
func (c *Consumer) leave() {
	ctx, cancel := context.WithTimeout(c.ctx, c.cfg.Leave)
	defer cancel()
	_ = c.forget(ctx, c.name)
}
