package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// A version of the ranking is a document that is created and never changed. Its
// id is its number, so the newest is found by reads by id, which are in real
// time, and no search is involved.

// maxAhead is how many versions are read at once while looking for the newest.
const maxAhead = 256

// Ranking implements [catalog.Rankings]. It asks for the version that was the
// newest the last time and for the one after it; only where that exists does it
// ask again.
func (c *Catalog) Ranking(ctx context.Context) (catalog.RankingVersion, error) {
	last, err := c.newestFrom(ctx, max(1, int(c.newest.Load())))
	if errors.Is(err, catalog.ErrNotFound) && c.newest.Load() > 1 {
		// What was there is gone: somebody restored an older state.
		last, err = c.newestFrom(ctx, 1)
	}
	if err != nil {
		return catalog.RankingVersion{}, err
	}
	v, err := catalog.ParseRankingVersion(last)
	if err != nil {
		return catalog.RankingVersion{}, fmt.Errorf("%s: %w", c.rankings, err)
	}
	c.newest.Store(int64(v.Version))
	return v, nil
}

// newestFrom reads versions upwards, ever more at once, until one is missing,
// and returns the one before it; [catalog.ErrNotFound] where the first is
// missing.
func (c *Catalog) newestFrom(ctx context.Context, from int) (json.RawMessage, error) {
	var last json.RawMessage
	for ahead := 2; ; ahead = min(2*ahead, maxAhead) {
		found, err := c.readRankings(ctx, from, from+ahead-1)
		if err != nil {
			return nil, err
		}
		for _, raw := range found {
			if len(raw) == 0 && len(last) == 0 {
				return nil, fmt.Errorf("ranking: %w", catalog.ErrNotFound)
			}
			if len(raw) == 0 {
				return last, nil
			}
			last = raw
		}
		from += ahead
	}
}

// readRankings reads the versions from one number to another, in order; one
// that does not exist is empty.
func (c *Catalog) readRankings(ctx context.Context, from, to int) ([]json.RawMessage, error) {
	ids := make([]docID, 0, to-from+1)
	for version := from; version <= to; version++ {
		ids = append(ids, docID{c.rankings, rankingID(version)})
	}
	docs, err := c.get(ctx, ids)
	if err != nil {
		return nil, err
	}
	found := make([]json.RawMessage, len(docs))
	for i, d := range docs {
		if err := c.failure(d, c.rankings); err != nil {
			return nil, err
		}
		found[i] = d.Source
	}
	return found, nil
}

func rankingID(version int) string { return "ranking-" + strconv.Itoa(version) }

// RankingAt implements [catalog.Rankings].
func (c *Catalog) RankingAt(ctx context.Context, version int) (catalog.RankingVersion, error) {
	found, err := c.readRankings(ctx, version, version)
	switch {
	case err != nil:
		return catalog.RankingVersion{}, err
	case len(found[0]) == 0:
		return catalog.RankingVersion{}, fmt.Errorf("ranking version %d: %w", version, catalog.ErrNotFound)
	}
	return catalog.ParseRankingVersion(found[0])
}

// RankingVersions implements [catalog.Rankings].
func (c *Catalog) RankingVersions(ctx context.Context, limit int) ([]catalog.RankingVersion, error) {
	newest, err := c.Ranking(ctx)
	if errors.Is(err, catalog.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := c.readRankings(ctx, max(1, newest.Version-limit+1), newest.Version)
	if err != nil {
		return nil, err
	}
	list := make([]catalog.RankingVersion, len(found))
	for i, raw := range found {
		if list[len(found)-1-i], err = catalog.ParseRankingVersion(raw); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// AppendRanking implements [catalog.Rankings]. Creating a document fails where
// its id exists, which decides between servers that append at once. The version
// before it must exist, and once it does it always will.
func (c *Catalog) AppendRanking(ctx context.Context, v catalog.RankingVersion) error {
	if err := v.Validate(); err != nil {
		return err
	}
	doc, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%w: %w", feed.ErrBadRanking, err)
	}
	if err := c.ensureBeside(ctx); err != nil {
		return err
	}
	if v.Version > 1 {
		if before, err := c.readRankings(ctx, v.Version-1, v.Version-1); err != nil {
			return err
		} else if len(before[0]) == 0 {
			return fmt.Errorf("ranking version %d: %w", v.Version, catalog.ErrRankingChanged)
		}
	}
	var b bulk
	b.add("create", rankingID(v.Version), doc, 0)
	answer, err := c.bulk(ctx, c.rankings, "", &b)
	if err != nil {
		return err
	}
	if answer[0].Status != http.StatusConflict {
		return answer[0].err(feed.ErrBadRanking)
	}
	// The client repeats a request whose answer was lost. Then what is in the
	// way is what we have stored.
	if there, err := c.readRankings(ctx, v.Version, v.Version); err == nil && bytes.Equal(there[0], doc) {
		return nil
	}
	return fmt.Errorf("ranking version %d: %w", v.Version, catalog.ErrRankingChanged)
}
