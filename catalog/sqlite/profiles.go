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
		return feed.Profile{}, fmt.Errorf("profile of %s: %w", agent, feed.ErrNotFound)
	case err != nil:
		return feed.Profile{}, failed(ctx, "read profile", err)
	}
	return parseProfile(agent, raw)
}

func parseProfile(agent string, raw []byte) (feed.Profile, error) {
	r, err := catalog.ParseRecord(raw)
	if err != nil {
		return feed.Profile{}, fmt.Errorf("sqlite: the profile of %s is damaged, put it again: %w", agent, err)
	}
	if !r.Known() {
		return feed.Profile{}, fmt.Errorf("profile of %s: %w", agent, feed.ErrNotFound)
	}
	return r.Profile, nil
}

// Hydrate implements [catalog.Catalog].
func (c *Catalog) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	return catalog.Hydrate(ctx, c, c, agent, ids)
}

// ProfilesOf implements [catalog.Profiles].
func (c *Catalog) ProfilesOf(ctx context.Context, agents []string) (_ []feed.Profile, err error) {
	list, err := json.Marshal(agents)
	if err != nil {
		return nil, fmt.Errorf("sqlite: read profiles: %w", err)
	}
	rows, err := c.profiles.QueryContext(ctx, string(list))
	if err != nil {
		return nil, failed(ctx, "read profiles", err)
	}
	defer func() { err = errors.Join(err, failed(ctx, "read profiles", rows.Close())) }()
	found := map[string]feed.Profile{}
	for rows.Next() {
		var agent string
		var raw []byte
		if err := rows.Scan(&agent, &raw); err != nil {
			return nil, failed(ctx, "read profiles", err)
		}
		if found[agent], err = parseProfile(agent, raw); err != nil && !errors.Is(err, feed.ErrNotFound) {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, failed(ctx, "read profiles", err)
	}
	out := make([]feed.Profile, len(agents))
	for i, agent := range agents {
		out[i] = found[agent]
	}
	return out, nil
}

// EditProfile implements [catalog.Profiles].
func (c *Catalog) EditProfile(ctx context.Context, agent string, change func(*feed.Profile) (bool, error)) (p feed.Profile, err error) {
	err = c.changeRecord(ctx, "edit profile", agent, func(r *catalog.Record, exists bool) (changed bool, err error) {
		changed, err = r.Edit(exists, change)
		p = r.Profile
		return changed, err
	})
	return p, err
}

// MuteItems implements [catalog.Profiles].
func (c *Catalog) MuteItems(ctx context.Context, agent string, groups []string) error {
	return c.changeRecord(ctx, "mute items", agent, func(r *catalog.Record, _ bool) (bool, error) { return r.Mute(groups), nil })
}

// RemoveProfile implements [catalog.Profiles].
func (c *Catalog) RemoveProfile(ctx context.Context, agent string) error {
	return c.changeRecord(ctx, "remove profile", agent, func(r *catalog.Record, exists bool) (bool, error) {
		if !exists || !r.Remove() {
			return false, fmt.Errorf("profile of %s: %w", agent, feed.ErrNotFound)
		}
		return true, nil
	})
}

// Learn implements [catalog.Profiles].
func (c *Catalog) Learn(ctx context.Context, agent string, change func(*feed.Learning) bool) error {
	return c.changeRecord(ctx, "learn", agent, func(r *catalog.Record, exists bool) (bool, error) { return r.Learn(exists, change), nil })
}

// recordChange changes a record; false: there is nothing to write. exists tells
// whether the agent had one.
type recordChange func(r *catalog.Record, exists bool) (bool, error)

// changeRecord reads, changes and writes in one transaction; no other writer
// comes between.
func (c *Catalog) changeRecord(ctx context.Context, what, agent string, change recordChange) error {
	var refused error
	err := sqlitefile.InTx(ctx, c.file.Writer, func(tx *sql.Tx) error {
		return c.recordChange(ctx, tx, agent, func(r *catalog.Record, exists bool) (changed bool, err error) {
			changed, refused = change(r, exists)
			return changed, refused
		})
	})
	if refused != nil || errors.Is(err, feed.ErrInvalid) {
		return err
	}
	return failed(ctx, what, err)
}

func (c *Catalog) recordChange(ctx context.Context, tx *sql.Tx, agent string, change recordChange) error {
	var raw []byte
	err := tx.QueryRowContext(ctx, `SELECT doc FROM profiles WHERE agent = ?`, agent).Scan(&raw)
	exists := err == nil
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	var r catalog.Record
	if exists {
		// One that is damaged is reported when it is read; putting another repairs it.
		r, _ = catalog.ParseRecord(raw)
	}
	changed, err := change(&r, exists)
	if err != nil || !changed {
		return err
	}
	if r.Empty() {
		_, err = tx.StmtContext(ctx, c.dropOne).ExecContext(ctx, agent)
		return err
	}
	if raw, err = json.Marshal(r); err != nil {
		return feed.Errorf(feed.ErrInvalid, "bad profile: %w", err)
	}
	_, err = tx.StmtContext(ctx, c.putProfile).ExecContext(ctx, agent, raw)
	return err
}
