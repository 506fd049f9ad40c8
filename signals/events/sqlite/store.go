// Package sqlite keeps the counts of events in one SQLite file: the event store
// of embedded mode.
//
// The file is in WAL mode with synchronous=NORMAL: a killed process loses
// nothing of what Add has answered, a power cut perhaps the last counts, but
// never part of a batch.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/signals/events"
)

// applicationID marks the file as Freshet's counts in SQLite's header: the
// letters "frev".
const applicationID = 0x66726576

// schemaVersion is the user_version of the tables below. What has been released
// is never edited: a change is a migration and another version.
const schemaVersion = 1

// What is in counts is named as in Redis: impressions, the kinds of events, and
// a0 … a119 for the buckets of ages, explored, explored_clicks, and promoted:,
// promoted_click: and promoted_like: before the ids of promotions. In acts is also what
// exploration and promotions have shown. A day is a number of days since 1970.
const schema = `
CREATE TABLE counts (variant TEXT NOT NULL, day INTEGER NOT NULL, what TEXT NOT NULL, n INTEGER NOT NULL,
	PRIMARY KEY (variant, day, what)) WITHOUT ROWID;
CREATE TABLE sketches (variant TEXT NOT NULL, day INTEGER NOT NULL, what TEXT NOT NULL, sketch BLOB NOT NULL,
	PRIMARY KEY (variant, day, what)) WITHOUT ROWID;
CREATE TABLE acts (day INTEGER NOT NULL, variant TEXT NOT NULL, hash INTEGER NOT NULL,
	PRIMARY KEY (day, variant, hash)) WITHOUT ROWID;
CREATE TABLE senders (day INTEGER NOT NULL, variant TEXT NOT NULL, sender TEXT NOT NULL, seq INTEGER NOT NULL,
	PRIMARY KEY (day, variant, sender)) WITHOUT ROWID;`

// ErrNotOurs says that the file is no Freshet store of events, or one of a
// newer version. Nothing was changed.
var ErrNotOurs = errors.New("this is not a file of events this freshet can use")

// Store implements [events.Store] in one SQLite file. It is safe for concurrent
// use.
type Store struct {
	db *sql.DB

	mu     sync.Mutex
	pruned feed.Day // older days are gone up to here
}

var _ events.Store = (*Store)(nil)

// Open opens the file at path, and makes it and its directory where they do not
// exist.
func Open(ctx context.Context, path string) (*Store, error) {
	db, err := sqlitefile.Connect(path, "rwc", "synchronous(NORMAL)")
	if err != nil {
		return nil, fmt.Errorf("events file %s: %w", path, err)
	}
	// Writes come once a second and reads when somebody looks: one connection
	// does, and needs no lock of SQLite's.
	db.SetMaxOpenConns(1)
	s := &Store{db: db}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("events file %s: %w", path, err), db.Close())
	}
	return s, nil
}

func (s *Store) prepare(ctx context.Context) error {
	var id, version, tables int
	err := s.db.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&id, &version, &tables)
	switch {
	case err != nil:
		return err
	case id == applicationID && version == schemaVersion:
		return nil
	case id != 0 || version != 0 || tables > 0:
		return fmt.Errorf("%w (application %#x, schema %d); upgrade freshet, or move the file away", ErrNotOurs, id, version)
	}
	if _, err := s.db.ExecContext(ctx, `PRAGMA journal_mode = WAL`); err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, fmt.Sprintf(`BEGIN IMMEDIATE; %s PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT`,
		schema, applicationID, schemaVersion))
	return err
}

// Close closes the file. Calls made after it fail with [events.ErrUnavailable].
func (s *Store) Close() error { return s.db.Close() }

func failed(ctx context.Context, what string, err error) error {
	return sqlitefile.Failed(ctx, events.ErrUnavailable, what, err)
}
