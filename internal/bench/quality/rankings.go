package quality

import (
	"cmp"
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

// variants are the rankings that differ from the default, each written as changes
// to it: what the rows say of an ingredient is what is lost without it. One that
// changes nothing, because the ingredient is off by default, has no row.
var variants = []struct{ name, changes string }{
	{"single Gaussian", "scale=24h,offset=1h,decay=0.5"},
	{"without popularity", "weight=0"},
}

// contender is one ranking that is measured: by the engine with these parameters,
// or beside it by order.
type contender struct {
	name    string
	ranking feed.Ranking
	order   func(*moment) []int // of m.candidates, best first; nil: the engine ranks
}

// contenders are the baselines, the default, its variants and those asked for
// beside them as changes to it.
func contenders(standard feed.Ranking, also []string) ([]contender, error) {
	list := []contender{
		{name: "random", order: randomly},
		{name: mostRecent, order: newestFirst},
		{name: "most popular (1 d)", order: mostReadFirst},
		{name: byDefault, ranking: standard},
	}
	add := func(name, changes string, always bool) error {
		r, err := standard.With(changes)
		if err == nil && (always || !reflect.DeepEqual(r, standard)) {
			list = append(list, contender{name: name, ranking: r})
		}
		return err
	}
	for _, v := range variants {
		if err := add(v.name, v.changes, false); err != nil {
			return nil, err
		}
	}
	for _, changes := range also {
		if err := add(changes, changes, true); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// moment is what a reader could be shown just before they read something.
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
