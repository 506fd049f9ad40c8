package sqlite

import (
	"database/sql"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// setFollows changes follows, in the order given, with the counts and the jobs.
// It is the one place that does. However many there are, it reads and writes each
// table once.
func (t *tx) setFollows(opts social.Options, list ...social.FollowChange) ([]social.FollowResult, error) {
	g, err := t.graph(list)
	if err != nil {
		return nil, err
	}
	results := make([]social.FollowResult, len(list))
	for i, f := range list {
		if results[i] = g.Set(f); !results[i].Changed || f.Author == social.Server {
			continue
		}
		if err := t.markFollow(f); err != nil {
			return nil, err
		}
	}
	return results, t.saveGraph(g, opts)
}

// markFollow marks the list that a follow changes.
func (t *tx) markFollow(f social.FollowChange) error {
	if t.renew != nil {
		t.renew[f.Agent] = true
		return nil
	}
	priority := jobs.PrioritySoon
	if !f.On {
		priority = jobs.PriorityRemoval
	}
	return t.mark(jobs.Dirty{Kind: jobs.Pair, Key: jobs.PairKey(f.Author, f.Agent), Priority: priority})
}

// graph reads what is kept of follows, and of whom they concern.
func (t *tx) graph(list []social.FollowChange) (*social.Graph, error) {
	g := social.NewGraph(t.now)
	edges, parties := social.Concerned(list)
	for _, id := range parties {
		g.Parties[id] = &social.Party{Delivery: social.Push}
	}
	err := t.each(func(rows *sql.Rows) error {
		var id string
		var p social.Party
		err := rows.Scan(&id, &p.Followers, &p.Following, &p.Delivery, &p.Erased, &p.ErasedAgent)
		*g.Parties[id] = p
		return err
	}, `SELECT a.id, a.followers, a.following, a.delivery, a.erased, a.erased_agent
		FROM json_each(?) j CROSS JOIN authors a ON a.id = j.value`, array(parties))
	if err != nil {
		return nil, err
	}
	rows := make([][2]string, len(edges))
	for i, e := range edges {
		rows[i] = [2]string{e.Agent, e.Author}
	}
	return g, t.each(func(rows *sql.Rows) error {
		var e social.Edge
		var at, gone int64
		var blocked bool
		err := rows.Scan(&e.Agent, &e.Author, &at, &gone, &blocked)
		g.Kept[e], g.Blocked[e] = social.Register{On: gone == 0, At: at}, blocked
		return err
	}, `SELECT j.value ->> 0, j.value ->> 1, ifnull(f.at, 0), ifnull(f.gone, 1),
			EXISTS (SELECT 1 FROM blocks WHERE agent = j.value ->> 0 AND other = j.value ->> 1)
			OR EXISTS (SELECT 1 FROM blocks WHERE agent = j.value ->> 1 AND other = j.value ->> 0)
		FROM json_each(?) j LEFT JOIN follows f ON f.agent = j.value ->> 0 AND f.author = j.value ->> 1`, array(rows))
}

// saveGraph writes what has changed, and marks the authors whose followers have
// crossed a threshold.
func (t *tx) saveGraph(g *social.Graph, opts social.Options) error {
	var follows, counts [][]any
	for e, k := range g.Changes {
		follows = append(follows, []any{e.Agent, e.Author, k.At, t.gone(k.On)})
	}
	for id, p := range g.Parties {
		if p.Counted {
			counts = append(counts, []any{id, p.Followers, p.Following})
		}
		if p.Crossed(opts) {
			if err := t.mark(jobs.Dirty{Kind: jobs.Author, Key: id, Priority: jobs.PriorityLater}); err != nil {
				return err
			}
		}
	}
	if len(follows) > 0 {
		if _, err := t.exec(`INSERT INTO follows (agent, author, at, gone)
			SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?) WHERE true
			ON CONFLICT (agent, author) DO UPDATE SET at = excluded.at, gone = excluded.gone`, array(follows)); err != nil {
			return err
		}
	}
	if len(counts) == 0 {
		return nil
	}
	_, err := t.exec(`INSERT INTO authors (id, followers, following)
		SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true
		ON CONFLICT (id) DO UPDATE SET followers = excluded.followers, following = excluded.following`, array(counts))
	return err
}
