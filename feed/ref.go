package feed

import "strings"

// Ref names an item and the group it stands for. It is what a session keeps.
type Ref struct {
	ID     string
	Group  string
	Source Source
}

// Source is what gave an item its position, beyond the order of scores. Its value
// is the letter that sessions store.
type Source byte

// The sources.
const (
	SourceScore   Source = 0   // nothing but its score
	SourceExplore Source = 'e' // the share of positions that goes to items drawn at random
)

// String is the source as answers name it, "" for [SourceScore].
func (s Source) String() string {
	if s == SourceExplore {
		return "explore"
	}
	return ""
}

// sourceFormat is how the third part of a stored ref is written. It comes first in
// that part, and what has another one is read without its source.
const sourceFormat = '1'

// String writes the ref as a session stores it, with bars, which are in neither
// alphabet:
//
//	group             the id is the same
//	group|id
//	group|id|1source  where there is a source; the id is empty where it is the group
func (r Ref) String() string {
	switch {
	case r.Source != SourceScore && r.ID == r.Group:
		return r.Group + "||" + string([]byte{sourceFormat, byte(r.Source)})
	case r.Source != SourceScore:
		return r.Group + "|" + r.ID + "|" + string([]byte{sourceFormat, byte(r.Source)})
	case r.ID == r.Group:
		return r.Group
	}
	return r.Group + "|" + r.ID
}

// ParseRef reads what [Ref.String] wrote, here or in an older server, which knew no
// source. A source or format that is not known is left out.
func ParseRef(s string) Ref {
	group, rest, some := strings.Cut(s, "|")
	if !some {
		return Ref{ID: s, Group: s}
	}
	id, source, marked := strings.Cut(rest, "|")
	if !marked {
		return Ref{ID: id, Group: group}
	}
	r := Ref{ID: id, Group: group}
	if id == "" {
		r.ID = group
	}
	if len(source) == 2 && source[0] == sourceFormat && Source(source[1]).String() != "" {
		r.Source = Source(source[1])
	}
	return r
}

// Sources returns the source of each ref, in order, and nil where all are
// [SourceScore].
func Sources(refs []Ref) []Source {
	var sources []Source
	for i, r := range refs {
		if r.Source == SourceScore {
			continue
		}
		if sources == nil {
			sources = make([]Source, len(refs))
		}
		sources[i] = r.Source
	}
	return sources
}

// Detached copies refs, texts included, for callers that keep them longer than the
// answer they come from: those of one recall lie in one text, and a page of them
// would keep all of it.
func Detached(refs []Ref) []Ref {
	own := make([]Ref, len(refs))
	for i, r := range refs {
		own[i].Group, own[i].Source = strings.Clone(r.Group), r.Source
		if own[i].ID = own[i].Group; r.ID != r.Group {
			own[i].ID = strings.Clone(r.ID)
		}
	}
	return own
}
