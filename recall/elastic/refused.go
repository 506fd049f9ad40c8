package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

var _ recall.Refuser = (*Source)(nil)

// Refused implements [recall.Refuser] with one search, where the content of items does not
// tell what this reader refuses.
func (s *Source) Refused(ctx context.Context, p *feed.Profile, ids []string) (map[string]bool, error) {
	if last := s.schema.Last(); last != nil && last.Tells(p) || len(ids) == 0 {
		return nil, nil
	}
	schema, err := s.schema.Get()
	if err != nil {
		return nil, s.contractError(err)
	}
	refused := map[string]bool{}
	for part := range slices.Chunk(ids, min(schema.MaxHits(), schema.MaxTerms())) {
		if err == nil {
			err = s.refusedOf(ctx, schema, p, part, refused)
		}
	}
	if err == nil && len(schema.Asked(schema.Unloaded, p)) > 0 {
		var same bool
		if same, err = schema.Same(ctx, s.client, s.index); err == nil && !same {
			err = fmt.Errorf("%w: the index was made anew", esindex.ErrUnavailable)
		}
	}
	if esindex.Refused(err) { // it is not mapped as the schema says
		s.schema.Recheck(ctx, schema, err)
		err = fmt.Errorf("%w: %w", esindex.ErrUnavailable, err)
	}
	if err != nil {
		return nil, s.contractError(err)
	}
	return refused, nil
}

// refusedOf adds those of some items.
func (s *Source) refusedOf(ctx context.Context, schema *esindex.Schema, p *feed.Profile, ids []string, refused map[string]bool) error {
	body, err := refusing(p, schema, ids)
	if err != nil {
		return err
	}
	const params = "allow_partial_search_results=false&filter_path=error,status,hits.hits._id,hits.hits.sort,hits.hits.matched_queries"
	return esindex.Do(ctx, s.client, http.MethodPost, "/"+s.index+"/_search", params, body, func(data []byte) error {
		return readRefused(data, schema, refused)
	})
}

// refusing is the search for the documents of the ids, the latest first, in which those that
// a profile refuses match a query by name.
func refusing(p *feed.Profile, schema *esindex.Schema, ids []string) ([]byte, error) {
	by := mutes(p, schema)
	if in, some := language(p, schema); some {
		by = append(by, clause{Bool: &boolean{MustNot: []clause{in}}})
	}
	request := search{
		Size: schema.MaxHits(), Sort: []map[string]sortKey{{schema.Fields.UpdateTime: {Order: "desc"}}},
		Query: clause{Bool: &boolean{
			Filter:  []clause{{Terms: map[string][]string{schema.Fields.ID: ids}}},
			Should:  []clause{{ConstantScore: &constantScore{Filter: clause{Bool: &boolean{Should: by}}, Boost: 1, Name: "refused"}}},
			MustNot: mapped(nil, p, schema),
		}},
	}
	if !schema.MetaID() {
		// Not docvalue_fields, of which an index may allow none. Of several the least is the item's.
		request.Sort = append(request.Sort, map[string]sortKey{schema.Fields.ID: {Order: "desc", Mode: "min", UnmappedType: "keyword"}})
	}
	return json.Marshal(request)
}

// readRefused reads which items are refused: of several documents of one the latest says so.
func readRefused(data []byte, schema *esindex.Schema, refused map[string]bool) error {
	var answer struct {
		Hits struct {
			Hits []struct {
				ID      string            `json:"_id"`
				Sort    []json.RawMessage `json:"sort"`
				Matched []string          `json:"matched_queries"`
			} `json:"hits"`
		} `json:"hits"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return err
	}
	for _, hit := range answer.Hits.Hits {
		id := hit.ID
		if !schema.MetaID() && len(hit.Sort) > 1 {
			if err := json.Unmarshal(hit.Sort[1], &id); err != nil {
				return err
			}
		}
		if _, later := refused[id]; !later {
			refused[id] = len(hit.Matched) > 0
		}
	}
	maps.DeleteFunc(refused, func(_ string, is bool) bool { return !is })
	return nil
}
