package elastic

import (
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

// Popular implements [recall.Popular] with one request that has a search for each span. An
// index without a popularity field has no popular items. A span returns at most as many items
// as the index allows hits per search.
func (s *Source) Popular(ctx context.Context, spans []recall.Span, n int) (lists [][]recall.PopularItem, err error) {
	defer func() { err = s.contractError(err) }()
	schema, err := s.schema.Get()
	if err != nil {
		return nil, err
	}
	lists = make([][]recall.PopularItem, len(spans))
	if len(spans) == 0 || n <= 0 || schema.Fields.Popularity == esindex.None {
		return lists, nil
	}
	request, err := s.popularBody(schema, spans, n)
	if err != nil {
		return nil, err
	}
	const parts = "error,status,responses.error,responses.status,responses.hits.hits.sort,responses.hits.hits._id,responses.hits.hits._index"
	var answer popularAnswer
	err = esindex.Ask(ctx, s.client, http.MethodPost, "/_msearch", "filter_path="+parts, request, &answer)
	if err == nil {
		err = s.readPopular(ctx, schema, &answer, lists)
	}
	if esindex.Refused(err) || errors.Is(err, errForeign) {
		s.schema.Recheck(ctx, schema, err)
	}
	return lists, err
}

// popularBody returns pairs of lines: the index to search and the search.
func (s *Source) popularBody(schema *esindex.Schema, spans []recall.Span, n int) ([]byte, error) {
	where, err := json.Marshal(map[string]any{"index": s.index, "allow_partial_search_results": false})
	if err != nil {
		return nil, err
	}
	keys := order(schema)
	keys[0] = map[string]sortKey{schema.Fields.Popularity: {Order: "desc", UnmappedType: "long"}}
	var body []byte
	for _, span := range spans {
		ask := newSearch(schema, n, clause{Bool: &boolean{Filter: []clause{
			{Range: map[string]timeRange{schema.Fields.UpdateTime: {GT: schema.Time.Literal(span.After), LTE: schema.Time.Literal(span.Until)}}},
			{Range: map[string]timeRange{schema.Fields.Popularity: {GT: json.RawMessage("0")}}},
		}}}, keys)
		line, err := json.Marshal(ask)
		if err != nil {
			return nil, err
		}
		body = append(append(append(append(body, where...), '\n'), line...), '\n')
	}
	return body, nil
}

// popularAnswer is the response to a multi-search.
type popularAnswer struct {
	Responses []struct {
		Status int            `json:"status"`
		Error  *esindex.Cause `json:"error"`
		esindex.Found[hit]
	} `json:"responses"`
}

// readPopular reads a response into the lists.
func (s *Source) readPopular(ctx context.Context, schema *esindex.Schema, answer *popularAnswer, lists [][]recall.PopularItem) error {
	if len(answer.Responses) != len(lists) {
		return fmt.Errorf("elasticsearch returned results of %d of %d searches", len(answer.Responses), len(lists))
	}
	var left leftOut
	for i, r := range answer.Responses {
		if r.Error != nil {
			return r.Error.Refusal(r.Status)
		}
		for _, hit := range r.Hits.Hits {
			if !schema.Stands(hit.Index) {
				return errForeign
			}
			if len(hit.Sort) != 4 {
				return errSort
			}
			id, group, unix, badTimed := hit.item(schema)
			reactions, badScored := strconv.ParseFloat(string(hit.Sort[0]), 64)
			switch {
			case left.illegal(id, group):
			case badScored != nil:
				left[badScore]++
			case badTimed != nil:
				left[badTime]++
			default:
				lists[i] = append(lists[i], recall.PopularItem{ID: id, Group: group, UpdateTime: unix, Reactions: reactions})
			}
		}
	}
	s.warnOfLeft(ctx, &left)
	return nil
}
