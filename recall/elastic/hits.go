package elastic

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/freshet/freshet/internal/esindex"
)

// hit is a document as an answer has it.
type hit struct {
	Index   string            `json:"_index"`
	ID      string            `json:"_id"`
	Sort    []json.RawMessage `json:"sort"`
	Matched json.RawMessage   `json:"matched_queries"`
}

// item reads the sort values that [order] asks for, but the first. "" stands for an id that is
// no text, and the error is of the time.
func (h *hit) item(s *esindex.Schema) (id, group string, unix int64, err error) {
	in := h.Sort[3]
	if s.MetaID() {
		id, in = h.ID, h.Sort[2]
	} else {
		_ = json.Unmarshal(h.Sort[2], &id)
	}
	_ = json.Unmarshal(in, &group) // of another type: it has none
	unix, err = s.Time.FromSort(h.Sort[1])
	return id, cmp.Or(group, id), unix, err
}

// find sends a search and returns its hits, with the queries that they match.
func (s *Source) find(ctx context.Context, params string, request search) ([]hit, error) {
	params += "filter_path=error,status,hits.hits._id,hits.hits.sort,hits.hits.matched_queries&"
	return esindex.Search[hit](ctx, s.client, s.index, params, request)
}
