package rediscache

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

var _ catalog.Groups = (*Cache)(nil)

// Remove implements [catalog.Writer]. It stores the item's group first.
func (c *Cache) Remove(ctx context.Context, id string) error {
	docs, err := c.next.Docs(ctx, []string{id})
	if err != nil {
		return err
	}
	if !docs[0].Missing() {
		group, _, headErr := docs[0].Head()
		if headErr == nil {
			err = c.keepGroups(ctx, []feed.Ref{{ID: id, Group: group}})
		}
	}
	if err != nil {
		return err
	}
	return c.WriteHook.Remove(ctx, id)
}

// Update implements [catalog.Writer]. It stores the groups of the items that were removed.
func (c *Cache) Update(ctx context.Context, ids []string, change func(feed.Item) (feed.Item, error)) ([]catalog.Updated, error) {
	groups := map[string]string{}
	all, err := c.WriteHook.Update(ctx, ids, func(it feed.Item) (feed.Item, error) {
		groups[it.ID] = it.Group()
		return change(it)
	})
	var removed []feed.Ref
	for i := range all {
		if all[i].Removed {
			removed = append(removed, feed.Ref{ID: ids[i], Group: groups[ids[i]]})
		}
	}
	return all, errors.Join(err, c.keepGroups(ctx, removed))
}

// keepGroups stores the groups of removed items.
func (c *Cache) keepGroups(ctx context.Context, removed []feed.Ref) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterWrite)
	defer cancel()
	pipe := c.client.Pipeline()
	for _, ref := range removed {
		if ref.Group != ref.ID {
			pipe.Set(ctx, c.keys.Group(ref.ID), ref.Group, catalog.GroupsKept)
		} else {
			pipe.Del(ctx, c.keys.Group(ref.ID)) // of an earlier item with this id
		}
	}
	if pipe.Len() == 0 {
		return nil
	}
	_, err := pipe.Exec(ctx)
	return contractError("write", err)
}

// GroupsOf implements [catalog.Groups] with one round trip.
func (c *Cache) GroupsOf(ctx context.Context, ids []string) (map[string]string, error) {
	pipe := c.client.Pipeline()
	found := make([]*redis.StringCmd, len(ids))
	for i, id := range ids {
		found[i] = pipe.Get(ctx, c.keys.Group(id))
	}
	groups := map[string]string{}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return groups, contractError("read", err)
	}
	for i, id := range ids {
		group := found[i].Val()
		if group != "" {
			groups[id] = group
		}
	}
	return groups, nil
}
