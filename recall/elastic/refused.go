package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

var _ recall.Refuser = (*Source)(nil)

// Refused implements [recall.Refuser] with one search, if item content is not enough to decide
// what this profile refuses.
func (s *Source) Refused(ctx context.Context, p *feed.Profile, ids []string) (refused map[string]bool, err error) {
	defer func() { err = s.contractError(err) }()
	last := s.schema.Last()
	if last != nil && last.ContentDecides(p) || len(ids) == 0 {
		return nil, nil
	}
	schema, err := s.schema.Get()
	if err != nil {
		return nil, err
	}
	refused = map[string]bool{}
	for part := range slices.Chunk(ids, min(schema.MaxHits(), schema.MaxTerms())) {
		if err == nil {
			err = s.refusedOf(ctx, schema, p, part, refused)
		}
	}
	if err == nil && len(schema.Asked(schema.Unloaded, p)) > 0 {
		var same bool
		if same, err = schema.Same(ctx, s.client, s.index); err == nil && !same {
			err = fmt.Errorf("%w: the index was recreated", esindex.ErrUnavailable)
		}
	}
	if esindex.Refused(err) { // the mapping differs from the schema
		s.schema.Recheck(ctx, schema, err)
		err = fmt.Errorf("%w: %w", esindex.ErrUnavailable, err)
	}
	return refused, err
}

// refusedOf adds the refused items of ids. It searches for their documents, the latest first;
// those that the profile refuses match a named query. Of several documents of one item the
// latest decides.
func (s *Source) refusedOf(ctx context.Context, schema *esindex.Schema, p *feed.Profile, ids []string, refused map[string]bool) error {
	by := mutes(p, schema)
	in, some := language(p, schema)
	if some {
		by = append(by, clause{Bool: &boolean{MustNot: []clause{in}}})
	}
	sort := []map[string]sortKey{{schema.Fields.UpdateTime: {Order: "desc"}}}
	if !schema.MetaID() {
		// Not docvalue_fields, because an index may allow none. Of several values the lowest is
		// the item's id.
		sort = append(sort, map[string]sortKey{schema.Fields.ID: {Order: "desc", Mode: "min", UnmappedType: "keyword"}})
	}
	request := newSearch(schema, schema.MaxHits(), clause{Bool: &boolean{
		Filter:  []clause{{Terms: map[string][]string{schema.Fields.ID: ids}}},
		Should:  []clause{{ConstantScore: &constantScore{Filter: clause{Bool: &boolean{Should: by}}, Boost: 1, Name: "refused"}}},
		MustNot: mapped(nil, p, schema),
	}}, sort)
	found, err := s.find(ctx, "", request)
	if err != nil {
		return err
	}
	for _, hit := range found {
		id := hit.ID
		if !schema.MetaID() && len(hit.Sort) > 1 {
			if err := json.Unmarshal(hit.Sort[1], &id); err != nil {
				return err
			}
		}
		_, later := refused[id]
		if !later {
			refused[id] = len(hit.Matched) > 0
		}
	}
	maps.DeleteFunc(refused, func(_ string, is bool) bool { return !is })
	return nil
}
