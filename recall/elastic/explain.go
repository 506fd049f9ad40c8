package elastic

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

var _ recall.Explainer = (*Source)(nil)

// explainAtOnce is the number of items explained by one search.
const explainAtOnce = 1000

// Explain implements [recall.Explainer] with one search per 1,000 items. Each interest and
// keyword is a named query in it, a keyword one for the title and one for the summary, and
// Elasticsearch reports the score of each. It requires Elasticsearch 8.8 or newer.
func (s *Source) Explain(ctx context.Context, q feed.Query, ids []string) (out []recall.Factors, err error) {
	defer func() { err = s.contractError(err) }()
	schema, err := s.schema.Get()
	if err != nil {
		return nil, err
	}
	named := nameParts(&q, schema)
	curve := q.Ranking.Decay.Func()
	known := make(map[string]recall.Factors, len(ids))
	for part := range slices.Chunk(ids, min(explainAtOnce, schema.MaxHits(), schema.MaxTerms())) {
		if err := s.explainSome(ctx, schema, &q, named, part, known); err != nil {
			return nil, err
		}
	}
	out = make([]recall.Factors, len(ids))
	for i, id := range ids {
		if f, ok := known[id]; ok {
			f.Finish(&q, curve)
			out[i] = f
		}
	}
	return out, nil
}

// parts are the reported terms of relevance, each with the query that matches it. A query's
// name is its index in the list.
type parts struct {
	clauses []clause
	report  []func(f *recall.Factors, score float64) // receives each query's score
}

func nameParts(q *feed.Query, s *esindex.Schema) (out parts) {
	p := &q.Profile
	for _, is := range recall.InterestsOf(p) {
		out.add(interest(&is, s), func(f *recall.Factors, score float64) {
			f.Tags = append(f.Tags, feed.Gain{Name: is.Name, Score: score})
		})
	}
	for _, k := range recall.Keywords(p) {
		for _, found := range inTexts(&k, &q.Ranking, s) {
			out.add(found.query.ConstantScore, func(f *recall.Factors, score float64) {
				// If it matches in both, only the title counts, which comes first.
				n := len(f.Keywords)
				if n == 0 || f.Keywords[n-1].Name != k.Term {
					f.Keywords = append(f.Keywords, feed.Gain{Name: k.Term, Score: score, In: found.in})
				}
			})
		}
	}
	for _, l := range recall.LearnedOf(q) {
		if found, ok := featured(&l, s); ok {
			out.add(&constantScore{Filter: found, Boost: 1}, func(f *recall.Factors, _ float64) {
				f.Learned = append(f.Learned, l.LearnedGain)
			})
		}
	}
	return out
}

func (p *parts) add(c *constantScore, report func(*recall.Factors, float64)) {
	c.Name = strconv.Itoa(len(p.report))
	p.clauses, p.report = append(p.clauses, clause{ConstantScore: c}), append(p.report, report)
}

func (s *Source) explainSome(ctx context.Context, schema *esindex.Schema, q *feed.Query, named parts, ids []string, known map[string]recall.Factors) error {
	sort := liveOrder(append(order(schema), map[string]sortKey{
		// The query uses the lowest of several values.
		schema.Fields.Popularity: {Order: "desc", Mode: "min", Missing: "0", UnmappedType: "double"},
	}), &q.Ranking, schema)
	req := newSearch(schema, len(ids), clause{Bool: &boolean{
		Filter: []clause{{Terms: map[string][]string{schema.Fields.ID: ids}}},
		Should: named.clauses,
	}}, sort)
	found, err := s.find(ctx, "include_named_queries_score=true&", req)
	if err != nil {
		return err
	}
	for _, hit := range found {
		id, f, err := hit.factors(schema, q)
		if err != nil {
			return err
		}
		// If the index has an id twice, the better document counts, as in a recall.
		_, again := known[id]
		if again || !f.Known {
			continue
		}
		if err := named.assign(&f, hit.Matched); err != nil {
			return err
		}
		known[id] = f
	}
	return nil
}

// assign passes the score of each named query to its report function.
func (p *parts) assign(f *recall.Factors, scores json.RawMessage) error {
	var matched map[string]float64
	if err := json.Unmarshal(scores, &matched); err != nil && len(scores) > 0 {
		return err
	}
	for i, report := range p.report {
		if score, ok := matched[strconv.Itoa(i)]; ok {
			report(f, score)
		}
	}
	recall.SortLearned(f.Learned)
	recall.SortGains(f.Tags)
	recall.SortGains(f.Keywords)
	return nil
}

// factors reads the sort values: those of a recall, the popularity, and the live popularity if
// the index has it. For a document with unusable values, Known is false.
func (h *hit) factors(schema *esindex.Schema, q *feed.Query) (id string, f recall.Factors, err error) {
	if len(h.Sort) != 5+liveValues(&q.Ranking, schema) {
		return "", f, errSort
	}
	id, group, unix, bad := h.item(schema)
	if bad != nil || id == "" {
		return "", f, nil
	}
	f.Known, f.Group, f.UpdateTime, f.Popularity = true, group, unix, atLeast0(h.Sort[4])
	readLive(&f, h.Sort[5:], q, schema)
	return id, f, nil
}
