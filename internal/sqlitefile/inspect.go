package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// Version holds the version of a file's schema, and the newest version that this program knows.
type Version struct{ File, Known int }

// Inspect checks the file at path as [Schema.Open] does, but changes neither the file nor its schema,
// even while a server has it open. Open would migrate an older schema. Errors are those of Open.
func (s *Schema) Inspect(ctx context.Context, path string) (Version, error) {
	version, err := s.inspect(ctx, path)
	if err != nil {
		return Version{}, fmt.Errorf("%s file %s: %w", s.What, path, advisedAt(path, err))
	}
	return Version{version, len(s.Migrations)}, nil
}

func (s *Schema) inspect(ctx context.Context, path string) (version int, err error) {
	if err := checkLog(path); err != nil {
		return 0, err
	}
	address, err := readOnlyURL(path)
	if err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlite", address)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return s.check(ctx, db)
}

// readOnlyURL returns the URL that opens the file read-only. A file that is not open elsewhere is
// complete, and is read without creating SQLite's additional files.
func readOnlyURL(path string) (string, error) {
	q := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(" + busyTimeout + ")"}}
	if _, err := os.Stat(path + "-wal"); errors.Is(err, os.ErrNotExist) {
		q.Set("immutable", "1")
	}
	return fileURL(path, q)
}
