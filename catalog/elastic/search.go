package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/esindex"
)

// docsPerItem is the number of documents per item that a search has room for: an item may have
// one in each index behind an alias.
const docsPerItem = 5

// noDate is just above the sort value of documents without a date, which is the lowest int64,
// in milliseconds or seconds.
const noDate = math.MinInt64/1000 + 1

// hit is a document found by a search that sorts by time first.
type hit struct {
	esindex.Document
	Sort []json.RawMessage `json:"sort"` // the values of [sorts], for search_after
}

// sorts returns the sort keys of a search: the time, then the values that an item's document
// may lack, the id and the group. Sort keys are not limited, unlike doc value fields
// (index.max_docvalue_fields_search).
func sorts(s *esindex.Schema) []map[string]any {
	keys := []map[string]any{{s.Fields.UpdateTime: "desc"}}
	if !s.MetaID() { // of several ids the lowest, as in recall
		keys = append(keys, map[string]any{s.Fields.ID: map[string]string{"order": "desc", "mode": "min", "unmapped_type": "keyword"}})
	}
	if s.Untold&esindex.ByGroup != 0 && s.Fields.GroupID != esindex.None {
		keys = append(keys, map[string]any{s.Fields.GroupID: map[string]string{"order": "asc", "unmapped_type": "keyword"}})
	}
	return keys
}

// sorted returns a sort value as text; "" if it is missing.
func (h *hit) sorted(key int) string {
	if len(h.Sort) <= key {
		return ""
	}
	text, _ := first(texts(h.Sort[key]))
	return text
}

// itemJSON converts the document to the item's JSON. A date or group that only the index has is
// taken from the sort values.
func (h *hit) itemJSON(s *esindex.Schema, id string) (json.RawMessage, error) {
	is, err := itemJSON(s, id, h.Source)
	if err != nil || is.complete {
		return is.json, err
	}
	it, _, err := readItem(s, id, h.Source)
	if err != nil {
		return nil, err
	}
	if len(h.Sort) > 0 {
		if at, err := s.Time.FromSort(h.Sort[0]); err == nil && at > noDate {
			it.UpdateTime = at
		}
	}
	if s.Untold&esindex.ByGroup != 0 {
		it.GroupID = ""
		if s.Fields.GroupID != esindex.None {
			it.GroupID = h.sorted(len(sorts(s)) - 1) // of several the lowest, as in recall
		}
	}
	data, err := json.Marshal(it)
	if err != nil {
		return nil, fmt.Errorf("item %s: %w", id, err)
	}
	return data, nil
}

// id returns the item's id: of several in a document the lowest, as in recall.
func (h *hit) id(s *esindex.Schema) string {
	if s.MetaID() {
		return h.ID
	}
	return h.sorted(1)
}

// indexedJSON is [itemJSON] for a document whose date or group only the index has.
func (c *Catalog) indexedJSON(ctx context.Context, s *esindex.Schema, id string, source json.RawMessage) (json.RawMessage, error) {
	found, err := c.search(ctx, s, []string{id}, false)
	if err != nil {
		return nil, err
	}
	h := found[id]
	h.Source = source
	return h.itemJSON(s, id)
}

// find searches the items. Documents that Elasticsearch cannot encode as JSON are marked
// broken.
func (c *Catalog) find(ctx context.Context, ask map[string]any) ([]hit, error) {
	hits, err := c.ask(ctx, "", ask)
	if esindex.NotJSON(err) {
		hits, err = c.ask(ctx, "filter_path=hits&", ask)
	}
	if !esindex.Unwritable(err) {
		return hits, err
	}
	ask = maps.Clone(ask)
	ask["_source"] = false
	if hits, err = c.ask(ctx, "", ask); err != nil {
		return nil, err
	}
	ids := convert.Each(hits, func(h hit) esindex.DocID { return h.Place() })
	docs, err := c.get(ctx, ids)
	for i := range docs {
		hits[i].Source, hits[i].Broken = docs[i].Source, len(docs[i].Source) == 0 // or deleted in the meantime
	}
	return hits, err
}

func (c *Catalog) ask(ctx context.Context, params string, ask map[string]any) ([]hit, error) {
	hits, err := esindex.Search[hit](ctx, c.client, c.items, params, ask)
	return hits, c.contractError(err)
}

// others returns the documents of items that a read by _id does not find because they have
// another _id or a routing, which occurs only in a foreign index. Hits that a read by _id would
// find are left out, because that read is more current than a search.
func (c *Catalog) others(ctx context.Context, schema *esindex.Schema, ids []string, source bool) (map[string]hit, error) {
	if len(ids) == 0 || !schema.ByOthers() {
		return map[string]hit{}, nil
	}
	byID, err := c.search(ctx, schema, ids, source)
	maps.DeleteFunc(byID, func(id string, d hit) bool { return d.ID == id && d.Routing == "" })
	return byID, err
}

// search returns the documents of items in all indices behind the name: of several documents of
// an item the latest, as in recall. If the documents of some items fill a response, the other
// items are queried again.
func (c *Catalog) search(ctx context.Context, schema *esindex.Schema, ids []string, source bool) (map[string]hit, error) {
	byID := map[string]hit{}
	for part := range slices.Chunk(ids, max(1, min(maxBatch, schema.MaxTerms(), schema.MaxHits()/docsPerItem))) {
		for len(part) > 0 {
			size := min(schema.MaxHits(), docsPerItem*len(part))
			hits, err := c.find(ctx, itemsOf(schema, part, size, source))
			if err != nil {
				return nil, err
			}
			before := len(byID)
			for _, h := range hits {
				id := h.id(schema)
				_, later := byID[id]
				if !later && !h.Broken {
					byID[id] = h
				}
			}
			if len(hits) < size || len(byID) == before {
				break
			}
			part = slices.DeleteFunc(slices.Clone(part), func(id string) bool { _, found := byID[id]; return found })
		}
	}
	return byID, nil
}

// itemsOf returns the request for the documents of items.
func itemsOf(schema *esindex.Schema, ids []string, size int, source bool) map[string]any {
	return map[string]any{
		"size": size, "_source": source, "track_total_hits": false,
		"query": map[string]any{"bool": map[string]any{"filter": map[string]any{"terms": map[string]any{schema.Fields.ID: ids}}}},
		"sort":  sorts(schema),
	}
}
