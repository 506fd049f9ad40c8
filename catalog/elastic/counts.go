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

// SetCounts replaces only the live popularity in the documents of items. Items that another
// writer changes or deletes in the meantime are left alone and returned in again, as are those
// with an error. unknown are the ids that are not in the index; all others are done. In an
// index without the fields of live popularity it does nothing.
//
// It reads each document and writes it if it has not changed since: a partial update of
// Elasticsearch would re-encode the document and turn 1.50 into 1.5.
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
	done := make([]bool, len(ids))
	var errs []error
	b := bulk{named: schema.Several()}
	b.told = func(i int, r result) {
		done[i] = r.Status < 300
		if !done[i] && r.Status != http.StatusConflict && r.Status != http.StatusNotFound {
			errs = append(errs, fmt.Errorf("live popularity of item %s: %w", ids[i], r.err(feed.ErrInvalid, "bad item")))
		}
	}
	for i, doc := range docs {
		if len(doc.Source) == 0 {
			unknown, done[i] = append(unknown, ids[i]), true
			continue
		}
		source, err := withCounts(schema, doc.Source, counts[ids[i]])
		if err != nil {
			errs = append(errs, fmt.Errorf("document %s: %w", doc.ID, err))
			continue
		}
		errs = append(errs, c.room(ctx, &b, source))
		b.add("index", &doc, source, i)
	}
	errs = append(errs, c.send(ctx, &b))
	for i, id := range ids {
		if !done[i] {
			again = append(again, id)
		}
	}
	return unknown, again, errors.Join(errs...)
}

// current reads the current documents of items, not the last refreshed ones, including those
// that only a search finds.
func (c *Catalog) current(ctx context.Context, schema *esindex.Schema, ids []string) ([]esindex.Document, error) {
	docs, err := c.get(ctx, c.itemIDs(ids, 0))
	if err != nil {
		return nil, err
	}
	_, others, err := c.located(ctx, schema, ids, docs, false)
	if err != nil {
		return nil, err
	}
	var where []esindex.DocID
	var of []int
	for i, id := range ids {
		if d, ok := others[id]; ok && len(docs[i].Source) == 0 {
			where, of = append(where, d.Place()), append(of, i)
		}
	}
	found, err := c.get(ctx, where)
	if err != nil {
		return nil, err
	}
	for i, d := range found {
		if err := c.failure(d, c.items); err != nil {
			return nil, err
		}
		docs[of[i]] = d
	}
	return docs, nil
}

// countsOf returns the live popularity of items being put.
func (c *Catalog) countsOf(ctx context.Context, schema *esindex.Schema, items []feed.Item) (map[string]feed.Counts, error) {
	if c.counts == nil || !schema.Live {
		return nil, nil
	}
	return c.counts(ctx, catalog.IDs(items))
}

// liveFields returns the fields of an item's live popularity, in the order in which they are
// written; none if it has none or the index has no fields for it.
func liveFields(s *esindex.Schema, c feed.Counts) []change {
	if !s.Live || c.Last == 0 {
		return nil
	}
	short, long := c.Sums()
	n := &s.Source
	number := func(v float64) json.Number { return json.Number(strconv.FormatFloat(v, 'g', -1, 64)) }
	fields := []change{{n.Sum2h, number(short.Value)}, {n.Epoch2h, short.Epoch}, {n.Sum2d, number(long.Value)}, {n.Epoch2d, long.Epoch}}
	if !s.Acts {
		return fields
	}
	count2h, count2d := c.Latest()
	fields = append(fields, change{n.LastAct, c.Last}, change{n.Count2h, number(count2h)}, change{n.Count2d, number(count2d)})
	if s.More == 0 || c.More == nil {
		return fields
	}
	sums, latest := s.More.MoreSums(c), c.MoreAt(c.Last)
	for h := range s.More.All() {
		sum, more := h.Sum(sums[h.Index]), esindex.MoreFieldsOf(h)
		if sum.Value > 0 {
			fields = append(fields, change{more.Sum, number(sum.Value)}, change{more.Epoch, sum.Epoch}, change{more.Count, number(latest[h.Index])})
		}
	}
	return fields
}

// withoutMore removes the sums of further half-lives, some of which may not be kept any more.
func withoutMore(s *esindex.Schema) (fields []change) {
	for h := range s.More.All() {
		more := esindex.MoreFieldsOf(h)
		fields = append(fields, change{more.Sum, nil}, change{more.Epoch, nil}, change{more.Count, nil})
	}
	return fields
}

// withCounts returns a stored document with other counts.
func withCounts(s *esindex.Schema, source []byte, c feed.Counts) ([]byte, error) {
	at := ownAt(source)
	if at >= 0 && !s.ByOthers() {
		end := len(source) - 1
		live := bytes.Index(source[at:], []byte(`,"`+s.Source.Sum2h+`":`))
		if live >= 0 { // they are the last fields
			end = at + live
		}
		return seal(source[:end:end], liveFields(s, c)), nil
	}
	doc := map[string]json.RawMessage{}
	if err := json.Unmarshal(source, &doc); err != nil {
		return nil, err
	}
	if err := apply(doc, append(withoutMore(s), liveFields(s, c)...)); err != nil {
		return nil, err
	}
	return catalog.EncodeObject(doc)
}
