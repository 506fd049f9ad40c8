package recall

import (
	"maps"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
)

// Interest is a declared interest, made ready to be looked for.
type Interest struct {
	Name      string   // as the reader has written it; of several spellings the one that weighs most
	Tag       string   // folded
	Spellings []string // as they are written, for an index that has no folded tags
	Weight    float64
}

// InterestsOf returns the declared interests that weigh something, each tag once, in a
// fixed order. Of several spellings of a tag the highest weight counts.
func InterestsOf(p *feed.Profile) []Interest {
	all := make([]Interest, 0, len(p.Interests))
	at := make(map[string]int, len(p.Interests))
	for _, name := range slices.Sorted(maps.Keys(p.Interests)) {
		weight, tag := p.Interests[name], terms.Fold(name)
		if weight <= 0 {
			continue
		}
		i, again := at[tag]
		if !again {
			i, at[tag] = len(all), len(all)
			all = append(all, Interest{Tag: tag})
		}
		if is := &all[i]; weight > is.Weight {
			is.Name, is.Weight = name, weight
		}
		all[i].Spellings = append(all[i].Spellings, name)
	}
	slices.SortFunc(all, func(a, b Interest) int { return strings.Compare(a.Tag, b.Tag) })
	return all
}
