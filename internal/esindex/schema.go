// Package esindex is the common part of the Elasticsearch backends: the names and types of an
// index's fields ([Fields], [Schema]), the definition of our own index ([Ensure]), the inspection
// of an existing one ([Inspect]), and single requests ([Do]) with their errors.
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

// Schema describes an index for the backends: the names of fields in queries, the places of their
// values in documents, and the format of time.
type Schema struct {
	Fields Fields         // names in queries and sorts
	Source Fields         // names in the document; different if a sub-field or an alias is queried
	Time   TimeField      // the update time
	Tokens bool           // the token fields can be written and searched
	Traits Traits         // the fields that pages are varied by
	Live   bool           // live popularity can be written and used in ranking
	Acts   bool           // so can the time of the latest act, and the counts at it
	More   feed.HalfLives // so can the sums of these further half-lives
	Folded bool           // the fields of folded tags and of languages can be written and searched
	// Langs are the values of the language field, separated by line breaks; "" means unknown.
	Langs string
	// Indices are the indices that the name resolves to, separated by commas; "" means the index of
	// that name itself.
	Indices string
	Others  bool // the index is managed by others, whatever its names
	Partial bool // documents are not stored whole, so writing one back would lose the rest
	Limits  Limits
	// Untold are the fields whose indexed values differ from those in a document's source: filled
	// by copy_to or a script, or changed by a normalizer or an analyzer, the same for all
	// documents. Only a search can then decide whether a reader refuses an item.
	Untold   Refusing
	UntoldID bool // the same for the item's id
	// Loaded are the fields that have doc values in all indices of the name. A search that requests
	// their values fails if an index has no such field.
	Loaded Refusing
	// Unloaded are the searchable fields without doc values. Only the index's UUID shows whether it
	// still has such a field.
	Unloaded Refusing
	UUIDs    string // of the indices, in the order of their names: an index may be replaced by one of the same name
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

// Asked returns the names of the fields in r that this profile refuses items by.
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

// ContentDecides reports whether an item from the catalog suffices to decide whether a reader with this
// profile refuses it.
func (s Schema) ContentDecides(p *feed.Profile) bool { return len(s.Asked(s.Untold, p)) == 0 }

// Same reports whether the index is still the one that the schema was read from.
func (s Schema) Same(ctx context.Context, client Client, index string) (bool, error) {
	now, err := settingsOf(ctx, client, index)
	return now.uuids == s.UUIDs, err
}

// Limits holds the limits of one search. A field that is 0 means Elasticsearch's default; [none]
// means a limit of 0.
type Limits struct{ hits, terms, docValues int }

// MaxHits returns the maximum number of hits of a search (index.max_result_window).
func (s Schema) MaxHits() int { return cmp.Or(s.Limits.hits, 10_000) }

// MaxTerms returns the maximum number of values of a terms query (index.max_terms_count).
func (s Schema) MaxTerms() int { return cmp.Or(s.Limits.terms, 65_536) }

// MaxDocValues returns the maximum number of docvalue_fields of a search
// (index.max_docvalue_fields_search).
func (s Schema) MaxDocValues() int { return max(0, cmp.Or(s.Limits.docValues, 100)) }

// ByOthers reports whether documents may have been written by others: with an _id that is not the
// item's id, and with values that Freshet does not write.
func (s Schema) ByOthers() bool { return s.Others || s.Mapped() }

// Folds reports whether searches use the folded fields of tags and languages. Documents written by
// others do not have these fields.
func (s Schema) Folds() bool { return s.Folded && !s.Others }

// Several reports whether the name resolves to more than one index.
func (s Schema) Several() bool { return strings.Contains(s.Indices, ",") }

// Stands reports whether an index is one of those that the name resolved to when this schema was
// read.
func (s Schema) Stands(index string) bool {
	return s.Indices == "" || slices.Contains(strings.Split(s.Indices, ","), index)
}

// Traits holds the names of the doc values that pages are varied by; "" means that the index has
// none. Of several tags, doc values give the first in byte order.
type Traits struct {
	Author string
	Site   string
	Tag    string // [FirstTag], or the field of all tags
	Story  string
}

// and returns the traits that both have.
func (t Traits) and(o Traits) Traits {
	for _, name := range []struct{ of, in *string }{{&t.Author, &o.Author}, {&t.Site, &o.Site}, {&t.Tag, &o.Tag}, {&t.Story, &o.Story}} {
		if *name.of != *name.in {
			*name.of = ""
		}
	}
	return t
}

// textsAlone makes keywords match in the texts, by their own analyzer, instead of the token fields.
func (s *Schema) textsAlone() {
	s.Tokens = false
	s.Fields.TitleTokens, s.Fields.SummaryTokens = None, None
	s.Source.TitleTokens, s.Source.SummaryTokens = None, None
}

// ownTraits returns the traits of our own index.
func ownTraits(names Fields) Traits {
	present := func(name string) string {
		if name == None {
			return ""
		}
		return name
	}
	return Traits{Author: present(names.AuthorID), Site: present(names.Site), Tag: FirstTag, Story: Story}
}

// OwnSchema returns the schema of an index created by [Ensure] with these names.
func OwnSchema(names Fields) Schema {
	names = names.WithDefaults()
	schema := Schema{Fields: names, Source: names, Time: EpochSeconds, Tokens: names.TitleTokens != None, Traits: ownTraits(names), Live: true, Acts: true, Folded: true}
	for by, name := range map[Refusing]string{ByGroup: names.GroupID, ByAuthor: names.AuthorID, ByTags: names.Tags, ByLang: names.Lang} {
		if name != None {
			schema.Loaded |= by
		}
	}
	return schema
}

// MetaID reports whether the document's _id is the item's id. Then a search has to load every hit's
// _id, and ties are broken by a document's number in its shard.
func (s Schema) MetaID() bool { return s.Fields.ID == MetaID }

// Mapped reports whether the names differ from those of our own index.
func (s Schema) Mapped() bool {
	own := Fields{}.WithDefaults()
	source := s.Source
	// Our own index may lack these.
	source.TitleTokens, source.SummaryTokens, source.Site = own.TitleTokens, own.SummaryTokens, own.Site
	return source != own || s.Time != EpochSeconds
}

// maxLangs is the maximum number of distinct languages of an index. If there are more, the field
// does not hold languages.
const maxLangs = 1000

// ReadLangs reads the values of the language field, so that a search can list those that a reader
// accepts. A pattern query is not used instead: a cluster may refuse patterns
// (search.allow_expensive_queries), and with many languages a pattern becomes too long. Without doc
// values, or if Elasticsearch refuses the aggregation, the values stay unknown.
func (s *Schema) ReadLangs(ctx context.Context, client Client, index string) error {
	field := s.Fields.Lang
	s.Langs = ""
	if field == None || s.Loaded&ByLang == 0 || s.Folds() {
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
