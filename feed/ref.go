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

var sourceNames = [...]string{
	SourceExplore: "explore", SourceFollowing: "following", SourceTrending: "trending", SourceDiscovery: "discovery", SourcePromoted: "promoted",
}

// String is the source as answers name it, "" for [SourceScore].
func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return ""
}

// shownLetter is the letter of [Ref.ShownBefore] in a stored ref; no source has it.
const shownLetter = 's'

// String writes the ref as a session stores it, with bars, which are in neither
// alphabet:
//
//	group           the id is the same
//	group|id
//	group|id|marks  letters: that of the source, and s where it was shown before; the id
//	                is empty where it is the group
func (r Ref) String() string {
	var marks []byte
	if r.Source != SourceScore {
		marks = append(marks, byte(r.Source))
	}
	if r.ShownBefore {
		marks = append(marks, shownLetter)
	}
	switch {
	case marks != nil && r.ID == r.Group:
		return r.Group + "||" + string(marks)
	case marks != nil:
		return r.Group + "|" + r.ID + "|" + string(marks)
	case r.ID == r.Group:
		return r.Group
	}
	return r.Group + "|" + r.ID
}

// ParseRef reads what [Ref.String] wrote. A mark that is not known is left out.
func ParseRef(s string) Ref {
	group, rest, _ := strings.Cut(s, "|")
	id, marks, _ := strings.Cut(rest, "|")
	if id == "" {
		id = group
	}
	r := Ref{ID: id, Group: group}
	for i := range len(marks) {
		if source := Source(marks[i]); source.String() != "" {
			r.Source = source
		}
		r.ShownBefore = r.ShownBefore || marks[i] == shownLetter
	}
	return r
}

// Marked reports whether there is more to say of the ref than its id and group.
func (r Ref) Marked() bool { return r.Source != SourceScore || r.ShownBefore }

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

// GivenMark begins the key of what a feed gave out. No id begins with it: see [CheckItemID].
const GivenMark = "~"

// GivenSources are the sources whose keys name them.
var GivenSources = [...]Source{SourceFollowing, SourceTrending, SourceDiscovery, SourcePromoted, SourceExplore}

// GivenKey is the key by which pending sets and filters remember, beside what was shown,
// which source gave it out; "" for an item that its score alone placed. A post has one
// always, because timelines show posts too, which no ranking has placed.
func (r Ref) GivenKey() string {
	switch {
	case r.Source != SourceScore:
		return GivenMark + string(rune(r.Source)) + GivenMark + r.Group
	case IsPost(r.ID):
		return GivenMark + r.ID
	}
	return ""
}

// GivenBy lists the sources that may have given the item out and have a key for it.
func (r Ref) GivenBy() []Source {
	if IsPost(r.ID) {
		return append(GivenSources[:len(GivenSources):len(GivenSources)], SourceScore)
	}
	return GivenSources[:]
}

// GivenKeys are the keys of what gave refs out.
func GivenKeys(refs []Ref) (keys []string) {
	for _, r := range refs {
		if key := r.GivenKey(); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// ClaimKeys are all keys that handing out refs makes pending: [Keys] and [GivenKeys].
func ClaimKeys(refs []Ref) []string { return append(Keys(refs), GivenKeys(refs)...) }
