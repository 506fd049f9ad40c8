package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
)

// Unused returns how many bytes of the file at path hold no data, and how many it has. What is deleted leaves
// space for new data: the file does not shrink. It changes nothing.
func Unused(ctx context.Context, path string) (unused, size int64, err error) {
	address, err := readOnlyURL(path)
	if err != nil {
		return 0, 0, err
	}
	db, err := sql.Open("sqlite", address)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var pages, free, bytes int64
	err = db.QueryRowContext(ctx, `SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).
		Scan(&pages, &free, &bytes)
	return free * bytes, pages * bytes, err
}
