// Package esindex is the common part of the Elasticsearch backends: the names and
// types of an index's fields ([Fields], [Schema]), the definition of our own
// index ([Ensure]), the reading of an existing one ([Inspect]) and one request
// ([Do]) with its errors.
package esindex

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
)

// Schema is an index as the backends use it: how a field is named in queries,
// where its value lies in the document, and how time is written.
type Schema struct {
	Fields Fields    // names in queries and sorts
	Source Fields    // names in the document; differs from Fields where a sub-field or an alias is queried
	Time   TimeField // the update time
	Tokens bool      // the token fields can be written and searched
	Traits Traits    // what a page is varied by
	Live   bool      // live popularity can be written and ranked by
	Folded bool      // the fields of folded tags and of languages can be written and searched
	// Langs are the values of the field of languages, separated by line breaks; "": not known.
	Langs string
	// Indices are those behind the name, separated by commas; "" is the index of
	// that name itself.
	Indices string
	Others  bool // the index is somebody else's, whatever its names
	Partial bool // documents are not kept whole, so what is written of them would lose the rest
	Limits  Limits
	// Untold are the fields that hold something else in the index than in a document's
	// source: filled by copy_to or a script, changed by a normalizer or an analyzer, the
	// same for all documents. Whether a reader refuses an item is then known to a search
	// only.
	Untold   Refusing
	UntoldID bool // likewise of the item's id
	// Loaded are the fields that have doc values in all indices behind the name. A search
	// that asks for their values fails where an index has no such field.
	Loaded Refusing
	// Unloaded are those that can be searched without doc values. Whether the index still
	// has such a field is known by its UUID only.
	Unloaded Refusing
	UUIDs    string // of the indices, in the order of their names: one of the same name may be another one
}

// Refusing is a set of the fields that readers refuse items by.
type Refusing uint8

const (
	ByGroup Refusing = 1 << iota
	ByAuthor
	ByTags
	ByLang
	byAll = ByGroup | ByAuthor | ByTags | ByLang
)

// Asked returns the names of those fields of r that this profile refuses items by.
func (s Schema) Asked(r Refusing, p *feed.Profile) []string {
	var names []string
	for _, field := range []struct {
		by    Refusing
		name  string
		asked int
	}{
		{ByGroup, s.Fields.GroupID, len(p.MutedItems)},
		{ByAuthor, s.Fields.AuthorID, len(p.MutedAuthors)},
		{ByTags, s.Fields.Tags, len(p.MutedTags)},
		{ByLang, s.Fields.Lang, len(p.Langs)},
	} {
		if r&field.by != 0 && field.asked > 0 {
			names = append(names, field.name)
		}
	}
	return names
}

// Tells reports whether an item as the catalog gives it tells whether a reader with this
// profile refuses it.
func (s Schema) Tells(p *feed.Profile) bool { return len(s.Asked(s.Untold, p)) == 0 }

// Same reports whether the index still is the one that the schema was read of.
func (s Schema) Same(ctx context.Context, client Client, index string) (bool, error) {
	now, err := settingsOf(ctx, client, index)
	return now.uuids == s.UUIDs, err
}

// Limits of one search that an index sets lower than Elasticsearch does; 0: as that does, [none]: 0.
type Limits struct{ hits, terms, docValues int }

// MaxHits is the most hits of one search (index.max_result_window).
func (s Schema) MaxHits() int { return cmp.Or(s.Limits.hits, 10_000) }

// MaxTerms is the most values of one terms query (index.max_terms_count).
func (s Schema) MaxTerms() int { return cmp.Or(s.Limits.terms, 65_536) }

// MaxDocValues is the most docvalue_fields of one search (index.max_docvalue_fields_search).
func (s Schema) MaxDocValues() int { return max(0, cmp.Or(s.Limits.docValues, 100)) }

// ByOthers reports whether others may have written documents: with an _id that is not
// the item's id, and with values that Freshet does not write.
func (s Schema) ByOthers() bool { return s.Others || s.Mapped() }

// Folds reports whether tags and languages are searched for as they are compared. Documents
// of others do not have the fields for it.
func (s Schema) Folds() bool { return s.Folded && !s.Others }

// Several reports whether the name stands for more than one index.
func (s Schema) Several() bool { return strings.Contains(s.Indices, ",") }

// Stands reports whether an index is one of those that the name stood for when this
// schema was read.
func (s Schema) Stands(index string) bool {
	return s.Indices == "" || slices.Contains(strings.Split(s.Indices, ","), index)
}

// Traits names the doc values that pages are varied by; "" where the index has none.
// Of several tags doc values tell the first in the order of their bytes.
type Traits struct {
	Author string
	Site   string
	Tag    string // [FirstTag], or the field of all tags
	Story  string
}

// and are those that both have.
func (t Traits) and(o Traits) Traits {
	for _, name := range []struct{ of, in *string }{{&t.Author, &o.Author}, {&t.Site, &o.Site}, {&t.Tag, &o.Tag}, {&t.Story, &o.Story}} {
		if *name.of != *name.in {
			*name.of = ""
		}
	}
	return t
}

// textsAlone has keywords matched in the texts, by their own analyzer.
func (s *Schema) textsAlone() {
	s.Tokens = false
	s.Fields.TitleTokens, s.Fields.SummaryTokens = None, None
	s.Source.TitleTokens, s.Source.SummaryTokens = None, None
}

// ownTraits are those of our own index.
func ownTraits(names Fields) Traits {
	present := func(name string) string {
		if name == None {
			return ""
		}
		return name
	}
	return Traits{Author: present(names.AuthorID), Site: present(names.Site), Tag: FirstTag, Story: Story}
}

// OwnSchema is the schema of an index made by [Ensure] with these names.
func OwnSchema(names Fields) Schema {
	names = names.WithDefaults()
	schema := Schema{Fields: names, Source: names, Time: EpochSeconds, Tokens: names.TitleTokens != None, Traits: ownTraits(names), Live: true, Folded: true}
	for by, name := range map[Refusing]string{ByGroup: names.GroupID, ByAuthor: names.AuthorID, ByTags: names.Tags, ByLang: names.Lang} {
		if name != None {
			schema.Loaded |= by
		}
	}
	return schema
}

// MetaID reports whether the document's _id is the item's id. Then a search
// has to load every hit's _id, and ties fall to a document's number in its shard.
func (s Schema) MetaID() bool { return s.Fields.ID == MetaID }

// Mapped reports whether the names are not those of our own index.
func (s Schema) Mapped() bool {
	own := Fields{}.WithDefaults()
	source := s.Source
	// An index of ours may be without these.
	source.TitleTokens, source.SummaryTokens, source.Site = own.TitleTokens, own.SummaryTokens, own.Site
	return source != own || s.Time != EpochSeconds
}

// maxLangs is how many languages of an index are told apart. One that has more keeps
// something else in the field.
const maxLangs = 1000

// ReadLangs reads the values of the field of languages, so that a search can name those that a
// reader takes. It does not ask by a pattern: a cluster may refuse patterns
// (search.allow_expensive_queries), and many languages make one that is too long. Without doc
// values, and where Elasticsearch refuses the question, they stay unknown.
func (s *Schema) ReadLangs(ctx context.Context, client Client, index string) error {
	field := s.Fields.Lang
	if s.Langs = ""; field == None || s.Loaded&ByLang == 0 || s.Folds() {
		return nil
	}
	ask := object{
		"size": 0, "track_total_hits": false,
		"aggs": object{"langs": object{"terms": object{"field": field, "size": maxLangs}}},
	}
	var got struct {
		Aggregations struct {
			Langs struct {
				Others  int `json:"sum_other_doc_count"`
				Buckets []struct {
					Key string `json:"key"`
				} `json:"buckets"`
			} `json:"langs"`
		} `json:"aggregations"`
	}
	err := Ask(ctx, client, http.MethodPost, "/"+index+"/_search", wholeAnswer, ask, &got)
	if Refused(err) || IsType(err, "too_many_buckets_exception") || got.Aggregations.Langs.Others > 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the languages of %s: %w", index, err)
	}
	var langs []string
	for _, value := range got.Aggregations.Langs.Buckets {
		langs = append(langs, value.Key)
	}
	s.Langs = strings.Join(langs, "\n")
	return nil
}
