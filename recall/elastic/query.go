package elastic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

// search is the body of a search request. Every part is a separate type and every list is
// sorted, so equal queries have equal bytes.
type search struct {
	Size           int                  `json:"size"`
	Query          clause               `json:"query"`
	Sort           []map[string]sortKey `json:"sort"`
	SearchAfter    json.RawMessage      `json:"search_after,omitempty"`
	Source         bool                 `json:"_source"`
	StoredFields   string               `json:"stored_fields,omitempty"`
	DocValues      []string             `json:"docvalue_fields,omitempty"`
	TrackTotalHits bool                 `json:"track_total_hits"`
}

type sortKey struct {
	Order        string `json:"order"`
	Mode         string `json:"mode,omitempty"`
	Missing      string `json:"missing,omitempty"`
	UnmappedType string `json:"unmapped_type,omitempty"`
}

// clause is one query; exactly one of its parts is set.
type clause struct {
	Bool          *boolean             `json:"bool,omitempty"`
	ConstantScore *constantScore       `json:"constant_score,omitempty"`
	Exists        map[string]string    `json:"exists,omitempty"`
	FunctionScore *functionScore       `json:"function_score,omitempty"`
	DisMax        *disMax              `json:"dis_max,omitempty"`
	MatchAll      *struct{}            `json:"match_all,omitempty"`
	MatchNone     *struct{}            `json:"match_none,omitempty"`
	MatchPhrase   map[string]string    `json:"match_phrase,omitempty"`
	Range         map[string]timeRange `json:"range,omitempty"`
	Term          map[string]string    `json:"term,omitempty"`
	Terms         map[string][]string  `json:"terms,omitempty"`
	IDs           map[string][]string  `json:"ids,omitempty"`
}

type boolean struct {
	Should  []clause `json:"should,omitempty"`
	Filter  []clause `json:"filter,omitempty"`
	MustNot []clause `json:"must_not,omitempty"`
}

type constantScore struct {
	Filter clause  `json:"filter"`
	Boost  float64 `json:"boost"`
	Name   string  `json:"_name,omitempty"`
}

// disMax scores as its best matching query.
type disMax struct {
	Queries []clause `json:"queries"`
}

type timeRange struct {
	LTE json.RawMessage `json:"lte,omitempty"`
	LT  json.RawMessage `json:"lt,omitempty"`
	GT  json.RawMessage `json:"gt,omitempty"`
}

type functionScore struct {
	Query     clause     `json:"query"`
	Functions []function `json:"functions"`
	ScoreMode string     `json:"score_mode"`
	BoostMode string     `json:"boost_mode"`
}

type function struct {
	Filter           *clause           `json:"filter,omitempty"`
	RandomScore      *randomScore      `json:"random_score,omitempty"`
	Gauss            map[string]curve  `json:"gauss,omitempty"`
	Exp              map[string]curve  `json:"exp,omitempty"`
	Linear           map[string]curve  `json:"linear,omitempty"`
	FieldValueFactor *fieldValueFactor `json:"field_value_factor,omitempty"`
	Weight           float64           `json:"weight,omitempty"`
}

type randomScore struct {
	Field string `json:"field"`
	Seed  int    `json:"seed"`
}

type curve struct {
	Origin json.RawMessage `json:"origin"`
	Scale  json.RawMessage `json:"scale"`
	Offset json.RawMessage `json:"offset"`
	Decay  float64         `json:"decay"`
}

type fieldValueFactor struct {
	Field    string  `json:"field"`
	Modifier string  `json:"modifier"`
	Factor   float64 `json:"factor,omitempty"`
	Missing  float64 `json:"missing"`
}

// scored returns the query for score = relevance × decay × popularity. Each factor is a
// separate function_score around the previous one, because one function_score combines all its
// functions with a single score_mode, while the decay of one curve needs the maximum of two and
// popularity the sum of two. The documents of given are excluded, because an earlier round
// returned them.
func scored(q *feed.Query, s *esindex.Schema, given []string) clause {
	learned := recall.LearnedOf(q)
	must, not := selected(q.Filter, s, filters(q, s), append(mapped(mutes(&q.Profile, s), &q.Profile, s), mutedWords(&q.Profile, s)...))
	c := lowered(clause{Bool: &boolean{
		Should:  append(relevance(q, s), learnedGains(learned, s)...),
		Filter:  must,
		MustNot: without(not, given),
	}}, learned, s)
	c = decayed(c, q, s)
	functions := liveFunctions(q, s)
	if q.Ranking.PopularityWeight > 0 {
		// In Elasticsearch log1p is log10(1 + x). A missing popularity adds nothing.
		functions = append(functions, counts(function{
			FieldValueFactor: &fieldValueFactor{Field: s.Fields.Popularity, Modifier: "log1p"}, Weight: q.Ranking.PopularityWeight,
		}, s))
	}
	if len(functions) == 0 {
		return c
	}
	return clause{FunctionScore: &functionScore{
		Query: c, Functions: append(functions, function{Weight: 1}), ScoreMode: "sum", BoostMode: "multiply",
	}}
}

// counts restricts a function to documents with a value that it can compute. A foreign index
// may have negative values, such as votes, and a logarithm of such a number fails the whole
// search. A negative value counts as 0.
func counts(f function, s *esindex.Schema) function {
	if !s.ByOthers() {
		return f
	}
	not := boolean{MustNot: []clause{{Range: map[string]timeRange{f.FieldValueFactor.Field: {LT: json.RawMessage("0")}}}}}
	if f.Filter != nil {
		not.Filter = []clause{*f.Filter}
	}
	f.Filter = &clause{Bool: &not}
	return f
}

// decayed multiplies a query's scores by the decay, max(floor, Σ curves). A single curve is the
// maximum of two functions. Several are a sum, which cannot be combined with a maximum; but the
// sum falls with age, so it is below the floor from some age on, and filters give older items
// the floor instead.
func decayed(c clause, q *feed.Query, s *esindex.Schema) clause {
	d := q.Ranking.Decay
	f := &functionScore{Query: c, ScoreMode: "max", BoostMode: "multiply"}
	for _, one := range d.Sum() {
		f.Functions = append(f.Functions, curveOf(one, q, s))
	}
	if len(f.Functions) == 1 {
		if d.Floor > 0 {
			f.Functions = append(f.Functions, function{Weight: d.Floor})
		}
		return clause{FunctionScore: f}
	}
	f.ScoreMode = "sum"
	age, falls := d.Func().FloorAge()
	if falls {
		border := s.Time.Literal(q.Origin.Unix() - age - 1)
		younger := &clause{Range: map[string]timeRange{s.Fields.UpdateTime: {GT: border}}}
		older := &clause{Range: map[string]timeRange{s.Fields.UpdateTime: {LTE: border}}}
		for i := range f.Functions {
			f.Functions[i].Filter = younger
		}
		f.Functions = append(f.Functions, function{Filter: older, Weight: d.Floor})
	}
	return clause{FunctionScore: f}
}

// curveOf returns a curve times its weight. A weight of 1 is omitted, except for a constant,
// which has nothing else.
func curveOf(c feed.Curve, q *feed.Query, s *esindex.Schema) function {
	var f function
	if c.Weight != 1 || c.Shape == feed.Constant {
		f.Weight = c.Weight
	}
	at := map[string]curve{s.Fields.UpdateTime: {
		Origin: s.Time.Literal(q.Origin.Unix()), Scale: s.Time.Span(c.Scale), Offset: s.Time.Span(c.Offset), Decay: c.Decay,
	}}
	switch c.Shape {
	case feed.Gauss:
		f.Gauss = at
	case feed.Exp:
		f.Exp = at
	case feed.Linear:
		f.Linear = at
	}
	return f
}

// relevance returns the terms of the sum base + Σ weight over matching tags + Σ keyword gains.
// A bool query's score is the sum of its matching should clauses in double precision;
// constant_score makes a clause add exactly its boost. The base matches every item, so items
// that match no interest are not lost.
func relevance(q *feed.Query, s *esindex.Schema) []clause {
	p := &q.Profile
	should := make([]clause, 1, len(p.Interests)+len(p.Keywords)+1)
	should[0] = clause{ConstantScore: &constantScore{Filter: clause{MatchAll: &struct{}{}}, Boost: q.Ranking.Base}}
	for _, is := range recall.InterestsOf(p) {
		should = append(should, clause{ConstantScore: interest(&is, s)})
	}
	for _, k := range recall.Keywords(p) {
		found := inTexts(&k, &q.Ranking, s)
		if len(found) > 0 {
			best := &disMax{}
			for _, f := range found {
				best.Queries = append(best.Queries, f.query)
			}
			should = append(should, clause{DisMax: best})
		}
	}
	return should
}

// interest returns a clause that matches the items with a tag; in an index without folded tags,
// those with one of the reader's spellings.
func interest(is *recall.Interest, s *esindex.Schema) *constantScore {
	found := clause{Terms: map[string][]string{s.Fields.Tags: is.Spellings}}
	switch {
	case s.Folds():
		found = clause{Term: map[string]string{esindex.FoldedTags: is.Tag}}
	case len(is.Spellings) == 1:
		found = clause{Term: map[string]string{s.Fields.Tags: is.Spellings[0]}}
	}
	return &constantScore{Filter: found, Boost: is.Weight}
}

// inText is the query for a keyword in the title or in the summary.
type inText struct {
	in    string
	query clause
}

// inTexts returns the queries for a keyword in the title and in the summary, each scored with
// the keyword's gain there.
func inTexts(k *recall.Keyword, r *feed.Ranking, s *esindex.Schema) []inText {
	title, summary := s.Fields.Title, s.Fields.Summary
	if s.Tokens {
		title, summary = s.Fields.TitleTokens, s.Fields.SummaryTokens
	}
	var found []inText
	for _, text := range []struct {
		in, field string
		gain      float64
	}{{recall.InTitle, title, k.Weight}, {recall.InSummary, summary, k.Weight * r.KeywordsSummary}} {
		if text.gain > 0 && text.field != esindex.None {
			query := clause{ConstantScore: &constantScore{Filter: phrase(k, text.field, s), Boost: text.gain}}
			found = append(found, inText{text.in, query})
		}
	}
	return found
}

// phrase returns a clause that matches the keyword in a field: its tokens, in either spelling, if
// it is a field of tokens, else by the field's own analyzer.
func phrase(k *recall.Keyword, field string, s *esindex.Schema) clause {
	switch {
	case !s.Tokens:
		return clause{MatchPhrase: map[string]string{field: k.Term}}
	case k.Joined != nil:
		return clause{Bool: &boolean{Should: []clause{adjacent(k.Tokens, field), adjacent(k.Joined, field)}}}
	}
	return adjacent(k.Tokens, field)
}

// adjacent returns a clause that matches tokens next to each other in a field of tokens.
func adjacent(tokens []string, field string) clause {
	if len(tokens) == 1 {
		return clause{Term: map[string]string{field: tokens[0]}}
	}
	return clause{MatchPhrase: map[string]string{field: strings.Join(tokens, " ")}}
}

func filters(q *feed.Query, s *esindex.Schema) []clause {
	within := timeRange{LTE: s.Time.Literal(q.Origin.Unix())}
	if !q.Since.IsZero() {
		within.GT = s.Time.Literal(q.Since.Unix())
	}
	f := []clause{{Range: map[string]timeRange{s.Fields.UpdateTime: within}}}
	in, some := language(&q.Profile, s)
	if some {
		f = append(f, in)
	}
	return f
}

// mapped adds a clause that makes the search fail if the index does not map the fields that
// this reader refuses items by. The index may have been recreated under its name, an unmapped
// field matches nothing, and refused items would be shown. Only some functions need a mapped
// field, and only one with doc values; for other fields the search is followed by a check of
// the index's UUID. The clause itself excludes nothing: no _seq_no is below 0.
func mapped(not []clause, p *feed.Profile, s *esindex.Schema) []clause {
	fields := s.Asked(s.Loaded, p)
	if len(fields) == 0 {
		return not
	}
	nothing := clause{Range: map[string]timeRange{"_seq_no": {LT: json.RawMessage("0")}}}
	f := &functionScore{Query: nothing, ScoreMode: "sum", BoostMode: "multiply"}
	for _, field := range fields {
		f.Functions = append(f.Functions, function{
			Filter: &clause{MatchNone: &struct{}{}}, RandomScore: &randomScore{Field: field},
		})
	}
	return append(not, clause{FunctionScore: f})
}

func mutes(p *feed.Profile, s *esindex.Schema) []clause {
	var not []clause
	if len(p.MutedAuthors) > 0 {
		not = append(not, anyOf(s.Fields.AuthorID, sorted(p.MutedAuthors), s)...)
	}
	if len(p.MutedTags) > 0 {
		tags, muted := s.Fields.Tags, slices.Clone(p.MutedTags)
		for i, tag := range muted {
			if s.Folds() {
				tags, muted[i] = esindex.FoldedTags, terms.Fold(tag)
			} else if folded := terms.Fold(tag); folded != tag {
				muted = append(muted, folded)
			}
		}
		not = append(not, anyOf(tags, slices.Compact(sorted(muted)), s)...)
	}
	if len(p.MutedItems) > 0 {
		// Each is both a possible group and a possible id.
		muted := sorted(p.MutedItems)
		not = append(append(not, anyOf(s.Fields.GroupID, muted, s)...), anyOf(s.Fields.ID, muted, s)...)
	}
	return not
}

// mutedWords returns clauses that match items with a muted word in the title, in the summary, or as a
// tag. Where the index has no field of tokens, and for words that are only a part of a tag, the content
// decides when a page is read: another analyzer would leave out what only resembles the word.
func mutedWords(p *feed.Profile, s *esindex.Schema) (not []clause) {
	if len(p.MutedWords) == 0 || !s.Tokens {
		return nil
	}
	var single []string
	var phrases [][]string
	for _, tokens := range recall.MutedPhrases(p) {
		if len(tokens) == 1 {
			single = append(single, tokens[0])
		} else {
			phrases = append(phrases, tokens)
		}
	}
	for _, field := range []string{s.Fields.TitleTokens, s.Fields.SummaryTokens} {
		if len(single) > 0 {
			not = append(not, anyOf(field, slices.Compact(sorted(single)), s)...)
		}
		for _, tokens := range phrases {
			not = append(not, adjacent(tokens, field))
		}
	}
	if s.Folds() {
		not = append(not, anyOf(esindex.FoldedTags, recall.MutedTags(&feed.Profile{MutedWords: p.MutedWords}), s)...)
	}
	return not
}

// without adds documents, by their _id, to the exclusions.
func without(not []clause, given []string) []clause {
	if len(given) == 0 {
		return not
	}
	return append(not, clause{IDs: map[string][]string{"values": given}})
}

func sorted(words []string) []string {
	words = slices.Clone(words)
	slices.Sort(words)
	return words
}

// order returns the sort keys: score, newer first, then id. Everything in an answer is read
// from sort values, which come from doc values and only for the hits; a stored field or _id
// would be loaded block by block. The group is the last key and never decides, because ids are
// unique. Without an id field, ties are broken by the document's number in its shard, which
// requires no open point in time.
func order(s *esindex.Schema) []map[string]sortKey {
	keys := []map[string]sortKey{
		{"_score": {Order: "desc"}},
		{s.Fields.UpdateTime: {Order: "desc"}},
	}
	group := map[string]sortKey{s.Fields.GroupID: {Order: "asc", Missing: "_last", UnmappedType: "keyword"}}
	if s.MetaID() {
		return append(keys, group, map[string]sortKey{"_seq_no": {Order: "asc"}})
	}
	return append(keys, map[string]sortKey{s.Fields.ID: {Order: "asc"}}, group)
}

// traitFields returns the doc values that are used to vary pages. They are not sort values as
// the id and the group are: sort values are read for each document that is among the best at
// some time, doc values only for the hits, which takes a fifth of the time.
func traitFields(s *esindex.Schema) []string {
	fields := make([]string, 0, 4)
	for _, name := range []string{s.Traits.Author, s.Traits.Site, s.Traits.Tag, s.Traits.Story} {
		if name != "" && !slices.Contains(fields, name) {
			fields = append(fields, name)
		}
	}
	return fields[:min(len(fields), s.MaxDocValues())]
}

// body encodes the search of one round.
func body(q *feed.Query, s *esindex.Schema, at cursor) ([]byte, error) {
	req := newSearch(s, q.N, scored(q, s, at.tied), order(s))
	req.SearchAfter, req.DocValues = at.searchAfter(), traitFields(s)
	return json.Marshal(req)
}

// newSearch returns a search whose hits contain only their sort values, and their _id if that
// is the item's id.
func newSearch(s *esindex.Schema, size int, query clause, sort []map[string]sortKey) search {
	req := search{Size: min(size, s.MaxHits()), Query: query, Sort: sort, StoredFields: "_none_"}
	if s.MetaID() {
		req.StoredFields = "" // _id is a stored field
	}
	return req
}
