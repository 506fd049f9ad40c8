package sqlstore

import (
	"fmt"
	"slices"

	"github.com/freshet/freshet/social"
)

// lock tells how a write uses the rows that it locks.
type lock int

const (
	free lock = iota // they are only read
	// doing: agents do something that an erasure must not miss. Any number at once.
	doing
	// changing: the counts, card, follows or blocks of agents change, or a circle or
	// a post does; one after another, but beside what agents are doing.
	changing
	// exclusive: an agent, once whatever they are doing has ended; a row of the queue.
	exclusive
)

// locks end statements that read rows, by how they are locked.
var locks = [...]string{free: ``, doing: ` FOR KEY SHARE`, changing: ` FOR NO KEY UPDATE`, exclusive: ` FOR UPDATE`}

// agent is somebody's row, as far as writes need it.
type agent struct {
	social.Party
	cardAt int64
}

// agents locks the rows of some agents, which it makes where there must be one to be
// locked, and reads them. A transaction that calls it twice asks for no others the
// second time.
func (t *Tx) agents(mode lock, ids ...string) map[string]*agent {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	out := make(map[string]*agent, len(ids))
	first := Statement{`INSERT INTO authors (id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`, []any{ids}}
	if t.d.OneWriter {
		first.Text = "" // nobody needs a row to be locked
	}
	t.both(first, func(scan Scan) error {
		var id string
		a := &agent{}
		err := scan(&id, &a.Followers, &a.Following, &a.Delivery, &a.cardAt, &a.Erased, &a.ErasedAgent)
		out[id] = a
		return err
	}, Statement{`SELECT id, followers, following, delivery, card_at, erased, erased_agent
		FROM authors WHERE id = ANY ($1) ORDER BY id` + locks[mode], []any{ids}})
	if !t.d.OneWriter && len(out) < len(ids) {
		t.fail(fmt.Errorf("%w: an agent was purged", ErrRaced))
	}
	for _, id := range ids {
		if out[id] == nil {
			out[id] = &agent{Party: social.Party{Delivery: social.Push}}
		}
	}
	return out
}

// agent locks and reads one.
func (t *Tx) agent(mode lock, id string) *agent { return t.agents(mode, id)[id] }

// lockAgents locks agents of whom nothing is to be read.
func (t *Tx) lockAgents(mode lock, ids ...string) {
	if !t.d.OneWriter {
		t.agents(mode, ids...)
	}
}

// lockOrder is the order in which rows of posts p are locked: replies first, as their
// deletion changes the counts of the posts that they stand under.
const lockOrder = `p.root = '', p.id`

// lockRows locks the rows of a table, by id, that are to be changed.
func (t *Tx) lockRows(table string, ids ...string) {
	if !t.d.OneWriter {
		order := `id`
		if table == "posts" {
			order = lockOrder
		}
		t.exec(`SELECT 1 FROM `+table+` p WHERE id = ANY ($1) ORDER BY `+order+locks[changing], ids)
	}
}
