package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/axiomhq/hyperloglog"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/signals/events"
)

// Read implements [events.Store], from one state of the file.
func (s *Store) Read(ctx context.Context, from, to feed.Day) ([]events.Totals, error) {
	all := map[string]*events.Totals{}
	err := sqlitefile.InTx(ctx, s.file.Writer, func(tx *sqlitefile.Tx) {
		readCounts(tx, from, to, all)
		readSketches(tx, from, to, all)
	})
	if err != nil {
		return nil, failed(ctx, "read events", err)
	}
	var list []events.Totals
	for _, t := range all {
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b events.Totals) int { return cmp.Compare(a.Variant, b.Variant) })
	return list, nil
}

func readCounts(tx *sqlitefile.Tx, from, to feed.Day, all map[string]*events.Totals) {
	tx.Each(func(rows *sql.Rows) error {
		var variant, what string
		var n int64
		if err := rows.Scan(&variant, &what, &n); err != nil {
			return err
		}
		if all[variant] == nil {
			all[variant] = &events.Totals{Variant: variant}
		}
		all[variant].Add(what, n)
		return nil
	}, `SELECT variant, what, sum(n) FROM counts WHERE day BETWEEN ? AND ? GROUP BY variant, what`, int(from), int(to))
}

func readSketches(tx *sqlitefile.Tx, from, to feed.Day, all map[string]*events.Totals) {
	type figure struct{ variant, what string }
	merged := map[figure]*hyperloglog.Sketch{}
	tx.Each(func(rows *sql.Rows) error {
		var f figure
		var raw []byte
		if err := rows.Scan(&f.variant, &f.what, &raw); err != nil {
			return err
		}
		sketch := &hyperloglog.Sketch{}
		if err := sketch.UnmarshalBinary(raw); err != nil {
			return err
		}
		if before := merged[f]; before != nil {
			return before.Merge(sketch)
		}
		merged[f] = sketch
		return nil
	}, `SELECT variant, what, sketch FROM sketches WHERE day BETWEEN ? AND ?`, int(from), int(to))
	for f, sketch := range merged {
		t := all[f.variant]
		switch {
		case t == nil:
		case f.what == agents:
			t.Agents = int64(sketch.Estimate())
		case f.what == authors:
			t.Authors = int64(sketch.Estimate())
		}
	}
}
