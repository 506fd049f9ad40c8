package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
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
	return c.changeProfile(ctx, "put profile", agent, func(stored *feed.Profile) bool {
		muted := stored.MutedItems
		if *stored = p; p.MutedItems == nil {
			stored.MutedItems = muted
		}
		return true
	})
}

// MuteItems implements [catalog.Profiles].
func (c *Catalog) MuteItems(ctx context.Context, agent string, groups []string) error {
	return c.changeProfile(ctx, "mute items", agent, func(stored *feed.Profile) bool { return stored.Hide(groups) })
}

// changeProfile reads, changes and writes in one transaction; no other writer
// comes between. Nothing is written where change answers false.
func (c *Catalog) changeProfile(ctx context.Context, what, agent string, change func(*feed.Profile) bool) error {
	err := sqlitefile.InTx(ctx, c.file.Writer, func(tx *sql.Tx) error { return c.profileChange(ctx, tx, agent, change) })
	if errors.Is(err, feed.ErrBadProfile) {
		return err
	}
	return failed(ctx, what, err)
}

func (c *Catalog) profileChange(ctx context.Context, tx *sql.Tx, agent string, change func(*feed.Profile) bool) error {
	var raw []byte
	var p feed.Profile
	err := tx.QueryRowContext(ctx, `SELECT doc FROM profiles WHERE agent = ?`, agent).Scan(&raw)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	default:
		// One that is damaged is reported when it is read; putting another repairs it.
		_ = json.Unmarshal(raw, &p)
	}
	if !change(&p) {
		return nil
	}
	if raw, err = json.Marshal(p); err != nil {
		return fmt.Errorf("%w: %w", feed.ErrBadProfile, err)
	}
	_, err = tx.StmtContext(ctx, c.putProfile).ExecContext(ctx, agent, raw)
	return err
}

// RemoveProfile implements [catalog.Profiles].
func (c *Catalog) RemoveProfile(ctx context.Context, agent string) error {
	return removed(ctx, "remove profile", c.dropOne, agent)
}
