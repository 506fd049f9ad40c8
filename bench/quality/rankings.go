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

// Names of the rankings that others are compared with.
const (
	mostRecent = "most recent"
	byDefault  = "default"
)

// gaussian makes the decay the one Gaussian that was the default before any other.
const gaussian = "scale=24h,offset=1h,decay=0.5"

// ingredients are the parts of the default ranking, each with the changes that
// leave it out. One that is off by default, so that they change nothing, has no
// row.
var ingredients = []struct{ name, changes string }{
	{"popularity", "weight=0"},
	{"own popularity", "weight_2h=0,weight_2d=0"},
	{"own popularity of 2 h", "weight_2h=0"},
	{"own popularity of 2 d", "weight_2d=0"},
	{"learned", "learned.tags=0,learned.author=0,learned.lang=0,learned.words=0"},
	{"exploration", "explore.share=0"},
}

// contender is one ranking that is measured: by the engine with these parameters,
// or beside it by order.
type contender struct {
	name    string
	ranking feed.Ranking
	order   func(*moment) []int // of m.candidates, best first; nil: the engine ranks
}

// contenders are the baselines, the default, the default without each of its
// ingredients, and those asked for beside them as changes to it.
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
	readLately []int // by item: how many readers have read it within a day
}

func newestFirst(m *moment) []int { return m.candidates }

// randomly shuffles, the same way whenever the same reader is asked for the same
// moment.
func randomly(m *moment) []int {
	hash := fnv.New64a()
	hash.Write([]byte(m.reader))
	list := slices.Clone(m.candidates)
	rand.New(rand.NewPCG(hash.Sum64(), uint64(m.at))).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// mostReadFirst puts what most readers have read within a day first; of equal
// ones the newer.
func mostReadFirst(m *moment) []int {
	list := slices.Clone(m.candidates)
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(m.readLately[b], m.readLately[a]) })
	return list
}
