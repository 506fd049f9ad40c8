package esindex

import (
	"bytes"
	"encoding/json"
	"strings"
)

type mapping struct {
	property
	Runtime map[string]property `json:"runtime"` // fields computed by each search; they take precedence over those of the same name
	Source  kept                `json:"_source"`
}

// kept is the _source setting: which parts of a document an index stores as sent.
type kept struct {
	Enabled  *bool    `json:"enabled"`
	Includes []string `json:"includes"`
	Excludes []string `json:"excludes"`
}

// lacking reports whether any part is not stored.
func (k kept) lacking() bool {
	return k.Enabled != nil && !*k.Enabled || len(k.Includes)+len(k.Excludes) > 0
}

type property struct {
	Type       string              `json:"type"`
	Format     string              `json:"format"`
	Path       string              `json:"path"` // of an alias
	Index      *bool               `json:"index"`
	DocValues  *bool               `json:"doc_values"`
	Analyzer   string              `json:"analyzer"`
	Options    json.RawMessage     `json:"index_options"` // a string for a text, an object for vectors
	Normalizer string              `json:"normalizer"`
	NullValue  json.RawMessage     `json:"null_value"`
	Script     json.RawMessage     `json:"script"`
	CopyTo     json.RawMessage     `json:"copy_to"` // a name or a list of names
	Properties map[string]property `json:"properties"`
	Fields     map[string]property `json:"fields"`
	// IgnoreAbove is the length of the longest value that is indexed; 0 means no limit.
	IgnoreAbove int  `json:"ignore_above"`
	Computed    bool `json:"-"` // a runtime field
}

// copiesTo reports whether a field below this one is copied to the field of that name.
func (p property) copiesTo(name string) bool {
	for _, child := range p.Properties {
		if bytes.Contains(child.CopyTo, []byte(`"`+name+`"`)) || child.copiesTo(name) {
			return true
		}
	}
	return false
}

func (p property) indexed() bool   { return p.Index == nil || *p.Index }
func (p property) docValues() bool { return p.DocValues == nil || *p.DocValues }

// find looks up a field by its full name and returns the path of its value in the document.
func (p property) find(name string) (f property, source string, ok bool) {
	at, rest := p, name
	for {
		child, ok := at.Properties[rest]
		if ok {
			return child, name, true
		}
		head, tail, more := strings.Cut(rest, ".")
		child, ok = at.Properties[head]
		if ok && more && child.Type == "flattened" { // any path in it can be searched
			return property{Type: "flattened", Index: child.Index, DocValues: child.DocValues}, name, true
		}
		if !more || !ok || child.Type == "nested" { // a plain query never matches within nested objects
			return property{}, name, false
		}
		sub, isSub := child.Fields[tail]
		if isSub {
			return sub, strings.TrimSuffix(name, "."+tail), true
		}
		at, rest = child, tail
	}
}
