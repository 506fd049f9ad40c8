package sqlstore

import (
	"fmt"
	"slices"

	"github.com/freshet/freshet/social"
)

// lock is the strength of a row lock.
type lock int

const (
	free lock = iota // no lock; the rows are only read
	// doing: agents do something that an erasure must not miss. Any number of transactions at once.
	doing
	// changing: the counts, card, follows or blocks of agents change, or a circle or a post does.
	// One transaction at a time, but concurrent with doing.
	changing
	// exclusive: an agent, after all transactions that hold another lock; a row of the queue.
	exclusive
)

// locks are the lock clauses of SELECT statements.
var locks = [...]string{free: ``, doing: ` FOR KEY SHARE`, changing: ` FOR NO KEY UPDATE`, exclusive: ` FOR UPDATE`}

// agent is an agent's row, as far as writes need it.
type agent struct {
	social.Party
	cardAt         int64
	imageURL       string
	notRecommended bool
}

// ofList and ofList2 match the elements of the list $1 or $2. The subquery hides the list's length
// from PostgreSQL, which otherwise plans the statement again in each call if there are few elements.
const (
	ofList  = `= ANY ((SELECT $1::text[])::text[])`
	ofList2 = `= ANY ((SELECT $2::text[])::text[])`
)

// agents locks the rows of agents and returns them. It creates missing rows so that they can be
// locked. A second call in one transaction must not ask for other agents.
func (t *Tx) agents(mode lock, ids ...string) map[string]*agent {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	out, read := newAgents(ids), 0
	var refused error
	first := Statement{`INSERT INTO authors (id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`, []any{ids}}
	if t.d.OneWriter {
		first.Text = "" // rows need not exist, as nothing is locked
	}
	t.all(Reading{Statement: first}, Reading{Statement{`SELECT id, followers, following, delivery, card_at, erased, erased_agent, suspended_until, suspended_for, not_recommended, image_url
		FROM authors WHERE id ` + ofList + ` ORDER BY id` + locks[mode], []any{ids}}, func(scan Scan) error {
		var id, suspendedFor string
		var suspended int64
		a := &agent{}
		err := scan(&id, &a.Followers, &a.Following, &a.Delivery, &a.cardAt, &a.Erased, &a.ErasedAgent, &suspended, &suspendedFor, &a.notRecommended, &a.imageURL)
		out[id] = a
		read++
		if id == t.actor.Agent && err == nil {
			refused = t.actor.Check(social.Stamp(t.now), suspended, suspendedFor, a.ErasedAgent)
			t.checked = true
		}
		return err
	}})
	if refused != nil {
		t.fail(refused)
		return newAgents(ids)
	}
	if !t.d.OneWriter && read < len(ids) {
		t.fail(fmt.Errorf("%w: an agent was purged", ErrRaced))
		return newAgents(ids)
	}
	return out
}

// newAgents returns agents that have no rows yet.
func newAgents(ids []string) map[string]*agent {
	out := make(map[string]*agent, len(ids))
	for _, id := range ids {
		out[id] = &agent{Party: social.Party{Delivery: social.Push}}
	}
	return out
}

// agent locks and returns one.
func (t *Tx) agent(mode lock, id string) *agent { return t.agents(mode, id)[id] }

// lockAgents locks agents without reading them.
func (t *Tx) lockAgents(mode lock, ids ...string) {
	if !t.d.OneWriter {
		t.agents(mode, ids...)
	}
}

// lockOrder is the order in which rows of posts p are locked: replies first, as their deletion
// changes the counts of their root posts.
const lockOrder = `p.root = '', p.id`

// lockRows locks rows of a table, by id, for a change.
func (t *Tx) lockRows(table string, ids ...string) {
	if !t.d.OneWriter {
		order := `id`
		if table == "posts" {
			order = lockOrder
		}
		t.exec(`SELECT 1 FROM `+table+` p WHERE id `+ofList+` ORDER BY `+order+locks[changing], ids)
	}
}
