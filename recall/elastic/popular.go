package elastic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

var _ recall.Popular = (*Source)(nil)

// Popular implements [recall.Popular] with one request: a search for each span. An
// index without a field of popularity has no popular items. At most as many items
// come for a span as the index gives hits for a search.
func (s *Source) Popular(ctx context.Context, spans []recall.Span, n int) ([][]recall.PopularItem, error) {
	schema, err := s.schema.Get()
	if err != nil {
		return nil, s.contractError(err)
	}
	lists := make([][]recall.PopularItem, len(spans))
	if len(spans) == 0 || n <= 0 || schema.Fields.Popularity == esindex.None {
		return lists, nil
	}
	request, err := s.popularBody(schema, spans, n)
	if err != nil {
		return nil, err
	}
	const parts = "error,status,responses.error,responses.status,responses.hits.hits.sort,responses.hits.hits._id,responses.hits.hits._index"
	err = esindex.Do(ctx, s.client, http.MethodPost, "/_msearch", "filter_path="+parts, request, func(data []byte) error {
		return s.readPopular(ctx, schema, data, lists)
	})
	if esindex.Refused(err) || errors.Is(err, errForeign) {
		s.schema.Recheck(ctx, schema, err)
	}
	if err != nil {
		return nil, s.contractError(err)
	}
	return lists, nil
}

// popularBody is pairs of lines: where is searched, and what for.
func (s *Source) popularBody(schema *esindex.Schema, spans []recall.Span, n int) ([]byte, error) {
	where, err := json.Marshal(map[string]any{"index": s.index, "allow_partial_search_results": false})
	if err != nil {
		return nil, err
	}
	keys := order(schema)
	keys[0] = map[string]sortKey{schema.Fields.Popularity: {Order: "desc", UnmappedType: "long"}}
	var body []byte
	for _, span := range spans {
		ask := search{
			Size: min(n, schema.MaxHits()), Sort: keys, StoredFields: "_none_",
			Query: clause{Bool: &boolean{Filter: []clause{
				{Range: map[string]timeRange{schema.Fields.UpdateTime: {GT: schema.Time.Literal(span.After), LTE: schema.Time.Literal(span.Until)}}},
				{Range: map[string]timeRange{schema.Fields.Popularity: {GT: json.RawMessage("0")}}},
			}}},
		}
		if schema.MetaID() {
			ask.StoredFields = "" // _id is a stored field
		}
		line, err := json.Marshal(ask)
		if err != nil {
			return nil, err
		}
		body = append(append(append(append(body, where...), '\n'), line...), '\n')
	}
	return body, nil
}

// popularHit is a hit: its sort values are popularity, time, id and group, or where
// the id is the document's, popularity, time, group and number.
type popularHit struct {
	Index string            `json:"_index"`
	ID    string            `json:"_id"`
	Sort  []json.RawMessage `json:"sort"`
}

// readPopular reads an answer into the lists.
func (s *Source) readPopular(ctx context.Context, schema *esindex.Schema, data []byte, lists [][]recall.PopularItem) error {
	var answer struct {
		Responses []struct {
			Status int            `json:"status"`
			Error  *esindex.Cause `json:"error"`
			Hits   struct {
				Hits []popularHit `json:"hits"`
			} `json:"hits"`
		} `json:"responses"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return fmt.Errorf("the answer of elasticsearch cannot be read: %w", err)
	}
	if len(answer.Responses) != len(lists) {
		return fmt.Errorf("elasticsearch answered %d of %d searches", len(answer.Responses), len(lists))
	}
	var left leftOut
	for i, r := range answer.Responses {
		if r.Error != nil {
			root := r.Error.Root()
			return &esindex.Error{Status: r.Status, Type: root.Type, Reason: root.Reason}
		}
		for _, hit := range r.Hits.Hits {
			if !schema.Stands(hit.Index) {
				return errForeign
			}
			item, usable, err := hit.item(schema, &left)
			if err != nil {
				return err
			}
			if usable {
				lists[i] = append(lists[i], item)
			}
		}
	}
	s.warnOfLeft(ctx, &left)
	return nil
}

// item reads a hit, or counts why it cannot be used.
func (h *popularHit) item(schema *esindex.Schema, left *leftOut) (item recall.PopularItem, usable bool, err error) {
	if len(h.Sort) != 4 {
		return item, false, errSort
	}
	id, group := h.Sort[2], h.Sort[3]
	if schema.MetaID() {
		item.ID, group = h.ID, h.Sort[2]
	} else {
		_ = json.Unmarshal(id, &item.ID) // none is not valid
	}
	_ = json.Unmarshal(group, &item.Group) // of another type: it has none
	item.Group = cmp.Or(item.Group, item.ID)
	if left.illegal(item.ID, item.Group) {
		return item, false, nil
	}
	if item.Reactions, err = strconv.ParseFloat(string(h.Sort[0]), 64); err != nil {
		left[badScore]++
		return item, false, nil
	}
	if item.UpdateTime, err = schema.Time.FromSort(h.Sort[1]); err != nil {
		left[badTime]++
		return item, false, nil
	}
	return item, true, nil
}
