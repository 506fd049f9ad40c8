package sqlstore

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
)

// facts are the columns of a post that the rules need, and a reader's relation to it.
type facts struct {
	post    social.Post
	rel     social.Relation
	there   bool
	circles []string // of [circlesOfPost]
	now     int64    // stamp, by which mutes end

	removals []social.Removal
	deleted  int64 // stamp of the post's deletion
	rootLife int64 // of a reply: when its root post was created
}

// scan reads a row of [factColumns] and further columns.
func (f *facts) scan(scan Scan, more ...any) error {
	var delivery social.Delivery
	var reach social.Reach
	var removed int
	var removals []string
	err := scan(append([]any{
		&f.post.Author, &f.post.Origin, &reach, &f.post.Reply, &f.post.React, &delivery, &f.there,
		&f.rel.Follows, &f.rel.FollowsServer, &f.circles, &f.rel.Mentioned, &f.rel.Granted, &f.rel.Blocked,
		&f.post.Closed, &f.rel.OwnCircle,
		&f.deleted, &f.post.Root, &f.rootLife, &removed, &removals,
	}, more...)...)
	if err != nil {
		return err
	}
	f.post.Audience = reach.Audience()
	f.rel.Pulled = delivery == social.Pull
	f.rel.Member, f.rel.Muted, f.rel.Returns = f.memberBut(nil)
	f.post.Deleted = !f.there
	f.post.Removed = removed == removedEverywhere
	f.removals, err = parseRemovals(removals)
	return err
}

// under adds the decision about the root post to the facts of a reply. Groups that the reply was
// removed from do not count.
func (f *facts) under(root *facts) {
	if !root.there || root.deleted >= f.rootLife {
		return
	}
	rel := root.rel
	rel.Member, rel.Muted, rel.Returns = root.memberBut(f.removals)
	f.rel.RootExists, f.rel.Root = true, social.Decide(&root.post, rel)
}

// memberBut reports whether the reader sees the post through a circle, except those of removals, has
// muted all of these, and whether one of those mutes ends.
func (f *facts) memberBut(removals []social.Removal) (member, muted, returns bool) {
	muted = true
	for _, c := range f.circles {
		sees, until, rest := seen(c)
		id, _, _ := strings.Cut(rest, " ")
		if sees == seesNothing || id != "" && removedFrom(removals, id) {
			continue
		}
		member, returns = true, returns || until > 0
		muted = muted && sees == seesMuted && mutedAt(until, f.now)
	}
	return member, member && muted, returns
}

// seen splits a row of [circlesOfPost]: how the reader sees the post through the circle, when a mute
// ends, and the id and the name.
func seen(row string) (sees string, until int64, rest string) {
	sees, rest = row[:1], row[1:]
	if sees == seesMuted {
		var end string
		end, rest, _ = strings.Cut(rest, " ")
		until, _ = strconv.ParseInt(end, 10, 64) // a bigint
	}
	return sees, until, rest
}

func (f *facts) decide() social.Decision { return social.Decide(&f.post, f.rel) }

// factColumns are the columns of a post p and its author a that [social.Decide] needs for the
// reader $1. "There" is false for tombstones and for posts of an author who is being erased.
// Follows, memberships, mentions and grants from before the erasure of an agent, or from before the
// post or the circle was created again, do not count. docs/decisions/order.md says for each pair of
// stamps compared here why the servers' clocks do not matter.
//
// OFFSET 0 prevents PostgreSQL from evaluating an EXISTS with a hash of everything that the reader
// follows or likes: a probe for each post costs the same for every reader.
var factColumns = `p.author, p.origin, p.reach, p.reply, p.react, coalesce(a.delivery, 'push'),
	p.gone = 0 AND p.created > coalesce(a.erased, 0) AS there,
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = p.author AND ` + followsNow + ` OFFSET 0),
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = '` + social.Server + `' AND f.gone = 0
		AND f.at > ` + erasedReader + ` OFFSET 0),
	` + circlesOfPost + `,
	EXISTS (SELECT 1 FROM post_mentions m WHERE m.post = p.id AND m.agent = $1 AND m.life = ` + erasedReader + ` OFFSET 0),
	EXISTS (SELECT 1 FROM ` + Either(`unnest(p.grants) g (value)`, `json_each(CASE p.grants WHEN '' THEN '[]' ELSE p.grants END) g`) + ` WHERE g.value = ` + grantedToReader + ` OFFSET 0),
	` + blocked(`$1`, `p.author`) + `,
	` + circled + `,
	p.reach = 0 AND p.author = $1 AND ` + ownCircle + `,
	p.deleted, p.root, p.root_life, p.removed, ` + removalsOfPost

// circlesOfPost lists the circles that p addresses and that the reader $1 is in; all of them if the
// reader is p's author. The circle must not have been dropped since, and a plain circle must belong
// to p's author: another agent may have its id now. Only members could post to a group.
//
// A row begins with [seesThrough], or [seesMuted], if the reader joined before p was addressed to it;
// see order.go. The end of a mute follows, then id and name, unless it is a plain circle of another agent; the name only if
// the reader is a member or the owner.
var circlesOfPost = listOf(`CASE WHEN `+placed+` THEN CASE WHEN mu.id <> '' THEN '`+seesMuted+`' || mu.until || ' ' ELSE '`+seesThrough+`' END ELSE '`+seesNothing+`' END || CASE WHEN c.kind = 'circle' AND c.owner <> $1 THEN '' WHEN c.owner = $1 OR m.at > 0 THEN c.id || ' ' || c.name ELSE c.id || ' ' END`, `post_circles pc
	`+addressedCircle+` AND c.put > coalesce((SELECT o.erased_agent FROM authors o WHERE o.id = c.owner), 0)
	LEFT JOIN members m ON m.circle = pc.circle AND m.agent = $1 AND m.gone = 0 AND m.at > `+erasedReader+`
	LEFT JOIN mutes mu ON mu.agent = $1 AND mu.kind = '`+string(social.MuteCircle)+`' AND mu.id = pc.circle AND m.since > 0
	WHERE pc.post = p.id AND (m.at > 0 OR pc.author = $1)`)

// addressedCircle joins the circle c that a row pc of a post addresses.
const addressedCircle = `JOIN circles c ON c.id = pc.circle AND (c.owner = pc.author OR c.kind <> 'circle') AND c.gone = 0 AND c.dropped < pc.incarnation`

const (
	seesThrough = `+`
	seesMuted   = `~` // a group that the reader has muted
	seesNothing = `-`
)

// named returns the circles to name to the reader.
func (f *facts) named() (list []social.CircleRef) {
	for _, c := range f.circles {
		sees, _, rest := seen(c)
		id, name, named := strings.Cut(rest, " ")
		if named && (sees != seesNothing || f.post.Author == f.rel.Reader) {
			list = append(list, social.CircleRef{ID: id, Name: name})
		}
	}
	return sorted(list)
}

func sorted(list []social.CircleRef) []social.CircleRef {
	slices.SortFunc(list, func(a, b social.CircleRef) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// circled reports whether p has a row that stands for a circle, also one that is gone, or grants. A
// post for everybody needs none.
var circled = `p.reach < 2 AND (` + hasGrants + ` OR EXISTS (SELECT 1 FROM post_circles pc WHERE pc.post = p.id OFFSET 0))`

// hasGrants reports whether p has grants.
var hasGrants = Either(`cardinality(p.grants) > 0`, `p.grants <> ''`)

// ownCircle reports whether p addresses a plain circle of its author, even one that was deleted and
// whose id somebody has used again.
const ownCircle = `EXISTS (SELECT 1 FROM post_circles pc WHERE pc.post = p.id AND pc.own OFFSET 0)`

// erasedReader selects the stamp up to which the reader $1 is erased; 0 means never.
const erasedReader = `coalesce((SELECT e.erased_agent FROM authors e WHERE e.id = $1), 0)`

// followsNow is true for a follow f by the reader $1 of an author a that neither's erasure has ended.
const followsNow = `f.gone = 0 AND f.at > ` + erasedReader + ` AND f.at > coalesce(a.erased, 0)`

// followedNow is true for a follow f of the reader $1 by an agent a that neither's erasure has ended.
const followedNow = `f.gone = 0 AND f.at > coalesce(a.erased_agent, 0) AND f.at > coalesce((SELECT e.erased FROM authors e WHERE e.id = $1), 0)`

// ofAuthors joins posts p with their authors a.
const ofAuthors = `LEFT JOIN authors a ON a.id = p.author`

// counted are the likes of a post p and the comments on it, and what popularity counts of them: see
// [social.Post.Likers].
var counted = `p.likes_here + p.likes_reported, CASE WHEN p.comments_here > 0 THEN p.comments_here ELSE p.comments_reported END,
	p.likes_here + p.likes_reported - ` + ownLike + `,
	CASE WHEN p.comments_here > 0 THEN p.repliers - ` + ownReply + ` ELSE p.comments_reported END`

// ownLike and ownReply are 1 if the author of a post p is one of those who like it, or reply to it.
var (
	ownLike = `CASE WHEN p.likes_here > 0 AND EXISTS (SELECT 1 FROM likes l
		WHERE l.post = p.id AND l.agent = p.author AND l.incarnation > p.deleted OFFSET 0) THEN 1 ELSE 0 END`
	ownReply = `CASE WHEN p.comments_here > 0 AND EXISTS (SELECT 1 FROM posts o
		WHERE ` + comments("p.id", "p.deleted") + ` AND o.author = p.author OFFSET 0) THEN 1 ELSE 0 END`
)

// The statements of cards. They return the posts that exist, each with its index among those
// requested.
//
// Lists are selected to hide their length from PostgreSQL: for a list shorter than the ten elements
// that it assumes, it would plan the statement in each call, which takes ten times as long as
// reading one card.
var (
	cardFrom = `SELECT ` + factColumns + `, j.i - 1, p.version, p.created_at, p.arrived, ` + counted + `,
		CASE WHEN p.version <> j.version THEN p.content END, coalesce(a.name, ''), coalesce(a.image_url, ''), coalesce(a.suspended_until, 0), coalesce(a.not_recommended, false),
		EXISTS (SELECT 1 FROM likes l WHERE l.post = p.id AND l.agent = $1 AND l.incarnation > p.deleted AND l.at > ` + erasedReader + ` OFFSET 0),
		` + hasGrants + ` FROM `
	ofPosts   = ` JOIN posts p ON p.id = j.id ` + ofAuthors + ` WHERE p.gone = 0`
	cardsText = cardFrom + `unnest((SELECT $2::text[]), (SELECT $3::bigint[])) WITH ORDINALITY j (id, version, i)` + ofPosts
)

// cardsOfText takes the reader of each row instead of the parameter $1. It joins the stamp of that
// reader's erasure: a subquery would run for each row, as often as it occurs in the text.
var cardsOfText = strings.NewReplacer(erasedReader, "coalesce(r.erased_agent, 0)", "$1", "j.reader", "j.version", "0").Replace(cardFrom) +
	`unnest((SELECT $1::text[]), (SELECT $2::text[])) WITH ORDINALITY j (reader, id, i) LEFT JOIN authors r ON r.id = j.reader` + ofPosts

// facts reads the facts of a post, and of its root post if it is a reply.
func (q *Query) facts(reader, id string) *facts {
	f := q.ownFacts(reader, id)
	if f.post.IsReply() {
		f.under(q.ownFacts(reader, f.post.Root))
	}
	return f
}

func (q *Query) ownFacts(reader, id string) *facts {
	f := &facts{now: social.Stamp(q.clock()), rel: social.Relation{Reader: reader}}
	f.post.Deleted = true // if there is no row
	q.each(func(scan Scan) error { return f.scan(scan) },
		`SELECT `+factColumns+` FROM posts p `+ofAuthors+` WHERE p.id = $2`, reader, id)
	return f
}

// Cards implements [social.Cards] with one statement, and another if there are replies.
func (s *Store) Cards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	ids, known := make([]string, len(posts)), make([]int64, len(posts))
	for i, p := range posts {
		ids[i], known[i] = p.ID, p.Version
	}
	return s.cards(ctx, "read cards", askedBy(reader, ids), cardsText, reader, Table{ids, known})
}

// CardsOf implements [social.CardsOfMany].
func (s *Store) CardsOf(ctx context.Context, asked []social.Asked) ([]social.Card, error) {
	readers, ids := make([]string, len(asked)), make([]string, len(asked))
	for i, a := range asked {
		readers[i], ids[i] = a.Reader, a.ID
	}
	return s.cards(ctx, "read cards of many readers", asked, cardsOfText, Table{readers, ids})
}

func askedBy(reader string, ids []string) []social.Asked {
	return convert.Each(ids, func(id string) social.Asked { return social.Asked{Reader: reader, ID: id} })
}

func (s *Store) cards(ctx context.Context, what string, asked []social.Asked, text string, args ...any) ([]social.Card, error) {
	cards := make([]social.Card, len(asked))
	for i, a := range asked {
		cards[i].ID = a.ID
	}
	if len(asked) == 0 {
		return cards, nil
	}
	err := s.read(ctx, func(q *Query) {
		var list []*foundCard
		q.read(q.found(asked, func(f *foundCard) { list = append(list, f) }, text, args...))
		q.readRoots(list)
		for _, f := range list {
			cards[f.i] = f.resolve()
		}
	})
	if err != nil {
		return nil, s.failed(ctx, what, err)
	}
	return cards, nil
}

// foundCard is a card before the decision whether the reader may see it.
type foundCard struct {
	facts
	i       int // its index among the requested posts
	card    social.Card
	granted bool
}

// found is the reading of the cards of the posts that exist.
func (q *Query) found(asked []social.Asked, take func(*foundCard), text string, args ...any) Reading {
	now := social.Stamp(q.clock())
	return Reading{Statement{text, args}, func(scan Scan) error {
		f := &foundCard{facts: facts{now: now}}
		c := &f.card
		var content []byte
		var suspended int64
		err := f.scan(scan, &f.i, &c.Version, &c.CreatedAt, &c.Arrived, &c.Likes, &c.Comments, &c.Likers, &c.Commenters, &content,
			&c.Author.Name, &c.Author.ImageURL, &suspended, &c.NotRecommended, &c.HasLiked, &f.granted)
		if err == nil {
			f.rel.Reader, c.ID = asked[f.i].Reader, asked[f.i].ID
			c.Suspended = suspended > now
			c.Author.ID, c.Content, c.Root = f.post.Author, json.RawMessage(content), f.post.Root
			take(f)
		}
		return err
	}}
}

// foundOne is the reading of one card, if the post exists.
func (q *Query) foundOne(reader, id string, take func(*foundCard)) Reading {
	return q.found(askedBy(reader, []string{id}), take, cardsText, reader, Table{[]string{id}, []int64{0}})
}

// card reads the card of a post. One that does not exist is like a tombstone.
func (q *Query) card(reader, id string) *foundCard {
	f := &foundCard{card: social.Card{ID: id}}
	f.post.Deleted = true
	q.read(q.foundOne(reader, id, func(found *foundCard) { f = found }))
	if f.post.IsReply() {
		f.under(q.ownFacts(reader, f.post.Root))
	}
	return f
}

// cardLater reads the card of an existing post as the transaction leaves it.
func (t *Tx) cardLater(card *social.Card, reader string, p *social.Post) {
	f := &foundCard{}
	t.readLater(t.foundOne(reader, p.ID, func(found *foundCard) { f, *card = found, found.resolve() }))
	if p.IsReply() {
		t.readLater(t.statuses(reader, []string{p.Root}, func(root *facts, _ int, _ int64) {
			f.under(root)
			*card = f.resolve()
		}))
	}
}

// readRoots reads the facts of the root posts of replies, with one statement per reader.
func (q *Query) readRoots(list []*foundCard) {
	replies := map[string]map[string][]*foundCard{} // by reader and root
	for _, f := range list {
		if f.post.IsReply() {
			if replies[f.rel.Reader] == nil {
				replies[f.rel.Reader] = map[string][]*foundCard{}
			}
			replies[f.rel.Reader][f.post.Root] = append(replies[f.rel.Reader][f.post.Root], f)
		}
	}
	for reader, under := range replies {
		ids := slices.Collect(maps.Keys(under))
		q.read(q.statuses(reader, ids, func(root *facts, i int, _ int64) {
			for _, f := range under[ids[i]] {
				f.under(root)
			}
		}))
	}
}

// statuses is the reading of the facts of known posts, each with its index in ids and its time of
// creation.
func (q *Query) statuses(reader string, ids []string, take func(f *facts, i int, at int64)) Reading {
	now := social.Stamp(q.clock())
	return Reading{Statement{statusesText, []any{reader, ids}}, func(scan Scan) error {
		f := &facts{now: now, rel: social.Relation{Reader: reader}}
		var i int
		var at int64
		err := f.scan(scan, &i, &at)
		if err == nil {
			take(f, i, at)
		}
		return err
	}}
}

var statusesText = `SELECT ` + factColumns + `, j.i - 1, p.created_at FROM unnest((SELECT $2::text[])) WITH ORDINALITY j (id, i)
	JOIN posts p ON p.id = j.id ` + ofAuthors + ` WHERE p.author <> ''`

// resolve applies the decision and returns the card for its reader, with nothing but the id if it is
// hidden from them.
func (f *foundCard) resolve() social.Card {
	c, d := f.card, f.decide()
	if !d.Visible {
		return social.Card{ID: c.ID}
	}
	c.Public = f.post.Audience.Public && !f.granted
	c.Visible, c.Replies, c.Reason, c.CanReply, c.CanReact = d.Visible, d.Replies, d.Reason, d.CanReply, d.CanReact
	c.Subscribed = d.Subscribed
	c.Circles = f.named()
	if c.Author.ID == f.rel.Reader {
		c.Removed = f.removals
	}
	return c
}

// ListStatuses implements [social.Lists].
func (s *Store) ListStatuses(ctx context.Context, agent string, ids []string) ([]social.ListStatus, error) {
	list := make([]social.ListStatus, len(ids))
	for i, id := range ids {
		list[i].ID = id
	}
	if len(ids) == 0 {
		return list, nil
	}
	err := s.read(ctx, func(q *Query) {
		q.read(q.statuses(agent, ids, func(f *facts, i int, at int64) {
			d := f.decide()
			e := social.Entry{Position: social.Position{At: at, ID: ids[i]}, Author: f.post.Author}
			list[i] = social.ListStatus{Entry: e, Found: true, Listed: d.Listed, Reason: d.Reason}
		}))
	})
	if err != nil {
		return nil, s.failed(ctx, "read statuses", err)
	}
	return list, nil
}
