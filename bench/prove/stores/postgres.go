package stores

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
)

// Schema is a schema of one run.
type Schema struct {
	URL string // of the database, with the schema as search_path

	database, name string
}

// NewSchema creates an empty schema in a database. The name has lower-case letters and digits.
func NewSchema(ctx context.Context, database, name string) (*Schema, error) {
	u, err := url.Parse(database)
	if err != nil {
		return nil, fmt.Errorf("postgres.url: %w", err)
	}
	q := u.Query()
	q.Set("search_path", name)
	q.Set("pool_max_conns", "16")
	s := &Schema{database: database, name: name}
	u.RawQuery = q.Encode()
	s.URL = u.String()
	_, err = s.exec(ctx, "CREATE SCHEMA "+name)
	return s, err
}

// Drop removes it with everything in it.
func (s *Schema) Drop(ctx context.Context) error {
	_, err := s.exec(ctx, "DROP SCHEMA IF EXISTS "+s.name+" CASCADE")
	return err
}

// Version returns the server's version.
func (s *Schema) Version(ctx context.Context) string {
	version, err := s.exec(ctx, "SHOW server_version")
	if err != nil {
		return ""
	}
	return version
}

// exec runs one statement and returns the text of its first column, if it has one.
func (s *Schema) exec(ctx context.Context, text string) (first string, err error) {
	err = s.rows(ctx, text, func(scan func(...any) error) error { return scan(&first) })
	return first, err
}

// rows runs one statement and calls each for each of its rows.
func (s *Schema) rows(ctx context.Context, text string, each func(scan func(...any) error) error) (err error) {
	c, err := pgx.Connect(ctx, s.database)
	if err != nil {
		return fmt.Errorf("postgres.url: %w", err)
	}
	defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx))) }()
	rows, err := c.Query(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}
