package feed

import (
	"strings"
)

// DefaultPattern is the name of a new system's [Pattern]: of 20 positions, 14 are for posts from
// people the reader follows, 5 for trending or discovered items, and the 9th is promoted.
const DefaultPattern = "five_percent"

// patterns are the named patterns.
var patterns = map[string]string{
	DefaultPattern: "CCCTCCCTPC CCCTCCCTTC", // promoted at positions 9, 29, 49 …
	"every_tenth":  "CCCTCCCTPC",            // promoted at positions 9, 19, 29 …
}

// maxPattern is the maximum number of positions in a pattern: sessions are rarely longer.
const maxPattern = 1000

// Pattern assigns each position of a session to a source of home. It is repeated. The zero value
// assigns every position to [SourceFollowing].
type Pattern struct{ sources []Source }

// ParsePattern reads a pattern: the name "five_percent" or "every_tenth", which give promoted one
// position of 20 or of 10, or one letter per position; spaces are ignored:
//
//	C  posts from people the reader follows
//	T  alternately trending and discovered items, beginning with trending
//	P  promoted items
//
// At least one letter must be C or T, because promoted items fill no other position. Errors wrap
// [ErrInvalid] and name the position of the mistake.
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
			return Pattern{}, Errorf(ErrInvalid, "bad pattern: %q at position %d of %q; use the letters C (following), T (trending or discovery) and P (promoted), or the name five_percent or every_tenth", string(letter), at+1, text)
		}
	}
	switch {
	case len(sources) > maxPattern:
		return Pattern{}, Errorf(ErrInvalid, "bad pattern: it has %d letters, at most %d are allowed", len(sources), maxPattern)
	case !strings.ContainsAny(text, "CT"):
		return Pattern{}, Errorf(ErrInvalid, "bad pattern: %q has neither C nor T; one is needed to fill a page when nothing is promoted", text)
	}
	if turns%2 == 1 { // an odd number of turns: every second repetition swaps them
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

// At returns the source assigned to a position of a session, from 0.
func (p Pattern) At(position int) Source {
	if len(p.sources) == 0 {
		return SourceFollowing
	}
	return p.sources[position%len(p.sources)]
}

// Shares returns how many of the first n positions each source has.
func (p Pattern) Shares(n int) map[Source]int {
	shares := make(map[Source]int, 4)
	for i := range n {
		shares[p.At(i)]++
	}
	return shares
}

// HandOver returns the sources that may fill a position of this source, in order, itself first;
// each takes over when those before it have nothing left. A promoted position passes to trending,
// discovery and following; trending and discovery pass to each other and then to following;
// following passes to discovery, which is personal, and then to trending. Promoted items never
// fill another source's position.
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
