package quality

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/freshet/freshet/feed"
)

// Names of the rankings used for comparison.
const (
	mostRecent = "most recent"
	byDefault  = "default"
)

// gaussian changes the decay to the one Gaussian that was the first default.
const gaussian = "scale=24h,offset=1h,decay=0.5"

// ingredients lists the parts of the default ranking with the changes that remove each. A part
// that is off by default has no row, because its changes have no effect.
var ingredients = []struct{ name, changes string }{
	{"popularity", "weight=0"},
	{"own popularity", "weight_2h=0,weight_2d=0"},
	{"own popularity of 2 h", "weight_2h=0"},
	{"own popularity of 2 d", "weight_2d=0"},
	{"learned", "learned.tags=0,learned.author=0,learned.lang=0,learned.words=0"},
	{"exploration", "explore.share=0"},
}

// contender is one measured ranking: by the engine with these parameters, or by order, without
// the engine.
type contender struct {
	name    string
	ranking feed.Ranking
	order   func(*moment) []int // orders m.candidates, best first; nil for the engine
}

// contenders returns the baselines, the default, the default without each of its ingredients, and
// the rankings given as changes to it.
func contenders(standard feed.Ranking, also []string) ([]contender, error) {
	single, err := standard.With(gaussian)
	if err != nil {
		return nil, err
	}
	list := []contender{
		{name: "random", order: randomly},
		{name: mostRecent, order: newestFirst},
		{name: "most popular (1 d)", order: mostReadFirst},
		{name: "single Gaussian", ranking: single},
		{name: byDefault, ranking: standard},
	}
	for _, i := range ingredients {
		r, err := standard.With(i.changes)
		if err != nil {
			return nil, fmt.Errorf("without %s: %w", i.name, err)
		}
		if !reflect.DeepEqual(r, standard) {
			list = append(list, contender{name: "without " + i.name, ranking: r})
		}
	}
	for _, changes := range also {
		r, err := standard.With(changes)
		if err != nil {
			return nil, fmt.Errorf("--also %s: %w", changes, err)
		}
		list = append(list, contender{name: changes, ranking: r})
	}
	return list, nil
}

// moment holds the items that a reader could be shown just before they read something.
type moment struct {
	at         int64
	reader     string
	candidates []int // indices of items, newest first
	readLately []int // by item: number of readers within a day
}

func newestFirst(m *moment) []int { return m.candidates }

// randomly shuffles, deterministically for a reader and a moment.
func randomly(m *moment) []int {
	hash := fnv.New64a()
	hash.Write([]byte(m.reader))
	list := slices.Clone(m.candidates)
	rand.New(rand.NewPCG(hash.Sum64(), uint64(m.at))).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// mostReadFirst sorts by the number of readers within a day, then newest first.
func mostReadFirst(m *moment) []int {
	list := slices.Clone(m.candidates)
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(m.readLately[b], m.readLately[a]) })
	return list
}
