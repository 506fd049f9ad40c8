package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
)

// Profile implements [catalog.Profiles].
func (c *Catalog) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	var raw []byte
	if err := c.profile.QueryRowContext(ctx, agent).Scan(&raw); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return feed.Profile{}, c.failed(ctx, "read profile", err)
	}
	return catalog.ParseProfile(agent, raw)
}

// Hydrate implements [catalog.Catalog].
func (c *Catalog) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	return catalog.Hydrate(ctx, c, c, agent, ids)
}

// ProfilesOf implements [catalog.Profiles].
func (c *Catalog) ProfilesOf(ctx context.Context, agents []string) ([]feed.Profile, error) {
	found, err := c.byKey(ctx, c.profiles, "read profiles", agents)
	if err != nil {
		return nil, err
	}
	out := make([]feed.Profile, len(agents))
	for i, agent := range agents {
		if out[i], err = catalog.ParseProfile(agent, found[agent]); err != nil && !errors.Is(err, feed.ErrNotFound) {
			return nil, err
		}
	}
	return out, nil
}

// changeRecord reads, changes and writes a record in one transaction, without other writers in
// between.
func (c *Catalog) changeRecord(ctx context.Context, what, agent string, change catalog.RecordChange) error {
	var refused error
	err := sqlitefile.InTx(ctx, c.file.Writer, func(tx *sqlitefile.Tx) {
		var raw []byte
		var r catalog.Record
		exists := tx.Row([]any{&raw}, `SELECT doc FROM profiles WHERE agent = ?`, agent)
		if tx.Failed() {
			return
		}
		if exists {
			// A damaged record is reported when it is read; storing another repairs it.
			r, _ = catalog.ParseRecord(raw)
		}
		var changed bool
		changed, refused = change(&r, exists)
		if refused != nil || !changed {
			tx.Fail(refused)
			return
		}
		if r.Empty() {
			tx.Do(`DELETE FROM profiles WHERE agent = ?`, agent)
			return
		}
		raw, refused = json.Marshal(r)
		if refused != nil {
			refused = feed.Errorf(feed.ErrInvalid, "bad profile: %w", refused)
			tx.Fail(refused)
		}
		tx.Do(`INSERT INTO profiles (agent, doc) VALUES (?, ?) ON CONFLICT (agent) DO UPDATE SET doc = excluded.doc`, agent, raw)
	})
	if refused != nil {
		return err
	}
	return c.failed(ctx, what, err)
}
