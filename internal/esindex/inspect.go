package esindex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
)

// ErrUnusable is wrapped by the error of [Report.Err].
var ErrUnusable = errors.New("the index cannot be used as it is mapped")

// Problem is one defect or limitation of an index.
type Problem struct {
	Field   string // as in elasticsearch.fields; "" means the index as a whole
	Name    string // in the index
	Fatal   bool   // nothing can be recalled until it is changed
	Message string // description and fix
}

func (p Problem) String() string {
	if p.Field == "" {
		return p.Message
	}
	return fmt.Sprintf("fields.%s (%s): %s", p.Field, p.Name, p.Message)
}

// Report is the result of [Inspect].
type Report struct {
	Indices  []string // that the name resolves to; it may be an alias or a pattern
	Schema   Schema   // usable if Err is nil
	Problems []Problem
}

// Err joins the fatal problems, and wraps [ErrUnusable]. It is nil if the index can be used.
func (r Report) Err() error {
	var errs []error
	for _, p := range r.Problems {
		if p.Fatal {
			errs = append(errs, fmt.Errorf("%w: %s", ErrUnusable, p))
		}
	}
	return errors.Join(errs...)
}

// Lost returns an error that wraps [ErrUnusable] if the index now has a problem, absent in an
// earlier report, with a field that items are withheld from readers by: mutes, languages, and
// groups that are shown once. It is nil if nothing is lost.
func (r Report) Lost(before Report) error {
	var errs []error
	for _, p := range r.Problems {
		refuses := slices.Contains([]string{"group_id", "title", "summary", "tags", "author_id", "lang"}, p.Field)
		if refuses && !slices.Contains(before.Problems, p) {
			errs = append(errs, fmt.Errorf("%w: %s; this is new since the server started; correct the index, or restart the server to run without the field", ErrUnusable, p))
		}
	}
	return errors.Join(errs...)
}

// Inspect reads the mapping of an existing index and determines how to query it with these names.
// It reads documents to decide whether a numeric update time is in seconds or milliseconds. The
// error means that the index could not be inspected; defects of the mapping are in the report.
func Inspect(ctx context.Context, client Client, index string, names Fields) (Report, error) {
	names = names.WithDefaults()
	if err := names.Validate(); err != nil {
		return Report{}, err
	}
	var found map[string]struct {
		Mappings mapping `json:"mappings"`
	}
	err := Ask(ctx, client, http.MethodGet, "/"+index+"/_mapping", "allow_no_indices=false", nil, &found)
	if err != nil {
		return Report{}, fmt.Errorf("reading the mapping of %s: %w", index, err)
	}
	set, err := settingsOf(ctx, client, index)
	if err != nil {
		return Report{}, fmt.Errorf("reading the settings of %s: %w", index, err)
	}
	report := Report{}
	for name := range found {
		report.Indices = append(report.Indices, name)
	}
	slices.Sort(report.Indices)
	for i, name := range report.Indices {
		in := inspection{mapping: found[name].Mappings, ignoreAbove: set.ignoreAbove, schema: Schema{Fields: names, Source: names}}
		in.run()
		if i == 0 {
			report.Schema, report.Problems = in.schema, in.problems
			continue
		}
		report.join(&in, name)
	}
	if !slices.Equal(report.Indices, []string{index}) {
		report.Schema.Indices = strings.Join(report.Indices, ",")
	}
	report.Schema.UUIDs, report.Schema.Limits = set.uuids, set.limits
	if report.Err() == nil {
		if err := report.times(ctx, client, index); err != nil {
			return Report{}, fmt.Errorf("reading the times of %s: %w", index, err)
		}
	}
	if len(report.Indices) > 1 {
		report.Problems = append(report.Problems, Problem{Message: fmt.Sprintf(
			"the name resolves to %d indices: items are recalled and read from all of them, but can be stored in one only", len(report.Indices))})
	}
	return report, nil
}

// join merges in another index that the name resolves to.
func (r *Report) join(in *inspection, name string) {
	one, all := &in.schema, &r.Schema
	all.Untold, all.Loaded, all.Unloaded = all.Untold|one.Untold, all.Loaded&one.Loaded, all.Unloaded|one.Unloaded
	all.UntoldID, all.Partial = all.UntoldID || one.UntoldID, all.Partial || one.Partial
	all.Live, all.Folded, all.Traits = all.Live && one.Live, all.Folded && one.Folded, all.Traits.and(one.Traits)
	all.Acts, all.More = all.Acts && one.Acts, all.More&one.More
	all.Time.most = min(all.Time.most, one.Time.most)
	one.Time.most = all.Time.most
	if all.Tokens != one.Tokens {
		all.textsAlone()
		one.textsAlone()
	}
	for _, p := range in.problems {
		if !slices.Contains(r.Problems, p) {
			r.Problems = append(r.Problems, p)
		}
	}
	if one.Fields != all.Fields || one.Source != all.Source || one.Time != all.Time {
		r.Problems = append(r.Problems, Problem{Fatal: true, Message: fmt.Sprintf(
			"%s and %s map the fields differently; a feed needs the same mapping in all its indices", r.Indices[0], name)})
	}
}

type inspection struct {
	mapping  mapping
	schema   Schema
	problems []Problem
	// ignoreAbove is the index setting for keywords without one; 0 means none.
	ignoreAbove int
}

func (in *inspection) run() {
	names, source := &in.schema.Fields, &in.schema.Source
	in.id(names.ID, &source.ID)
	in.time(names.UpdateTime, &source.UpdateTime)
	in.text("title", &names.Title, &source.Title)
	in.text("summary", &names.Summary, &source.Summary)
	in.schema.Tokens = in.own(names.TitleTokens).hasTokens() && in.own(names.SummaryTokens).hasTokens()
	in.keyword(ByGroup, "group_id", &names.GroupID, &source.GroupID, "every item is its own group")
	in.keyword(ByTags, "tags", &names.Tags, &source.Tags, "interests and muted tags match nothing in searches")
	in.keyword(ByAuthor, "author_id", &names.AuthorID, &source.AuthorID, "muted authors match nothing in searches")
	in.keyword(ByLang, "lang", &names.Lang, &source.Lang, "searches do not filter by language")
	if !in.schema.Tokens {
		in.schema.textsAlone()
	}
	in.popularity(&names.Popularity, &source.Popularity)
	in.traits()
	in.live()
	in.schema.Folded = in.own(FoldedTags).isComparable() && in.own(LangKeys).isComparable()
	in.find(names.URL, &source.URL)
	in.find(names.ImageURL, &source.ImageURL)
	in.find(names.Likes, &source.Likes)
	in.find(names.Comments, &source.Comments)
	if in.mapping.Source.lacking() {
		in.problem("", "", false, "_source is disabled or filtered: the catalog can neither return complete items nor update them; live popularity is off")
		in.schema.Untold, in.schema.Partial, in.schema.Live, in.schema.Acts = byAll, true, false, false
		in.schema.More = 0
	}
}

func (in *inspection) problem(field, name string, fatal bool, format string, args ...any) {
	in.problems = append(in.problems, Problem{Field: field, Name: name, Fatal: fatal, Message: fmt.Sprintf(format, args...)})
}

// find resolves a field through aliases and sets source to the place of its value. A runtime field
// takes precedence over one of the same name.
func (in *inspection) find(name string, source *string) (property, bool) {
	if f, computed := in.mapping.Runtime[name]; computed {
		*source = name
		f.Computed = true
		return f, true
	}
	f, at, ok := in.mapping.find(name)
	if ok && f.Type == "alias" {
		f, at, ok = in.mapping.find(f.Path)
	}
	if ok {
		*source = at
	}
	return f, ok
}

func isKeyword(f property) bool {
	return (f.Type == "keyword" || f.Type == "constant_keyword") && !f.Computed
}

// takesWords are the types of fields that can be searched for any text. Searching a field of
// another type, such as a number, for a word is an error, and would fail everybody's page.
var takesWords = []string{"keyword", "constant_keyword", "wildcard", "text", "match_only_text", "flattened"}

// searchable reports whether the field can be searched for any text.
func (f property) searchable() bool {
	if !slices.Contains(takesWords, f.Type) {
		return false
	}
	isText := f.Type == "text" || f.Type == "match_only_text"
	return f.indexed() || f.docValues() && !isText
}

func (in *inspection) id(name string, source *string) {
	if name == MetaID {
		in.problem("id", name, false, "loading _id costs more than the search itself; map a keyword field that contains the id")
		return
	}
	f, ok := in.find(name, source)
	in.schema.UntoldID = f.Normalizer != "" || in.filled(f, name, *source)
	switch {
	case !ok:
		in.problem("id", name, true, "the index has no such field; map the keyword field that contains the id, or _id")
	case !isKeyword(f):
		in.problem("id", name, true, "it is a field of type %s; a keyword is required%s", f.Type, subfieldHint(name, f))
	case !f.docValues():
		in.problem("id", name, true, "it has no doc_values, so it cannot be sorted on")
	}
}

func subfieldHint(name string, f property) string {
	for sub, p := range f.Fields {
		if isKeyword(p) {
			return fmt.Sprintf("; map its sub-field %s.%s", name, sub)
		}
	}
	return ""
}

func (in *inspection) time(name string, source *string) {
	f, ok := in.find(name, source)
	var err error
	switch {
	case !ok:
		in.problem("update_time", name, true, "the index has no such field; map the date field of the items' update time")
		return
	case f.Type == "date_nanos":
		// A gauss function on it compares the origin's nanoseconds with the values' milliseconds,
		// so every item would be infinitely old.
		err = errors.New("Elasticsearch (8.19) computes a wrong decay on a date_nanos field; add a sub-field of type date and map that")
	case f.Type == "date":
		in.schema.Time, err = newTimeField(cmp.Or(f.Format, "strict_date_optional_time||epoch_millis"))
	case slices.Contains([]string{"long", "integer", "unsigned_long", "double"}, f.Type):
		in.schema.Time = numberOf(f.Type)
	default:
		err = fmt.Errorf("it is a field of type %s; a date or a number is required", f.Type)
	}
	if err == nil && (!f.docValues() || !f.indexed()) {
		err = errors.New("it needs both index and doc_values")
	}
	if err != nil {
		in.problem("update_time", name, true, "%v", err)
	}
}

// own returns the index's own field of that name; a property without a type if it has none.
func (in *inspection) own(name string) property {
	f, _, ok := in.mapping.find(name)
	if !ok || name == None {
		return property{}
	}
	return f
}

// hasTokens reports whether the field holds the tokens of a text.
func (f property) hasTokens() bool {
	return f.Type == "text" && f.indexed() && f.Analyzer == tokensAnalyzer
}

// isComparable reports whether searches can compare values with the field's.
func (f property) isComparable() bool { return f.Type == "keyword" && f.indexed() }

// text checks a field that is searched for keywords. If a phrase query on it would be an error, the
// field is not searched: the search would fail for every reader who has a keyword.
func (in *inspection) text(field string, to, source *string) {
	name := *to
	switch f, ok := in.find(name, source); {
	case name == None:
	case !ok && field == "title":
		in.problem(field, name, false, "the index has no such field: items have no title and keywords match nothing in it")
	case !ok:
		in.problem(field, name, false, "the index has no such field: keywords match nothing in it")
	case !f.searchable():
		in.problem(field, name, false, "it is not indexed as text (type %s): keywords match nothing in it", f.Type)
		*to = None
	case f.Type != "text" && f.Type != "match_only_text":
		in.problem(field, name, false, "it is not indexed as text (type %s): keywords match whole values only", f.Type)
	case string(f.Options) == `"docs"` || string(f.Options) == `"freqs"`:
		in.problem(field, name, false, "it is indexed without positions (index_options: %s): keywords match nothing in it", bytes.Trim(f.Options, `"`))
		*to = None
	}
}

// keyword checks a field whose values are compared whole, and by which readers refuse items. If it
// cannot be searched for a word, it is not searched; the source may still have the value.
func (in *inspection) keyword(by Refusing, field string, to, source *string, without string) {
	name := *to
	f, ok := in.find(name, source)
	switch {
	case name == None:
		return
	case !ok:
		in.problem(field, name, false, "the index has no such field: %s", without)
		return
	case field == "group_id" && !isKeyword(f):
		in.problem(field, name, true, "it is a field of type %s; a keyword is required%s", f.Type, subfieldHint(name, f))
	case field == "group_id" && !f.docValues():
		in.problem(field, name, true, "it has no doc_values, so groups cannot be read")
	case !f.searchable():
		in.problem(field, name, false, "it is a field of type %s that does not support term queries%s: %s", cmp.Or(f.Type, "object"), subfieldHint(name, f), without)
		*to = None
		return
	case !isKeyword(f) && !f.Computed && f.Type != "flattened":
		in.problem(field, name, false, "it is a field of type %s; a keyword is required%s", f.Type, subfieldHint(name, f))
	}
	filled := in.filled(f, name, *source)
	above := cmp.Or(f.IgnoreAbove, in.ignoreAbove)
	cut := above != 0 && above < feed.MaxItemID && field == "group_id"
	changed := f.Type != "keyword" || f.Normalizer != ""
	if filled || cut || changed {
		in.schema.Untold |= by
	}
	if isKeyword(f) && f.docValues() {
		in.schema.Loaded |= by
	} else {
		in.schema.Unloaded |= by
	}
}

// filled reports whether a field has indexed values that are not in the documents.
func (in *inspection) filled(f property, name, source string) bool {
	if f.Computed || f.Script != nil || f.NullValue != nil {
		return true
	}
	return in.mapping.copiesTo(name) || in.mapping.copiesTo(source)
}

// popularity checks the number that items are ranked by. If it has no doc values, it is not used:
// the search would fail for every reader.
func (in *inspection) popularity(to, source *string) {
	const field = "popularity"
	name := *to
	switch f, ok := in.find(name, source); {
	case name == None, !ok: // it counts as 0, as for all items of a new system
	case !slices.Contains([]string{"long", "integer", "short", "byte", "unsigned_long", "double", "float", "half_float"}, f.Type):
		in.problem(field, name, true, "it is a field of type %s; a number is required", f.Type)
	case !f.docValues():
		in.problem(field, name, false, "it has no doc_values: popularity counts as 0")
		*to = None
	}
}

// traits determines the fields that pages can be varied by.
func (in *inspection) traits() {
	names, found := &in.schema.Fields, &in.schema.Traits
	found.Author, found.Story = in.variedBy(names.AuthorID), in.variedBy(Story)
	found.Tag = cmp.Or(in.variedBy(FirstTag), in.variedBy(names.Tags))
	found.Site = in.variedBy(names.Site)
	in.needs("site", names.Site, &in.schema.Source.Site, need{
		func(property) bool { return found.Site != "" }, "a keyword with doc_values", "pages are built without regard to sites",
	})
}

// live determines whether live popularity can be stored: all four fields must be usable.
func (in *inspection) live() {
	const without = "live popularity is off"
	sum := need{isSum, "a double with doc_values", without}
	epoch := need{isEpoch, "a keyword or long, indexed and with doc_values", without}
	names, source := &in.schema.Fields, &in.schema.Source
	sum2h := in.needs("sum_2h", names.Sum2h, &source.Sum2h, sum)
	epoch2h := in.needs("epoch_2h", names.Epoch2h, &source.Epoch2h, epoch)
	sum2d := in.needs("sum_2d", names.Sum2d, &source.Sum2d, sum)
	epoch2d := in.needs("epoch_2d", names.Epoch2d, &source.Epoch2d, epoch)
	hours, days := sum2h && epoch2h, sum2d && epoch2d
	in.schema.Live = hours && days
	in.acts()
}

// acts determines whether the latest act can be stored: all three fields must be usable.
func (in *inspection) acts() {
	const without = "before an item's latest act, its live popularity is extrapolated"
	time := need{func(f property) bool { return f.Type == "long" && f.indexed() && f.docValues() }, "a long, indexed and with doc_values", without}
	count := need{isSum, "a double with doc_values", without}
	names, source := &in.schema.Fields, &in.schema.Source
	last := in.needs("last_act", names.LastAct, &source.LastAct, time)
	count2h := in.needs("count_2h", names.Count2h, &source.Count2h, count)
	count2d := in.needs("count_2d", names.Count2d, &source.Count2d, count)
	hasCounts := count2h && count2d
	in.schema.Acts = in.schema.Live && last && hasCounts
	in.more()
}

// isSum reports whether a field can hold sums and counts. A float is too small for a sum at the end of
// its epoch.
func isSum(f property) bool { return f.Type == "double" && f.docValues() }

// isEpoch reports whether a field can hold the numbers of epochs.
func isEpoch(f property) bool {
	return slices.Contains([]string{"keyword", "integer", "long"}, f.Type) && f.indexed() && f.docValues()
}

// need is what a field must be, and what is missing without it.
type need struct {
	usable      func(property) bool
	is, without string
}

// needs reports whether the index has a usable field of that name. A missing field is not a
// problem.
func (in *inspection) needs(field, name string, source *string, n need) bool {
	f, ok := in.find(name, source)
	if ok && !n.usable(f) {
		in.problem(field, name, false, "it is a field of type %s; %s is required: %s", f.Type, n.is, n.without)
	}
	return ok && n.usable(f)
}

// variedBy returns the name if it is a field that pages can be varied by, a keyword with
// doc_values, and "" if not.
func (in *inspection) variedBy(name string) string {
	f, ok := in.find(name, new(string))
	if !ok || name == None {
		return ""
	}
	if !isKeyword(f) || !f.docValues() {
		return ""
	}
	return name
}
