package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// PutAuthor implements [social.Authors].
func (s *Store) PutAuthor(ctx context.Context, a social.Author, at time.Time) error {
	if err := a.Validate(); err != nil {
		return err
	}
	if err := social.CheckTime(at, s.opts.Clock()); err != nil {
		return err
	}
	return s.failed(ctx, "put author", s.write(ctx, func(t *Tx) {
		kept := t.agent(changing, a.ID)
		values := []any{
			a.ID, a.Name, a.ImageURL, a.Bio, social.ChangeTime(at, t.now, max(kept.cardAt, kept.Erased)),
			at.IsZero(), choice(a.SuggestFromFollows), choice(a.Recommend),
		}
		if social.AvatarKey(kept.imageURL) == "" {
			t.later(saveAuthor, values...)
		} else if t.exec(saveAuthor, values...) > 0 { // not an older event
			t.replaceAvatar(a.ID, kept.imageURL, a.ImageURL)
		}
		if a.Recommend != nil {
			t.recommended(a.ID, kept, *a.Recommend)
		}
	}))
}

// PatchAuthor implements [social.Authors].
func (s *Store) PatchAuthor(ctx context.Context, id string, patch func(social.Author) (social.Author, error)) (social.Author, error) {
	return s.patchAuthor(ctx, id, func(_ *Tx, a social.Author) (social.Author, error) { return patch(a) })
}

func (s *Store) patchAuthor(ctx context.Context, id string, patch func(*Tx, social.Author) (social.Author, error)) (a social.Author, err error) {
	if err := social.CheckAgent(id); err != nil {
		return social.Author{}, err
	}
	err = s.write(ctx, func(t *Tx) {
		kept := t.agent(changing, id)
		a = social.Author{ID: id}
		var suggest int
		t.row(into(&a.Name, &a.ImageURL, &a.Bio, &suggest), `SELECT name, image_url, bio, suggest_from_follows FROM authors WHERE id = $1`, id)
		if t.err != nil {
			return
		}
		a.SuggestFromFollows, a.Recommend = chosen(suggest), recommendation(kept.notRecommended)
		patched, err := patch(t, a)
		if err != nil {
			t.fail(err)
			return
		}
		a = patched
		a.ID = id
		if err := a.Validate(); err != nil {
			t.fail(err)
			return
		}
		t.later(saveAuthor, a.ID, a.Name, a.ImageURL, a.Bio, social.ChangeTime(time.Time{}, t.now, max(kept.cardAt, kept.Erased)),
			true, choice(a.SuggestFromFollows), cmp.Or(choice(a.Recommend), allowed))
		t.replaceAvatar(id, kept.imageURL, a.ImageURL)
		a.Recommend = recommendation(choice(a.Recommend) == refused)
		t.recommended(id, kept, a.Recommend == nil)
	})
	if err != nil {
		return social.Author{}, s.failed(ctx, "put author", err)
	}
	return a, nil
}

// recommended queues the job that writes or removes the items of an author's posts, if the choice of
// being recommended changes.
func (t *Tx) recommended(author string, was *agent, yes bool) {
	if was.notRecommended == yes {
		t.enqueue(jobs.Spec{Kind: jobs.Recommend, Key: author, Priority: jobs.PriorityRemoval})
	}
}

// saveAuthor stores a card: id, name, image, bio, time. The later wins, at equal times the greater.
// If $6, it is a change made here, with the choice about the author's follows $7. $8 is the choice
// about recommendations, 0 for the stored one.
const saveAuthor = `INSERT INTO authors (id, name, image_url, bio, card_at, has_card, suggest_from_follows, not_recommended)
	VALUES ($1, $2, $3, $4, $5, true, CASE WHEN $6 THEN $7::bigint ELSE 0 END, $8::bigint < 0)
	ON CONFLICT (id) DO UPDATE SET name = excluded.name, image_url = excluded.image_url, bio = excluded.bio, card_at = excluded.card_at, has_card = true,
	suggest_from_follows = CASE WHEN $6 THEN excluded.suggest_from_follows ELSE authors.suggest_from_follows END,
	not_recommended = CASE WHEN $8::bigint = 0 THEN authors.not_recommended ELSE excluded.not_recommended END
	WHERE $5 > authors.erased AND ($5 > authors.card_at OR $5 = authors.card_at
	AND ($2 COLLATE "C", $3 COLLATE "C", $4 COLLATE "C") > (authors.name, authors.image_url, authors.bio))`

// Values of a choice, as the column suggest_from_follows has it; neither is 0.
const (
	refused = -1
	allowed = 1
)

// choice returns the value of a choice, 0 for none.
func choice(yes *bool) int {
	switch {
	case yes == nil:
		return 0
	case *yes:
		return allowed
	}
	return refused
}

// chosen is the inverse of choice.
func chosen(value int) *bool {
	if value == 0 {
		return nil
	}
	yes := value == allowed
	return &yes
}

// recommendation returns the choice about recommendations of an author who refuses them, or not.
func recommendation(refuses bool) *bool {
	if !refuses {
		return nil
	}
	no := false
	return &no
}

// standing is the relation of a reader to an author.
type standing struct {
	self, follows bool
	followed      bool // the author follows the reader
	blocks        bool // the reader blocks the author
	blocked       bool // one of the two blocks the other
}

// between is the reading of the relation of the reader to the author.
func (st *standing) between(reader, author string) Reading {
	st.self = reader != "" && reader == author
	return Reading{Statement{
		`SELECT EXISTS (SELECT 1 FROM follows f LEFT JOIN authors a ON a.id = f.author
			WHERE f.agent = $1 AND f.author = $2 AND ` + followsNow + `),
		EXISTS (SELECT 1 FROM follows f LEFT JOIN authors a ON a.id = f.agent WHERE f.agent = $2 AND f.author = $1 AND ` + followedNow + `),
		` + blocks("$1", "$2") + `, ` + blocks("$2", "$1"),
		[]any{reader, author},
	}, func(scan Scan) error {
		err := scan(&st.follows, &st.followed, &st.blocks, &st.blocked)
		st.blocked = st.blocked || st.blocks
		return err
	}}
}

// Author implements [social.Authors].
func (s *Store) Author(ctx context.Context, reader, author string) (social.AuthorInfo, error) {
	info := social.AuthorInfo{Author: social.Author{ID: author}}
	err := s.snapshot(ctx, func(q *Query) {
		var card, refuses bool
		var erased, suspended int64
		var suspendedFor string
		var suggest int
		var counts postCounts
		var st standing
		q.all(st.between(reader, author),
			reads(into(&info.Name, &info.ImageURL, &info.Bio, &card, &info.Followers, &info.Following, &erased, &suggest, &refuses, &suspended, &suspendedFor),
				`SELECT name, image_url, bio, has_card, followers, following, erased, suggest_from_follows, not_recommended,
					suspended_until, suspended_for FROM authors WHERE id = $1`, author),
			reads(into(&counts.public, &counts.followers, &counts.own), `SELECT public, followers, own FROM post_counts WHERE author = $1`, author))
		if st.blocks {
			info = social.AuthorInfo{Author: social.Author{ID: author}, IsBlocked: true}
			return
		}
		info.IsFollowing, info.FollowsYou, info.Posts = st.follows, st.followed, q.posts(reader, author, st, counts, erased)
		if st.self {
			info.SuggestFromFollows, info.Recommend = chosen(suggest), recommendation(refuses)
			if suspended > social.Stamp(q.clock()) {
				info.SuspendedUntil, info.SuspendedFor = suspended/1e6, suspendedFor
			}
		}
		known := st.self || card || info.Posts+info.Followers+info.Following > 0
		if !known && !st.blocked { // known by replies alone, which are not among the author's posts
			known = len(q.newest(pullSources.replies, []string{author}, span{reader: reader, n: 1})) > 0
		}
		if st.blocked || !known {
			q.fail(fmt.Errorf("author %s: %w", author, feed.ErrNotFound))
			return
		}
	})
	if err != nil {
		return social.AuthorInfo{}, s.failed(ctx, "read author", err)
	}
	return info, nil
}

// agentCards reads the people $2 for the reader $1.
var agentCards = `SELECT a.id, a.name, a.image_url, a.followers, a.following,
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = $1 AND f.author = a.id AND ` + followsNow + `),
	EXISTS (SELECT 1 FROM follows f WHERE f.agent = a.id AND f.author = $1 AND ` + followedNow + `),
	` + blocks("$1", "a.id") + `, ` + blocks("a.id", "$1") + ` FROM authors a WHERE a.id ` + ofList2

// AgentCards implements [social.Authors].
func (s *Store) AgentCards(ctx context.Context, reader string, ids []string) ([]api.AgentCard, error) {
	if len(ids) == 0 {
		return []api.AgentCard{}, nil
	}
	known := make(map[string]api.AgentCard, len(ids))
	err := s.read(ctx, func(q *Query) {
		q.each(func(scan Scan) error {
			var c api.AgentCard
			var blocked bool
			err := scan(&c.ID, &c.Name, &c.ImageURL, &c.Followers, &c.Following, &c.IsFollowing, &c.FollowsYou, &c.IsBlocked, &blocked)
			switch {
			case blocked:
				c = api.AgentCard{PostAuthor: api.PostAuthor{ID: c.ID}, IsBlocked: c.IsBlocked}
			case c.IsBlocked:
				c = api.AgentCard{PostAuthor: c.PostAuthor, IsBlocked: true}
			}
			known[c.ID] = c
			return err
		}, agentCards, reader, ids)
	})
	if err != nil {
		return nil, s.failed(ctx, "read authors", err)
	}
	list := make([]api.AgentCard, len(ids))
	for i, id := range ids {
		list[i] = known[id]
		list[i].ID = id
	}
	return list, nil
}

// postCounts are the stored counts of an author's posts by who may see them.
type postCounts struct{ public, followers, own int64 }

// posts counts the posts of an author that a reader may see: from the stored counts and, for posts
// that only address the reader, from the rows.
func (q *Query) posts(reader, author string, st standing, counts postCounts, erased int64) int64 {
	public, addressed := counts.public, int64(0)
	switch {
	case st.blocked:
		return 0
	case reader == "":
		return public
	case st.self:
		public += counts.own
	case st.follows:
		public += counts.followers
	}
	q.row(into(&addressed), addressedText, reader, author, erased, st.follows, st.self)
	return public + addressed
}

// addressedText counts the posts that the author $2 addresses to the reader $1 by circles, groups
// and mentions: of a limited number of each, those created after $3 that the stored counts do not
// have already because the reader follows the author, $4, or is the author, $5. A scalar subquery
// looks up each post, as no planner turns that into a join of the whole table. The column counts
// holds the other conditions: in the joins they would make a planner expect few rows.
var addressedText = fmt.Sprintf(`SELECT count(DISTINCT j.post) FROM (
		SELECT * FROM (SELECT pc.post, pc.incarnation > c.dropped AND m.at > `+erasedAgent("$1")+` AND c.put > `+erasedAgent("$2")+`
			AS counts FROM circles c JOIN members m ON m.circle = c.id AND m.agent = $1 AND m.gone = 0
			JOIN post_circles pc ON pc.circle = c.id AND pc.author = c.owner WHERE c.owner = $2 AND c.gone = 0 AND m.since = 0 LIMIT %[1]d) by_circle
		UNION SELECT * FROM (SELECT pc.post, pc.incarnation > c.dropped AND m.at > `+erasedAgent("$1")+` AND c.put > `+erasedAgent("c.owner")+`
			AND `+placed+` AS counts FROM members m JOIN circles c ON c.id = m.circle AND c.gone = 0
			JOIN post_circles pc ON pc.author = $2 AND pc.circle = c.id WHERE m.agent = $1 AND m.gone = 0 AND m.since > 0 LIMIT %[1]d) by_group
		UNION SELECT * FROM (SELECT post, life = `+erasedAgent("$1")+` AS counts FROM post_mentions WHERE agent = $1 AND author = $2 ORDER BY created_at DESC, post DESC LIMIT %[1]d) by_mention
	) j WHERE (SELECT j.counts AND p.gone = 0 AND p.created > $3 AND p.reach < 2 AND NOT (p.reach = 1 AND $4) AND NOT (p.origin = '' AND $5)
		FROM posts p WHERE p.id = j.post)`, social.MaxAddressed)

// Grid implements [social.Lists]. It reads only posts that the reader may see, each source by its
// own index: first those that need no relation to the author, together with the relation.
func (s *Store) Grid(ctx context.Context, reader, author string, below social.Position, n int) (list []social.Entry, err error) {
	sp := span{reader: reader, below: below, author: author, n: n}
	of := []string{author}
	err = s.snapshot(ctx, func(q *Query) {
		var st standing
		var circles []string
		about := []Reading{st.between(reader, author)}
		parts := []part{{pullSources.toAll, of}, {pullSources.replies, of}}
		if st.self {
			parts = []part{{pullSources.toAll, of}, {pullSources.own, of}, {pullSources.ownReplies, of}}
		}
		if reader != "" {
			about = append(about, readsTexts(&circles, circlesBy, reader, author))
			parts = append(parts, part{pullSources.mentionsBy, []string{reader}})
		}
		found := q.gather(sp, parts, about...)
		if st.blocked {
			return
		}
		parts = []part{{pullSources.circlesBy, circles}}
		if st.follows && !st.self {
			parts = append(parts, part{pullSources.toFollowers, of})
		}
		list = top(append(found, q.gather(sp, parts)...), n)
	})
	return list, s.failed(ctx, "read grid", err)
}

// Celebrity implements [social.Authors].
func (s *Store) Celebrity(ctx context.Context, author string) (social.Celebrity, error) {
	c := social.Celebrity{Author: author, Delivery: social.Push}
	err := s.read(ctx, func(q *Query) {
		var since int64
		q.row(into(&c.Delivery, &since, &c.Followers), `SELECT delivery, delivery_at, followers FROM authors WHERE id = $1`, author)
		c.Since = instant(since)
	})
	return c, s.failed(ctx, "read author", err)
}

// instant converts a stamp to a time; 0 is the zero time.
func instant(stamp int64) time.Time {
	if stamp == 0 {
		return time.Time{}
	}
	return time.UnixMicro(stamp).UTC()
}

// SetDelivery implements [social.Authors].
func (s *Store) SetDelivery(ctx context.Context, author string, from, to social.Delivery) (changed bool, err error) {
	err = s.write(ctx, func(t *Tx) {
		c := social.Celebrity{Author: author, Delivery: to}
		changed = t.row(into(&c.Followers), `UPDATE authors SET delivery = $3, delivery_at = $4 WHERE id = $1 AND delivery = $2 RETURNING followers`,
			author, string(from), string(to), social.Stamp(t.now))
		if changed && to != social.Both && c.Wants(s.opts) != to {
			t.enqueue(jobs.Spec{Kind: jobs.Author, Key: author, Priority: jobs.PriorityLater})
		}
	})
	return changed && err == nil, s.failed(ctx, "set delivery", err)
}

// celebrities selects pairs of a reader, of $1, and an author whom they follow and who is not
// pushed, or [social.Server], or [jobs.Everybody] if such a job is waiting or running.
const celebrities = `SELECT agent, author FROM follows WHERE agent = ANY ($1) AND author = '` + social.Server + `' AND gone = 0
	UNION ALL SELECT f.agent, f.author FROM authors a JOIN follows f ON f.author = a.id
		WHERE a.delivery <> 'push' AND f.agent = ANY ($1) AND f.gone = 0
	UNION ALL SELECT k.agent, '` + jobs.Everybody + `' FROM unnest($1::text[]) k (agent)
		JOIN jobs j ON j.kind = '` + string(jobs.AuthorAgent) + `' AND j.key = '` + jobs.Everybody + `/' || k.agent AND j.state IN ('pending', 'failed', 'running')
	ORDER BY 2`

// celebritiesOfOne is the statement for one reader; PostgreSQL reuses its plan. The statement for a
// list of one would be planned in each call, which takes ten times as long as running it.
var celebritiesOfOne = strings.NewReplacer("= ANY ($1)", "= $1", "unnest($1::text[]) k (agent)", "(SELECT $1 AS agent) k").Replace(celebrities)

// Celebrities implements [social.Authors].
func (s *Store) Celebrities(ctx context.Context, reader string) (social.Pulled, error) {
	list, err := s.CelebritiesOf(ctx, []string{reader})
	return list[0], err
}

// CelebritiesOf implements [social.Authors].
func (s *Store) CelebritiesOf(ctx context.Context, readers []string) ([]social.Pulled, error) {
	found := map[string]social.Pulled{}
	text, asked := celebrities, any(readers)
	if len(readers) == 1 {
		text, asked = celebritiesOfOne, readers[0]
	}
	err := s.read(ctx, func(q *Query) {
		q.each(func(scan Scan) error {
			var reader, author string
			err := scan(&reader, &author)
			p := found[reader]
			if author == jobs.Everybody {
				p.Rebuilt = true
			} else {
				p = p.With(author)
			}
			found[reader] = p
			return err
		}, text, asked)
	})
	return social.PulledOf(readers, found), s.failed(ctx, "read celebrities", err)
}
