package elastic

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/freshet/freshet/internal/esindex"
)

// hit is a document as an answer has it.
type hit struct {
	Index   string            `json:"_index"`
	ID      string            `json:"_id"`
	Sort    []json.RawMessage `json:"sort"`
	Matched json.RawMessage   `json:"matched_queries"`
}

// hits are those of a search.
type hits struct {
	Hits struct {
		Hits []hit `json:"hits"`
	} `json:"hits"`
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

// find sends a search and gives its hits to read, with the queries that they match.
func (s *Source) find(ctx context.Context, params string, request search, read func([]hit) error) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	params += "allow_partial_search_results=false&filter_path=error,status,hits.hits._id,hits.hits.sort,hits.hits.matched_queries"
	return esindex.Do(ctx, s.client, http.MethodPost, "/"+s.index+"/_search", params, body, func(data []byte) error {
		var answer hits
		if err := json.Unmarshal(data, &answer); err != nil {
			return fmt.Errorf("the answer of elasticsearch cannot be read: %w", err)
		}
		return read(answer.Hits.Hits)
	})
}
