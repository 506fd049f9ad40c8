package sqlstore

import (
	"context"
	"encoding/json"
	"time"

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
		if t.row(into(&erased), `SELECT erased_agent FROM authors WHERE id = $1`, agent); erased >= social.Stamp(at) {
			return
		}
		// A row from the future was written before the clock was set back.
		t.exec(`INSERT INTO suggestions (agent, at, content) VALUES ($1, $2, $3)
			ON CONFLICT (agent) DO UPDATE SET at = excluded.at, content = excluded.content
			WHERE suggestions.at <= $4 OR suggestions.at > $2`,
			agent, social.Stamp(at), string(content), social.Stamp(at.Add(-social.SuggestionsLive)))
	}))
}

// Unsuggestable implements [social.Suggestions].
func (s *Store) Unsuggestable(ctx context.Context, agent string, authors []string, followers int, since time.Time) ([]string, error) {
	if err := social.CheckAgent(agent); err != nil {
		return nil, err
	}
	if len(authors) == 0 {
		return nil, nil
	}
	return s.page(ctx, `SELECT author FROM follows WHERE agent = $1 AND author = ANY ($2) AND gone = 0
		UNION SELECT other FROM blocks WHERE agent = $1 AND other = ANY ($2)
		UNION SELECT agent FROM blocks WHERE other = $1 AND agent = ANY ($2)
		UNION SELECT id FROM authors WHERE id = ANY ($2) AND (followers < $3 OR erased > $4 OR erasing > 0)`,
		agent, authors, followers, social.Stamp(since))
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
