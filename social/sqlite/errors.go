package sqlite

import (
	"fmt"

	"github.com/freshet/freshet/internal/sqlitefile"
)

// reason puts the advice for an error before it.
func reason(err error) error {
	return sqlitefile.Advised(err, "the file is damaged; restore it from a backup")
}

func contractError(path string, err error) error {
	return fmt.Errorf("social file %s: %w", path, reason(err))
}
