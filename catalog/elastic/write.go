package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// Limits of one bulk request. Elasticsearch works best with a few megabytes.
const (
	maxBatch      = 2000
	maxBatchBytes = 5 << 20
)

// takenPrefix is the prefix of an item's _id if another item's document already has the item's
// id as its _id.
const takenPrefix = "freshet:"

// Put implements [catalog.Writer] with bulk requests of at most 5 MB. They are sent one after
// the other, so that of several items with one id the last wins.
func (c *Catalog) Put(ctx context.Context, items []feed.Item) ([]error, error) {
	if len(items) == 0 {
		return nil, ctx.Err()
	}
	schema, err := c.schema.Get()
	if err != nil {
		return nil, c.contractError(err)
	}
	others, err := c.otherIDs(ctx, schema, items)
	if err != nil {
		return nil, err
	}
	counts, err := c.countsOf(ctx, schema, items)
	if err != nil {
		return nil, err
	}
	errs := slices.Repeat([]error{errUnknown}, len(items))
	err = c.index(ctx, schema, items, others, counts, errs)
	all, none := true, true
	for i := range errs {
		if errors.Is(errs[i], errUnknown) {
			errs[i] = err
		} else {
			none = false
		}
		all = all && errs[i] == nil
	}
	switch {
	case none:
		return nil, err
	case all:
		return nil, nil
	}
	return errs, nil
}

// errUnknown marks an item whose outcome is not known yet.
var errUnknown = errors.New("outcome unknown")

// index writes items and sets errs for each item with a known outcome.
func (c *Catalog) index(ctx context.Context, schema *esindex.Schema, items []feed.Item, others map[string]hit, counts map[string]feed.Counts, errs []error) error {
	b := bulk{named: schema.Several(), told: func(i int, r result) { errs[i] = r.err(feed.ErrInvalid, "bad item") }}
	for i := range items {
		doc, err := encode(schema, &items[i], counts[items[i].ID])
		if err != nil {
			errs[i] = err
			continue
		}
		if err := c.room(ctx, &b, doc); err != nil {
			return err
		}
		at := esindex.Document{ID: items[i].ID}
		if d, ok := others[at.ID]; ok {
			at = d.Document
		}
		b.add("index", &at, doc, i)
	}
	return c.send(ctx, &b)
}

// otherIDs returns the _id of items that others stored under another one, so that a put
// replaces such an item instead of adding a second document.
func (c *Catalog) otherIDs(ctx context.Context, schema *esindex.Schema, items []feed.Item) (map[string]hit, error) {
	if !schema.ByOthers() {
		return nil, nil
	}
	ids := catalog.IDs(items)
	if schema.MetaID() {
		return c.others(ctx, schema, ids, false)
	}
	found, err := c.search(ctx, schema, ids, false)
	if c.own && esindex.Missing(err) {
		return nil, nil // it is created by the write
	}
	if err != nil {
		return nil, err
	}
	return found, c.free(ctx, schema, ids, found)
}

// free assigns another _id to new items whose own is taken by a document of another item. It is
// always the same one, so an item that is put again before a refresh has one document.
func (c *Catalog) free(ctx context.Context, schema *esindex.Schema, ids []string, found map[string]hit) error {
	unknown := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, ok := found[id]; return ok })
	docs, err := c.get(ctx, c.itemIDs(unknown, 0))
	if err != nil {
		return err
	}
	for i, d := range docs {
		if len(d.Source) == 0 {
			continue
		}
		_, is, err := readItem(schema, unknown[i], d.Source)
		if err != nil {
			return err
		}
		if is.other {
			found[unknown[i]] = hit{Document: esindex.Document{ID: takenPrefix + unknown[i]}}
		}
	}
	return nil
}

// Remove implements [catalog.Writer].
func (c *Catalog) Remove(ctx context.Context, id string) error {
	schema, err := c.schema.Get()
	if err != nil {
		return c.contractError(err)
	}
	if !schema.ByOthers() {
		return c.delete(ctx, c.items, id, "", "")
	}
	for n := range removeTries { // others may have stored several documents of the item
		docs, err := c.current(ctx, schema, []string{id})
		if err != nil {
			return err
		}
		d := &docs[0]
		switch {
		case len(d.Source) > 0 || d.Broken:
		case n == 0:
			return feed.ErrNotFound
		default:
			return nil
		}
		// Searches may find it, and stop doing so only after a refresh.
		err = c.delete(ctx, d.Index, d.ID, d.Routing, "refresh=true&")
		if err != nil && !errors.Is(err, feed.ErrNotFound) {
			return err
		}
	}
	return fmt.Errorf("%w: item %s still has a document after %d deletions", catalog.ErrUnavailable, id, removeTries)
}

// removeTries is the maximum number of documents of an item that one call deletes.
const removeTries = 100

// delete uses a bulk request too: ids may contain slashes and dots, which some proxies
// interpret as parts of a path.
func (c *Catalog) delete(ctx context.Context, index, id, routing, params string) error {
	var b bulk
	b.add("delete", &esindex.Document{ID: id, Routing: routing}, nil, 0)
	answer, err := c.bulk(ctx, index, params, &b)
	if err != nil {
		return err
	}
	if answer[0].Status == http.StatusNotFound {
		return feed.ErrNotFound
	}
	return answer[0].err(feed.ErrBadID, "bad id")
}

// bulk is a request being built, with the item of each action.
type bulk struct {
	body  []byte
	of    []int
	named bool // a document goes to the index that it was read from: the name covers several
	told  func(item int, r result)
}

// add adds an action on a document, with its new content if there is any. If the document was
// read by id, the action fails if it was changed or deleted in the meantime.
func (b *bulk) add(action string, at *esindex.Document, doc []byte, item int) {
	of := struct {
		ID           string `json:"_id"`
		Routing      string `json:"routing,omitempty"`
		Index        string `json:"_index,omitempty"`
		RequireAlias *bool  `json:"require_alias,omitempty"`
		SeqNo        *int64 `json:"if_seq_no,omitempty"`
		Term         int64  `json:"if_primary_term,omitempty"`
	}{ID: at.ID, Routing: at.Routing, Term: at.Term}
	if at.Term != 0 {
		of.SeqNo = &at.SeqNo
	}
	if b.named && at.Index != "" {
		of.Index, of.RequireAlias = at.Index, new(bool)
	}
	line, _ := json.Marshal(of) // strings and numbers can always be encoded
	b.body = fmt.Appendf(b.body, "{%q:%s}\n", action, line)
	if doc != nil {
		b.body = append(append(b.body, doc...), '\n')
	}
	b.of = append(b.of, item)
}

// room sends the request if another document would make it too large.
func (c *Catalog) room(ctx context.Context, b *bulk, doc []byte) error {
	if len(b.of) == 0 || len(b.of) < maxBatch && len(b.body)+len(doc) <= maxBatchBytes {
		return nil
	}
	return c.send(ctx, b)
}

// send sends the request, passes the result of each item to told, and clears the request.
func (c *Catalog) send(ctx context.Context, b *bulk) error {
	if len(b.of) == 0 {
		return ctx.Err()
	}
	defer func() { b.body, b.of = b.body[:0], b.of[:0] }()
	answer, err := c.bulk(ctx, c.items, "", b)
	for i, r := range answer {
		b.told(b.of[i], r)
	}
	return err
}

// result is the outcome of one action of a bulk request.
type result struct {
	Status int            `json:"status"`
	Error  *esindex.Cause `json:"error"`
}

// refusal returns the error in the response; nil if the action succeeded.
func (r result) refusal() error {
	if r.Error == nil {
		return nil
	}
	return r.Error.Refusal(r.Status)
}

// err returns an error of the kind, prefixed with what, if Elasticsearch rejects the content.
func (r result) err(kind error, what string) error {
	e := r.refusal()
	switch {
	case e == nil:
		return nil
	case errors.Is(e, esindex.ErrUnavailable):
		return fmt.Errorf("%w: %w", catalog.ErrUnavailable, e)
	}
	return feed.Errorf(kind, "%s: %w", what, e)
}

// bulk sends a request, through the writer of the index if there is one. Only a request that
// deletes nothing but existing documents may be sent without one.
func (c *Catalog) bulk(ctx context.Context, index, params string, b *bulk) (results []result, err error) {
	w := c.writers[index]
	if w != nil {
		err = w.Write(ctx, func(name, required string) (err error) {
			results, err = c.bulkTo(ctx, name, required+params, b)
			return err
		})
	} else {
		results, err = c.bulkTo(ctx, index, esindex.Patience(ctx)+params, b)
	}
	return results, c.contractError(err)
}

// bulkTo sends a request to an index or alias. Elasticsearch reports a missing index for each
// document; bulkTo returns it as the error of the whole request.
func (c *Catalog) bulkTo(ctx context.Context, name, params string, b *bulk) ([]result, error) {
	var got struct {
		Items []map[string]result `json:"items"`
	}
	err := esindex.Ask(ctx, c.client, http.MethodPost, "/"+name+"/_bulk", params+"filter_path=error,status,items.*.status,items.*.error", b.body, &got)
	if err != nil {
		return nil, err
	}
	if len(got.Items) != len(b.of) {
		return nil, fmt.Errorf("elasticsearch returned %d results for %d items", len(got.Items), len(b.of))
	}
	results := make([]result, len(got.Items))
	for i, item := range got.Items {
		for _, r := range item {
			results[i] = r
		}
	}
	if err := results[0].refusal(); esindex.Missing(err) {
		return nil, err
	}
	return results, nil
}
