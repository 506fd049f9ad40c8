package recall

import (
	"cmp"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/words"
)

// Keyword is a keyword of a profile made ready to be looked for.
type Keyword struct {
	Term   string   // as the profile has it
	Weight float64  // greater than 0
	Tokens []string // one or more, which follow one another where the keyword stands
}

// Keywords returns the keywords of a profile that can match, in a fixed order:
// those that have a weight and tokens and are not one stop word alone. Of two
// with the same tokens the one with the larger weight counts.
func Keywords(p *feed.Profile) []Keyword {
	if len(p.Keywords) == 0 {
		return nil
	}
	all := make([]Keyword, 0, len(p.Keywords))
	for _, k := range p.Keywords {
		tokens := words.Of(k.Term)
		if k.Weight > 0 && len(tokens) > 0 && !(len(tokens) == 1 && words.Stop(tokens[0])) {
			all = append(all, Keyword{Term: k.Term, Weight: k.Weight, Tokens: tokens})
		}
	}
	slices.SortStableFunc(all, func(a, b Keyword) int {
		return cmp.Or(slices.Compare(a.Tokens, b.Tokens), cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Term, b.Term))
	})
	return slices.CompactFunc(all, func(a, b Keyword) bool { return slices.Equal(a.Tokens, b.Tokens) })
}
