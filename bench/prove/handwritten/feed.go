package handwritten

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
)

const (
	listed   = 500                // entries in a reader's list
	newest   = 500                // public posts for readers whose list is used up
	seenFor  = 7 * 24 * time.Hour // after the reader's last page
	retryFor = time.Minute        // how long a page is kept under its request id
)

func list(reader string) string             { return "feed:" + reader }
func seen(reader string) string             { return "seen:" + reader }
func request(reader, request string) string { return "page:" + reader + ":" + request }

const public = "public"

// next returns a reader's next page: of the list, then of the newest public posts, what the reader
// has not seen and may see.
func (a *app) next(ctx context.Context, get func(string) string) (any, error) {
	reader, id := get("reader"), request(get("reader"), get("request_id"))
	limit, err := strconv.Atoi(get("limit"))
	if err != nil {
		return nil, err
	}
	kept, err := a.redis.Get(ctx, id).Result()
	if err == nil {
		return a.visible(ctx, reader, strings.Fields(kept))
	}
	if !errors.Is(err, redis.Nil) {
		return nil, err
	}
	ids, err := a.unseen(ctx, reader)
	if err != nil {
		return nil, err
	}
	var page []string
	for len(ids) > 0 && len(page) < limit {
		some := ids[:min(len(ids), limit)]
		ids = ids[len(some):]
		may, err := a.visible(ctx, reader, some)
		if err != nil {
			return nil, err
		}
		mine, err := a.claim(ctx, reader, may[:min(len(may), limit-len(page))])
		if err != nil {
			return nil, err
		}
		page = append(page, mine...)
	}
	if err := a.redis.Set(ctx, id, strings.Join(page, " "), retryFor).Err(); err != nil {
		return nil, err
	}
	return page, nil
}

// unseen returns the ids of the list and the newest public posts that are not in the seen set.
func (a *app) unseen(ctx context.Context, reader string) ([]string, error) {
	pipe := a.redis.Pipeline()
	own := pipe.LRange(ctx, list(reader), 0, -1)
	others := pipe.ZRevRange(ctx, public, 0, -1)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	var all []string
	once := map[string]bool{}
	for _, id := range append(own.Val(), others.Val()...) {
		if !once[id] {
			once[id] = true
			all = append(all, id)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	members := make([]any, len(all))
	for i, id := range all {
		members[i] = id
	}
	was, err := a.redis.SMIsMember(ctx, seen(reader), members...).Result()
	if err != nil {
		return nil, err
	}
	var fresh []string
	for i, id := range all {
		if !was[i] {
			fresh = append(fresh, id)
		}
	}
	return fresh, nil
}

// claim puts ids into the seen set and returns those that no other call has put there.
func (a *app) claim(ctx context.Context, reader string, ids []string) (mine []string, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	pipe := a.redis.TxPipeline()
	added := make([]*redis.IntCmd, len(ids))
	for i, id := range ids {
		added[i] = pipe.SAdd(ctx, seen(reader), id)
	}
	pipe.Expire(ctx, seen(reader), seenFor)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	for i, id := range ids {
		if added[i].Val() == 1 {
			mine = append(mine, id)
		}
	}
	return mine, nil
}

// visible returns those of some posts that exist and that the reader may see, in their order.
func (a *app) visible(ctx context.Context, reader string, ids []string) ([]string, error) {
	rows, err := a.sql.Query(ctx, `
SELECT p.id FROM unnest($2::text[]) WITH ORDINALITY AS w(id, n) JOIN posts p USING (id)
WHERE p.author <> $1
	AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.agent = $1 AND b.other = p.author OR b.agent = p.author AND b.other = $1)
	AND (NOT p.followers_only OR EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = p.author))
ORDER BY w.n`, reader, ids)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
