package sqlite

import (
	"context"
	"errors"

	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlstore"
)

// errReadOnly is the error of calls that change a file opened by [ReadOnly].
var errReadOnly = errors.New("this copy of the posts can only be read")

// unwritable is a [sqlstore.Database] that only reads.
type unwritable struct{ *readers }

// Write implements [sqlstore.Database].
func (unwritable) Write(context.Context, func(sqlstore.Writing) error) error { return errReadOnly }

// Alone implements [sqlstore.Database].
func (u unwritable) Alone(ctx context.Context, do func(sqlstore.Session) error) error {
	return u.Read(ctx, do)
}

// ReadOnly calls do with a store that reads the file at path and changes nothing, not even its schema,
// which must be that of this version. Nobody may write the file meanwhile.
func ReadOnly(ctx context.Context, path string, do func(*sqlstore.Store) error) (err error) {
	if _, err := Schema.Inspect(ctx, path); err != nil {
		return err
	}
	db, err := sqlitefile.ReadOnly(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(2)
	return do(sqlstore.New(unwritable{newReaders(db)}, &dialect, social.Options{}))
}
