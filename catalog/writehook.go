package catalog

import (
	"context"
	"errors"

	"github.com/freshet/freshet/feed"
)

// WriteHook is a catalog that reports its writes of items to a watcher, which embeds it.
type WriteHook struct {
	Catalog
	// OnWrite is called before a write of items; the function that it returns is called after the
	// write, even if it failed. An error of that function is joined to the write's.
	OnWrite func(ids []string) (after func(context.Context, Written) error)
}

// Written is the known outcome of a write: the items that it stored, and the ids of items that
// no longer exist.
type Written struct {
	Stored  []feed.Item
	Removed []string
}

// Put implements [Writer].
func (c WriteHook) Put(ctx context.Context, items []feed.Item) (errs []error, err error) {
	var w Written
	after := c.OnWrite(IDs(items))
	defer func() { err = errors.Join(err, after(ctx, w)) }()
	if errs, err = c.Catalog.Put(ctx, items); err == nil {
		w.Stored = Stored(items, errs)
	}
	return errs, err
}

// Update implements [Writer].
func (c WriteHook) Update(ctx context.Context, ids []string, change func(feed.Item) (feed.Item, error)) (all []Updated, err error) {
	var w Written
	after := c.OnWrite(ids)
	defer func() { err = errors.Join(err, after(ctx, w)) }()
	all, err = c.Catalog.Update(ctx, ids, change)
	for i := range all {
		switch {
		case all[i].Removed:
			w.Removed = append(w.Removed, ids[i])
		case all[i].Err == nil:
			w.Stored = append(w.Stored, all[i].Item)
		}
	}
	return all, err
}

// Remove implements [Writer].
func (c WriteHook) Remove(ctx context.Context, id string) (err error) {
	var w Written
	after := c.OnWrite([]string{id})
	defer func() { err = errors.Join(err, after(ctx, w)) }()
	if err = c.Catalog.Remove(ctx, id); err == nil || errors.Is(err, feed.ErrNotFound) {
		w.Removed = []string{id}
	}
	return err
}

// ProfileHook passes every change of a profile to Change, which must call write to make the
// change to the agent's profile.
type ProfileHook struct {
	Profiles
	Change func(ctx context.Context, agent string, write func() error) error
}

// EditProfile implements [Profiles].
func (p ProfileHook) EditProfile(ctx context.Context, agent string, change func(*feed.Profile) (bool, error)) (after feed.Profile, err error) {
	err = p.Change(ctx, agent, func() (err error) {
		after, err = p.Profiles.EditProfile(ctx, agent, change)
		return err
	})
	return after, err
}

// MuteItems implements [Profiles].
func (p ProfileHook) MuteItems(ctx context.Context, agent string, groups []string) error {
	return p.Change(ctx, agent, func() error { return p.Profiles.MuteItems(ctx, agent, groups) })
}

// RemoveProfile implements [Profiles].
func (p ProfileHook) RemoveProfile(ctx context.Context, agent string) error {
	return p.Change(ctx, agent, func() error { return p.Profiles.RemoveProfile(ctx, agent) })
}

// Learn implements [Profiles].
func (p ProfileHook) Learn(ctx context.Context, agent string, change func(*feed.Learning) bool) error {
	return p.Change(ctx, agent, func() error { return p.Profiles.Learn(ctx, agent, change) })
}
