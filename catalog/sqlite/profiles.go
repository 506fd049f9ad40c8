package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// Profile implements [catalog.Profiles].
func (c *Catalog) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	var raw []byte
	switch err := c.profile.QueryRowContext(ctx, agent).Scan(&raw); {
	case errors.Is(err, sql.ErrNoRows):
		return feed.Profile{}, fmt.Errorf("profile of %s: %w", agent, catalog.ErrNotFound)
	case err != nil:
		return feed.Profile{}, failed(ctx, "read profile", err)
	}
	var p feed.Profile
	if err := json.Unmarshal(raw, &p); err != nil {
		return feed.Profile{}, fmt.Errorf("sqlite: the profile of %s is damaged, put it again: %w", agent, err)
	}
	return p, nil
}

// PutProfile implements [catalog.Profiles].
func (c *Catalog) PutProfile(ctx context.Context, agent string, p feed.Profile) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("%w: %w", feed.ErrBadProfile, err)
	}
	_, err = c.putProfile.ExecContext(ctx, agent, raw)
	return failed(ctx, "put profile", err)
}

// RemoveProfile implements [catalog.Profiles].
func (c *Catalog) RemoveProfile(ctx context.Context, agent string) error {
	return removed(ctx, "remove profile", c.dropOne, agent)
}
