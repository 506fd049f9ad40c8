package redis

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/signals/coread"
)

const (
	// upkeepEvery is how often a server removes what has ended.
	upkeepEvery = time.Minute
	// atOnce is the number of items per round trip.
	atOnce = 1000
)

// Upkeep removes what is no longer needed, once a minute by one server, until ctx ends.
func (s *Store) Upkeep(ctx context.Context, clock feed.Clock, timeout time.Duration, log *slog.Logger) {
	turn := rediskeys.Turn(s.client, s.keys.CoReadTurn(), upkeepEvery)
	failing := periodic.Failing{Fails: "lists of co-readers that have ended cannot be removed", Again: "lists of co-readers that have ended are removed again"}
	for range periodic.Every(ctx, upkeepEvery) {
		inTime, cancel := context.WithTimeout(ctx, timeout)
		mine, err := turn(inTime)
		if err == nil && mine {
			err = s.Remove(inTime, clock().Unix())
		}
		cancel()
		failing.Tell(ctx, log, err)
	}
}

// Remove removes what is no longer needed at a moment: items whose time has come, lists that have
// not been written to for a [coread.Window], lists beyond their maximum number, and the numbers of
// readers of items with neither. Errors are those of a [coread.Store].
func (s *Store) Remove(ctx context.Context, now int64) error {
	for more := true; more; {
		ended, err := s.ended(ctx, s.keys.CoReadItems(), now)
		if err == nil {
			err = s.removeReaders(ctx, ended, s.keys.CoReadLists())
		}
		if err != nil {
			return contractError("remove items", err)
		}
		more = len(ended) == atOnce
	}
	for more := true; more; {
		ended, err := s.ended(ctx, s.keys.CoReadLists(), now-window)
		if err == nil && len(ended) < atOnce {
			var beyond []string
			beyond, err = s.beyond(ctx, now)
			ended, more = append(ended, beyond...), len(beyond) == atOnce
		}
		if err == nil {
			err = s.removeLists(ctx, ended)
		}
		if err != nil {
			return contractError("remove lists", err)
		}
	}
	return nil
}

// ended removes members of a sorted set whose score is a limit at most, and returns them.
func (s *Store) ended(ctx context.Context, key string, limit int64) ([]string, error) {
	items, err := s.client.ZRangeByScore(ctx, key, &redis.ZRangeBy{Min: "-inf", Max: strconv.FormatInt(limit, 10), Count: atOnce}).Result()
	if err != nil || len(items) == 0 {
		return nil, err
	}
	return s.drop(ctx, key, limit, items)
}

func (s *Store) drop(ctx context.Context, key string, limit int64, items []string) ([]string, error) {
	args := []any{limit}
	for _, item := range items {
		args = append(args, item)
	}
	return dropScript.Run(ctx, s.client, []string{key}, args...).StringSlice()
}

// beyond removes items from those that have a list, the least recently written first, if there are too
// many, and returns them.
func (s *Store) beyond(ctx context.Context, now int64) ([]string, error) {
	items, err := s.client.ZCard(ctx, s.keys.CoReadItems()).Result()
	if err != nil {
		return nil, err
	}
	lists, err := s.client.ZCard(ctx, s.keys.CoReadLists()).Result()
	many := min(lists-max(s.least, coread.ListsPerItem*items), atOnce)
	if err != nil || many <= 0 {
		return nil, err
	}
	oldest, err := s.client.ZRange(ctx, s.keys.CoReadLists(), 0, many-1).Result()
	if err != nil {
		return nil, err
	}
	return s.drop(ctx, s.keys.CoReadLists(), now, oldest)
}

// removeLists removes the lists of items, and the numbers of readers that are no longer needed.
func (s *Store) removeLists(ctx context.Context, items []string) error {
	if len(items) == 0 {
		return nil
	}
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, item := range items {
			p.Del(ctx, s.keys.CoReadList(item))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.removeReaders(ctx, items, s.keys.CoReadItems())
}

// removeReaders removes the numbers of readers of items that are not in a sorted set.
func (s *Store) removeReaders(ctx context.Context, items []string, unlessIn string) error {
	if len(items) == 0 {
		return nil
	}
	scores := make([]*redis.FloatCmd, len(items))
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, item := range items {
			scores[i] = p.ZScore(ctx, unlessIn, item)
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	_, err = s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, item := range items {
			if errors.Is(scores[i].Err(), redis.Nil) {
				p.HDel(ctx, s.keys.CoReadReaders(rediskeys.CoReadPart(item)), item)
			}
		}
		return nil
	})
	return err
}
