package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// Ranking implements [catalog.Rankings].
func (c *Catalog) Ranking(ctx context.Context) (catalog.RankingVersion, error) {
	return only(c.readRankings(ctx, math.MaxInt64, 1))
}

// RankingAt implements [catalog.Rankings].
func (c *Catalog) RankingAt(ctx context.Context, version int) (catalog.RankingVersion, error) {
	v, err := only(c.readRankings(ctx, version, 1))
	if err == nil && v.Version != version {
		return catalog.RankingVersion{}, fmt.Errorf("ranking version %d: %w", version, catalog.ErrNotFound)
	}
	return v, err
}

// RankingVersions implements [catalog.Rankings].
func (c *Catalog) RankingVersions(ctx context.Context, limit int) ([]catalog.RankingVersion, error) {
	return c.readRankings(ctx, math.MaxInt64, limit)
}

func only(list []catalog.RankingVersion, err error) (catalog.RankingVersion, error) {
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("ranking: %w", catalog.ErrNotFound)
	}
	if err != nil {
		return catalog.RankingVersion{}, err
	}
	return list[0], nil
}

// readRankings reads versions from the one named downwards, at most limit.
func (c *Catalog) readRankings(ctx context.Context, from, limit int) ([]catalog.RankingVersion, error) {
	rows, err := c.rankings.QueryContext(ctx, from, limit)
	if err != nil {
		return nil, failed(ctx, "read ranking", err)
	}
	defer func() { _ = rows.Close() }()
	var list []catalog.RankingVersion
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return nil, failed(ctx, "read ranking", err)
		}
		v, err := catalog.ParseRankingVersion(raw)
		if err != nil {
			return nil, fmt.Errorf("sqlite: %w", err)
		}
		list = append(list, v)
	}
	return list, failed(ctx, "read ranking", rows.Err())
}

// AppendRanking implements [catalog.Rankings].
func (c *Catalog) AppendRanking(ctx context.Context, v catalog.RankingVersion) error {
	if err := v.Validate(); err != nil {
		return err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%w: %w", feed.ErrBadRanking, err)
	}
	done, err := c.addRanking.ExecContext(ctx, v.Version, raw)
	if err != nil {
		return failed(ctx, "append ranking", err)
	}
	n, err := done.RowsAffected()
	if err == nil && n == 0 {
		return fmt.Errorf("ranking version %d: %w", v.Version, catalog.ErrRankingChanged)
	}
	return failed(ctx, "append ranking", err)
}
