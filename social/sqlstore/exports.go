package sqlstore

import (
	"context"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// exportColumns are the columns of a record, which columnsOfExport reads.
const exportColumns = `SELECT agent, name, state, parts, bytes, sent, asked, until, reason FROM exports`

func columnsOfExport(x *social.Export) []any {
	return into(&x.Agent, &x.Name, &x.State, &x.Parts, &x.Bytes, &x.Sent, &x.Asked, &x.Until, &x.Reason)
}

// Export implements [social.Exports].
func (s *Store) Export(ctx context.Context, agent string) (x social.Export, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return x, err
	}
	err = s.read(ctx, func(q *Query) {
		x = social.Export{Agent: agent}
		q.row(columnsOfExport(&x), exportColumns+` WHERE agent = $1 AND agent <> ''`, agent)
	})
	return x, s.failed(ctx, "read export", err)
}

// ChangeExport implements [social.Exports].
func (s *Store) ChangeExport(ctx context.Context, agent string, change func(social.Export) (social.Export, error)) (x social.Export, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return x, err
	}
	err = s.write(ctx, func(t *Tx) {
		stored := social.Export{Agent: agent}
		found := t.row(columnsOfExport(&stored), exportColumns+` WHERE agent = $1 AND agent <> '' FOR UPDATE`, agent)
		if t.err != nil {
			return
		}
		var err error
		if x, err = change(stored); err != nil {
			t.fail(err)
			return
		}
		t.putExport(stored, x, found)
	})
	return x, s.failed(ctx, "change export", err)
}

// putExport stores a record in place of another of the agent, if there is one.
func (t *Tx) putExport(stored, x social.Export, found bool) {
	switch {
	case x == stored:
	case found && x.State == social.ExportEnded:
		t.exec(endExport, stored.Agent)
	case found && x.Name == stored.Name:
		t.exec(`UPDATE exports SET state = $2, parts = $3, bytes = $4, sent = $5, until = $6, reason = $7 WHERE name = $1`,
			x.Name, string(x.State), x.Parts, x.Bytes, x.Sent, x.Until, x.Reason)
	default:
		if found { // else it would end one that another call has made meanwhile
			t.exec(endExport, stored.Agent)
		}
		n := t.exec(`INSERT INTO exports (agent, name, state, parts, bytes, sent, asked, until, reason) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
			stored.Agent, x.Name, string(x.State), x.Parts, x.Bytes, x.Sent, x.Asked, x.Until, x.Reason)
		if n == 0 { // another call was faster
			t.fail(ErrRaced)
			return
		}
	}
}

// EndedExports implements [social.Exports].
func (s *Store) EndedExports(ctx context.Context, now, latest int64, n int) (list []social.Export, err error) {
	err = s.read(ctx, func(q *Query) {
		list = rowsOf(q, columnsOfExport, exportColumns+` WHERE agent = '' OR until <= $1 OR until > $2 ORDER BY until, name LIMIT $3`, now, latest, n)
	})
	return list, s.failed(ctx, "list exports", err)
}

// DropExport implements [social.Exports].
func (s *Store) DropExport(ctx context.Context, name string) error {
	return s.failed(ctx, "drop export", s.alone(ctx, func(q *Query) { q.exec(`DELETE FROM exports WHERE name = $1`, name) }))
}

// ExportParts implements [social.Exports].
func (s *Store) ExportParts(ctx context.Context) (n int, err error) {
	err = s.read(ctx, func(q *Query) { q.row(into(&n), `SELECT coalesce(sum(parts), 0) FROM exports`) })
	return n, s.failed(ctx, "count parts of exports", err)
}

// PutExportPart implements [social.Exports].
func (s *Store) PutExportPart(ctx context.Context, name string, part int, data []byte) error {
	return s.failed(ctx, "store export", s.alone(ctx, func(q *Query) {
		q.exec(`INSERT INTO export_parts (name, part, data) VALUES ($1, $2, $3) ON CONFLICT (name, part) DO UPDATE SET data = excluded.data`, name, part, Bytes(data))
	}))
}

// ExportPart implements [social.Exports].
func (s *Store) ExportPart(ctx context.Context, name string, part int) (data []byte, err error) {
	err = s.read(ctx, func(q *Query) {
		if !q.row(into(&data), `SELECT data FROM export_parts WHERE name = $1 AND part = $2`, name, part) {
			q.fail(feed.ErrNotFound)
			return
		}
	})
	return data, s.failed(ctx, "read export", err)
}

// DropExportParts implements [social.Exports].
func (s *Store) DropExportParts(ctx context.Context, name string) error {
	return s.failed(ctx, "remove export", s.alone(ctx, func(q *Query) { q.exec(`DELETE FROM export_parts WHERE name = $1`, name) }))
}
