package feed

import "strings"

// Ref names an item and its group. Sessions store refs.
type Ref struct {
	ID     string
	Group  string
	Source Source
	// ShownBefore reports that the agent was shown the item within the dedup window and gets it
	// again because nothing unseen was left.
	ShownBefore bool
	// Scope is that of the named feed that the ref belongs to, see [Name.Scope]; "" in for-you and
	// home. Such a ref may be shown although other feeds have shown it: then ShownBefore is set.
	Scope string `json:",omitempty"`
}

// Source is the reason for an item's position other than its score. Its value is the letter that
// sessions store.
type Source byte

// The sources.
const (
	SourceScore     Source = 0   // its score alone
	SourceExplore   Source = 'e' // drawn at random, for the share of exploration
	SourceFollowing Source = 'f' // home: posts from people the reader follows
	SourceTrending  Source = 't' // home: items with many recent likes
	SourceDiscovery Source = 'd' // home: items that for-you recalls
	SourcePromoted  Source = 'p' // home: promoted items
)

var sourceNames = [...]string{
	SourceExplore: "explore", SourceFollowing: "following", SourceTrending: "trending", SourceDiscovery: "discovery", SourcePromoted: "promoted",
}

// String returns the name of the source in answers, "" for [SourceScore].
func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return ""
}

// shownLetter is the letter of [Ref.ShownBefore] in a stored ref; no source has it.
const shownLetter = 's'

// String formats the ref for storage in a session, separated by bars, which no id or group
// contains:
//
//	group           if the id is the group
//	group|id
//	group|id|marks  marks: the letter of the source, and s if it was shown before; the id
//	                is empty if it is the group. In a named feed, its scope follows
func (r Ref) String() string {
	var marks []byte
	if r.Source != SourceScore {
		marks = append(marks, byte(r.Source))
	}
	if r.ShownBefore {
		marks = append(marks, shownLetter)
	}
	marks = append(marks, r.Scope...)
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

// ParseRef parses the output of [Ref.String]. Unknown marks are ignored.
func ParseRef(s string) Ref {
	group, rest, _ := strings.Cut(s, "|")
	id, marks, _ := strings.Cut(rest, "|")
	if id == "" {
		id = group
	}
	r := Ref{ID: id, Group: group}
	at := strings.Index(marks, ScopeMark)
	if at >= 0 {
		r.Scope, marks = marks[at:], marks[:at]
	}
	for i := range len(marks) {
		source := Source(marks[i])
		if source.String() != "" {
			r.Source = source
		}
		r.ShownBefore = r.ShownBefore || marks[i] == shownLetter
	}
	return r
}

// Marked reports whether the ref has more than its id and group.
func (r Ref) Marked() bool { return r.Source != SourceScore || r.ShownBefore || r.Scope != "" }

// Detached copies refs with their strings, for callers that store them longer than the answer:
// the strings of one recall share one buffer, and a page of refs would retain all of it.
func Detached(refs []Ref) []Ref {
	own := make([]Ref, len(refs))
	for i, r := range refs {
		own[i] = Ref{Group: strings.Clone(r.Group), Source: r.Source, ShownBefore: r.ShownBefore, Scope: strings.Clone(r.Scope)}
		own[i].ID = own[i].Group
		if r.ID != r.Group {
			own[i].ID = strings.Clone(r.ID)
		}
	}
	return own
}

// GivenMark is the prefix of the keys that record which source gave an item out. No id begins
// with it: see [CheckItemID].
const GivenMark = "~"

// GivenSources are the sources that have such keys.
var GivenSources = [...]Source{SourceFollowing, SourceTrending, SourceDiscovery, SourcePromoted, SourceExplore}

// GivenKey returns the key with which pending sets and filters record the source that gave the
// item out, in addition to the item itself; "" for an item placed by its score alone. A post
// always has a key, because timelines also show posts, which no ranking placed. Items of named feeds
// share one, whatever their source.
func (r Ref) GivenKey() string {
	switch {
	case r.Scope != "":
		return NamedKey(r.Group)
	case r.Source != SourceScore:
		return GivenMark + string(rune(r.Source)) + GivenMark + r.Group
	case IsPost(r.ID):
		return GivenMark + r.ID
	}
	return ""
}

// GivenBy returns the sources that may have given the item out and have a key for it.
func (r Ref) GivenBy() []Source {
	if IsPost(r.ID) {
		return append(GivenSources[:len(GivenSources):len(GivenSources)], SourceScore)
	}
	return GivenSources[:]
}

// GivenKeys returns the given keys of refs.
func GivenKeys(refs []Ref) (keys []string) {
	for _, r := range refs {
		key := r.GivenKey()
		if key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// NamedKey is the given key of an item that a named feed has shown.
func NamedKey(group string) string { return ScopedKey(ScopeMark, group) }

// ScopedKey is the key by which the named feed with a scope knows a group or an id.
func ScopedKey(scope, key string) string { return GivenMark + scope + GivenMark + key }

// AppendScopeKeys appends the keys by which a named feed knows what it has shown itself, in the order
// of [AppendKeys]; none for refs of for-you and home.
func AppendScopeKeys(keys []string, refs []Ref) []string {
	for _, r := range refs {
		if r.Scope == "" {
			continue
		}
		keys = append(keys, ScopedKey(r.Scope, r.Group))
		if r.ID != r.Group {
			keys = append(keys, ScopedKey(r.Scope, r.ID))
		}
	}
	return keys
}

// AppendTakenKeys appends the keys of which none may be pending when the ref is handed out, and
// returns how many they are: its group and id. In a named feed those that it records itself come
// first, and items shown before may be known by the others.
func (r Ref) AppendTakenKeys(keys []string) ([]string, int) {
	before := len(keys)
	if r.Scope != "" {
		one := [1]Ref{r}
		keys = AppendScopeKeys(keys, one[:])
		if r.ShownBefore {
			return keys, len(keys) - before
		}
	}
	keys = append(keys, r.Group)
	if r.ID != r.Group {
		keys = append(keys, r.ID)
	}
	return keys, len(keys) - before
}

// ClaimKeys returns all keys that become pending when refs are given out: [Keys], those of
// [AppendScopeKeys], and [GivenKeys].
func ClaimKeys(refs []Ref) []string {
	return append(AppendScopeKeys(Keys(refs), refs), GivenKeys(refs)...)
}
