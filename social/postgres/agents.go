package postgres

import (
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/freshet/freshet/social"
)

// lockMode tells how a write uses the agents that it locks.
type lockMode string

const (
	// doing: they do something that an erasure must not miss. Any number at once.
	doing lockMode = ` FOR KEY SHARE`
	// changing: their counts, card, follows or blocks change; one after another,
	// but beside what they are doing.
	changing lockMode = ` FOR NO KEY UPDATE`
	// erasing: once whatever they are doing has ended.
	erasing lockMode = ` FOR UPDATE`
)

// agent is somebody's row, as far as writes need it.
type agent struct {
	social.Party
	cardAt int64
}

// agents locks the rows of some agents, which it makes where there are none, and
// reads them. A transaction that calls it twice asks for no others the second time.
func (t *tx) agents(mode lockMode, ids ...string) (map[string]*agent, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	out := make(map[string]*agent, len(ids))
	b := &pgx.Batch{}
	b.Queue(`INSERT INTO authors (id) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`, ids)
	b.Queue(`SELECT id, followers, following, delivery, card_at, erased, erased_agent
		FROM authors WHERE id = ANY ($1) ORDER BY id`+string(mode), ids).Query(func(rows pgx.Rows) error {
		return eachOf(rows, func(rows pgx.Rows) error {
			var id string
			a := &agent{}
			err := rows.Scan(&id, &a.Followers, &a.Following, &a.Delivery, &a.cardAt, &a.Erased, &a.ErasedAgent)
			out[id] = a
			return err
		})
	})
	if err := t.on.SendBatch(t.ctx, b).Close(); err != nil {
		return nil, err
	}
	if len(out) < len(ids) {
		return nil, fmt.Errorf("%w: an agent was purged", errRaced)
	}
	return out, nil
}

// agent locks and reads one.
func (t *tx) agent(mode lockMode, id string) (*agent, error) {
	list, err := t.agents(mode, id)
	if err != nil {
		return nil, err
	}
	return list[id], nil
}
