package handwritten

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

// publish stores a post and pushes it into its readers' lists. A repetition pushes again: pages drop
// what is in a list twice.
func (a *app) publish(ctx context.Context, get func(string) string) (any, error) {
	id, author, only := get("id"), get("author"), get("followers") == "true"
	_, err := a.sql.Exec(ctx, `INSERT INTO posts VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`, id, author, get("text"), only, a.now())
	if err != nil {
		return nil, err
	}
	readers, err := a.column(ctx, `SELECT agent FROM follows WHERE author = $1`, author)
	if err != nil {
		return nil, err
	}
	_, err = a.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, reader := range readers {
			pipe.LPush(ctx, list(reader), id)
			pipe.LTrim(ctx, list(reader), 0, listed-1)
		}
		if !only {
			pipe.ZAdd(ctx, public, redis.Z{Score: float64(a.now().UnixMilli()), Member: id})
			pipe.ZRemRangeByRank(ctx, public, 0, -newest-1)
		}
		return nil
	})
	return nil, err
}

func (a *app) delete(ctx context.Context, get func(string) string) (any, error) {
	if _, err := a.sql.Exec(ctx, `DELETE FROM posts WHERE id = $1 AND author = $2`, get("id"), get("author")); err != nil {
		return nil, err
	}
	return nil, a.redis.ZRem(ctx, public, get("id")).Err() // lists drop it when they are read
}

// follow stores a follow and puts the author's newest posts into the reader's list.
func (a *app) follow(ctx context.Context, get func(string) string) (any, error) {
	agent, author := get("agent"), get("other")
	_, err := a.sql.Exec(ctx, `
INSERT INTO follows SELECT $1, $2 WHERE NOT EXISTS (
	SELECT 1 FROM blocks WHERE agent = $1 AND other = $2 OR agent = $2 AND other = $1) ON CONFLICT DO NOTHING`, agent, author)
	if err != nil {
		return nil, err
	}
	ids, err := a.column(ctx, `SELECT id FROM posts WHERE author = $1 ORDER BY created DESC LIMIT 100`, author)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = id
	}
	return nil, a.redis.RPush(ctx, list(agent), values...).Err()
}

func (a *app) unfollow(ctx context.Context, get func(string) string) (any, error) {
	_, err := a.sql.Exec(ctx, `DELETE FROM follows WHERE agent = $1 AND author = $2`, get("agent"), get("other"))
	return nil, err
}

// block ends the follows between two agents, too.
func (a *app) block(ctx context.Context, get func(string) string) (any, error) {
	agent, other := get("agent"), get("other")
	return nil, pgx.BeginFunc(ctx, a.sql, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO blocks VALUES ($1, $2) ON CONFLICT DO NOTHING`, agent, other); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM follows WHERE agent = $1 AND author = $2 OR agent = $2 AND author = $1`, agent, other)
		return err
	})
}

func (a *app) unblock(ctx context.Context, get func(string) string) (any, error) {
	_, err := a.sql.Exec(ctx, `DELETE FROM blocks WHERE agent = $1 AND other = $2`, get("agent"), get("other"))
	return nil, err
}

// column returns the texts of a query's only column.
func (a *app) column(ctx context.Context, query, argument string) ([]string, error) {
	rows, err := a.sql.Query(ctx, query, argument)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
