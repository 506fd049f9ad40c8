package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// SetCounts replaces the live popularity in the documents of items. It touches
// nothing else in them: a document that somebody writes or deletes meanwhile is left
// as that one leaves it, and its item is among again, as are those that the error is
// about. unknown are items that the index does not have; all others are done. In an
// index without the fields of live popularity nothing is done.
//
// It does by hand what a partial update does: reads, and writes where nothing was
// written since. Elasticsearch's own would write each document anew, and a reader
// who was given 1.50 would get 1.5.
func (c *Catalog) SetCounts(ctx context.Context, counts map[string]feed.Counts) (unknown, again []string, err error) {
	ids := slices.Sorted(maps.Keys(counts))
	schema, err := c.schema.Get()
	if err != nil {
		return nil, ids, c.contractError(err)
	}
	if !schema.Live {
		return nil, nil, nil
	}
	docs, err := c.current(ctx, schema, ids)
	if err != nil {
		return nil, ids, err
	}
	b := bulk{named: schema.Several()}
	var errs []error
	send := func() {
		of := slices.Clone(b.of)
		err := c.send(ctx, &b, func(i int, r result) {
			of = of[1:]
			if r.Status < 300 {
				return
			}
			again = append(again, ids[i])
			if r.Status != http.StatusConflict && r.Status != http.StatusNotFound {
				errs = append(errs, fmt.Errorf("live popularity of item %s: %w", ids[i], r.err(feed.ErrInvalid, "bad item")))
			}
		})
		for _, i := range of { // nothing is known of them
			again = append(again, ids[i])
		}
		errs = append(errs, err)
	}
	for i, doc := range docs {
		if len(doc.Source) == 0 {
			unknown = append(unknown, ids[i])
			continue
		}
		source, err := withCounts(schema, doc.Source, counts[ids[i]])
		if err != nil {
			again, errs = append(again, ids[i]), append(errs, fmt.Errorf("document %s: %w", doc.ID, err))
			continue
		}
		if len(b.of) > 0 && len(b.body)+len(source) > maxBatchBytes {
			send()
		}
		b.replace(&doc, source, i)
	}
	send()
	return unknown, again, errors.Join(errs...)
}

// current reads the documents of items as they are now, not as they were refreshed.
func (c *Catalog) current(ctx context.Context, schema *esindex.Schema, ids []string) ([]esindex.Document, error) {
	docs, err := c.get(ctx, c.itemIDs(ids, 0))
	if err != nil {
		return nil, err
	}
	var missing, doubted []string
	several := false
	for i := range docs {
		if c.several(&docs[i]) {
			several, docs[i].Error = true, nil
		} else if err := c.failure(docs[i], c.items); err != nil {
			return nil, err
		}
		other := false
		if len(docs[i].Source) > 0 && schema.ByOthers() {
			_, is, err := readItem(schema, ids[i], docs[i].Source)
			if err != nil {
				return nil, err
			}
			other = is.other
		}
		switch {
		case other:
			docs[i].Source = nil
			doubted = append(doubted, ids[i])
		case len(docs[i].Source) == 0:
			missing = append(missing, ids[i])
		}
	}
	others, err := c.elsewhere(ctx, schema, missing, doubted, several, false)
	if err != nil {
		return nil, err
	}
	return docs, c.readOthers(ctx, ids, docs, others)
}

// readOthers reads the documents that searches have found into the empty places.
func (c *Catalog) readOthers(ctx context.Context, ids []string, docs []esindex.Document, others map[string]hit) error {
	var where []esindex.DocID
	var of []int
	for i, id := range ids {
		if d, ok := others[id]; ok && len(docs[i].Source) == 0 {
			where, of = append(where, d.Place()), append(of, i)
		}
	}
	found, err := c.get(ctx, where)
	if err != nil {
		return err
	}
	for i, d := range found {
		if err := c.failure(d, c.items); err != nil {
			return err
		}
		docs[of[i]] = d
	}
	return nil
}

// countsOf asks for the live popularity of items that are put.
func (c *Catalog) countsOf(ctx context.Context, schema *esindex.Schema, items []feed.Item) (map[string]feed.Counts, error) {
	if c.counts == nil || !schema.Live {
		return nil, nil
	}
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	return c.counts(ctx, ids)
}

// liveField is one field of live popularity.
type liveField struct {
	name  string
	value json.Number
}

// liveFields are those of an item, in the order they are written in; none where it
// has no live popularity, or the index no fields for it.
func liveFields(s *esindex.Schema, c feed.Counts) []liveField {
	if !s.Live || c.Last == 0 {
		return nil
	}
	short, long := c.Sums()
	n := &s.Source
	number := func(v float64) json.Number { return json.Number(strconv.FormatFloat(v, 'g', -1, 64)) }
	return []liveField{
		{n.Sum2h, number(short.Value)},
		{n.Epoch2h, json.Number(strconv.FormatInt(short.Epoch, 10))},
		{n.Sum2d, number(long.Value)},
		{n.Epoch2d, json.Number(strconv.FormatInt(long.Epoch, 10))},
	}
}

// appendLive writes them as [cutLive] reads them.
func appendLive(data []byte, s *esindex.Schema, c feed.Counts) []byte {
	for _, f := range liveFields(s, c) {
		data = append(append(append(data, `,"`+f.name...), `":`...), f.value...)
	}
	return data
}

// cutLive takes off the end what appendLive has written there.
func cutLive(doc []byte) (rest, live []byte) {
	rest = doc
	for _, name := range []string{esindex.DefaultEpoch2d, esindex.DefaultSum2d, esindex.DefaultEpoch2h, esindex.DefaultSum2h} {
		var ok bool
		rest, ok = bytes.CutSuffix(bytes.TrimRight(rest, "0123456789.e+-"), []byte(`,"`+name+`":`))
		if !ok {
			return doc, nil
		}
	}
	return rest, doc[len(rest):]
}

// withCounts is a stored document with other counts.
func withCounts(s *esindex.Schema, source []byte, c feed.Counts) ([]byte, error) {
	if !s.ByOthers() {
		if _, live, ok := cutMarker(source); ok {
			rest := slices.Clone(source[:len(source)-1-len(live)])
			return append(appendLive(rest, s, c), '}'), nil
		}
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(source, &fields); err != nil {
		return nil, err
	}
	for _, f := range liveFields(s, c) {
		take(fields, f.name)
		fields[f.name] = json.RawMessage(f.value)
	}
	return catalog.EncodeObject(fields)
}
