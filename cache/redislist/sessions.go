// Package redislist keeps sessions in Redis: one list per agent, paged by
// scripts that change the session, the agent's pending set and the retry
// record in one step. It needs Redis 6.2 or newer.
package redislist

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

// Config tunes Sessions. Zero values stand for the defaults.
type Config struct {
	KeyPrefix  string        // goes before every key
	TTL        time.Duration // how long a session lives after its refresh; 30m
	PendingTTL time.Duration // a pending entry older than this no longer counts; 7 days
	// Grace is how long a served group stays pending after it was confirmed
	// in a filter; a page chosen from a check that long ago is refused; 10s.
	Grace time.Duration
	// Replicas must have a page's entries before the page is handed out;
	// the zero value: those of the master are enough.
	Replicas rediskeys.Replicas
}

// WithDefaults fills the zero values in.
func (c Config) WithDefaults() Config {
	or := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	or(&c.TTL, 30*time.Minute)
	or(&c.PendingTTL, 7*24*time.Hour)
	or(&c.Grace, 10*time.Second)
	return c
}

// Sessions implements [cache.Sessions] on Redis. It is safe for concurrent
// use, by any number of servers at once.
type Sessions struct {
	client redis.UniversalClient
	writes redis.Scripter // client, waiting for the replicas
	keys   rediskeys.Keys
	cfg    Config
}

var _ cache.Sessions = (*Sessions)(nil)

// New makes sessions kept behind client; it does not talk to the server.
func New(client redis.UniversalClient, cfg Config) *Sessions {
	return &Sessions{
		client: client, writes: cfg.Replicas.Scripts(client),
		keys: rediskeys.For(client, cfg.KeyPrefix), cfg: cfg.WithDefaults(),
	}
}

// Replay implements [cache.Sessions].
func (s *Sessions) Replay(ctx context.Context, agent string, retry cache.Retry) (cache.Page, bool, error) {
	if retry.RequestID == "" {
		return cache.Page{}, false, nil
	}
	text, err := s.record(ctx, s.keys.Page(agent, retry.RequestID))
	if errors.Is(err, redis.Nil) {
		return cache.Page{}, false, nil
	}
	if err != nil {
		return cache.Page{}, false, explain("replay", err)
	}
	page, err := replayed(text, retry)
	return page, err == nil, err
}

// Refreshed implements [cache.Sessions].
func (s *Sessions) Refreshed(ctx context.Context, agent string) (time.Time, error) {
	text, err := s.client.Get(ctx, s.keys.Refreshed(agent)).Result()
	if errors.Is(err, redis.Nil) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, explain("refreshed", err)
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", s.keys.Refreshed(agent), err)
	}
	return time.UnixMilli(ms), nil
}

// Delete implements [cache.Sessions].
func (s *Sessions) Delete(ctx context.Context, agent string) error {
	return explain("delete", s.client.Del(ctx, s.keys.Session(agent)).Err())
}

// A page travels, and is kept for retries, as words with a blank between them:
// the action, the client's limit, 1 or 0 for has_more, and the refs. No word
// can hold a blank.

// head begins the text of a page.
func head(retry cache.Retry) string {
	if retry.RequestID == "" {
		return "- 0"
	}
	return retry.Action + " " + strconv.Itoa(retry.Limit)
}

// parsePage reads the text of a page, its head included.
func parsePage(text string) (cache.Page, string, error) {
	action, rest, _ := strings.Cut(text, " ")
	limit, rest, _ := strings.Cut(rest, " ")
	more, rest, _ := strings.Cut(rest, " ")
	if more != "0" && more != "1" {
		return cache.Page{}, "", fmt.Errorf("a stored page reads %.40q", text)
	}
	page := cache.Page{HasMore: more == "1"}
	if rest != "" {
		page.Refs = make([]feed.Ref, 0, strings.Count(rest, " ")+1)
		for text := range strings.SplitSeq(rest, " ") {
			ref := feed.ParseRef(text)
			if ref.Group == "" || ref.ID == "" {
				return cache.Page{}, "", fmt.Errorf("a stored page holds the ref %q", text)
			}
			page.Refs = append(page.Refs, ref)
		}
	}
	return page, text[:len(action)+1+len(limit)], nil
}

// replayed reads a retry record for a call that must be the one it was made by.
func replayed(text string, retry cache.Retry) (cache.Page, error) {
	page, of, err := parsePage(text)
	if err != nil {
		return cache.Page{}, err
	}
	if of != head(retry) {
		return cache.Page{}, fmt.Errorf("%w (it was %s, this is %s)", cache.ErrConflict, of, head(retry))
	}
	page.Replayed = true
	return page, nil
}

// answer reads what the two page scripts reply: what kind of answer it is, and
// the page.
func answer(step string, cmd *redis.Cmd, retry cache.Retry) (cache.Page, error) {
	reply, err := cmd.StringSlice()
	if err != nil {
		return cache.Page{}, explain(step, err)
	}
	if len(reply) != 2 {
		return cache.Page{}, fmt.Errorf("%s: the script answered %d values", step, len(reply))
	}
	switch reply[0] {
	case "late":
		return cache.Page{}, fmt.Errorf("%s: %w", step, cache.ErrTooLate)
	case "old":
		return replayed(reply[1], retry)
	}
	page, _, err := parsePage(reply[1])
	return page, err
}

// explain gives an error of the client the sentinel a caller looks for.
func explain(step string, err error) error {
	switch {
	case err == nil:
		return nil
	case rediskeys.Unreachable(err):
		return fmt.Errorf("%w: %s: %w", cache.ErrUnavailable, step, err)
	}
	return fmt.Errorf("%s: %w", step, err)
}

// keysOf lists the keys of a script, that of the retry record last and only
// where there is a request id.
func (s *Sessions) keysOf(agent string, retry cache.Retry, keys ...string) []string {
	if retry.RequestID != "" {
		keys = append(keys, s.keys.Page(agent, retry.RequestID))
	}
	return keys
}

// expired is the newest score that no longer counts as pending.
func (s *Sessions) expired(now time.Time) int64 {
	return now.Add(-s.cfg.PendingTTL).UnixMilli() - 1
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// flag writes a bool as the scripts read it.
func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}
