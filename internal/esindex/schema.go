package esindex

import (
	"fmt"
	"sync/atomic"
)

// Schema is an index as the backends use it: how a field is named in queries,
// where its value lies in the document, and how time is written.
type Schema struct {
	Fields Fields    // names in queries and sorts
	Source Fields    // names in the document; differs from Fields where a sub-field or an alias is queried
	Time   TimeField // the update time
	Tokens bool      // the token fields can be written and searched
	Traits Traits    // what a page is dealt by
	Live   bool      // live popularity can be written and ranked by
}

// Traits names the doc values that pages are dealt by; "" where the index has none.
// Of several tags doc values tell the first in the order of their bytes.
type Traits struct {
	Author string
	Site   string
	Tag    string // [FirstTag], or the field of all tags
	Story  string
}

// ownTraits are those of our own index.
func ownTraits(names Fields) Traits {
	t := Traits{Author: names.AuthorID, Site: names.Site, Tag: FirstTag, Story: Story}
	for _, name := range []*string{&t.Author, &t.Site} {
		if *name == None {
			*name = ""
		}
	}
	return t
}

// OwnSchema is the schema of an index made by [Ensure] with these names.
func OwnSchema(names Fields) Schema {
	names = names.WithDefaults()
	return Schema{Fields: names, Source: names, Time: EpochSeconds, Tokens: names.TitleTokens != None, Traits: ownTraits(names), Live: names.Sum2h != None}
}

// MetaID reports whether the document's _id is the item's id. Then a search
// has to load every hit's _id, and ties fall to a document's number in its shard.
func (s Schema) MetaID() bool { return s.Fields.ID == MetaID }

// Mapped reports whether the names are not those of our own index: documents
// may then have been written by others.
func (s Schema) Mapped() bool {
	own := Fields{}.WithDefaults()
	source := s.Source
	// An index of ours may be without these.
	source.TitleTokens, source.SummaryTokens, source.Site = own.TitleTokens, own.SummaryTokens, own.Site
	if !s.Live {
		source = source.withLive(own)
	}
	return source != own || s.Time != EpochSeconds
}

// LateSchema is a [Schema] that may become known later: a server also starts
// while Elasticsearch is down. The zero value is not known yet. It is safe for
// concurrent use.
type LateSchema struct{ found atomic.Pointer[Schema] }

// Known returns a LateSchema that is known.
func Known(s Schema) *LateSchema {
	l := &LateSchema{}
	l.Set(s)
	return l
}

// Set makes the schema known.
func (l *LateSchema) Set(s Schema) { l.found.Store(&s) }

// Get returns the schema, which is shared and must not be changed, or an error
// that wraps [ErrUnavailable] while it is not known.
func (l *LateSchema) Get() (*Schema, error) {
	if s := l.found.Load(); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("%w: the mapping of the index has not been read since the start", ErrUnavailable)
}

// OrOwn returns l, or where it is nil the schema of our own index with default
// names.
func (l *LateSchema) OrOwn() *LateSchema {
	if l == nil {
		return Known(OwnSchema(Fields{}))
	}
	return l
}
