package feed

import "strings"

// Ref names an item and the group it stands for. Sessions store refs.
type Ref struct {
	ID     string
	Group  string
	Source Source
	// ShownBefore says that the agent has been given it within the dedup window, and
	// is again because nothing unseen was left.
	ShownBefore bool
}

// Source tells how an item got its position, beyond the order of scores. Its value
// is the letter that sessions store.
type Source byte

// The sources.
const (
	SourceScore     Source = 0   // nothing but its score
	SourceExplore   Source = 'e' // the share of positions that goes to items drawn at random
	SourceFollowing Source = 'f' // of home: posts by whom the reader follows
	SourceTrending  Source = 't' // of home: what many liked lately
	SourceDiscovery Source = 'd' // of home: what for-you recalls
	SourcePromoted  Source = 'p' // of home: what is promoted
)

// String is the source as answers name it, "" for [SourceScore].
func (s Source) String() string {
	switch s {
	case SourceExplore:
		return "explore"
	case SourceFollowing:
		return "following"
	case SourceTrending:
		return "trending"
	case SourceDiscovery:
		return "discovery"
	case SourcePromoted:
		return "promoted"
	}
	return ""
}

// How the third part of a stored ref is written. The format comes first in that part,
// and what has another one is read without that part.
const (
	sourceFormat = '1' // one letter follows, that of the source
	marksFormat  = '2' // any number of letters follow: that of the source, and shownLetter
	shownLetter  = 's'
)

// String writes the ref as a session stores it, with bars, which are in neither
// alphabet:
//
//	group             the id is the same
//	group|id
//	group|id|1source  where there is a source; the id is empty where it is the group
//	group|id|2…s      where it was shown before, with the source's letter before the s
func (r Ref) String() string {
	marks := r.marks()
	switch {
	case marks != "" && r.ID == r.Group:
		return r.Group + "||" + marks
	case marks != "":
		return r.Group + "|" + r.ID + "|" + marks
	case r.ID == r.Group:
		return r.Group
	}
	return r.Group + "|" + r.ID
}

// marks is the third part of a stored ref, "" for none.
func (r Ref) marks() string {
	switch {
	case r.ShownBefore && r.Source != SourceScore:
		return string([]byte{marksFormat, byte(r.Source), shownLetter})
	case r.ShownBefore:
		return string([]byte{marksFormat, shownLetter})
	case r.Source != SourceScore: // as servers write and read it that know no other mark
		return string([]byte{sourceFormat, byte(r.Source)})
	}
	return ""
}

// ParseRef reads what [Ref.String] wrote, here or in an older server, which knew no
// marks, or the source alone. A mark or format that is not known is left out.
func ParseRef(s string) Ref {
	group, rest, some := strings.Cut(s, "|")
	if !some {
		return Ref{ID: s, Group: s}
	}
	id, marks, marked := strings.Cut(rest, "|")
	if !marked {
		return Ref{ID: id, Group: group}
	}
	r := Ref{ID: id, Group: group}
	if id == "" {
		r.ID = group
	}
	if len(marks) == 2 && marks[0] == sourceFormat || len(marks) >= 2 && marks[0] == marksFormat {
		r.readMarks(marks[0], marks[1:])
	}
	return r
}

func (r *Ref) readMarks(format byte, letters string) {
	for i := range len(letters) {
		switch source := Source(letters[i]); {
		case format == marksFormat && letters[i] == shownLetter:
			r.ShownBefore = true
		case source.String() != "":
			r.Source = source
		}
	}
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

// ShownBefore tells of each ref, in order, whether it was shown before, and is nil
// where none was.
func ShownBefore(refs []Ref) []bool {
	var shown []bool
	for i, r := range refs {
		if !r.ShownBefore {
			continue
		}
		if shown == nil {
			shown = make([]bool, len(refs))
		}
		shown[i] = true
	}
	return shown
}

// Detached copies refs, texts included, for callers that keep them longer than the
// answer they come from: those of one recall lie in one text, and a page of them
// would keep all of it.
func Detached(refs []Ref) []Ref {
	own := make([]Ref, len(refs))
	for i, r := range refs {
		own[i] = Ref{Group: strings.Clone(r.Group), Source: r.Source, ShownBefore: r.ShownBefore}
		if own[i].ID = own[i].Group; r.ID != r.Group {
			own[i].ID = strings.Clone(r.ID)
		}
	}
	return own
}
