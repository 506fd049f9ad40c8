package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/freshet/freshet/internal/sqlitefile"
)

// EndCursors ends all cursors of changes of the file at path, which was restored from a copy: the numbers that
// changes had after the copy was made will be those of others. Nobody may have the file open.
func EndCursors(ctx context.Context, path string) (err error) {
	db, err := sqlitefile.Connect(path, "rw", "synchronous(FULL)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var has bool
	if err := db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'changes_state')`).Scan(&has); err != nil {
		return fmt.Errorf("%s: %w", path, sqlitefile.Advised(err))
	}
	if !has { // a file of an older version
		return nil
	}
	_, err = db.ExecContext(ctx, `UPDATE changes_state SET epoch = lower(hex(randomblob(4))) WHERE epoch <> ''`)
	if err != nil {
		return fmt.Errorf("%s: %w", path, sqlitefile.Advised(err))
	}
	return nil
}
