package sqlstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
)

// Suggested implements [social.Suggestions].
func (s *Store) Suggested(ctx context.Context, agent string) (list []social.Suggestion, at time.Time, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return nil, at, err
	}
	err = s.read(ctx, func(q *Query) {
		var stamp int64
		var content string
		if q.row(into(&stamp, &content), `SELECT at, content FROM suggestions WHERE agent = $1 AND at > `+erasedAgent("$1"), agent) {
			at = time.UnixMicro(stamp)
			if err := json.Unmarshal([]byte(content), &list); err != nil {
				q.fail(Damaged(err))
				return
			}
		}
	})
	if err != nil {
		return nil, time.Time{}, s.failed(ctx, "suggest", err)
	}
	return list, at, nil
}

// KeepSuggested implements [social.Suggestions].
func (s *Store) KeepSuggested(ctx context.Context, agent string, list []social.Suggestion, at time.Time) error {
	if err := social.CheckAgent(agent); err != nil {
		return err
	}
	content, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return s.failed(ctx, "suggest", s.write(ctx, func(t *Tx) {
		t.lockAgents(doing, agent)
		var erased int64
		var erasing bool
		t.row(into(&erased, &erasing), `SELECT erased_agent, erasing > 0 FROM authors WHERE id = $1`, agent)
		if erasing || erased >= social.Stamp(at) {
			return // it may be of the agent who was erased
		}
		if erased > social.Stamp(at.Add(-social.FriendsAfter)) {
			content = []byte(`[]`) // it has no friends yet: the list was computed for the agent before the erasure
		}
		// A row from the future was written before the clock was set back.
		t.exec(`INSERT INTO suggestions (agent, at, content) VALUES ($1, $2, $3)
			ON CONFLICT (agent) DO UPDATE SET at = excluded.at, content = excluded.content
			WHERE suggestions.at <= $4 OR suggestions.at > $2`,
			agent, social.Stamp(at), string(content), social.Stamp(at.Add(-social.SuggestionsLive)))
	}))
}

// Unsuggestable implements [social.Suggestions].
func (s *Store) Unsuggestable(ctx context.Context, agent string, authors []string, since time.Time) ([]string, error) {
	if err := social.CheckAgent(agent); err != nil {
		return nil, err
	}
	if len(authors) == 0 {
		return nil, nil
	}
	return s.page(ctx, `SELECT author FROM follows WHERE agent = $1 AND author = ANY ($2) AND gone = 0
		UNION SELECT other FROM blocks WHERE agent = $1 AND other = ANY ($2)
		UNION SELECT agent FROM blocks WHERE other = $1 AND agent = ANY ($2)
		UNION SELECT id FROM authors WHERE id = ANY ($2) AND (erased > $3 OR erasing > 0 OR suspended_until > $4 OR not_recommended)`,
		agent, authors, social.Stamp(since), social.Stamp(s.opts.Clock()))
}

// friends selects agents as of $2. A scalar subquery looks up each follow back, as no planner turns
// that into a read of all followers of the agent $1.
var friends = `SELECT f.author FROM follows f LEFT JOIN authors a ON a.id = f.author LEFT JOIN post_counts c ON c.author = f.author
	WHERE f.agent = $1 AND f.at <= $2 AND ` + followsNow + `
	AND (SELECT b.at <= $2 AND b.at > coalesce(a.erased_agent, 0) AND b.at > coalesce((SELECT e.erased FROM authors e WHERE e.id = $1), 0)
		FROM follows b WHERE b.agent = f.author AND b.author = $1 AND b.gone = 0)
	AND (coalesce(a.suggest_from_follows, 0) = 1 OR coalesce(a.suggest_from_follows, 0) = 0 AND coalesce(c.public > 0 OR c.followers + c.own = 0, true))
	AND f.author > $3 ORDER BY f.author LIMIT $4`

// Friends implements [social.Suggestions].
func (s *Store) Friends(ctx context.Context, agent, after string, n int) ([]string, error) {
	return s.page(ctx, friends, agent, social.Stamp(s.opts.Clock().Add(-social.FriendsAfter)), after, n)
}

// newestAuthors selects authors for the agent $1, except $2, with their newest public post. Scalar
// subqueries look up each author, so that the index of authors is read only as far as necessary.
const newestAuthors = `SELECT n.author, coalesce((SELECT p.id FROM posts p WHERE p.author = n.author AND p.reach = 2 AND p.gone = 0
		ORDER BY p.created_at DESC, p.id DESC LIMIT 1), '') FROM public_authors n
	WHERE n.author <> $1 AND NOT n.author = ANY ($2)
	AND (SELECT f.gone FROM follows f WHERE f.agent = $1 AND f.author = n.author AND f.gone = 0) IS NULL
	AND (SELECT b.at FROM blocks b WHERE b.agent = $1 AND b.other = n.author) IS NULL
	AND (SELECT b.at FROM blocks b WHERE b.agent = n.author AND b.other = $1) IS NULL
	AND coalesce((SELECT a.erasing + CASE WHEN a.suspended_until > $4 OR a.not_recommended THEN 1 ELSE 0 END FROM authors a WHERE a.id = n.author), 0) = 0
	ORDER BY n.since DESC, n.author LIMIT $3`

// NewestAuthors implements [social.Suggestions].
func (s *Store) NewestAuthors(ctx context.Context, agent string, except []string, n int) (list []social.NewAuthor, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return nil, err
	}
	err = s.snapshot(ctx, func(q *Query) {
		list = rowsOf(q, func(a *social.NewAuthor) []any { return into(&a.Author, &a.Newest.ID) }, newestAuthors, agent, except, n, social.Stamp(s.opts.Clock()))
		ids := convert.Each(list, func(a social.NewAuthor) string { return a.Newest.ID })
		posts := q.records(free, ids)
		for i, id := range ids {
			list[i].Newest = social.Post{}
			r := posts[id]
			if r != nil && r.Post.Author == list[i].Author {
				list[i].Newest = r.Post
			}
		}
	})
	return list, s.failed(ctx, "suggest", err)
}

// purgeSuggestions removes at most n expired lists.
func (t *Tx) purgeSuggestions(n int) int {
	over := social.Stamp(t.now.Add(-social.SuggestionsKept))
	agents := t.texts(`SELECT agent FROM suggestions WHERE at <= $1 ORDER BY at LIMIT $2`, over, n)
	if len(agents) == 0 {
		return 0
	}
	return int(t.exec(`DELETE FROM suggestions WHERE agent = ANY ($1) AND at <= $2`, agents, over))
}
