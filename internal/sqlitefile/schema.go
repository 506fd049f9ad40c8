package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	lib "modernc.org/sqlite/lib"
)

// Schema describes a kind of file: its name, its id and its tables.
type Schema struct {
	What string // name of such a file, such as "catalog"
	ID   int    // the application_id in SQLite's header
	// Migrations bring a file from version i to i+1. The version is the file's user_version.
	// Released migrations are never edited; new ones are appended.
	Migrations []string
	// Oldest is the version of the oldest programs that can still use a file of the newest version.
	// It does not change if a migration only adds tables and columns with defaults. The file
	// contains it, so that an upgrade can be undone by one version.
	Oldest int
}

// remember is the statement that writes [Schema.Oldest] into a file.
const remember = `CREATE TABLE IF NOT EXISTS freshet_schema (oldest INTEGER NOT NULL);
	DELETE FROM freshet_schema;
	INSERT INTO freshet_schema (oldest) VALUES (%d);`

// Catalog is the schema of the file of items, profiles, ranking versions and live popularity. Its
// id is the letters "frsh".
var Catalog = Schema{What: "catalog", ID: 0x66727368, Oldest: 1, Migrations: []string{
	// Items are found by id, scanned by seq, and listed and removed by their update times. The doc
	// is stored in the table by seq rather than in the index of ids, so that the index stays small.
	// Live popularity is deleted with its item, and the index by agent serves erasing an agent's
	// acts.
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
	// The group of a removed item is known for another 8 days (catalog.GroupsKept). A trigger stores
	// it, so that no way to remove items can forget to. A document that is damaged has no group.
	`CREATE TABLE removed_groups (id TEXT NOT NULL PRIMARY KEY, group_id TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;
	 CREATE INDEX removed_groups_at ON removed_groups (at);
	 CREATE TRIGGER items_removed AFTER DELETE ON items BEGIN
		DELETE FROM removed_groups WHERE id = OLD.id OR at < unixepoch() - 691200;
		INSERT INTO removed_groups (id, group_id, at)
			SELECT OLD.id, g.group_id, unixepoch()
			FROM (SELECT CASE WHEN json_valid(CAST(OLD.doc AS TEXT)) THEN json_extract(CAST(OLD.doc AS TEXT), '$.group_id') END AS group_id) g
			WHERE g.group_id NOT IN ('', OLD.id);
	 END;`,
	// What an act has added to the counts, so that it can be taken back.
	`ALTER TABLE popularity_agents ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
	 ALTER TABLE popularity_agents ADD COLUMN kinds INTEGER NOT NULL DEFAULT 0;`,
	// The sums of further half-lives, if a setting names any.
	`ALTER TABLE popularity ADD COLUMN more TEXT;`,
}}

// Connection is the part of a connection or a transaction that a schema uses.
type Connection interface {
	querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Migrate brings a file up to date, in a transaction of the caller. A file of a newer version that
// this program can use is not changed. A file of another program, or of a newer version that this
// program cannot use, is an error, and is not changed.
func (s *Schema) Migrate(ctx context.Context, tx Connection) error {
	version, err := s.check(ctx, tx)
	if err != nil {
		return err
	}
	if version >= len(s.Migrations) {
		return nil
	}
	for _, step := range append(slices.Clone(s.Migrations[version:]), fmt.Sprintf(remember, s.Oldest)) {
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("migration: %w", err)
		}
	}
	text := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", s.ID, len(s.Migrations))
	if _, err := tx.ExecContext(ctx, text); err != nil {
		return fmt.Errorf("migration: %w", err)
	}
	return nil
}

// check returns the schema version of the file, or an error if this program must not use it.
func (s *Schema) check(ctx context.Context, db Connection) (version int, err error) {
	var id, tables int
	if err := db.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&id, &version, &tables); err != nil {
		return 0, err
	}
	switch {
	case id != s.ID && (id != 0 || tables > 0):
		return 0, fmt.Errorf("this is not a freshet %s but another program's database; choose another data_dir", s.What)
	case version < 0:
		return 0, fmt.Errorf("this is not a freshet %s: its schema version is %d", s.What, version)
	case version > len(s.Migrations):
		if err := s.checkNewer(ctx, db, version); err != nil {
			return version, err
		}
	}
	return version, s.checkShape(ctx, db, version)
}

// ErrNewer means that a file was written by a newer version, and that this one cannot use it.
var ErrNewer = errors.New("this data was written by a newer freshet")

// checkNewer returns [ErrNewer] unless a file of a newer version permits programs of this version.
func (s *Schema) checkNewer(ctx context.Context, db Connection, version int) error {
	oldest := version // for a file without this information
	var says bool
	if err := db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'freshet_schema')`).Scan(&says); err != nil {
		return err
	}
	if says {
		if err := db.QueryRowContext(ctx, `SELECT coalesce(max(oldest), ?) FROM freshet_schema`, version).Scan(&oldest); err != nil {
			return err
		}
	}
	if oldest > len(s.Migrations) {
		return fmt.Errorf("%w (schema %d requires a version that supports schema %d; this one supports up to %d); upgrade freshet or choose another data_dir",
			ErrNewer, version, oldest, len(s.Migrations))
	}
	return nil
}

// setLog sets the file's journal mode to WAL, which is persistent. It changes the file, so it runs
// after [Schema.Migrate], which verifies that the file is ours.
func setLog(ctx context.Context, db Connection) error {
	var mode string
	set := func() error { return db.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode) }
	err := set()
	// This statement does not wait for a lock: two connections that change the mode would wait for
	// each other.
	for range 100 {
		if code(err) != lib.SQLITE_BUSY {
			break
		}
		time.Sleep(20 * time.Millisecond)
		err = set()
	}
	if err != nil {
		return err
	}
	if mode != "wal" {
		return errors.New("its file system has no shared memory, which the write-ahead log requires; choose a data_dir on a local disk")
	}
	return nil
}
