package elastic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// updateTries is the maximum number of attempts of an update that conflicts with other writers.
const updateTries = 20

// Update implements [catalog.Writer]. It reads the counts after the document that it replaces,
// so no counts written by [Catalog.SetCounts] are lost.
func (c *Catalog) Update(ctx context.Context, ids []string, change func(feed.Item) (feed.Item, error)) ([]catalog.Updated, error) {
	schema, err := c.schema.Get()
	if err != nil {
		return nil, c.contractError(err)
	}
	u := &updating{c: c, schema: schema, ids: ids, change: change, out: make([]catalog.Updated, len(ids))}
	for i := range ids {
		u.left = append(u.left, i)
	}
	for try := 0; len(u.left) > 0 && try < updateTries; try++ {
		if err := u.attempt(ctx); err != nil {
			return nil, err
		}
	}
	for _, i := range u.left {
		u.out[i] = catalog.Updated{Err: fmt.Errorf("%w: item %s: gave up after %d conflicts with other writers", catalog.ErrUnavailable, ids[i], updateTries)}
	}
	return u.out, nil
}

// updating is the state of one update of many items.
type updating struct {
	c      *Catalog
	schema *esindex.Schema
	ids    []string
	change func(feed.Item) (feed.Item, error)
	left   []int // indexes into ids of the items that are not done
	out    []catalog.Updated
}

// attempt tries the remaining items once. Those that other writers changed in the meantime
// remain.
func (u *updating) attempt(ctx context.Context) error {
	of := u.left
	u.left = nil
	ids := make([]string, len(of))
	for k, i := range of {
		ids[k] = u.ids[i]
	}
	docs, err := u.c.current(ctx, u.schema, ids)
	if err != nil {
		return err
	}
	var items, before []feed.Item
	var changed []int // indexes into ids, parallel to items
	b := bulk{named: u.schema.Several(), told: u.done}
	for k, i := range of {
		var was feed.Item
		was, u.out[i] = u.changed(ctx, u.ids[i], &docs[k])
		switch {
		case errors.Is(u.out[i].Err, catalog.RemoveItem):
			u.out[i] = catalog.Updated{Removed: true}
			b.add("delete", &docs[k], nil, i)
		case u.out[i].Err == nil:
			items, before, changed = append(items, u.out[i].Item), append(before, was), append(changed, k)
		}
	}
	counts, err := u.c.countsOf(ctx, u.schema, items)
	if err != nil {
		return err
	}
	for n, k := range changed {
		i := of[k]
		doc, err := encodeOver(u.schema, docs[k].Source, &before[n], &items[n], counts[u.ids[i]])
		if err != nil {
			u.out[i] = catalog.Updated{Err: err}
			continue
		}
		if err := u.c.room(ctx, &b, doc); err != nil {
			return err
		}
		b.add("index", &docs[k], doc, i)
	}
	return u.c.send(ctx, &b)
}

// changed applies the change to the item of a document.
func (u *updating) changed(ctx context.Context, id string, doc *esindex.Document) (before feed.Item, out catalog.Updated) {
	if len(doc.Source) == 0 {
		return before, catalog.Updated{Err: fmt.Errorf("item %s: %w", id, feed.ErrNotFound)}
	}
	is, err := itemJSON(u.schema, id, doc.Source)
	if err == nil && !is.complete {
		is.json, err = u.c.indexedJSON(ctx, u.schema, id, doc.Source)
	}
	if err != nil {
		return before, catalog.Updated{Err: err}
	}
	if err := before.UnmarshalJSON(is.json); err != nil {
		return before, catalog.Updated{Err: fmt.Errorf("item %s: %w", id, err)}
	}
	after := before
	after.Business = maps.Clone(before.Business)
	if after, err = u.change(after); err != nil {
		return before, catalog.Updated{Err: err}
	}
	if u.schema.Partial {
		return before, catalog.Updated{Err: feed.Errorf(feed.ErrInvalid, "bad item: the index %s does not store complete documents (_source), so a change would lose fields; upload the item, which replaces its document", u.c.items)}
	}
	after.AuthorIDs = several(before.AuthorIDs, after.AuthorIDs, before.AuthorID == after.AuthorID)
	after.Langs = several(before.Langs, after.Langs, before.Lang == after.Lang)
	return before, catalog.Updated{Item: after}
}

// several returns the authors or languages of a changed item; nil if it has just the one in its
// field.
func several(before, after []string, same bool) []string {
	if same && (after == nil || len(after) > 0) {
		return before
	}
	return nil
}

// done records the outcome of an item.
func (u *updating) done(i int, r result) {
	if r.Status == http.StatusConflict {
		u.left = append(u.left, i)
	} else if err := r.err(feed.ErrInvalid, "bad item"); err != nil {
		u.out[i] = catalog.Updated{Err: err}
	}
}
