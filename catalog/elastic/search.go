package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/freshet/freshet/internal/esindex"
)

// indicesPerItem is how many documents of one item a search has room for.
const indicesPerItem = 5

// noDate is above what a document without a date is sorted by, the least number there is,
// in milliseconds or seconds.
const noDate = math.MinInt64/1000 + 1

// hit is a document found by a search that sorts by time first.
type hit struct {
	esindex.Document
	Routing string              `json:"_routing"`
	Fields  map[string][]string `json:"fields"`
	Sort    json.RawMessage     `json:"sort"` // where the next search goes on
}

// itemJSON is the document as the item's JSON. A date that only Elasticsearch can read is
// that of the sort.
func (h *hit) itemJSON(s *esindex.Schema, id string) (json.RawMessage, error) {
	data, dated, err := itemJSON(s, id, h.Source)
	if err != nil || dated {
		return data, err
	}
	it, _, err := readItem(s, id, h.Source)
	if err != nil {
		return nil, err
	}
	var values []json.RawMessage
	if json.Unmarshal(h.Sort, &values) == nil && len(values) > 0 {
		if at, err := s.Time.FromSort(values[0]); err == nil && at > noDate {
			it.UpdateTime = at
		}
	}
	if data, err = json.Marshal(it); err != nil {
		return nil, fmt.Errorf("item %s: %w", id, err)
	}
	return data, nil
}

// dated is [itemJSON] of a document whose date only Elasticsearch can read.
func (c *Catalog) dated(ctx context.Context, s *esindex.Schema, id string, source json.RawMessage) (json.RawMessage, error) {
	found, err := c.search(ctx, s, []string{id}, false)
	if err != nil {
		return nil, err
	}
	h := found[id]
	h.Source = source
	return h.itemJSON(s, id)
}

// find searches the items. Documents that are no JSON are written anew by Elasticsearch;
// those that it cannot write are broken.
func (c *Catalog) find(ctx context.Context, ask map[string]any) ([]hit, error) {
	const whole = "allow_partial_search_results=false"
	hits, err := c.ask(ctx, whole, ask)
	if esindex.NotJSON(err) {
		hits, err = c.ask(ctx, whole+"&filter_path=hits", ask)
	}
	if !esindex.Unwritable(err) {
		return hits, err
	}
	ask = maps.Clone(ask)
	ask["_source"] = false
	if hits, err = c.ask(ctx, whole, ask); err != nil {
		return nil, err
	}
	ids := make([]esindex.DocID, len(hits))
	for i, h := range hits {
		ids[i] = esindex.DocID{Index: h.Index, ID: h.ID, Routing: h.Routing}
	}
	docs, err := c.get(ctx, ids)
	for i := range docs {
		hits[i].Source, hits[i].Broken = docs[i].Source, len(docs[i].Source) == 0 // one that is gone by now is no use, either
	}
	return hits, err
}

func (c *Catalog) ask(ctx context.Context, params string, ask map[string]any) ([]hit, error) {
	var got struct {
		Hits struct {
			Hits []hit `json:"hits"`
		} `json:"hits"`
	}
	err := c.do(ctx, "/"+c.items+"/_search", params, ask, &got)
	return got.Hits.Hits, err
}

// others finds the documents of items whose _id is not the item's id. Only an
// index of somebody else's can hold such: ours never does. A search sees what
// was refreshed; a hit whose _id is its item's id is left out, because the
// read by _id knows better whether it still exists.
func (c *Catalog) others(ctx context.Context, schema *esindex.Schema, ids []string, source bool) (map[string]hit, error) {
	if len(ids) == 0 || !schema.ByOthers() || schema.MetaID() {
		return map[string]hit{}, nil
	}
	byID, err := c.search(ctx, schema, ids, source)
	maps.DeleteFunc(byID, func(id string, d hit) bool { return d.ID == id })
	return byID, err
}

// search finds the documents of items in all indices behind the name: of several
// documents of an item the latest, which recall prefers, too.
func (c *Catalog) search(ctx context.Context, schema *esindex.Schema, ids []string, source bool) (map[string]hit, error) {
	field := schema.Fields.ID
	byID := map[string]hit{}
	for len(ids) > 0 {
		// An item may have a document in each index behind an alias.
		part := ids[:min(len(ids), maxBatch, max(1, schema.MaxHits()/indicesPerItem))]
		ids = ids[len(part):]
		ask := map[string]any{
			"size": schema.MaxHits(), "_source": source, "track_total_hits": false,
			"query": map[string]any{"bool": map[string]any{"filter": map[string]any{"terms": map[string]any{field: part}}}},
			"sort":  map[string]string{schema.Fields.UpdateTime: "desc"},
		}
		if !schema.MetaID() {
			ask["docvalue_fields"] = []string{field}
		}
		hits, err := c.find(ctx, ask)
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			id := h.Fields[field]
			if schema.MetaID() {
				id = []string{h.ID}
			}
			if _, later := byID[strings.Join(id, "")]; later || len(id) != 1 || h.Broken {
				continue
			}
			byID[id[0]] = h
		}
	}
	return byID, nil
}
