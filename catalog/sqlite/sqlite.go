// Package sqlite stores items and profiles in the SQLite file of embedded mode ([sqlitefile]).
// When Put, Remove or EditProfile returns, its change is on disk.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/internal/sqlitefile"
)

// FileName is the name of the file in the data directory.
const FileName = "catalog.db"

// Catalog is a catalog in one SQLite file. It is safe for concurrent use.
type Catalog struct {
	catalog.Uncached
	catalog.Records
	file *sqlitefile.File

	putMany, putOne, doc, remove *sql.Stmt // statements of the writer
	docs, profile, profiles      *sql.Stmt
	groups                       *sql.Stmt
}

var (
	_ catalog.Catalog = (*Catalog)(nil)
	_ catalog.Scanner = (*Catalog)(nil)
	_ catalog.Groups  = (*Catalog)(nil)

	_ catalog.LearnedAges = (*Catalog)(nil)
)

// Open opens the file at path, as [sqlitefile.Schema.Open] does.
func Open(ctx context.Context, path string) (*Catalog, error) {
	file, err := sqlitefile.Catalog.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	c := &Catalog{file: file}
	c.Records = c.changeRecord
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("catalog file %s: %w", path, err), c.Close())
	}
	return c, nil
}

// File returns the open file, for other data stored in it.
func (c *Catalog) File() *sqlitefile.File { return c.file }

func (c *Catalog) prepare(ctx context.Context) error {
	for _, s := range []struct {
		stmt **sql.Stmt
		db   *sql.DB
		text string
	}{
		{&c.putMany, c.file.Writer, putText(putRows)},
		{&c.putOne, c.file.Writer, putText(1)},
		{&c.doc, c.file.Writer, `SELECT doc FROM items WHERE id = ?`},
		{&c.remove, c.file.Writer, `DELETE FROM items WHERE id = ?`},
		{&c.docs, c.file.Readers, `SELECT id, doc FROM items WHERE id IN (SELECT value FROM json_each(?))`},
		{&c.groups, c.file.Readers, `SELECT id, group_id FROM removed_groups WHERE id IN (SELECT value FROM json_each(?))`},
		{&c.profiles, c.file.Readers, `SELECT agent, doc FROM profiles WHERE agent IN (SELECT value FROM json_each(?))`},
		{&c.profile, c.file.Readers, `SELECT doc FROM profiles WHERE agent = ?`},
	} {
		var err error
		if *s.stmt, err = s.db.PrepareContext(ctx, s.text); err != nil {
			return c.failed(ctx, "prepare", err)
		}
	}
	return nil
}

// Close closes the file. Later calls fail with [catalog.ErrUnavailable].
func (c *Catalog) Close() error { return c.file.Close() }

func (c *Catalog) failed(ctx context.Context, what string, err error) error {
	return c.file.Failed(ctx, catalog.ErrUnavailable, what, err)
}
