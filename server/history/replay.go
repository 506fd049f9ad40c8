package history

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	recallmemory "github.com/freshet/freshet/recall/memory"
	"github.com/freshet/freshet/signals/coread"
	coreadsqlite "github.com/freshet/freshet/signals/coread/sqlite"
	"github.com/freshet/freshet/signals/learning"
)

// Click is a reader's opening of an item.
type Click struct {
	At     int64 // Unix seconds
	Reader string
	Item   int // index in [Community.Items]
}

// Community holds the items of a community and the clicks of its readers.
type Community struct {
	Items    []feed.Item // sorted by update time
	Clicks   []Click     // sorted by time
	Profiles map[string]feed.Profile
}

// Options configures a [Replay].
type Options struct {
	Window   time.Duration // maximum age of a candidate
	HalfLife time.Duration // of what is learned: [feed.LearnedWeights]
	// Most is the largest number of candidates of a moment; of more, a random part is taken.
	Most int
	// Progress, if not nil, is called after each click with the number of clicks so far.
	Progress func(clicks int)
}

// tiny is a base so small that learned features are not bounded by their sum.
const tiny = 1e-6

// parts is a ranking by which the parts of a relevance can be told from each other.
func parts() feed.Ranking {
	r := feed.DefaultRanking()
	r.Base, r.KeywordsSummary = tiny, 1
	r.Learned = feed.LearnedWeights{Tags: 1, Author: 1, Lang: 1, Words: 1}
	return r
}

// replay is one run.
type replay struct {
	of      *Community
	o       Options
	past    *Past
	ranking feed.Ranking // parts, with the half-life
	index   *recallmemory.Source
	weights []PopularityWeight

	halfLives []time.Duration
	readers   []Readers                 // by item
	learning  map[string]*feed.Learning // by reader
	rarity    learning.Rarity
	coReads   coread.Store
	waiting   []coread.Act // not yet added
	list      []int        // scratch space
}

// Replay replays all clicks, and returns what the scores were made of just before each of the chosen
// ones, given as ascending indices. A click on an item that was no candidate then, as one at the item's
// own time, has no moment. The clicks of one second are one moment: none of them has happened before
// another.
//
// Everything that a click changes is computed by what the servers use. Items, profiles and their words
// are as given, not as they were; uploaded popularity is left out, as it is today's.
func Replay(ctx context.Context, c *Community, chosen []int, o Options) (_ []Moment, err error) {
	r, done, err := begin(ctx, c, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return r.run(ctx, chosen)
}

// begin returns a replay before the first click, and a function that ends it.
func begin(ctx context.Context, c *Community, o Options) (*replay, func() error, error) {
	r := &replay{
		of: c, o: o, past: NewPast(c.Items, o.Window), ranking: parts(), index: recallmemory.New(), weights: PopularityWeights(),
		readers: make([]Readers, len(c.Items)), learning: map[string]*feed.Learning{},
	}
	r.ranking.Learned.HalfLife = o.HalfLife
	for _, w := range r.weights {
		r.halfLives = append(r.halfLives, w.HalfLife)
	}
	r.index.Upsert(c.Items)
	dir, err := os.MkdirTemp("", "freshet-replay-")
	if err != nil {
		return nil, nil, err
	}
	store, err := coreadsqlite.Open(ctx, filepath.Join(dir, coreadsqlite.FileName))
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	r.coReads = store
	return r, func() error { return errors.Join(store.Close(context.WithoutCancel(ctx)), os.RemoveAll(dir)) }, nil
}

func (r *replay) run(ctx context.Context, chosen []int) (moments []Moment, err error) {
	clicks := r.of.Clicks
	for from, to := 0, 0; from < len(clicks); from = to {
		for to = from; to < len(clicks) && clicks[to].At == clicks[from].At; to++ {
			if len(chosen) == 0 || chosen[0] != to {
				continue
			}
			chosen = chosen[1:]
			m, ok, err := r.moment(ctx, &clicks[to])
			if err != nil {
				return nil, fmt.Errorf("at %s: %w", time.Unix(clicks[to].At, 0).UTC().Format(time.RFC3339), err)
			}
			if ok {
				moments = append(moments, m)
			}
		}
		for i := from; i < to; i++ {
			r.act(&clicks[i])
		}
		if r.o.Progress != nil {
			r.o.Progress(to)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return moments, nil
}

// act applies a click.
func (r *replay) act(c *Click) {
	it := &r.of.Items[c.Item]
	if it.By(c.Reader) {
		return
	}
	l := r.learning[c.Reader]
	if l == nil {
		l = &feed.Learning{}
		r.learning[c.Reader] = l
	}
	act := feed.LearningAct{Kind: feed.Clicked, Group: it.Group(), Features: r.rarity.Features(it), At: time.Unix(c.At, 0)}
	l.Add([]feed.LearningAct{act}, r.o.HalfLife, time.Unix(c.At, 0))
	r.waiting = append(r.waiting, coread.Act{Agent: coread.Agent(c.Reader), Item: it.ID, Dated: it.UpdateTime, At: c.At})
	if r.past.IsFirst(c.Reader, c.Item) {
		r.readers[c.Item].Add(c.At, r.halfLives)
		r.past.Add(c.Reader, c.Item)
	}
}

// moment returns what the scores are made of just before a click; false if its item is no candidate.
func (r *replay) moment(ctx context.Context, c *Click) (m Moment, ok bool, err error) {
	profile := r.of.Profiles[c.Reader]
	r.list = r.past.Candidates(c.Reader, c.At, r.list[:0])
	r.list = slices.DeleteFunc(r.list, func(i int) bool {
		it := &r.of.Items[i]
		return it.By(c.Reader) || profile.Refuses(it)
	})
	m = Moment{At: c.At, Reader: c.Reader, Of: len(r.list)}
	group := r.of.Items[c.Item].Group()
	isClicked := func(i int) bool { return r.of.Items[i].Group() == group }
	if !slices.ContainsFunc(r.list, isClicked) {
		return m, false, nil
	}
	r.list = some(r.list, r.o.Most, isClicked, c)
	m.Clicked = slices.IndexFunc(r.list, isClicked)
	for _, i := range r.list {
		m.Ages = append(m.Ages, int32(min(c.At-r.of.Items[i].UpdateTime, 1<<31-1)))
	}
	r.addReaders(&m)
	if err := r.addRelevance(ctx, &m, profile); err != nil {
		return m, false, err
	}
	return m, true, r.addNear(ctx, &m)
}

// some returns at most so many of the candidates, in their order: the one that is clicked, and others
// at random, always the same ones for a click.
func some(list []int, most int, isClicked func(int) bool, c *Click) []int {
	if len(list) <= most {
		return list
	}
	hash := fnv.New64a()
	hash.Write([]byte(c.Reader))
	random := rand.New(rand.NewPCG(hash.Sum64(), uint64(c.At)))
	clicked := slices.IndexFunc(list, isClicked)
	list[0], list[clicked] = list[clicked], list[0]
	others := list[1:]
	random.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	list = list[:most]
	slices.SortFunc(list, func(a, b int) int { return b - a })
	return list
}

func (r *replay) addReaders(m *Moment) {
	m.Readers = make([][]float32, len(r.weights))
	for k, i := range r.list {
		if r.readers[i].Count == 0 {
			continue
		}
		for h, halfLife := range r.halfLives {
			if m.Readers[h] == nil {
				m.Readers[h] = make([]float32, len(r.list))
			}
			m.Readers[h][k] = float32(feed.LogCount(r.readers[i].Decayed(h, m.At, halfLife)))
		}
	}
}

// addRelevance adds what the reader has declared and what was learned about them.
func (r *replay) addRelevance(ctx context.Context, m *Moment, profile feed.Profile) error {
	profile.Learned = feed.Learned{}
	l := r.learning[m.Reader]
	if l != nil {
		profile.Learned = l.Learned()
	}
	if len(profile.Interests)+len(profile.Keywords)+len(profile.Learned.Features) == 0 {
		return nil
	}
	for _, e := range profile.Learned.Effects(r.ranking.Learned, tiny, m.At) {
		m.totals[kindOf(e.Kind)] += e.Score / tiny
	}
	ids := make([]string, len(r.list))
	for k, i := range r.list {
		ids[k] = r.of.Items[i].ID
	}
	q := feed.Query{Agent: m.Reader, Profile: profile, Ranking: r.ranking, Origin: time.Unix(m.At, 0)}
	all, err := r.index.Explain(ctx, q, ids)
	if err != nil {
		return err
	}
	for k := range all {
		for _, g := range all[k].Tags {
			m.add(&m.Declared, k, g.Score)
		}
		for _, g := range all[k].Keywords {
			if g.In == recall.InSummary {
				m.add(&m.Summaries, k, g.Score)
			} else {
				m.add(&m.Declared, k, g.Score)
			}
		}
		for _, g := range all[k].Learned {
			m.add(&m.Learned[kindOf(g.Kind)], k, g.Score/tiny)
		}
	}
	return nil
}

// add adds a value to the entry of a candidate in a list.
func (m *Moment) add(list *[]float32, candidate int, value float64) {
	if *list == nil {
		*list = make([]float32, len(m.Ages))
	}
	(*list)[candidate] += float32(value)
}

func kindOf(kind feed.FeatureKind) int {
	for i, l := range learned {
		if l.kind == kind {
			return i
		}
	}
	return 0
}

// addNear adds how near the candidates are to what the reader has read.
func (r *replay) addNear(ctx context.Context, m *Moment) error {
	if len(r.waiting) > 0 {
		if err := r.coReads.Add(ctx, r.waiting); err != nil {
			return err
		}
		r.waiting = r.waiting[:0]
	}
	reads, err := r.coReads.Reads(ctx, coread.Agent(m.Reader), nil)
	if err != nil || len(reads) == 0 {
		return err
	}
	ids := make([]string, len(r.list))
	for k, i := range r.list {
		ids[k] = r.of.Items[i].ID
	}
	m.Near, err = r.coReads.Near(ctx, reads, ids, m.At, nil)
	if len(m.Near) == 0 {
		m.Near = nil
	}
	return err
}
