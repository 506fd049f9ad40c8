package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// Version is the version of a file's schema, and the newest that this program knows.
type Version struct{ File, Known int }

// Look reads the file at path as [Schema.Open] does, and changes nothing: neither the file nor
// its schema, also while a server has it open. Open would bring an older schema up to
// date. Errors are those of Open.
func (s *Schema) Look(ctx context.Context, path string) (Version, error) {
	version, err := s.look(ctx, path)
	if err != nil {
		return Version{}, fmt.Errorf("%s file %s: %w", s.What, path, Advised(err))
	}
	return Version{version, len(s.Migrations)}, nil
}

func (s *Schema) look(ctx context.Context, path string) (version int, err error) {
	address, err := lookURL(path)
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

// lookURL opens the file read-only. A file that nobody has open is complete in itself,
// and is read without the files that SQLite would make beside it.
func lookURL(path string) (string, error) {
	q := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(" + busyTimeout + ")"}}
	if _, err := os.Stat(path + "-wal"); errors.Is(err, os.ErrNotExist) {
		q.Set("immutable", "1")
	}
	return fileURL(path, q)
}
