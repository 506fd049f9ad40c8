package catalog

import (
	"context"
	"errors"

	"github.com/freshet/freshet/feed"
)

// Timed is a catalog that returns profiles as they are in force by the clock: mutes that have ended
// are left out, and the next change of the profile removes them. It must be in front of all caches,
// so that no cached profile mutes longer than it should.
type Timed struct {
	Catalog
	Clock feed.Clock
}

// Profile implements [Profiles].
func (c Timed) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	p, err := c.Catalog.Profile(ctx, agent)
	return p.At(c.Clock()), err
}

// ProfilesOf implements [Profiles].
func (c Timed) ProfilesOf(ctx context.Context, agents []string) ([]feed.Profile, error) {
	list, err := c.Catalog.ProfilesOf(ctx, agents)
	now := c.Clock()
	for i := range list {
		list[i] = list[i].At(now)
	}
	return list, err
}

// Hydrate implements [Catalog].
func (c Timed) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	docs, p, err := c.Catalog.Hydrate(ctx, agent, ids)
	return docs, p.At(c.Clock()), err
}

// EditProfile implements [Profiles].
func (c Timed) EditProfile(ctx context.Context, agent string, change func(*feed.Profile) (bool, error)) (feed.Profile, error) {
	p, err := c.Catalog.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) {
		*p = p.At(c.Clock())
		return change(p)
	})
	return p.At(c.Clock()), err
}

// MuteItems implements [Profiles]. Mutes that have ended take no room.
func (c Timed) MuteItems(ctx context.Context, agent string, groups []string) error {
	err := c.Catalog.MuteItems(ctx, agent, groups)
	if errors.Is(err, feed.ErrLimit) {
		_, err = c.EditProfile(ctx, agent, func(p *feed.Profile) (bool, error) { return p.MuteItems(groups) })
	}
	return err
}
