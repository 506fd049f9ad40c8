package backup

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	"github.com/freshet/freshet/social/postgres"
)

// rowsOf is the file of the rows of a table.
func rowsOf(table string) string { return "postgres/" + table + ".copy" }

// postgres copies the database of posts as of one moment.
func (r *run) postgres(ctx context.Context, p *Part) (err error) {
	store, err := openPostgres(ctx, r.cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	p.Files, p.Tables = nil, map[string]Table{}
	return store.ReadAll(ctx, func(s *postgres.Snapshot) error {
		p.Schema = int(s.Version)
		for _, t := range s.Tables {
			lines := &lineSums{told: func(rows int64) { r.opts.progress(t.Name, rows, 0) }}
			err := r.writeFile(ctx, p, rowsOf(t.Name), func(w io.Writer) error { return s.Copy(ctx, t, io.MultiWriter(w, lines)) })
			if err != nil {
				return err
			}
			table := lines.table()
			table.Columns = t.Columns
			p.Tables[t.Name], p.Count = table, p.Count+table.Rows
		}
		var err error
		if p.Sequences, err = s.Sequences(ctx); err != nil || !s.Newest {
			return err
		}
		return r.timelines(ctx, s, p)
	})
}

// emptyPostgres returns an error unless the database has no rows.
func (r *restoring) emptyPostgres(ctx context.Context, p *Part) error {
	store, err := openPostgres(ctx, r.cfg)
	if err != nil {
		return err
	}
	return errors.Join(store.CheckEmpty(ctx, int64(p.Schema)), store.Close())
}

// postgres restores the database of posts, with the tables of the backup's version.
func (r *restoring) postgres(ctx context.Context, p *Part) error {
	store, err := openPostgres(ctx, r.cfg)
	if err != nil {
		return err
	}
	var tables []postgres.Table
	for _, name := range slices.Sorted(maps.Keys(p.Tables)) {
		tables = append(tables, postgres.Table{Name: name, Columns: p.Tables[name].Columns})
	}
	done := int64(0)
	err = store.Fill(ctx, int64(p.Schema), tables, p.Sequences, func(t postgres.Table, copyFrom func(io.Reader) error) error {
		r.opts.progress(p.Name, done, p.Count)
		done += p.Tables[t.Name].Rows
		return r.readFile(ctx, p, rowsOf(t.Name), copyFrom)
	})
	return errors.Join(err, store.Close())
}

// postgres compares the database of posts.
func (c *comparison) postgres(ctx context.Context, p *Part) (err error) {
	store, err := openPostgres(ctx, c.cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return store.ReadAll(ctx, func(s *postgres.Snapshot) error {
		found := map[string]Table{}
		for _, t := range s.Tables {
			lines := &lineSums{told: func(rows int64) { c.opts.progress(t.Name, rows, p.Tables[t.Name].Rows) }}
			if err := s.Copy(ctx, t, lines); err != nil {
				return err
			}
			found[t.Name] = lines.table()
		}
		c.tables(p, found)
		c.schema(p, int(s.Version))
		sequences, err := s.Sequences(ctx)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(p.Sequences)) {
			if sequences[name] != p.Sequences[name] {
				c.differ("%s: the sequence of %s is at %d, and at %d in the backup", p.Name, name, sequences[name], p.Sequences[name])
			}
		}
		if !s.Newest {
			return nil
		}
		return c.timelines(ctx, p, s)
	})
}
