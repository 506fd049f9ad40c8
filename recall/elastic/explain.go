package elastic

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

var _ recall.Explainer = (*Source)(nil)

// explainAtOnce is how many items one search explains.
const explainAtOnce = 1000

// Explain implements [recall.Explainer] with one search for every 1,000 items,
// in which each interest and keyword is a query with a name, a keyword one for the
// title and one for the summary, and Elasticsearch answers what each of them scored. It needs Elasticsearch 8.8 or newer.
func (s *Source) Explain(ctx context.Context, q feed.Query, ids []string) ([]recall.Factors, error) {
	schema, err := s.schema.Get()
	if err != nil {
		return nil, s.contractError(err)
	}
	named := nameParts(&q, schema)
	curve := q.Ranking.Decay.Func()
	known := make(map[string]recall.Factors, len(ids))
	for part := range slices.Chunk(ids, min(explainAtOnce, schema.MaxHits(), schema.MaxTerms())) {
		if err := s.explainSome(ctx, schema, &q, named, part, known); err != nil {
			return nil, s.contractError(err)
		}
	}
	out := make([]recall.Factors, len(ids))
	for i, id := range ids {
		if f, ok := known[id]; ok {
			f.Finish(&q, curve)
			out[i] = f
		}
	}
	return out, nil
}

// parts are the terms of relevance that are reported, each with the query that
// finds it. A query's name is its place among them.
type parts struct {
	clauses []clause
	named   []named
}

type named struct {
	name string
	tag  bool
	in   string // of a keyword
	// learned is the learned gain; its score is not used.
	learned *feed.LearnedGain
}

func nameParts(q *feed.Query, s *esindex.Schema) parts {
	var out parts
	p := &q.Profile
	for _, is := range recall.InterestsOf(p) {
		out.add(interest(&is, s), named{name: is.Name, tag: true})
	}
	for _, k := range recall.Keywords(p) {
		for _, found := range inTexts(&k, &q.Ranking, s) {
			out.add(found.query.ConstantScore, named{name: k.Term, in: found.in})
		}
	}
	out.nameLearned(q, s)
	return out
}

func (p *parts) add(c *constantScore, is named) {
	c.Name = strconv.Itoa(len(p.named))
	p.clauses, p.named = append(p.clauses, clause{ConstantScore: c}), append(p.named, is)
}

func (s *Source) explainSome(ctx context.Context, schema *esindex.Schema, q *feed.Query, named parts, ids []string, known map[string]recall.Factors) error {
	sort := liveOrder(append(order(schema), map[string]sortKey{
		// The query takes the least of several.
		schema.Fields.Popularity: {Order: "desc", Mode: "min", Missing: "0", UnmappedType: "double"},
	}), schema)
	req := search{
		Size: len(ids),
		Query: clause{Bool: &boolean{
			Filter: []clause{{Terms: map[string][]string{schema.Fields.ID: ids}}},
			Should: named.clauses,
		}},
		Sort: sort, StoredFields: "_none_",
	}
	params := "include_named_queries_score=true&allow_partial_search_results=false" +
		"&filter_path=error,status,hits.hits.sort,hits.hits.matched_queries"
	if schema.MetaID() {
		req.StoredFields = ""
		params += ",hits.hits._id"
	}
	request, err := json.Marshal(req)
	if err != nil {
		return err
	}
	return esindex.Do(ctx, s.client, http.MethodPost, "/"+s.index+"/_search", params, request, func(data []byte) error {
		return named.read(data, schema, q, known)
	})
}

// read takes an answer in. Where an index has an id twice, the better document
// counts, as in a recall.
func (p *parts) read(data []byte, schema *esindex.Schema, q *feed.Query, known map[string]recall.Factors) error {
	var answer struct {
		Hits struct {
			Hits []explainedHit `json:"hits"`
		} `json:"hits"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return fmt.Errorf("the answer of elasticsearch cannot be read: %w", err)
	}
	for _, hit := range answer.Hits.Hits {
		id, f, err := hit.factors(schema, q)
		if err != nil {
			return err
		}
		if _, again := known[id]; again || !f.Known {
			continue
		}
		if err := p.assign(&f, hit.Matched); err != nil {
			return err
		}
		known[id] = f
	}
	return nil
}

// assign puts each named query's score to the interest or keyword it is for. Of a
// keyword that stands in both texts the title's counts.
func (p *parts) assign(f *recall.Factors, matched map[string]float64) error {
	titles := map[string]bool{}
	for name := range matched {
		at, err := strconv.Atoi(name)
		if err != nil || at < 0 || at >= len(p.named) {
			return fmt.Errorf("elasticsearch scored a query named %q, which was not asked", name)
		}
		if p.named[at].in == recall.InTitle {
			titles[p.named[at].name] = true
		}
	}
	for name, score := range matched {
		at, _ := strconv.Atoi(name)
		switch is := p.named[at]; {
		case is.learned != nil:
			f.Learned = append(f.Learned, *is.learned)
		case is.tag:
			f.Tags = append(f.Tags, feed.Gain{Name: is.name, Score: score})
		case is.in == recall.InTitle || !titles[is.name]:
			f.Keywords = append(f.Keywords, feed.Gain{Name: is.name, Score: score, In: is.in})
		}
	}
	recall.SortLearned(f.Learned)
	recall.SortGains(f.Tags)
	recall.SortGains(f.Keywords)
	return nil
}

type explainedHit struct {
	MetaID  string             `json:"_id"`
	Sort    []json.RawMessage  `json:"sort"`
	Matched map[string]float64 `json:"matched_queries"`
}

// factors reads the sort values: those of a recall, the popularity, and the live
// popularity where the index has it. A document whose values cannot be used is not
// known.
func (h *explainedHit) factors(schema *esindex.Schema, q *feed.Query) (id string, f recall.Factors, err error) {
	values := h.Sort
	if schema.MetaID() && len(values) > 3 {
		quoted, _ := json.Marshal(h.MetaID) // a string can always be encoded
		values = slices.Concat(values[:2], []json.RawMessage{quoted, values[2]}, values[4:])
	}
	want := 5
	if schema.Live {
		want += 4
	}
	if len(values) != want {
		return "", f, errSort
	}
	unix, bad := schema.Time.FromSort(values[1])
	if bad != nil || json.Unmarshal(values[2], &id) != nil || id == "" {
		return "", f, nil
	}
	_ = json.Unmarshal(values[3], &f.Group) // of another type: it has none
	f.Known, f.Group, f.UpdateTime, f.Popularity = true, cmp.Or(f.Group, id), unix, atLeast0(values[4])
	readLive(&f, values[5:], q, schema)
	return id, f, nil
}
