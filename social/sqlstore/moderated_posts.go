package sqlstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// ModeratedPosts implements [social.Moderation].
func (s *Store) ModeratedPosts(ctx context.Context, who string, ids []string) (list []social.ModeratedPost, err error) {
	for _, id := range ids {
		if err := social.CheckPostID(id); err != nil {
			return nil, err
		}
	}
	err = s.write(ctx, func(t *Tx) {
		list = t.moderatedPosts(ids)
		for i := range list {
			if list[i].ID != "" {
				t.audit(who, social.ActionRead, social.Object{Kind: social.ObjectPost, ID: ids[i]}, "")
			}
		}
	})
	return list, s.failed(ctx, "read posts", err)
}

// PostsToModerate implements [social.Moderation].
func (s *Store) PostsToModerate(ctx context.Context, who string, ask social.PostsQuery) (list []social.ModeratedPost, err error) {
	if ask.Author != "" {
		if err := social.CheckAgent(ask.Author); err != nil {
			return nil, err
		}
	}
	text, args, err := postsToModerate(ask)
	if err != nil {
		return nil, err
	}
	err = s.write(ctx, func(t *Tx) {
		list = t.moderatedPosts(t.texts(text, args...))
		t.audit(who, social.ActionList, social.Object{Kind: social.ObjectAuthor, ID: ask.Author}, "")
	})
	return list, s.failed(ctx, "read posts", err)
}

// threadThere is true for a post p of an author who was not erased since, and of a reply, whose root post exists.
const threadThere = `p.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = p.author), 0)
	AND (p.root = '' OR EXISTS (SELECT 1 FROM posts x WHERE x.id = p.root AND x.gone = 0 AND x.deleted < p.root_life
		AND x.created > coalesce((SELECT e.erased FROM authors e WHERE e.id = x.author), 0) OFFSET 0))`

// postsToModerate returns the statement that selects posts. Each form has an index: posts of an author, those with
// reports or in a state; all others are those made here, whose ids follow their time.
func postsToModerate(ask social.PostsQuery) (text string, args []any, err error) {
	from, order, where := `posts p`, `p.created_at DESC, p.id DESC`, []string{`p.gone = 0`, threadThere}
	put := func(value any) string {
		args = append(args, value)
		return fmt.Sprintf("$%d", len(args))
	}
	if ask.Reported {
		from = `reported k JOIN posts p ON p.id = k.object`
		where = append(where, `k.kind = 'post'`)
	}
	switch ask.State {
	case social.Unmoderated:
	case social.HeldPost, social.RemovedPost:
		from += ` JOIN moderated m ON m.post = p.id`
		state := stateHeld
		if ask.State == social.RemovedPost {
			state = stateRemoved
		}
		where = append(where, `m.state = `+put(state))
	default:
		return "", nil, feed.Errorf(feed.ErrInvalid, "state must be held, removed or omitted, not %.40q", ask.State)
	}
	below := !ask.Below.Zero()
	byID := ask.Author == "" && !ask.Reported && ask.State == social.Unmoderated
	switch {
	case byID:
		order, where = `p.id DESC`, append(where, `p.id >= '`+social.PostPrefix+`0'`, `p.id < '`+social.PostPrefix+`1'`)
		if below {
			where = append(where, `p.id < `+put(ask.Below.ID))
		}
	case below:
		at, id := put(ask.Below.At), put(ask.Below.ID)
		where = append(where, `(p.created_at, p.id) < (`+at+`, `+id+`)`)
	}
	if ask.Author != "" {
		where = append(where, `p.author = `+put(ask.Author))
	}
	if ask.Since > 0 {
		where = append(where, `p.created_at >= `+put(ask.Since))
	}
	if ask.Until > 0 {
		where = append(where, `p.created_at < `+put(ask.Until))
	}
	if ask.Since > 0 && byID {
		where = append(where, `p.id >= `+put(fmt.Sprintf("%s%014x", social.PostPrefix, ask.Since*1e6)))
	}
	if ask.Until > 0 && byID {
		where = append(where, `p.id < `+put(fmt.Sprintf("%s%014x", social.PostPrefix, ask.Until*1e6)))
	}
	return `SELECT p.id FROM ` + from + ` WHERE ` + strings.Join(where, ` AND `) + ` ORDER BY ` + order + ` LIMIT ` + put(ask.N), args, nil
}

// moderatedPosts reads posts, regardless of their audiences.
func (q *Query) moderatedPosts(ids []string) []social.ModeratedPost {
	list := make([]social.ModeratedPost, len(ids))
	at := make(map[string]int, len(ids))
	records := q.records(free, ids)
	for i, id := range ids {
		r := records[id]
		if r != nil && r.Alive() {
			list[i], at[id] = moderatedPost(r), i
		}
	}
	q.each(func(scan Scan) error {
		var id, reason string
		var state, reach, reports int
		var suspended int64
		var there bool
		var circles []string
		err := scan(&id, &state, &reach, &circles, &reason, &reports, &suspended, &there)
		i, alive := at[id]
		if err != nil || !alive {
			return err
		}
		p := &list[i]
		if !there {
			*p = social.ModeratedPost{}
			return nil
		}
		p.State, p.Reason, p.Reports = moderationStates[state], reason, reports
		if state != stateNone && p.Root == "" {
			p.Audience = social.Reach(reach).Audience()
			p.Audience.Circles = some(circles)
		}
		if suspended > social.Stamp(q.clock()) {
			p.SuspendedUntil = suspended / 1e6
		}
		return nil
	}, `SELECT p.id, coalesce(m.state, 0), coalesce(m.reach, 0),
		`+listOf(`mc.circle`, `moderated_circles mc WHERE mc.post = p.id AND mc.circle <> '`+goneCircle+`' ORDER BY mc.circle`)+`,
		coalesce((SELECT rm.reason FROM removals rm WHERE rm.post = p.id AND rm.circle = '`+moderatedCircle+`'), ''),
		(SELECT count(*) FROM reports r WHERE r.kind = 'post' AND r.object = p.id), coalesce(a.suspended_until, 0), `+threadThere+`
		FROM posts p LEFT JOIN moderated m ON m.post = p.id `+ofAuthors+` WHERE p.id `+ofList, ids)
	return list
}

// moderatedPost is a post without what moderators have decided about it.
func moderatedPost(r *record) social.ModeratedPost {
	p := &r.Post
	return social.ModeratedPost{
		ID: p.ID, Author: p.Author, CreatedAt: p.CreatedAt, EditedAt: p.EditedAt, Caption: p.Caption, Tags: p.AllTags(), Images: p.Images,
		Mentions: p.Mentions, ReplyTo: p.ReplyTo, Root: p.Root, Audience: p.Audience, Likes: p.Likes, Comments: p.Comments,
	}
}
