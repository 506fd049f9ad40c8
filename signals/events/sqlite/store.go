// Package sqlite keeps the counts of events in one SQLite file: the event store
// of embedded mode.
//
// The file is in WAL mode with synchronous=NORMAL: a killed process loses
// nothing of what Add has answered, a power cut perhaps the last counts, but
// never part of a batch.
package sqlite

import (
	"context"
	"sync"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/signals/events"
)

// What is in counts is named as in Redis: impressions, the kinds of events, and
// a0 … a119 for the buckets of ages, explored, explored_clicks, and promoted:,
// promoted_click: and promoted_like: before the ids of promotions. In acts is also what
// exploration and promotions have shown. A day is a number of days since 1970.
const tables = `
CREATE TABLE counts (variant TEXT NOT NULL, day INTEGER NOT NULL, what TEXT NOT NULL, n INTEGER NOT NULL,
	PRIMARY KEY (variant, day, what)) WITHOUT ROWID;
CREATE TABLE sketches (variant TEXT NOT NULL, day INTEGER NOT NULL, what TEXT NOT NULL, sketch BLOB NOT NULL,
	PRIMARY KEY (variant, day, what)) WITHOUT ROWID;
CREATE TABLE acts (day INTEGER NOT NULL, variant TEXT NOT NULL, hash INTEGER NOT NULL,
	PRIMARY KEY (day, variant, hash)) WITHOUT ROWID;
CREATE TABLE senders (day INTEGER NOT NULL, variant TEXT NOT NULL, sender TEXT NOT NULL, seq INTEGER NOT NULL,
	PRIMARY KEY (day, variant, sender)) WITHOUT ROWID;`

// Schema is the file's. Its id is the letters "frev".
var Schema = sqlitefile.Schema{What: "store of events", ID: 0x66726576, Oldest: 1, Migrations: []string{tables}}

// FileName is the name of the file in the data directory.
const FileName = "events.db"

// Store implements [events.Store] in one SQLite file. It is safe for concurrent
// use.
type Store struct {
	file *sqlitefile.File

	mu     sync.Mutex
	pruned feed.Day // older days are gone up to here
}

var _ events.Store = (*Store)(nil)

// Open opens the file at path, and makes it and its directory where they do not
// exist.
func Open(ctx context.Context, path string) (*Store, error) {
	// Writes come once a second and reads when somebody looks: the connection that writes
	// does, and needs no lock of SQLite's.
	file, err := Schema.Open(ctx, path, "synchronous(NORMAL)", "cache_size(-2000)")
	if err != nil {
		return nil, err
	}
	return &Store{file: file}, nil
}

// Close closes the file. Calls made after it fail with [events.ErrUnavailable].
func (s *Store) Close() error { return s.file.Close() }

func failed(ctx context.Context, what string, err error) error {
	return sqlitefile.Failed(ctx, events.ErrUnavailable, what, err)
}
