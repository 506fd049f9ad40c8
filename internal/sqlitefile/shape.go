package sqlitefile

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A version number does not prove what a file contains: versions before the first release used the
// same numbers for other tables, and a table, column, index or trigger may have been removed since.
// So a file is compared with what its version has, which is derived from the migrations.

// shape is what a file contains: "table posts", "column posts.id of type TEXT", "index …" and
// "trigger …".
type shape map[string]bool

// querier is the part of a connection or a transaction that reads.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func shapeOf(ctx context.Context, db querier) (shape, error) {
	found := shape{}
	rows, err := db.QueryContext(ctx, `SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'
		UNION ALL SELECT 'column ' || t.name || '.' || c.name || ' of type ' || c.type
			FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`)
	for row := range Rows(rows, &err) {
		var what string
		err = row.Scan(&what)
		found[what] = true
	}
	return found, err
}

// lacks returns what is in the shape but not in found, sorted. It leaves out the columns of a table
// that is missing.
func (s shape) lacks(found shape) (missing []string) {
	for what := range s {
		if found[what] {
			continue
		}
		if name, ok := strings.CutPrefix(what, "column "); ok {
			table, _, _ := strings.Cut(name, ".")
			if !found["table "+table] {
				continue
			}
		}
		missing = append(missing, what)
	}
	slices.Sort(missing)
	return missing
}

// shapes caches the shapes of versions, by [shapeKey].
var shapes sync.Map

type shapeKey struct {
	id, version int
	last        string // tests have schemas with the same id and other migrations
}

// shapeAt returns the shape of a file of a version that this program knows.
func (s *Schema) shapeAt(ctx context.Context, version int) (shape, error) {
	key := shapeKey{id: s.ID, version: version}
	if version > 0 {
		key.last = s.Migrations[version-1]
	}
	if known, ok := shapes.Load(key); ok {
		return known.(shape), nil
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	for _, step := range s.Migrations[:version] {
		if _, err := db.ExecContext(ctx, step); err != nil {
			return nil, fmt.Errorf("migration: %w", err)
		}
	}
	made, err := shapeOf(ctx, db)
	if err == nil {
		shapes.Store(key, made)
	}
	return made, err
}

const (
	notWhole = "this file says that it is a %s of schema version %d, but it lacks what that version has: %s. " +
		"It was written by a version before 0.1.0, or something was removed from it, or restoring it was interrupted. "
	notThat = "this file says that it is a %s of schema version %d, but it has what only later versions have: %s. " +
		"It was written by a version before 0.1.0, or changed by another program. "
	whatToDo = "Nothing was changed; restore the file from a backup, use the version that wrote it, or move the file away to start with an empty one"
)

// checkShape returns an error if a file does not have what its version has, or has what only a later
// version has. A file newer than this program must have what the newest known version has.
func (s *Schema) checkShape(ctx context.Context, db querier, version int) error {
	found, err := shapeOf(ctx, db)
	if err != nil {
		return err
	}
	version = min(version, len(s.Migrations))
	want, err := s.shapeAt(ctx, version)
	if err != nil {
		return err
	}
	missing := want.lacks(found)
	if len(missing) > 0 {
		return fmt.Errorf(notWhole+whatToDo, s.What, version, strings.Join(missing, ", "))
	}
	newest, err := s.shapeAt(ctx, len(s.Migrations))
	if err != nil {
		return err
	}
	early := slices.DeleteFunc(newest.lacks(want), func(what string) bool { return !found[what] })
	if len(early) > 0 {
		return fmt.Errorf(notThat+whatToDo, s.What, version, strings.Join(early, ", "))
	}
	return nil
}
