package engine

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/freshet/freshet/engine/arrange"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/recall"
)

const (
	// youngLists is how many lists are kept, one for each set of languages that readers read, and
	// unread for how long.
	youngLists = 32
	youngFor   = time.Minute
	// youngWalk is how long a walk continues before it begins again with the newest items.
	youngWalk = 10 * time.Minute
	// mostPicked bounds the candidates of a list that are checked for one refresh.
	mostPicked = 100
)

// youngRanking is the ranking of the lists.
var youngRanking = feed.Ranking{Base: 1, Decay: feed.Decay{Scale: arrange.ExploreAge, Decay: 0.5}}

// youngItems provides lists of young items, also of those that no reader's recall returns, for
// exploration. All readers with the same languages share a list, so its items pass no other
// filter. A list is twice as long as a recall, so it has items that are in no recall for readers
// without a profile. The next second has another list: the lists walk through all young items, the
// newest first.
//
// There is one query a second at most, whatever the number of readers. With lists for several sets
// of languages, each is replaced in its turn, after as many seconds as there are lists.
type youngItems struct {
	cfg     *Config
	source  recall.Source
	flights singleflight.Group

	mu    sync.Mutex
	lists map[string]*youngList // by languages
}

// youngList is the present list of a walk.
type youngList struct {
	at    time.Time // the origin of the refresh that it was made for
	items []feed.Candidate
	begun time.Time // the origin of the walk
	next  string    // cursor; "" at its end
}

func newYoungItems(cfg *Config, source recall.Source) *youngItems {
	return &youngItems{cfg: cfg, source: source, lists: map[string]*youngList{}}
}

// ask returns a function that returns the list for a query, which is read-only. If there is none
// yet, it starts to read one, so that this and the recall of the query run at the same time. Without
// an answer after a tenth of the request's time, or with an error, there is no list.
func (y *youngItems) ask(ctx context.Context, q *feed.Query) func() []feed.Candidate {
	langs := slices.Sorted(slices.Values(q.Profile.Langs))
	key, origin := strings.Join(langs, ","), q.Origin
	isOther := y.cfg.isPast(origin) || origin.After(y.cfg.Clock())
	if isOther { // an explanation of another time leaves the lists of readers alone
		key += origin.Format(time.RFC3339Nano)
	} else if items, ok := y.current(key, origin); ok {
		return func() []feed.Candidate { return items }
	}
	apart := context.WithoutCancel(ctx)
	flight := y.flights.DoChan(key, func() (items any, err error) {
		err = safego.Run(func() error {
			apart, cancel := context.WithTimeout(apart, cmp.Or(y.cfg.RoundsFor, time.Second))
			defer cancel()
			if isOther {
				items, err = y.read(apart, langs, &youngList{begun: origin})
				return err
			}
			items = y.renew(apart, key, langs, origin)
			return nil
		})
		return items, err
	})
	return func() []feed.Candidate {
		select {
		case got := <-flight:
			items, _ := got.Val.([]feed.Candidate)
			return items
		case <-ctx.Done():
			return nil
		}
	}
}

// current returns the list for an origin. ok is false if it must be replaced.
func (y *youngItems) current(key string, origin time.Time) (items []feed.Candidate, ok bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	l := y.lists[key]
	if l == nil {
		return nil, false
	}
	age := origin.Sub(l.at)
	isAhead := age < -feed.ActTolerance // the clock was set back
	return l.items, !isAhead && age < time.Duration(len(y.lists))*time.Second
}

// renew replaces a list by the next one of its walk. If it cannot be read, there is none until the
// next second.
func (y *youngItems) renew(ctx context.Context, key string, langs []string, origin time.Time) []feed.Candidate {
	if items, ok := y.current(key, origin); ok { // another call was faster
		return items
	}
	next, some := y.next(key, origin)
	if !some {
		return nil
	}
	next.items, _ = y.read(ctx, langs, &next)
	y.mu.Lock()
	defer y.mu.Unlock()
	y.lists[key] = &next
	return next.items
}

// next returns the list after the present one, without its items. some is false if there are too
// many lists already.
func (y *youngItems) next(key string, origin time.Time) (next youngList, some bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for other, l := range y.lists {
		if other != key && origin.Sub(l.at) > youngFor {
			delete(y.lists, other)
		}
	}
	next = youngList{at: origin, begun: origin}
	l, known := y.lists[key]
	if !known {
		return next, len(y.lists) < youngLists
	}
	walked := origin.Sub(l.begun)
	if l.next != "" && walked >= 0 && walked < youngWalk {
		next.begun, next.next = l.begun, l.next
	}
	return next, true
}

// read reads the next items of a walk.
func (y *youngItems) read(ctx context.Context, langs []string, l *youngList) ([]feed.Candidate, error) {
	q := feed.Query{
		Profile: feed.Profile{Langs: langs}, Ranking: youngRanking, Origin: l.begun, Since: l.begun.Add(-arrange.ExploreAge),
		N: min(2*y.cfg.N, largestRound), After: l.next,
	}
	l.next = ""
	got, err := recallFrom(ctx, y.source, q)
	l.next = got.Next
	return got.Candidates, err
}

// pickYoung picks some of the young items at random, for exploration, and has them checked with the
// first portion. It leaves out what this portion has and what the reader mutes; a muted tag that is
// not the first of its item is found when the page is read, as is everything that has changed.
func (r *rounds) pickYoung() {
	young := r.young
	r.young = nil
	if len(young) == 0 {
		return
	}
	most := min(mostPicked, int(math.Ceil(r.query.Ranking.Explore.Share*float64(r.stages.cfg.N))))
	refusals := r.query.Profile.Refusals()
	h := fnv.New64a()
	_, _ = h.Write([]byte(r.agent))
	random := rand.New(rand.NewPCG(^h.Sum64(), uint64(r.query.Origin.Unix())))
	r.indices = r.indices[:0]
	for i := range young {
		r.indices = append(r.indices, int32(i))
	}
	for i := 0; i < len(young) && len(r.picked) < most; i++ {
		at := i + random.IntN(len(young)-i)
		c := &young[r.indices[at]]
		r.indices[at] = r.indices[i]
		if r.mayExplore(c, refusals) {
			r.picked = append(r.picked, *c)
			r.refs = append(r.refs, feed.Ref{ID: c.ID, Group: c.Group})
		}
	}
	r.keys = feed.AppendKeys(r.keys, r.refs[len(r.fresh):])
}

// mayExplore reports whether a young item may be drawn for the reader, as far as its traits tell.
func (r *rounds) mayExplore(c *feed.Candidate, refusals *feed.Refusals) bool {
	_, recalled := r.proposed[c.Group]
	q := &r.query
	isYoung := c.UpdateTime >= q.Origin.Add(-arrange.ExploreAge).Unix() && c.UpdateTime <= q.Origin.Unix()
	isNew := q.Since.IsZero() || c.UpdateTime > q.Since.Unix()
	if recalled || !isYoung || !isNew {
		return false
	}
	_, muted := refusals.Tag([]string{c.Tag})
	muted = muted || refusals.Ref(feed.Ref{ID: c.ID, Group: c.Group}) || refusals.Author(c.Author)
	for author := range strings.SplitSeq(c.Coauthors, "\x00") {
		muted = muted || refusals.Author(author)
	}
	return !muted && !c.By(r.agent)
}

// withBeyond makes the survivors and the young items beyond recall placeable, and returns the number
// of those items: without what a later portion has.
func (r *rounds) withBeyond() (beyond int) {
	r.placeable = r.applyCoRead(true)
	isScored := r.coRead.some
	for _, c := range r.beyond {
		_, recalled := r.proposed[c.Group]
		if !recalled {
			r.placeable = append(r.placeable, c)
		}
	}
	beyond = len(r.placeable) - len(r.survivors)
	if isScored {
		r.coRead.scored = r.placeable[:len(r.survivors)] // the same array, so that it returns to the pool
	} else {
		r.survivors = r.placeable[:len(r.survivors)]
	}
	return beyond
}
