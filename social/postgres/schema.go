package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/freshet/freshet/social"
)

//go:embed migrations/*.sql
var files embed.FS

// versions is the table of applied migrations. It is not goose's default, which another program may
// use in the same schema.
const versions = "freshet_migrations"

// Migrate brings the schema up to date, if necessary, and enables the other methods. A newer schema
// that this version can use stays as it is. Any number of servers may call it at once: one
// migrates, the others wait. Each migration is a transaction, so an interrupted one has changed
// nothing. While another transaction uses the tables, it waits without stopping other calls, tells
// [Config.Waits], and the other methods return [ErrWaits].
//
// Before anything is changed, the existing tables are compared with those of their version.
//
// Errors: [errNewerSchema]; [errNoSchema]; [ErrUnusable]; [social.ErrUnavailable] if the server does not answer,
// after which it may be called again; others are the database's refusals.
func (s *Store) Migrate(ctx context.Context) error {
	q := newQuerying(ctx, s.db.pool)
	v, err := q.usable()
	if err == nil && v.Found < v.Known {
		if err = s.migrate(ctx, v.Known); err == nil {
			v, err = q.usable()
		}
	}
	if err == nil {
		for _, p := range v.Problems {
			s.db.log.WarnContext(ctx, "the tables in PostgreSQL: "+p.Text, "fix", p.Fix)
		}
		s.db.inspecting.Lock()
		s.db.inspected, s.db.damage = s.db.clock(), nil
		s.db.inspecting.Unlock()
		s.db.migrated.Store(true)
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("postgres: migrate: %w", ctx.Err())
	}
	if !lasting(err) {
		why := fmt.Errorf("%w: %w", errUnchecked, err)
		s.db.unusable.Store(&why)
		return fmt.Errorf("%w: postgres: migrate: %w", social.ErrUnavailable, reason(err))
	}
	s.db.unusable.Store(&err)
	return fmt.Errorf("postgres: migrate: %w", reason(err))
}

// Inspect compares the existing tables with those of their version, as [Store.Migrate] does, and
// changes nothing. Errors are those of Migrate.
func (s *Store) Inspect(ctx context.Context) error {
	_, err := newQuerying(ctx, s.db.pool).usable()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || !lasting(err):
		return fmt.Errorf("%w: postgres: inspect: %w", social.ErrUnavailable, reason(err))
	}
	return fmt.Errorf("postgres: inspect: %w", reason(err))
}

// usable returns the version of the tables, or an error if they cannot be used, or not be migrated.
func (q querying) usable() (Schema, error) {
	v, err := q.inspect()
	if err == nil && !v.Usable() {
		err = fmt.Errorf("%w (schema %d requires a version that supports schema %d; this one supports up to %d); upgrade freshet",
			errNewerSchema, v.Found, v.Oldest, v.Known)
	}
	if err == nil {
		err = fatal(v.Problems)
	}
	return v, err
}

// lasting reports whether waiting is not expected to end an error of the tables.
func lasting(err error) bool {
	for _, known := range []error{errNewerSchema, errNoSchema, ErrUnusable} {
		if errors.Is(err, known) {
			return true
		}
	}
	return code(err) != "" && !temporary(err) && !takesNoTransaction(err)
}

// temporary reports whether an error of the server is temporary: it starts or stops, or lacks
// resources.
func temporary(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) || len(e.Code) != 5 {
		return false
	}
	switch e.Code[:2] {
	case "08", "40", "53", "55", "57", "58":
		return true
	}
	return false
}

// Schema is the version of a database's tables.
type Schema struct {
	Found  int64 // 0 if there are none
	Known  int64 // the newest that this program knows
	Oldest int64 // the schema that a program must know to use the tables, if they are newer

	Problems []Problem // what distinguishes the tables from those of the version
}

// Usable reports whether this program can use the tables, once they are migrated.
func (s Schema) Usable() bool { return s.Found <= s.Known || s.Oldest <= s.Known }

// versions returns the version of the existing tables.
func (q querying) versions() (s Schema, err error) {
	sources, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return s, err
	}
	s.Known = int64(len(sources))
	var there bool
	if _, err := q.Row([]any{&there}, `SELECT to_regclass($1) IS NOT NULL`, versions); err != nil || !there {
		return s, err
	}
	if _, err = q.Row([]any{&s.Found}, `SELECT coalesce(max(version_id), 0) FROM `+versions+` WHERE is_applied`); err != nil || s.Found <= s.Known {
		return s, err
	}
	_, err = q.Row([]any{&s.Oldest}, `SELECT coalesce(max(oldest), $1) FROM freshet_schema`, s.Found)
	return s, err
}
