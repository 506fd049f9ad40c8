// Package rediscards keeps the cards of public posts in Redis, one string a post,
// for any number of servers at once. The Redis may evict: a card that is gone is
// kept again when somebody reads its post.
package rediscards

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/social"
)

// eraseMore is how much longer the mark of an erased author lives than a card that
// was on its way when it was set.
const eraseMore = 10 * time.Minute

// atOnce is how many keys one pipeline touches.
const atOnce = 500

// Config tunes Cards. Zero values stand for the defaults.
type Config struct {
	KeyPrefix string        // goes before every key
	TTL       time.Duration // of cards and tombstones; [social.CardLives]
}

// Cards implements [social.CardCache] on Redis.
type Cards struct {
	client redis.Cmdable
	keys   rediskeys.Keys
	ttl    time.Duration
}

var _ social.CardCache = (*Cards)(nil)

// New keeps cards behind client; it does not talk to the server.
func New(client redis.Cmdable, cfg Config) *Cards {
	return &Cards{client: client, keys: rediskeys.For(client, cfg.KeyPrefix), ttl: cmp.Or(cfg.TTL, social.CardLives)}
}

// value is the stored form of a post. The script reads Version and Gone, which must
// come first.
type value struct {
	Version   int64           `json:"v"`
	Gone      bool            `json:"gone,omitempty"`
	CreatedAt int64           `json:"created_at,omitempty"`
	Author    *social.Author  `json:"author,omitempty"`
	Likes     int64           `json:"likes,omitempty"`
	Comments  int64           `json:"comments,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`
}

// write is one run of the script.
type write struct {
	key  string
	args []any
}

func (c *Cards) write(id string, v value) (write, error) {
	raw, err := json.Marshal(v)
	gone := 0
	if v.Gone {
		gone = 1
	}
	return write{c.keys.Post(id), []any{v.Version, gone, raw, c.ttl.Milliseconds()}}, err
}

// Keep implements [social.CardCache].
func (c *Cards) Keep(ctx context.Context, cards []social.Card) error {
	writes := make([]write, 0, len(cards))
	for i := range cards {
		card := &cards[i]
		if !card.Visible || !card.Public || len(card.Content) == 0 {
			continue
		}
		// Field by field: nothing about the reader may get here.
		w, err := c.write(card.ID, value{
			Version: card.Version, CreatedAt: card.CreatedAt, Author: &card.Author,
			Likes: card.Likes, Comments: card.Comments, Content: card.Content,
		})
		if err != nil {
			return fmt.Errorf("keep %s: %w", card.ID, err)
		}
		writes = append(writes, w)
	}
	return contractError("keep", c.send(ctx, writes))
}

// Remove implements [social.CardCache].
func (c *Cards) Remove(ctx context.Context, posts []social.Known) error {
	writes := make([]write, len(posts))
	for i, p := range posts {
		var err error
		if writes[i], err = c.write(p.ID, value{Version: p.Version, Gone: true}); err != nil {
			return fmt.Errorf("remove %s: %w", p.ID, err)
		}
	}
	return contractError("remove", c.send(ctx, writes))
}

// send runs the script for each write, in pipelines; servers that do not know it
// yet get it whole.
func (c *Cards) send(ctx context.Context, writes []write) error {
	var errs []error
	for len(writes) > 0 {
		part := writes[:min(atOnce, len(writes))]
		writes = writes[len(part):]
		var unknown []write
		for i, err := range c.pipeline(ctx, part, writeScript.EvalSha) {
			if redis.HasErrorPrefix(err, "NOSCRIPT") {
				unknown = append(unknown, part[i])
			} else {
				errs = append(errs, err)
			}
		}
		if len(unknown) > 0 {
			errs = append(errs, c.pipeline(ctx, unknown, writeScript.Eval)...)
		}
	}
	return errors.Join(errs...)
}

func (c *Cards) pipeline(ctx context.Context, writes []write,
	run func(ctx context.Context, c redis.Scripter, keys []string, args ...any) *redis.Cmd,
) []error {
	pipe := c.client.Pipeline()
	cmds, errs := make([]*redis.Cmd, len(writes)), make([]error, len(writes))
	for i, w := range writes {
		cmds[i] = run(ctx, pipe, []string{w.key}, w.args...)
	}
	_, _ = pipe.Exec(ctx) // each command has its own error
	for i, cmd := range cmds {
		errs[i] = cmd.Err()
	}
	return errs
}

// Erase implements [social.CardCache].
func (c *Cards) Erase(ctx context.Context, author string) error {
	return contractError("erase", c.client.Set(ctx, c.keys.ErasedAuthor(author), "1", c.ttl+eraseMore).Err())
}

// Kept implements [social.KeptCards]: one round trip for the cards and one for the
// marks of their authors. On a cluster, cards that cannot be read count as not
// kept.
func (c *Cards) Kept(ctx context.Context, ids []string) ([]social.Card, error) {
	cards := make([]social.Card, len(ids))
	keys := make([]string, len(ids))
	for i, id := range ids {
		cards[i].ID, keys[i] = id, c.keys.Post(id)
	}
	found, err := c.read(ctx, keys)
	if err != nil {
		return nil, contractError("read", err)
	}
	var marks []string
	for i, raw := range found {
		if show(&cards[i], raw.Val()) {
			marks = append(marks, c.keys.ErasedAuthor(cards[i].Author.ID))
		}
	}
	if len(marks) == 0 {
		return cards, nil
	}
	erased, err := c.read(ctx, marks)
	if err != nil {
		return nil, contractError("read authors", err)
	}
	for i := range cards {
		if !cards[i].Visible {
			continue
		}
		if !errors.Is(erased[0].Err(), redis.Nil) { // there is a mark, or nobody knows
			cards[i] = social.Card{ID: cards[i].ID}
		}
		erased = erased[1:]
	}
	return cards, nil
}

// show fills in a card from its value, and reports whether there is one.
func show(card *social.Card, raw string) bool {
	var v value
	if raw == "" || json.Unmarshal([]byte(raw), &v) != nil || v.Gone || v.Author == nil || len(v.Content) == 0 {
		return false
	}
	*card = social.Card{
		ID: card.ID, Visible: true, Public: true, Version: v.Version, CreatedAt: v.CreatedAt,
		Author: *v.Author, Likes: v.Likes, Comments: v.Comments, Content: v.Content,
	}
	return true
}

// read gets keys in one pipeline. The error is that none could be read.
func (c *Cards) read(ctx context.Context, keys []string) ([]*redis.StringCmd, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	pipe := c.client.Pipeline()
	gets := make([]*redis.StringCmd, len(keys))
	for i, key := range keys {
		gets[i] = pipe.Get(ctx, key)
	}
	_, first := pipe.Exec(ctx)
	for _, get := range gets {
		if err := get.Err(); err == nil || errors.Is(err, redis.Nil) {
			return gets, nil
		}
	}
	return nil, first
}

func contractError(step string, err error) error {
	return rediskeys.Failed(social.ErrCacheUnavailable, step, err)
}
