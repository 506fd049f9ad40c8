package feed

import (
	"strings"
)

// DefaultPattern is the name of a new system's [Pattern]: of 20 positions 14 are of posts by
// whom the reader follows, 5 of what is trending or discovered, and the 9th is promoted.
const DefaultPattern = "five_percent"

// patterns are those that have names.
var patterns = map[string]string{
	DefaultPattern: "CCCTCCCTPC CCCTCCCTTC", // promoted on positions 9, 29, 49 …
	"every_tenth":  "CCCTCCCTPC",            // promoted on positions 9, 19, 29 …
}

// maxPattern is how many positions a pattern has at most: a session is hardly longer.
const maxPattern = 1000

// Pattern says which source of home has the right to each position of a session. It is
// repeated. The zero value gives every position to [SourceFollowing].
type Pattern struct{ sources []Source }

// ParsePattern reads a pattern: the name "five_percent" or "every_tenth", of which promoted has one
// position of 20 or of 10, or one letter a position; spaces do not count:
//
//	C  posts by whom the reader follows
//	T  of the 1st, 3rd, … T of a session what is trending, of the others what is discovered
//	P  what is promoted
//
// At least one letter must be C or T: what is promoted fills no other position. Errors
// wrap [ErrInvalid] and say where the text is wrong.
func ParsePattern(text string) (Pattern, error) {
	if named, ok := patterns[text]; ok {
		text = named
	}
	var sources []Source
	var turns int
	for at, letter := range text {
		switch letter {
		case ' ':
		case 'C':
			sources = append(sources, SourceFollowing)
		case 'T':
			sources = append(sources, turnOf(turns))
			turns++
		case 'P':
			sources = append(sources, SourcePromoted)
		default:
			return Pattern{}, Errorf(ErrInvalid, "bad pattern: %q at position %d of %q; the letters are C (following), T (trending or discovery) and P (promoted), the names five_percent and every_tenth", string(letter), at+1, text)
		}
	}
	switch {
	case len(sources) > maxPattern:
		return Pattern{}, Errorf(ErrInvalid, "bad pattern: it has %d letters, at most %d are allowed", len(sources), maxPattern)
	case !strings.ContainsAny(text, "CT"):
		return Pattern{}, Errorf(ErrInvalid, "bad pattern: %q has no C and no T; something must fill a page when nothing is promoted", text)
	}
	if turns%2 == 1 { // in every second repetition the turns are the other way round
		for _, s := range sources {
			if s == SourceTrending || s == SourceDiscovery {
				s = turnOf(turns)
				turns++
			}
			sources = append(sources, s)
		}
	}
	return Pattern{sources}, nil
}

func turnOf(n int) Source {
	if n%2 == 0 {
		return SourceTrending
	}
	return SourceDiscovery
}

// At is the source with the right to a position of a session, from 0.
func (p Pattern) At(position int) Source {
	if len(p.sources) == 0 {
		return SourceFollowing
	}
	return p.sources[position%len(p.sources)]
}

// Shares counts how many of the first n positions are each source's.
func (p Pattern) Shares(n int) map[Source]int {
	shares := make(map[Source]int, 4)
	for i := range n {
		shares[p.At(i)]++
	}
	return shares
}

// HandOver lists who fills a position of a source, the source itself first: one that has
// nothing left hands it on. What is promoted goes to trending, discovery and following, in
// that order; trending and discovery stand in for each other, and then following does; and
// following hands on to discovery, which is the reader's own, and then to trending. What is
// promoted never fills the position of another one.
func (s Source) HandOver() []Source {
	switch s {
	case SourcePromoted:
		return []Source{SourcePromoted, SourceTrending, SourceDiscovery, SourceFollowing}
	case SourceTrending:
		return []Source{SourceTrending, SourceDiscovery, SourceFollowing}
	case SourceDiscovery:
		return []Source{SourceDiscovery, SourceTrending, SourceFollowing}
	}
	return []Source{SourceFollowing, SourceDiscovery, SourceTrending}
}
