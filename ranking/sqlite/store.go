// Package sqlite stores the versions of the ranking in the SQLite file of embedded mode, together
// with the catalog.
package sqlite

import (
	"context"
	"fmt"
	"math"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/ranking"
)

// Store implements [ranking.Store]. It is safe for concurrent use.
type Store struct{ file *sqlitefile.File }

var _ ranking.Store = (*Store)(nil)

// New returns the store in an open file.
func New(file *sqlitefile.File) *Store { return &Store{file: file} }

// Newest implements [ranking.Store].
func (s *Store) Newest(ctx context.Context) (ranking.Version, error) {
	return only(s.read(ctx, math.MaxInt64, 1))
}

// At implements [ranking.Store].
func (s *Store) At(ctx context.Context, version int) (ranking.Version, error) {
	v, err := only(s.read(ctx, version, 1))
	if err == nil && v.Version != version {
		return ranking.Version{}, feed.Errorf(feed.ErrNotFound, "ranking version %d does not exist", version)
	}
	return v, err
}

// Versions implements [ranking.Store].
func (s *Store) Versions(ctx context.Context, limit int) ([]ranking.Version, error) {
	return s.read(ctx, math.MaxInt64, limit)
}

func only(list []ranking.Version, err error) (ranking.Version, error) {
	if err == nil && len(list) == 0 {
		err = feed.Errorf(feed.ErrNotFound, "ranking: no version is stored")
	}
	if err != nil {
		return ranking.Version{}, err
	}
	return list[0], nil
}

// read returns at most limit versions, from the given one downwards.
func (s *Store) read(ctx context.Context, from, limit int) ([]ranking.Version, error) {
	rows, err := s.file.Readers.QueryContext(ctx,
		`SELECT doc FROM ranking_versions WHERE version <= ? ORDER BY version DESC LIMIT ?`, from, limit)
	var docs [][]byte
	for row := range sqlitefile.Rows(rows, &err) {
		var doc []byte
		err = row.Scan(&doc)
		docs = append(docs, doc)
	}
	if err != nil {
		return nil, s.failed(ctx, "read ranking", err)
	}
	list := make([]ranking.Version, len(docs))
	for i, doc := range docs {
		if list[i], err = ranking.ParseVersion(doc); err != nil {
			return nil, fmt.Errorf("sqlite: %w", err)
		}
	}
	return list, nil
}

// Append implements [ranking.Store].
func (s *Store) Append(ctx context.Context, v ranking.Version) error {
	raw, err := v.Encode()
	if err != nil {
		return err
	}
	done, err := s.file.Writer.ExecContext(ctx, `INSERT INTO ranking_versions (version, doc)
		SELECT ?1, ?2 WHERE ?1 = (SELECT ifnull(max(version), 0) + 1 FROM ranking_versions)`, v.Version, raw)
	if err != nil {
		return s.failed(ctx, "append ranking", err)
	}
	n, err := done.RowsAffected()
	if err == nil && n == 0 {
		return feed.Errorf(feed.ErrChanged, "ranking version %d: the ranking was changed concurrently", v.Version)
	}
	return s.failed(ctx, "append ranking", err)
}

func (s *Store) failed(ctx context.Context, what string, err error) error {
	return s.file.Failed(ctx, ranking.ErrUnavailable, what, err)
}
