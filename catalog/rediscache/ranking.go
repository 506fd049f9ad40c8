package rediscache

import (
	"context"

	"github.com/freshet/freshet/catalog"
)

// The ranking is not cached: what is asked for is the newest, and once a second.

// Ranking implements [catalog.Rankings].
func (c *Cache) Ranking(ctx context.Context) (catalog.RankingVersion, error) {
	return c.next.Ranking(ctx)
}

// RankingAt implements [catalog.Rankings].
func (c *Cache) RankingAt(ctx context.Context, version int) (catalog.RankingVersion, error) {
	return c.next.RankingAt(ctx, version)
}

// RankingVersions implements [catalog.Rankings].
func (c *Cache) RankingVersions(ctx context.Context, limit int) ([]catalog.RankingVersion, error) {
	return c.next.RankingVersions(ctx, limit)
}

// AppendRanking implements [catalog.Rankings].
func (c *Cache) AppendRanking(ctx context.Context, v catalog.RankingVersion) error {
	return c.next.AppendRanking(ctx, v)
}
