package stream

import (
	"maps"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/social/graph"
)

// settle applies entries and acknowledges them once the store or the dead stream has them. While
// the store is unavailable it retries the remaining ones until Close. The error is from Redis.
func (c *Consumer) settle(entries []redis.XMessage) error {
	waits := newWaits()
	applies := periodic.Failing{Fails: "events of other systems wait for the social store", Again: "events of other systems are applied again"}
	for len(entries) > 0 {
		left, down, err := c.try(entries)
		if err != nil || c.closing() {
			return err
		}
		applies.Tell(c.ctx, c.log, down)
		entries = left
		if down != nil {
			c.pause(waits.NextBackOff())
		}
	}
	return nil
}

// try applies entries once. It returns those that failed because the store is unavailable, with
// the store's error in down.
func (c *Consumer) try(entries []redis.XMessage) (left []redis.XMessage, down, err error) {
	var events []graph.Event
	var from []int // events[i] is entries[from[i]]
	outcomes := make([]error, len(entries))
	for i, entry := range entries {
		if len(entry.Values) == 0 {
			continue // the entry was deleted; it is only acknowledged
		}
		e, err := parse(entry.Values)
		outcomes[i] = err
		if err != nil {
			graph.CountRejected(e.Type)
			continue
		}
		events, from = append(events, e), append(from, i)
	}
	for i, err := range c.applier.Apply(c.ctx, events) {
		outcomes[from[i]] = err
	}
	var settled []string
	var dead []*redis.XAddArgs
	for i, entry := range entries {
		why := outcomes[i]
		if why != nil && !feed.Refused(why) {
			left, down = append(left, entry), why
			continue
		}
		settled = append(settled, entry.ID)
		if why != nil {
			fields := maps.Clone(entry.Values) // the original fields plus the error and the entry's id
			fields["error"], fields["id"] = graph.Reason(why), entry.ID
			dead = append(dead, &redis.XAddArgs{Stream: c.dead, Values: fields})
		}
	}
	return left, down, c.acknowledge(settled, dead)
}

// parse decodes the fields of an entry.
func parse(fields map[string]any) (graph.Event, error) {
	typ, hasType := fields["type"].(string)
	data, hasData := fields["data"].(string)
	if !hasType || !hasData || len(fields) != 2 {
		return graph.Event{}, feed.Errorf(feed.ErrInvalid, "bad event: a stream entry must have exactly the fields type and data")
	}
	return graph.Parse(typ, []byte(data))
}

// acknowledge adds the refused entries to the dead stream and then acknowledges the settled ones.
// An entry whose acknowledgement is lost is delivered again. The log has the number of refused
// entries, but neither their content nor whom they concern.
func (c *Consumer) acknowledge(settled []string, dead []*redis.XAddArgs) error {
	if len(dead) > 0 {
		_, err := c.client.Pipelined(c.ctx, func(p redis.Pipeliner) error {
			for _, d := range dead {
				p.XAdd(c.ctx, d)
			}
			return nil
		})
		if err != nil {
			return err
		}
		c.log.Warn("events of other systems were refused; they are in the dead stream", "events", len(dead), "stream", c.dead)
	}
	if len(settled) == 0 {
		return nil
	}
	return c.client.XAck(c.ctx, c.key, Group, settled...).Err()
}
