package quality

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
)

// Names of the rankings used for comparison.
const (
	mostRecent = "most recent"
	byDefault  = "default"
)

// withCoReaders adds co-readers, which are off by default, to the default.
const withCoReaders = "co_read.weight=3"

// Changes that count readers by another half-life in place of one of the default's, with its weight.
const (
	hourForTwo = "weight_2h=0,weight_1h=1.5"
	dayForTwo  = "weight_2d=0,weight_1d=0.2"
)

// byCoReaders leaves nothing of the default but co-readers, newer items first if equal.
const byCoReaders = `weight_2h=0,weight_2d=0,learned.tags=0,learned.author=0,learned.words=0,explore.share=0,curves=[{"shape":"constant","weight":1}]`

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
	// placebo ranks by what another reader has read, where co-readers count.
	placebo bool
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
		{name: "last read", order: lastReadFirst},
		{name: "most popular (1 d)", order: mostReadFirst},
		{name: "Hacker News", order: newsFirst},
	}
	for i, halfLife := range halfLives {
		list = append(list, contender{name: "popularity, half-life " + feed.DurationText(halfLife), order: popularFirst(i)})
	}
	list = append(list, contender{name: "single Gaussian", ranking: single}, contender{name: byDefault, ranking: standard})
	for _, i := range ingredients {
		r, err := standard.With(i.changes)
		if err != nil {
			return nil, fmt.Errorf("without %s: %w", i.name, err)
		}
		if !reflect.DeepEqual(r, standard) {
			list = append(list, contender{name: "without " + i.name, ranking: r})
		}
	}
	others, err := byOtherHalfLives(standard)
	if err != nil {
		return nil, err
	}
	list = append(list, others...)
	added, err := standard.With(withCoReaders)
	if err != nil {
		return nil, err
	}
	alone, err := added.With(byCoReaders)
	if err != nil {
		return nil, err
	}
	list = append(list,
		contender{name: "with co-readers", ranking: added}, contender{name: "with those of another reader", ranking: added, placebo: true},
		contender{name: "co-readers alone", ranking: alone})
	for _, changes := range also {
		r, err := standard.With(changes)
		if err != nil {
			return nil, fmt.Errorf("--also %s: %w", changes, err)
		}
		list = append(list, contender{name: changes, ranking: r})
	}
	return list, nil
}

// byOtherHalfLives returns the rankings that count readers by another half-life.
func byOtherHalfLives(standard feed.Ranking) (list []contender, err error) {
	for _, one := range []struct{ name, changes string }{
		{"popularity of 1 h for 2 h", hourForTwo},
		{"popularity of 1 d for 2 d", dayForTwo},
		{"co-readers, 1 h for 2 h", withCoReaders + "," + hourForTwo},
	} {
		r, err := standard.With(one.changes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		list = append(list, contender{name: one.name, ranking: r})
	}
	return list, nil
}

// moment holds the items that a reader could be shown just before they read something.
type moment struct {
	at         int64
	reader     string
	candidates []int // indices of items, newest first
	past       *past
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

// mostReadFirst sorts by the number of readers within a day.
func mostReadFirst(m *moment) []int {
	return m.byScore(func(item int) float64 { return float64(m.past.readLately[item]) })
}

// lastReadFirst sorts by the time of the last read: a buffer of the items that readers have opened.
func lastReadFirst(m *moment) []int {
	return m.byScore(func(item int) float64 { return float64(m.past.interest[item].Last) })
}

// popularFirst returns an order by the number of readers, decayed by the i-th half-life.
func popularFirst(i int) func(*moment) []int {
	return func(m *moment) []int {
		return m.byScore(func(item int) float64 { return m.past.interest[item].Decayed(i, m.at, halfLives[i]) })
	}
}

// newsFirst sorts by the formula of Hacker News, votes^0.8 / (hours + 2)^1.8, where a reader is a vote
// (P. Graham, news.arc, 2009; the factors for kinds of posts are left out).
func newsFirst(m *moment) []int {
	return m.byScore(func(item int) float64 {
		hours := float64(m.at-m.past.data.items[item].UpdateTime) / time.Hour.Seconds()
		return math.Pow(float64(m.past.interest[item].Count), 0.8) / math.Pow(hours+2, 1.8)
	})
}

// byScore sorts the candidates, the highest score first, then newest first.
func (m *moment) byScore(score func(item int) float64) []int {
	list, scores := slices.Clone(m.candidates), make(map[int]float64, len(m.candidates))
	for _, item := range list {
		scores[item] = score(item)
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return list
}
