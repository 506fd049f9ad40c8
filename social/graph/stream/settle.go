package stream

import (
	"maps"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/graph"
)

// settle applies entries and acknowledges them once the store has them, or the
// dead stream. While the store cannot be told it waits with those that are left,
// and gives up only at Close. An error is Redis'.
func (c *Consumer) settle(entries []redis.XMessage) error {
	waits := newWaits()
	for waiting := false; len(entries) > 0; waiting = true {
		left, down, err := c.try(entries)
		if err != nil || c.closing() {
			return err
		}
		if down == nil {
			if waiting {
				c.log.Info("events of other systems are applied again")
			}
			return nil
		}
		if !waiting {
			c.log.Warn("events of other systems wait for the social store", "error", down)
		}
		entries = left
		c.pause(waits.NextBackOff())
	}
	return nil
}

// try applies entries once. It returns those that the store could not be told,
// and why.
func (c *Consumer) try(entries []redis.XMessage) (left []redis.XMessage, down, err error) {
	var events []graph.Event
	var from []int // events[i] is entries[from[i]]
	refused := make([]error, len(entries))
	for i, entry := range entries {
		if len(entry.Values) == 0 {
			continue // somebody has deleted it: there is nothing to do but to acknowledge it
		}
		e, err := parse(entry.Values)
		if refused[i] = err; err != nil {
			graph.CountRejected(e.Type)
			continue
		}
		events, from = append(events, e), append(from, i)
	}
	waiting := map[string]bool{}
	for i, err := range c.applier.Apply(c.ctx, events) {
		switch entry := entries[from[i]]; {
		case err == nil:
		case feed.Refused(err):
			refused[from[i]] = err
		default:
			left, down = append(left, entry), err
			waiting[entry.ID] = true
		}
	}
	return left, down, c.acknowledge(entries, waiting, refused)
}

// parse decodes the fields of an entry.
func parse(fields map[string]any) (graph.Event, error) {
	typ, hasType := fields["type"].(string)
	data, hasData := fields["data"].(string)
	if !hasType || !hasData || len(fields) != 2 {
		return graph.Event{}, feed.Errorf(feed.ErrInvalid, "bad event: an entry of the stream has the fields type and data, and no others")
	}
	return graph.Parse(typ, []byte(data))
}

// acknowledge moves what was refused to the dead stream, and then acknowledges
// all that does not wait. An entry whose acknowledgement is lost comes again.
func (c *Consumer) acknowledge(entries []redis.XMessage, waiting map[string]bool, refused []error) error {
	var settled []string
	var dead []*redis.XAddArgs
	for i, e := range entries {
		if waiting[e.ID] {
			continue
		}
		settled = append(settled, e.ID)
		if refused[i] != nil {
			dead = append(dead, c.deadEntry(e, refused[i]))
		}
	}
	if err := c.bury(dead); err != nil || len(settled) == 0 {
		return err
	}
	return c.client.XAck(c.ctx, c.key, Group, settled...).Err()
}

// deadEntry is a refused event as it came, with the error and its id.
func (c *Consumer) deadEntry(e redis.XMessage, why error) *redis.XAddArgs {
	fields := maps.Clone(e.Values)
	fields["error"], fields["id"] = graph.Reason(why), e.ID
	return &redis.XAddArgs{Stream: c.dead, Values: fields}
}

// bury writes to the dead stream. The log tells how many, and neither what they
// hold nor whom they are about.
func (c *Consumer) bury(dead []*redis.XAddArgs) error {
	if len(dead) == 0 {
		return nil
	}
	_, err := c.client.Pipelined(c.ctx, func(p redis.Pipeliner) error {
		for _, d := range dead {
			p.XAdd(c.ctx, d)
		}
		return nil
	})
	if err == nil {
		c.log.Warn("events of other systems were refused; they are in the dead stream", "events", len(dead), "stream", c.dead)
	}
	return err
}
