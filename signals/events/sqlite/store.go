// Package sqlite stores the counts of events in one SQLite file: the event store of embedded mode.
//
// The file is in WAL mode with synchronous=NORMAL: a killed process loses nothing after Add has
// returned; a power cut may lose the last batches, but never part of a batch.
package sqlite

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/axiomhq/hyperloglog"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/signals/events"
)

// Names in counts are the same as in Redis: impressions, the kinds of events, a0 … a119 for the
// buckets of ages, explored, explored_clicks, promoted:, promoted_click: and promoted_like:
// followed by the id of a promotion, and those of sources and positions. acts also contains the impressions from exploration and
// promotions. Days are counted from 1970.
const tables = `
CREATE TABLE counts (variant TEXT NOT NULL, day INTEGER NOT NULL, what TEXT NOT NULL, n INTEGER NOT NULL,
	PRIMARY KEY (variant, day, what)) WITHOUT ROWID;
CREATE TABLE sketches (variant TEXT NOT NULL, day INTEGER NOT NULL, what TEXT NOT NULL, sketch BLOB NOT NULL,
	PRIMARY KEY (variant, day, what)) WITHOUT ROWID;
CREATE TABLE acts (day INTEGER NOT NULL, variant TEXT NOT NULL, hash INTEGER NOT NULL,
	PRIMARY KEY (day, variant, hash)) WITHOUT ROWID;
CREATE TABLE senders (day INTEGER NOT NULL, variant TEXT NOT NULL, sender TEXT NOT NULL, seq INTEGER NOT NULL,
	PRIMARY KEY (day, variant, sender)) WITHOUT ROWID;`

// cells counts by bucket of agents; col is an [events.Column]. readers is the sample of each run. A
// page is encoded as in Redis.
const experiments = `
CREATE TABLE cells (day INTEGER NOT NULL, variant TEXT NOT NULL, col INTEGER NOT NULL, bucket INTEGER NOT NULL, n INTEGER NOT NULL,
	PRIMARY KEY (day, variant, col, bucket)) WITHOUT ROWID;
CREATE TABLE readers (variant TEXT NOT NULL, part INTEGER NOT NULL, agent INTEGER NOT NULL, day INTEGER NOT NULL,
	PRIMARY KEY (variant, part, agent)) WITHOUT ROWID;
CREATE TABLE pages (agent INTEGER NOT NULL, at INTEGER NOT NULL, seq INTEGER NOT NULL, page BLOB NOT NULL,
	PRIMARY KEY (agent, at, seq)) WITHOUT ROWID;
CREATE INDEX pages_by_time ON pages (at);`

// Schema is the schema of the file. Its id is the letters "frev".
var Schema = sqlitefile.Schema{What: "event store", ID: 0x66726576, Oldest: 1, Migrations: []string{tables, experiments}}

// FileName is the name of the file in the data directory.
const FileName = "events.db"

// Store implements [events.Store] in one SQLite file. It is safe for concurrent
// use.
type Store struct {
	file *sqlitefile.File

	mu     sync.Mutex
	pruned feed.Day // data that expired by this day has been deleted
}

var _ events.Store = (*Store)(nil)

// Open opens the file at path, creating it and its directory if necessary.
func Open(ctx context.Context, path string) (*Store, error) {
	// Writes come once a second and reads are rare: a single connection suffices, and needs no lock of
	// SQLite's.
	file, err := Schema.Open(ctx, path, "synchronous(NORMAL)", "cache_size(-2000)")
	if err != nil {
		return nil, err
	}
	return &Store{file: file}, nil
}

// Close closes the file. Calls made after it fail with [events.ErrUnavailable].
func (s *Store) Close() error { return s.file.Close() }

func (s *Store) failed(ctx context.Context, what string, err error) error {
	return s.file.Failed(ctx, events.ErrUnavailable, what, err)
}

// Read implements [events.Store] on a single snapshot of the file.
func (s *Store) Read(ctx context.Context, from, to feed.Day) ([]events.Totals, error) {
	all := map[string]*events.Totals{}
	err := sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		readCounts(tx, from, to, all)
		readSketches(tx, from, to, all)
	})
	if err != nil {
		return nil, s.failed(ctx, "read events", err)
	}
	var list []events.Totals
	for _, t := range all {
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b events.Totals) int { return cmp.Compare(a.Variant, b.Variant) })
	return list, nil
}

func readCounts(tx *sqlitefile.Tx, from, to feed.Day, all map[string]*events.Totals) {
	for row := range tx.Rows(`SELECT variant, what, sum(n) FROM counts WHERE day BETWEEN ? AND ? GROUP BY variant, what`, int(from), int(to)) {
		var variant, what string
		var n int64
		tx.Fail(row.Scan(&variant, &what, &n))
		if all[variant] == nil {
			all[variant] = &events.Totals{Variant: variant}
		}
		all[variant].Add(what, n)
	}
}

func readSketches(tx *sqlitefile.Tx, from, to feed.Day, all map[string]*events.Totals) {
	type figure struct{ variant, what string }
	merged := map[figure]*hyperloglog.Sketch{}
	for row := range tx.Rows(`SELECT variant, what, sketch FROM sketches WHERE day BETWEEN ? AND ?`, int(from), int(to)) {
		var f figure
		var raw []byte
		tx.Fail(row.Scan(&f.variant, &f.what, &raw))
		sketch := &hyperloglog.Sketch{}
		tx.Fail(sketch.UnmarshalBinary(raw))
		before := merged[f]
		switch {
		case tx.Failed():
		case before != nil:
			tx.Fail(before.Merge(sketch))
		default:
			merged[f] = sketch
		}
	}
	for f, sketch := range merged {
		t := all[f.variant]
		switch {
		case t == nil:
		case f.what == agents:
			t.Agents = int64(sketch.Estimate())
		case f.what == authors:
			t.Authors = int64(sketch.Estimate())
		}
	}
}
