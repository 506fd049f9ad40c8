// Package rediscards caches the cards of public posts in Redis, one string per post, for any
// number of servers. Redis may evict them: a missing card is cached again when its post is read.
package rediscards

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/social"
)

// eraseMore is how much longer the mark of an erased author lives than a card: the write of a card
// may be in flight when the mark is set.
const eraseMore = 10 * time.Minute

// atOnce is the maximum number of writes in one pipeline.
const atOnce = 500

// Cards implements [social.CardCache] on Redis.
type Cards struct {
	client redis.Cmdable
	keys   rediskeys.Keys
}

var _ social.CardCache = (*Cards)(nil)

// New returns Cards that use client and keys with a prefix. It makes no call to Redis.
func New(client redis.Cmdable, prefix string) *Cards {
	return &Cards{client, rediskeys.For(client, prefix)}
}

// value is the stored form of a post. The script reads Version and Gone, which must come first.
type value struct {
	Version   int64           `json:"v"`
	Gone      bool            `json:"gone,omitempty"`
	CreatedAt int64           `json:"created_at,omitempty"`
	Author    *social.Author  `json:"author,omitempty"`
	Likes     int64           `json:"likes,omitempty"`
	Comments  int64           `json:"comments,omitempty"`
	Content   json.RawMessage `json:"content,omitempty"`

	Likers     int64 `json:"likers,omitempty"` // this and the next have been stored since 0.2
	Commenters int64 `json:"commenters,omitempty"`

	NotRecommended bool `json:"not_recommended,omitempty"`
}

// writeScript stores a card or a tombstone, unless the stored value is newer. At equal versions a
// tombstone wins, stored or new: the post may be removed for a reason that raises no version, such
// as the erasure of its author.
//
// The version and the tombstone flag are the first fields of the JSON, so the script reads only
// the beginning.
//
//	KEYS[1]  the post's key
//	ARGV[1]  its version
//	ARGV[2]  1 for a tombstone, else 0
//	ARGV[3]  the value
//	ARGV[4]  its TTL, ms
//	reply    1 if it was written, else 0
var writeScript = redis.NewScript(`
local there = redis.call('GETRANGE', KEYS[1], 0, 63)
local version = tonumber(string.match(there, '^{"v":(%d+)'))
if version then
  local new = tonumber(ARGV[1])
  local gone = string.find(there, '^{"v":%d+,"gone":true')
  if new < version or new == version and gone and ARGV[2] == '0' then return 0 end
end
redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
return 1
`)

// write is one run of the script.
type write struct {
	id string
	value
}

// Put implements [social.CardCache].
func (c *Cards) Put(ctx context.Context, cards []social.Card) error {
	var writes []write
	for i := range cards {
		card := &cards[i]
		if card.Cacheable() {
			// Field by field: no data about the reader may be cached.
			writes = append(writes, write{card.ID, value{
				Version: card.Version, CreatedAt: card.CreatedAt, Author: &card.Author,
				Likes: card.Likes, Comments: card.Comments, Content: card.Content,
				Likers: card.Likers, Commenters: card.Commenters, NotRecommended: card.NotRecommended,
			}})
		}
	}
	return contractError("keep", c.send(ctx, writes))
}

// Remove implements [social.CardCache].
func (c *Cards) Remove(ctx context.Context, posts []social.PostVersion) error {
	writes := make([]write, len(posts))
	for i, p := range posts {
		writes[i] = write{p.ID, value{Version: p.Version, Gone: true}}
	}
	return contractError("remove", c.send(ctx, writes))
}

// send runs the script for each write, in pipelines, and returns the first error.
func (c *Cards) send(ctx context.Context, writes []write) error {
	var first error
	for part := range slices.Chunk(writes, atOnce) {
		first = cmp.Or(first, c.pipeline(ctx, part))
	}
	return first
}

func (c *Cards) pipeline(ctx context.Context, writes []write) error {
	cmds := make([]*redis.Cmd, len(writes))
	raws := make([][]byte, len(writes))
	for i, w := range writes {
		var err error
		if raws[i], err = json.Marshal(w.value); err != nil {
			return fmt.Errorf("%s: %w", w.id, err)
		}
	}
	_ = rediskeys.RunEach(writeScript, cmds, func(run rediskeys.Run, which []int) error {
		pipe := c.client.Pipeline()
		for _, at := range which {
			w := writes[at]
			cmds[at] = run(ctx, pipe, []string{c.keys.Post(w.id)}, w.Version, w.Gone, raws[at], social.CardTTL.Milliseconds())
		}
		_, err := pipe.Exec(ctx)
		return err
	})
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Erase implements [social.CardCache].
func (c *Cards) Erase(ctx context.Context, author string) error {
	return contractError("erase", c.client.Set(ctx, c.keys.ErasedAuthor(author), "1", social.CardTTL+eraseMore).Err())
}

// Cached implements [social.CachedCards]. It takes one round trip for the cards and one for the marks
// of their authors. On a cluster, cards that cannot be read count as missing.
func (c *Cards) Cached(ctx context.Context, ids []string) ([]social.Card, error) {
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
		if !errors.Is(erased[0].Err(), redis.Nil) { // there is a mark, or it could not be read
			cards[i] = social.Card{ID: cards[i].ID}
		}
		erased = erased[1:]
	}
	return cards, nil
}

// show sets a card from its stored value, and reports whether there is one.
func show(card *social.Card, raw string) bool {
	var v value
	if raw == "" || json.Unmarshal([]byte(raw), &v) != nil {
		return false
	}
	if v.Gone || v.Author == nil || len(v.Content) == 0 {
		return false
	}
	*card = social.Card{
		ID: card.ID, Visible: true, Public: true, Version: v.Version, CreatedAt: v.CreatedAt,
		Author: *v.Author, Likes: v.Likes, Comments: v.Comments, Content: v.Content,
		Likers: v.Likers, Commenters: v.Commenters, NotRecommended: v.NotRecommended,
	}
	return true
}

// read gets keys in one pipeline. It returns an error only if none could be read.
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
