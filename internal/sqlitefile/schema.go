package sqlitefile

import (
	"context"
	"database/sql"
	"fmt"
)

// applicationID marks the file as a Freshet catalog in SQLite's header: the
// letters "frsh".
const applicationID = 0x66727368

// migrations brings a file from version i to i+1. The version is the file's
// user_version. What has been released is never edited, only added to.
var migrations = []string{
	// Items are found by id, scanned by seq, and listed and swept by their update
	// times. The doc is beside seq rather than in the index of ids, so that the
	// index stays small. Live popularity goes with its item, and an agent that is
	// erased takes along what it has acted on.
	`CREATE TABLE items (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, doc BLOB NOT NULL, updated INTEGER NOT NULL DEFAULT 0);
	 CREATE TABLE profiles (agent TEXT NOT NULL PRIMARY KEY, doc BLOB NOT NULL) WITHOUT ROWID;
	 CREATE TABLE ranking_versions (version INTEGER PRIMARY KEY, doc BLOB NOT NULL);
	 CREATE TABLE popularity (item TEXT NOT NULL PRIMARY KEY, last INTEGER NOT NULL, sum_2h REAL NOT NULL, sum_2d REAL NOT NULL) WITHOUT ROWID;
	 CREATE TABLE popularity_agents (item TEXT NOT NULL, agent INTEGER NOT NULL, day INTEGER NOT NULL, PRIMARY KEY (item, agent)) WITHOUT ROWID;
	 CREATE INDEX popularity_agents_day ON popularity_agents (day);
	 CREATE TRIGGER items_deleted AFTER DELETE ON items BEGIN
		DELETE FROM popularity WHERE item = OLD.id;
		DELETE FROM popularity_agents WHERE item = OLD.id;
	 END;
	 CREATE INDEX popularity_agents_agent ON popularity_agents (agent);
	 CREATE INDEX items_by_time ON items (updated, id);`,
}

// migrate brings the schema up to date.
func migrate(ctx context.Context, tx *sql.Tx) error {
	version, err := check(ctx, tx)
	if err != nil {
		return err
	}
	for _, step := range migrations[version:] {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("migration: %w", err)
		}
	}
	if version < len(migrations) {
		text := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(migrations))
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("migration: %w", err)
		}
	}
	return nil
}

// check returns the schema version of a file that is ours to change.
func check(ctx context.Context, tx *sql.Tx) (version int, err error) {
	var id, tables int
	if err := tx.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&id, &version, &tables); err != nil {
		return 0, err
	}
	switch {
	case id != applicationID && (id != 0 || tables > 0):
		return 0, fmt.Errorf("%w but another program's database; choose another data_dir", ErrNotOurs)
	case version > len(migrations):
		return 0, fmt.Errorf("%w (schema %d, this one knows up to %d); upgrade freshet or choose another data_dir",
			ErrNewerSchema, version, len(migrations))
	case version < 0:
		return 0, fmt.Errorf("%w: its schema version is %d", ErrNotOurs, version)
	}
	return version, nil
}
