package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/axiomhq/hyperloglog"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/signals/events"
)

// Names in the table of sketches.
const (
	agents  = "agents"
	authors = "authors"
)

// Add implements [events.Store]: a batch is one transaction.
func (s *Store) Add(ctx context.Context, b *events.Batch) error {
	return failed(ctx, "count events", sqlitefile.InTx(ctx, s.db, func(tx *sql.Tx) error {
		if err := s.prune(ctx, tx, b.Day); err != nil {
			return err
		}
		a := adding{ctx: ctx, tx: tx, b: b}
		if again, err := a.register(); err != nil || again {
			return err
		}
		return errors.Join(a.counts(), a.once(), a.sketch(agents, b.Agents), a.sketch(authors, b.Authors))
	}))
}

// prune deletes what is older than it is kept, once for each new day.
func (s *Store) prune(ctx context.Context, tx *sql.Tx, day feed.Day) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if day <= s.pruned {
		return nil
	}
	for _, table := range []struct {
		name string
		days int
	}{{"counts", events.KeepDays}, {"sketches", events.KeepDays}, {"acts", events.OnceDays}, {"senders", events.OnceDays}} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+table.name+` WHERE day <= ?`, int(day)-table.days); err != nil {
			return err
		}
	}
	s.pruned = day
	return nil
}

// adding is one batch on its way in.
type adding struct {
	ctx context.Context
	tx  *sql.Tx
	b   *events.Batch
}

// register notes the batch as the sender's last; again says that it has been
// added before.
func (a *adding) register() (again bool, err error) {
	res, err := a.tx.ExecContext(a.ctx, `INSERT INTO senders (day, variant, sender, seq) VALUES (?, ?, ?, ?)
		ON CONFLICT (day, variant, sender) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > seq`,
		int(a.b.Day), a.b.Variant, a.b.Sender, int64(a.b.Seq))
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 0, err
}

func (a *adding) counts() error {
	for what, n := range a.b.Counts() {
		if err := a.count(what, n); err != nil {
			return err
		}
	}
	return nil
}

func (a *adding) count(what string, n int64) error {
	if n == 0 {
		return nil
	}
	_, err := a.tx.ExecContext(a.ctx, `INSERT INTO counts (variant, day, what, n) VALUES (?, ?, ?, ?)
		ON CONFLICT (variant, day, what) DO UPDATE SET n = n + excluded.n`, a.b.Variant, int(a.b.Day), what, n)
	return err
}

// once counts what is new for the day of impressions by exploration and promotions and of
// acts, and remembers it.
func (a *adding) once() error {
	fresh := map[string]int64{}
	for _, count := range []func(fresh map[string]int64) error{a.explored, a.acts, a.promoted} {
		if err := count(fresh); err != nil {
			return err
		}
	}
	for what, n := range fresh {
		if err := a.count(what, n); err != nil {
			return err
		}
	}
	return nil
}

func (a *adding) explored(fresh map[string]int64) error {
	for _, hash := range a.b.Explored {
		n, err := a.remember(hash)
		if err != nil {
			return err
		}
		fresh[events.ExploredField] += n
	}
	return nil
}

func (a *adding) acts(fresh map[string]int64) error {
	for _, act := range a.b.Acts {
		n, err := a.remember(act.Hash)
		if err != nil {
			return err
		}
		fresh[string(act.Kind)] += n
		if field := act.SourceField(); field != "" {
			fresh[field] += n
		}
		if n > 0 && act.Kind == events.Click && act.Explored != 0 {
			if n, err = a.shown(act.Explored); err != nil {
				return err
			}
			fresh[events.ExploredClicksField] += n
		}
	}
	return nil
}

func (a *adding) promoted(fresh map[string]int64) error {
	for _, p := range a.b.Promoted {
		n, err := a.remember(p.Hash)
		if err != nil {
			return err
		}
		fresh[p.Field()] += n
	}
	for _, act := range a.b.PromotedActs {
		n, err := a.shown(act.Promoted.Hash)
		if err == nil && n > 0 {
			n, err = a.remember(act.Hash)
		}
		if err != nil {
			return err
		}
		fresh[act.Field()] += n
	}
	return nil
}

// remember puts a hash among those of the day; 0: it is there already.
func (a *adding) remember(hash uint64) (added int64, err error) {
	res, err := a.tx.ExecContext(a.ctx, `INSERT INTO acts (day, variant, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		int(a.b.Day), a.b.Variant, int64(hash))
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// shown is 1 where exploration or a promotion has shown what the hash stands for, on the day or one
// of those before it that are remembered, else 0.
func (a *adding) shown(hash uint64) (n int64, err error) {
	for back := range events.OnceDays {
		err = a.tx.QueryRowContext(a.ctx, `SELECT count(*) FROM acts WHERE day = ? AND variant = ? AND hash = ?`,
			int(a.b.Day)-back, a.b.Variant, int64(hash)).Scan(&n)
		if err != nil || n > 0 {
			break
		}
	}
	return n, err
}

// sketch puts members into a HyperLogLog of the day.
func (a *adding) sketch(what string, members []uint64) error {
	if len(members) == 0 {
		return nil
	}
	sketch := hyperloglog.New14() // 16,384 registers: a standard error of 0.8 %
	var stored []byte
	err := a.tx.QueryRowContext(a.ctx, `SELECT sketch FROM sketches WHERE variant = ? AND day = ? AND what = ?`,
		a.b.Variant, int(a.b.Day), what).Scan(&stored)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	default:
		if err := sketch.UnmarshalBinary(stored); err != nil {
			return err
		}
	}
	for _, m := range members {
		sketch.InsertHash(m)
	}
	if stored, err = sketch.MarshalBinary(); err != nil {
		return err
	}
	_, err = a.tx.ExecContext(a.ctx, `INSERT INTO sketches (variant, day, what, sketch) VALUES (?, ?, ?, ?)
		ON CONFLICT (variant, day, what) DO UPDATE SET sketch = excluded.sketch`, a.b.Variant, int(a.b.Day), what, stored)
	return err
}
