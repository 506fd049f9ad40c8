package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// Look reads the file at path as [Open] does, and changes nothing: neither the file nor
// its schema, also while a server has it open. It reports whether the schema is older
// than this version's, so that Open would bring it up to date. Errors are those of
// Open.
func Look(ctx context.Context, path string) (older bool, err error) {
	version, err := look(ctx, path)
	if err != nil {
		return false, fmt.Errorf("catalog file %s: %w", path, advised(err))
	}
	return version < len(catalog.Migrations), nil
}

func look(ctx context.Context, path string) (version int, err error) {
	address, err := lookURL(path)
	if err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlite", address)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return catalog.check(ctx, db)
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
