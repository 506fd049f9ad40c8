package lru

import "context"

// Agents implements [catalog.Agents]; samples are not kept.
func (c *Cache) Agents(ctx context.Context, n int, seed int64) ([]string, error) {
	return c.next.Agents(ctx, n, seed)
}
