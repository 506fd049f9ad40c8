package sqlite

import (
	"context"
	"iter"
	"maps"

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
	return failed(ctx, "count events", sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		s.prune(tx, b.Day)
		if a := (adding{tx, b}); a.register() {
			a.count(b.Counts())
			a.count(maps.All(a.fresh()))
			a.sketch(agents, b.Agents)
			a.sketch(authors, b.Authors)
		}
	}))
}

// prune deletes what is older than it is kept, once for each new day.
func (s *Store) prune(tx *sqlitefile.Tx, day feed.Day) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if day <= s.pruned {
		return
	}
	for table, days := range map[string]int{
		"counts": events.KeepDays, "sketches": events.KeepDays, "acts": events.OnceDays, "senders": events.OnceDays,
	} {
		tx.Do(`DELETE FROM `+table+` WHERE day <= ?`, int(day)-days)
	}
	s.pruned = day
}

// adding is one batch on its way in.
type adding struct {
	*sqlitefile.Tx
	b *events.Batch
}

// register notes the batch as the sender's last, and reports whether it is new.
func (a *adding) register() bool {
	return a.Do(`INSERT INTO senders (day, variant, sender, seq) VALUES (?, ?, ?, ?)
		ON CONFLICT (day, variant, sender) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > seq`,
		int(a.b.Day), a.b.Variant, a.b.Sender, int64(a.b.Seq)) > 0
}

func (a *adding) count(all iter.Seq2[string, int64]) {
	for what, n := range all {
		if n != 0 {
			a.Do(`INSERT INTO counts (variant, day, what, n) VALUES (?, ?, ?, ?)
				ON CONFLICT (variant, day, what) DO UPDATE SET n = n + excluded.n`, a.b.Variant, int(a.b.Day), what, n)
		}
	}
}

// fresh counts what is new for the day of impressions by exploration and promotions and of
// acts, and remembers it.
func (a *adding) fresh() map[string]int64 {
	fresh := map[string]int64{}
	for _, hash := range a.b.Explored {
		fresh[events.ExploredField] += a.remember(hash)
	}
	for _, act := range a.b.Acts {
		n := a.remember(act.Hash)
		fresh[string(act.Kind)] += n
		if field := act.SourceField(); field != "" {
			fresh[field] += n
		}
		if n > 0 && act.Kind == events.Click && act.Explored != 0 && a.shown(act.Explored) {
			fresh[events.ExploredClicksField]++
		}
	}
	for _, p := range a.b.Promoted {
		fresh[p.Field()] += a.remember(p.Hash)
	}
	for _, act := range a.b.PromotedActs {
		if a.shown(act.Promoted.Hash) {
			fresh[act.Field()] += a.remember(act.Hash)
		}
	}
	return fresh
}

// remember puts a hash among those of the day; 0: it is there already.
func (a *adding) remember(hash uint64) (added int64) {
	return a.Do(`INSERT INTO acts (day, variant, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, int(a.b.Day), a.b.Variant, int64(hash))
}

// shown reports whether exploration or a promotion has shown what the hash stands for, on the
// day or one of those before it that are remembered.
func (a *adding) shown(hash uint64) (shown bool) {
	day := int(a.b.Day)
	for back := 0; back < events.OnceDays && !shown; back++ {
		a.Row([]any{&shown}, `SELECT EXISTS (SELECT 1 FROM acts WHERE day = ? AND variant = ? AND hash = ?)`, day-back, a.b.Variant, int64(hash))
	}
	return shown
}

// sketch puts members into a HyperLogLog of the day.
func (a *adding) sketch(what string, members []uint64) {
	if len(members) == 0 {
		return
	}
	sketch := hyperloglog.New14() // 16,384 registers: a standard error of 0.8 %
	var stored []byte
	if a.Row([]any{&stored}, `SELECT sketch FROM sketches WHERE variant = ? AND day = ? AND what = ?`, a.b.Variant, int(a.b.Day), what) {
		a.Fail(sketch.UnmarshalBinary(stored))
	}
	for _, m := range members {
		sketch.InsertHash(m)
	}
	stored, err := sketch.MarshalBinary()
	a.Fail(err)
	a.Do(`INSERT INTO sketches (variant, day, what, sketch) VALUES (?, ?, ?, ?)
		ON CONFLICT (variant, day, what) DO UPDATE SET sketch = excluded.sketch`, a.b.Variant, int(a.b.Day), what, stored)
}
