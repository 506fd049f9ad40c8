package elastic

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/freshet/freshet/internal/esindex"
)

// hit is a document in a search response.
type hit struct {
	Index   string            `json:"_index"`
	ID      string            `json:"_id"`
	Sort    []json.RawMessage `json:"sort"`
	Matched json.RawMessage   `json:"matched_queries"`
}

// item reads the sort values requested by [order], except the first. The id is "" if it is not
// text; the error is about the time.
func (h *hit) item(s *esindex.Schema) (id, group string, unix int64, err error) {
	in := h.Sort[3]
	if s.MetaID() {
		id, in = h.ID, h.Sort[2]
	} else {
		_ = json.Unmarshal(h.Sort[2], &id)
	}
	_ = json.Unmarshal(in, &group) // no group if it has another type
	unix, err = s.Time.FromSort(h.Sort[1])
	return id, cmp.Or(group, id), unix, err
}

// find sends a search and returns its hits, with the named queries that they match.
func (s *Source) find(ctx context.Context, params string, request search) ([]hit, error) {
	params += "filter_path=error,status,hits.hits._id,hits.hits.sort,hits.hits.matched_queries&"
	return esindex.Search[hit](ctx, s.client, s.index, params, request)
}
