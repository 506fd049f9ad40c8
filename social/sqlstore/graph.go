package sqlstore

import (
	"maps"
	"slices"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// setFollows changes follows, in the given order, with the counts and the jobs. Only setFollows
// does so. It reads and writes each table once, regardless of their number.
func (t *Tx) setFollows(list ...social.FollowChange) []social.FollowResult {
	g := t.graph(list)
	results := make([]social.FollowResult, len(list))
	for i, f := range list {
		results[i] = g.Set(f)
		if results[i].Changed && f.Author != social.Server {
			t.markFollow(f)
		}
		if results[i].Changed {
			t.change(social.Change{Type: followType(f.On), Agent: f.Agent, Other: f.Author})
			if f.On {
				t.tell(notice{f.Author, social.NotifyFollow, "", f.Agent, ""})
			} else {
				t.untell(f.Author)
			}
		}
	}
	t.saveGraph(g)
	return results
}

func followType(on bool) social.ChangeType {
	if on {
		return social.FollowMade
	}
	return social.FollowEnded
}

// markFollow marks the list that a change of a follow affects.
func (t *Tx) markFollow(f social.FollowChange) {
	if t.noPairs {
		return
	}
	if t.renew != nil {
		t.renew[f.Agent] = true
		return
	}
	priority := jobs.PrioritySoon
	if !f.On {
		priority = jobs.PriorityRemoval
	}
	t.enqueue(jobs.Spec{Kind: jobs.AuthorAgent, Key: jobs.PairKey(f.Author, f.Agent), Priority: priority})
}

// graph locks the parties of follows and reads the stored state.
func (t *Tx) graph(list []social.FollowChange) *social.Graph {
	g := social.NewGraph(t.now)
	edges, parties := social.Concerned(list)
	for id, a := range t.agents(changing, parties...) {
		g.Parties[id] = &a.Party
	}
	agents, authors := make([]string, len(edges)), make([]string, len(edges))
	for i, e := range edges {
		agents[i], authors[i] = e.Agent, e.Author
	}
	t.each(func(scan Scan) error {
		var e social.Edge
		var at, gone int64
		var blocked bool
		err := scan(&e.Agent, &e.Author, &at, &gone, &blocked)
		g.Kept[e], g.Blocked[e] = social.Register{On: gone == 0, At: at}, blocked
		return err
	}, `SELECT e.agent, e.author, coalesce(f.at, 0), coalesce(f.gone, 1), `+blocked(`e.agent`, `e.author`)+`
		FROM unnest((SELECT $1::text[]), (SELECT $2::text[])) e (agent, author) LEFT JOIN follows f ON f.agent = e.agent AND f.author = e.author`, Table{agents, authors})
	return g
}

// saveGraph writes the changes, and marks the authors whose followers have crossed a threshold.
func (t *Tx) saveGraph(g *social.Graph) {
	var agents, authors []string
	var at, gone []int64
	for e, k := range g.Changes {
		agents, authors = append(agents, e.Agent), append(authors, e.Author)
		at, gone = append(at, k.At), append(gone, t.goneStamp(k.On))
	}
	if len(agents) > 0 {
		t.later(`INSERT INTO follows (agent, author, at, gone)
			SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) d (agent, author, at, gone) WHERE true
			ON CONFLICT (agent, author) DO UPDATE SET at = excluded.at, gone = excluded.gone`, Table{agents, authors, at, gone})
	}
	var ids []string
	var followers, following []int64
	for _, id := range slices.Sorted(maps.Keys(g.Parties)) {
		p := g.Parties[id]
		if p.Counted {
			ids, followers, following = append(ids, id), append(followers, p.Followers), append(following, p.Following)
		}
		if p.Crossed(t.opts) {
			t.enqueue(jobs.Spec{Kind: jobs.Author, Key: id, Priority: jobs.PriorityUpkeep})
		}
	}
	if len(ids) > 0 {
		t.later(`INSERT INTO authors (id, followers, following)
			SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[]) d (id, followers, following) WHERE true
			ON CONFLICT (id) DO UPDATE SET followers = excluded.followers, following = excluded.following`, Table{ids, followers, following})
	}
}
