package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/sqlitefile"
)

const (
	// putRows is the number of items per statement. More saves little; SQLite's limit is 32,766
	// parameters.
	putRows = 50
	putArgs = 3 // per item: id, update time, document
)

// putText preserves an item's seq when it is replaced, so that replacing does not grow the
// file.
func putText(rows int) string {
	return `INSERT INTO items (id, updated, doc) VALUES (?, ?, ?)` + strings.Repeat(`, (?, ?, ?)`, rows-1) +
		` ON CONFLICT (id) DO UPDATE SET updated = excluded.updated, doc = excluded.doc`
}

// Put implements [catalog.Writer]. The whole batch is one transaction.
func (c *Catalog) Put(ctx context.Context, items []feed.Item) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	var perItem []error
	args := make([]any, 0, putArgs*len(items))
	for i := range items {
		doc, err := items[i].MarshalJSON()
		if err != nil {
			if perItem == nil {
				perItem = make([]error, len(items))
			}
			perItem[i] = feed.Errorf(feed.ErrInvalid, "bad item: %w", err)
			continue
		}
		args = append(args, items[i].ID, items[i].UpdateTime, doc)
	}
	err := sqlitefile.InTx(ctx, c.file.Writer, func(tx *sqlitefile.Tx) { tx.Fail(c.store(ctx, tx, args)) })
	if err != nil {
		return nil, c.failed(ctx, "put items", err)
	}
	return perItem, nil
}

// store writes items, given as putArgs arguments each.
func (c *Catalog) store(ctx context.Context, tx *sqlitefile.Tx, args []any) error {
	// The driver starts a goroutine for each statement with a cancellable context. Checking the
	// context between statements is enough, and cheaper.
	inner := context.WithoutCancel(ctx)
	many, one := tx.StmtContext(inner, c.putMany), tx.StmtContext(inner, c.putOne)
	for len(args) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		stmt, n := one, putArgs
		if len(args) >= putArgs*putRows {
			stmt, n = many, putArgs*putRows
		}
		if _, err := stmt.ExecContext(inner, args[:n]...); err != nil {
			return err
		}
		args = args[n:]
	}
	return nil
}

// Update implements [catalog.Writer]. It reads and writes in one transaction.
func (c *Catalog) Update(ctx context.Context, ids []string, change func(feed.Item) (feed.Item, error)) ([]catalog.Updated, error) {
	out := make([]catalog.Updated, len(ids))
	err := sqlitefile.InTx(ctx, c.file.Writer, func(tx *sqlitefile.Tx) {
		inner := context.WithoutCancel(ctx) // as in store
		read, remove := tx.StmtContext(inner, c.doc), tx.StmtContext(inner, c.remove)
		args := make([]any, 0, putArgs*len(ids))
		for i, id := range ids {
			var raw, doc []byte
			switch err := cmp.Or(ctx.Err(), read.QueryRowContext(inner, id).Scan(&raw)); {
			case errors.Is(err, sql.ErrNoRows):
				out[i].Err = fmt.Errorf("item %s: %w", id, feed.ErrNotFound)
				continue
			case err != nil:
				tx.Fail(err)
				return
			}
			out[i].Item, doc, out[i].Err = changed(raw, change)
			switch {
			case errors.Is(out[i].Err, catalog.RemoveItem):
				out[i] = catalog.Updated{Removed: true}
				if _, err := remove.ExecContext(inner, id); err != nil {
					tx.Fail(err)
					return
				}
			case out[i].Err == nil:
				args = append(args, id, out[i].Item.UpdateTime, doc)
			}
		}
		tx.Fail(c.store(ctx, tx, args))
	})
	if err != nil {
		return nil, c.failed(ctx, "update items", err)
	}
	return out, nil
}

// changed applies change to a stored item, and returns the item and its document.
func changed(raw []byte, change func(feed.Item) (feed.Item, error)) (feed.Item, []byte, error) {
	var it feed.Item
	if err := it.UnmarshalJSON(raw); err != nil {
		return feed.Item{}, nil, fmt.Errorf("sqlite: the item is damaged, put it again: %w", err)
	}
	it, err := change(it)
	if err != nil {
		return feed.Item{}, nil, err
	}
	doc, err := it.MarshalJSON()
	if err != nil {
		return feed.Item{}, nil, feed.Errorf(feed.ErrInvalid, "bad item: %w", err)
	}
	return it, doc, nil
}

// Remove implements [catalog.Writer].
func (c *Catalog) Remove(ctx context.Context, id string) error {
	res, err := c.remove.ExecContext(ctx, id)
	if err != nil {
		return c.failed(ctx, "remove item", err)
	}
	if n, err := res.RowsAffected(); err != nil || n > 0 {
		return c.failed(ctx, "remove item", err)
	}
	return fmt.Errorf("remove item %s: %w", id, feed.ErrNotFound)
}

// Docs implements [catalog.Reader] with one query for any number of ids.
func (c *Catalog) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	docs := make([]feed.Doc, len(ids))
	if len(ids) == 0 {
		return docs, nil
	}
	found, err := c.byKey(ctx, c.docs, "read items", ids)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		docs[i] = feed.Doc{ID: id, JSON: found[id]}
	}
	return docs, nil
}

// GroupsOf implements [catalog.Groups]. A trigger stores the groups of removed items.
func (c *Catalog) GroupsOf(ctx context.Context, ids []string) (map[string]string, error) {
	found, err := c.byKey(ctx, c.groups, "read groups", ids)
	groups := make(map[string]string, len(found))
	for id, group := range found {
		groups[id] = string(group)
	}
	return groups, err
}

// byKey reads the documents that stmt returns for a list of keys.
func (c *Catalog) byKey(ctx context.Context, stmt *sql.Stmt, what string, keys []string) (map[string][]byte, error) {
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, c.failed(ctx, what, err)
	}
	found := make(map[string][]byte, len(keys))
	rows, err := stmt.QueryContext(ctx, string(list))
	for row := range sqlitefile.Rows(rows, &err) {
		var key string
		var doc []byte
		err = row.Scan(&key, &doc)
		found[key] = doc
	}
	return found, c.failed(ctx, what, err)
}

// Scan implements [catalog.Scanner]. It reads one item at a time from a snapshot, so the loop may use
// the catalog, and sees each item once.
func (c *Catalog) Scan(ctx context.Context) iter.Seq2[feed.Item, error] {
	return func(yield func(feed.Item, error) bool) {
		rows, err := c.file.Scans.QueryContext(ctx, `SELECT id, doc FROM items ORDER BY seq`)
		for row := range sqlitefile.Rows(rows, &err) {
			var id, raw sql.RawBytes
			if err = row.Scan(&id, &raw); err != nil {
				break
			}
			var it feed.Item
			damage := it.UnmarshalJSON(raw)
			if damage != nil {
				yield(feed.Item{}, fmt.Errorf("sqlite: item %s is damaged: %w", id, damage))
				return
			}
			if !yield(it, nil) {
				return
			}
		}
		if err != nil {
			yield(feed.Item{}, c.failed(ctx, "scan items", err))
		}
	}
}
