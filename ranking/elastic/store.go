// Package elastic stores the versions of the ranking in an Elasticsearch index that is named
// after that of the items.
package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/ranking"
)

// Store implements [ranking.Store]. It is safe for concurrent use.
//
// A version is a document that is created and never changed. Its id is its number, so the newest
// is found by reads by id, which are in real time.
type Store struct {
	client esindex.Client
	index  string
	writer *esindex.Writer

	newest atomic.Int64 // the newest version at the last read
}

var _ ranking.Store = (*Store)(nil)

// New returns the store that belongs to the index of the items; it sends no request yet.
func New(client esindex.Client, items string) *Store {
	index := esindex.Rankings(items)
	return &Store{client: client, index: index, writer: esindex.NewWriter(client, index, func(ctx context.Context) error {
		_, err := esindex.EnsureBeside(ctx, client, items)
		return err
	})}
}

// maxAhead is the maximum number of versions read at once to find the newest.
const maxAhead = 256

// Newest implements [ranking.Store]. It reads the version that was the newest the last time and
// the one after it, and reads on only if that exists.
func (s *Store) Newest(ctx context.Context) (ranking.Version, error) {
	last, err := s.newestFrom(ctx, max(1, int(s.newest.Load())))
	if errors.Is(err, feed.ErrNotFound) && s.newest.Load() > 1 {
		// The version was deleted: somebody restored an older state.
		last, err = s.newestFrom(ctx, 1)
	}
	if err != nil {
		return ranking.Version{}, err
	}
	v, err := ranking.ParseVersion(last)
	if err != nil {
		return ranking.Version{}, fmt.Errorf("%s: %w", s.index, err)
	}
	s.newest.Store(int64(v.Version))
	return v, nil
}

// newestFrom reads versions upwards, in growing batches, until one is missing, and returns the
// one before it, or [feed.ErrNotFound] if the first is missing.
func (s *Store) newestFrom(ctx context.Context, from int) (json.RawMessage, error) {
	var last json.RawMessage
	for ahead := 2; ; ahead = min(2*ahead, maxAhead) {
		found, err := s.read(ctx, from, from+ahead-1)
		if err != nil {
			return nil, err
		}
		for _, raw := range found {
			if len(raw) == 0 && len(last) == 0 {
				return nil, feed.Errorf(feed.ErrNotFound, "ranking: no version is stored")
			}
			if len(raw) == 0 {
				return last, nil
			}
			last = raw
		}
		from += ahead
	}
}

// read returns the versions from one number to another, in order; a missing one is empty.
func (s *Store) read(ctx context.Context, from, to int) ([]json.RawMessage, error) {
	ids := make([]esindex.DocID, to-from+1)
	for i := range ids { // to may be the largest int
		ids[i] = esindex.DocID{Index: s.index, ID: docID(from + i)}
	}
	docs, err := esindex.Get(ctx, s.client, ids)
	if err != nil {
		return nil, contractError(err)
	}
	found := make([]json.RawMessage, len(docs))
	for i, d := range docs {
		if err := d.Err(); err != nil && !esindex.Missing(err) {
			return nil, contractError(err)
		}
		found[i] = d.Source
	}
	return found, nil
}

func docID(version int) string { return "ranking-" + strconv.Itoa(version) }

// At implements [ranking.Store].
func (s *Store) At(ctx context.Context, version int) (ranking.Version, error) {
	found, err := s.read(ctx, version, version)
	switch {
	case err != nil:
		return ranking.Version{}, err
	case len(found[0]) == 0:
		return ranking.Version{}, feed.Errorf(feed.ErrNotFound, "ranking version %d does not exist", version)
	}
	return ranking.ParseVersion(found[0])
}

// Versions implements [ranking.Store].
func (s *Store) Versions(ctx context.Context, limit int) ([]ranking.Version, error) {
	newest, err := s.Newest(ctx)
	if errors.Is(err, feed.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := s.read(ctx, max(1, newest.Version-limit+1), newest.Version)
	if err != nil {
		return nil, err
	}
	list := make([]ranking.Version, len(found))
	for i, raw := range found {
		if len(raw) == 0 { // the index was deleted since the newest was read
			return nil, fmt.Errorf("%w: versions were deleted while they were read", ranking.ErrUnavailable)
		}
		if list[len(found)-1-i], err = ranking.ParseVersion(raw); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Append implements [ranking.Store]. Creating a document fails if its id exists, which decides
// between servers that append at once. The previous version must exist, and once it does it
// always will.
func (s *Store) Append(ctx context.Context, v ranking.Version) error {
	doc, err := v.Encode()
	if err != nil {
		return err
	}
	if v.Version > 1 {
		if before, err := s.read(ctx, v.Version-1, v.Version-1); err != nil {
			return err
		} else if len(before[0]) == 0 {
			return feed.Errorf(feed.ErrChanged, "ranking version %d: the ranking was changed concurrently", v.Version)
		}
	}
	err = s.writer.Write(ctx, func(name, params string) error {
		return esindex.Do(ctx, s.client, http.MethodPut, "/"+name+"/_create/"+docID(v.Version), params, doc, nil)
	})
	if !esindex.IsType(err, "version_conflict_engine_exception") {
		return contractError(err)
	}
	// The client retries a request whose answer was lost. The existing document is then ours.
	if there, err := s.read(ctx, v.Version, v.Version); err == nil && bytes.Equal(there[0], doc) {
		return nil
	}
	return feed.Errorf(feed.ErrChanged, "ranking version %d: the ranking was changed concurrently", v.Version)
}

// contractError converts an error of a request, nil for none, into one of the contract.
func contractError(err error) error {
	if errors.Is(err, esindex.ErrUnavailable) {
		return fmt.Errorf("%w: %w", ranking.ErrUnavailable, err)
	}
	return err
}
