package server

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/social"
)

var (
	placesSeed  = flag.Uint64("places.seed", 1, "first seed of the test that reads in all places; 0: by the clock, to find something new")
	placesGiven = flag.Int("places.given", 800, "how many items and posts its readers are given, in each mode, without faults and with them")
)

// placesPerWorld is the number of items that the readers of one system are given before the next
// system, with other settings, begins.
const placesPerWorld = 400

// TestDedupAcrossFeedsModel has readers read for-you, home, named feeds, timelines and authors' pages
// in random order, on several devices and servers at once, with pauses beyond the grace period, retries,
// reports and many changes meanwhile; once without faults and once with them. No feed may repeat
// within the window what any of them has shown, unless it says so; a named feed repeats nothing that it
// has shown itself, and says so of exactly what others have shown. A failure names its seed and
// lists the steps.
//
// scripts/random_feeds.sh runs it until readers were given 20,000 items in each.
func TestDedupAcrossFeedsModel(t *testing.T) {
	t.Parallel()
	first := *placesSeed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	for _, m := range networks {
		for name, faults := range map[string]bool{"no fault": false, "faults": true} {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				m.config(t) // skips the test here if services are missing, instead of in each seed
				given, tolerated := 0, 0
				for seed := first; given < testenv.Schedules(*placesGiven) && !t.Failed(); seed++ {
					t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
						p := newPlaces(t, m, seed, faults)
						defer p.tell(t)
						for p.given < placesPerWorld && given+p.given < testenv.Schedules(*placesGiven) && !t.Failed() {
							p.step(t)
						}
						given, tolerated = given+p.given, tolerated+p.tolerated
					})
				}
				t.Logf("%d given, %d of them again and said so", given, tolerated)
			})
		}
	}
}

// places is a system with several feeds and timelines, and the model of what its readers were
// shown.
type places struct {
	*world
	withFaults bool
	flaky      map[*server]*flaky // if there are faults

	all      []string // readers
	authors  []string
	shownTo  map[string]map[string]sighting // by reader, and by group or id
	cursors  map[string]social.Position     // position in a reader's timeline
	asked    []*askedBefore
	turn     int                // number of the step
	recorded []dedup.Impression // shown since the last pause
	posts    int

	given, tolerated int
}

func newPlaces(t *testing.T, m mode, seed uint64, faults bool) *places {
	p := &places{
		world: &world{
			mode: m, cfg: m.config(t), rnd: rand.New(rand.NewPCG(seed, 1)), clock: at(noon), items: map[string]feed.Item{}, removed: map[string]feed.Item{}, readers: map[string]*reader{},
		},
		withFaults: faults, flaky: map[*server]*flaky{},
		shownTo: map[string]map[string]sighting{}, cursors: map[string]social.Position{},
	}
	cfg := &p.cfg
	cfg.Recall.N = 30 + p.rnd.IntN(120)
	cfg.Dedup.FalsePositiveRate, cfg.Dedup.DailyCapacity = 1e-9, 20_000
	cfg.Dedup.WhenExhausted = []string{configs.ExhaustedStop, configs.ExhaustedOldest}[p.rnd.IntN(2)]
	if seed%3 == 0 {
		cfg.Impressions.On = configs.OnSeen
	}
	if m.name == "services" {
		if faults {
			cfg.Server.RequestTimeout = modelTimeout
			cfg.Dedup.OnFailure = []string{configs.FailOpen, configs.FailClosed}[p.rnd.IntN(2)]
		}
	}
	p.say("impressions on %s, exhausted %s, n %d, failing %s",
		cfg.Impressions.On, cfg.Dedup.WhenExhausted, cfg.Recall.N, cfg.Dedup.OnFailure)
	p.apps = append(p.apps, p.begin(t))
	p.fill(t)
	if m.name == "services" { // waits until the index of the first one can be searched
		p.apps = append(p.apps, p.begin(t))
	}
	p.loadHomeSources(t)
	return p
}

// begin starts a server. With faults its engine uses stores that can fail.
func (p *places) begin(t *testing.T) *server {
	t.Helper()
	s := p.start(t, p.cfg)
	if p.withFaults {
		p.flaky[s] = makeFlaky(t, s.App)
		s.feed = s.Engine
	}
	return s
}

// fill creates readers with follows, and enough for them to read.
func (p *places) fill(t *testing.T) {
	t.Helper()
	for i := range 4 {
		p.authors = append(p.authors, fmt.Sprint("ann_", i))
	}
	store := p.store()
	for i := range 2 {
		reader := fmt.Sprint("u_", i)
		p.all = append(p.all, reader)
		p.shownTo[reader] = map[string]sighting{}
		for _, author := range p.authors[:3+i] {
			_, err := store.Follow(t.Context(), reader, author, time.Time{})
			require.NoError(t, err)
		}
	}
	var items []feed.Item
	for range 150 {
		it := p.newItem(time.Duration(p.rnd.IntN(24*3600)) * time.Second)
		it.Likes = int64(p.rnd.IntN(3) * 100)
		p.items[it.ID] = it
		items = append(items, it)
	}
	put(t, p.apps[0].App, items...)
	for range 60 {
		p.post(t, time.Duration(p.rnd.IntN(24*3600))*time.Second)
	}
	for i := range 4 {
		require.NoError(t, store.PutPromotion(t.Context(), social.Promotion{
			ID: fmt.Sprint("p", i), ItemID: p.anyItem(), From: noon.Unix(), Until: noon.AddDate(0, 1, 0).Unix(), Weight: 1,
		}))
	}
	p.published(t)
	waitTrending(t, p.apps[0].App)
}

// loadHomeSources makes all servers load the promotions and the trending set, which they otherwise
// do periodically.
func (p *places) loadHomeSources(t *testing.T) {
	t.Helper()
	for _, s := range p.apps {
		require.NoError(t, s.network.promotions.Refresh(t.Context()))
		_ = s.trending.Update(t.Context())
	}
}

func (p *places) store() social.Store         { return p.apps[0].network.fanout.Store() }
func (p *places) anyOf(names []string) string { return names[p.rnd.IntN(len(names))] }

func (p *places) post(t *testing.T, age time.Duration) {
	t.Helper()
	id := fmt.Sprint("post:", p.posts)
	p.posts++
	at := p.clock.Now().Add(-age)
	_, _, err := p.store().CreatePost(t.Context(), social.Post{
		ID: id, Author: p.anyOf(p.authors), Caption: "Only " + id, CreatedAt: at.Unix(),
		Audience: social.Audience{Public: p.posts%4 > 0, Followers: p.posts%4 == 0},
	}, social.Creation{At: at})
	require.NoError(t, err)
}

// published waits until all writes are searchable.
func (p *places) published(t *testing.T) {
	t.Helper()
	waitSettled(t, p.apps[0].App)
	refreshIndex(t, p.apps[0].App)
}

// pause moves the clock as the passing of time does: deliveries are recorded first, and after the
// grace period they leave the pending sets.
func (p *places) pause(t *testing.T, d time.Duration) {
	t.Helper()
	p.settleDown()
	for _, s := range p.apps {
		waitRecorded(t, s.App)
	}
	if d > p.cfg.PendingGrace() {
		require.NoError(t, p.apps[0].stores.dedup.ClearPending(t.Context(), p.recorded))
		p.recorded = nil
	}
	p.clock.Advance(d)
	p.say("%s later", d)
}

func (p *places) step(t *testing.T) {
	t.Helper()
	p.turn++
	s, reader := p.anyServer(), p.anyOf(p.all)
	switch n := p.rnd.IntN(100); {
	case n < 40:
		p.feed(t, s, p.ask(reader))
	case n < 52:
		p.timeline(t, s, reader)
	case n < 58:
		p.author(t, s, reader)
	case n < 64:
		p.again(t)
	case n < 68:
		p.devices(t, reader)
	case n < 71:
		p.report(t, s, reader)
	case n < 74:
		p.readOnlyCalls(t, s, reader)
	case n < 90:
		p.pause(t, []time.Duration{
			time.Second, time.Minute, time.Minute, time.Minute, 2 * time.Minute, 10 * time.Minute, 31 * time.Minute, 26 * time.Hour,
		}[p.rnd.IntN(8)])
	case n < 98:
		p.change(t, s, reader)
	default:
		p.replaceServer(t)
	}
}

// change performs a random change other than reading.
func (p *places) change(t *testing.T, s *server, reader string) {
	t.Helper()
	switch p.rnd.IntN(6) {
	case 0, 1:
		it := p.newItem(time.Duration(p.rnd.IntN(3600)) * time.Second) // or an edit, with another group
		p.items[it.ID] = it
		p.say("put %s of group %s", it.ID, it.Group())
		put(t, s.App, it)
	case 2:
		p.say("a post")
		p.post(t, 0)
		p.published(t)
	case 3:
		id := p.anyItem()
		p.say("remove %s", id)
		require.NoError(t, s.Catalog.Remove(t.Context(), id))
		delete(p.items, id)
		refreshIndex(t, s.App)
	case 4:
		var profile feed.Profile
		if p.rnd.IntN(2) == 0 {
			profile.MutedAuthors = []string{p.anyOf(p.authors)}
		}
		p.say("%s mutes %v", reader, profile.MutedAuthors)
		require.NoError(t, s.Engine.PutProfile(t.Context(), reader, profile))
	default:
		author := p.anyOf(p.authors)
		_, err := p.store().Follow(t.Context(), reader, author, time.Time{})
		if p.rnd.IntN(2) == 0 {
			_, err = p.store().Unfollow(t.Context(), reader, author, time.Time{})
		}
		require.NoError(t, err)
		p.say("%s follows %s, or not any more", reader, author)
		p.published(t)
	}
}

// replaceServer replaces a server with a new one on the same data, when nothing is in progress.
func (p *places) replaceServer(t *testing.T) {
	t.Helper()
	i := p.rnd.IntN(len(p.apps))
	p.say("server %d starts anew", i)
	p.pause(t, time.Second)
	p.apps[i].stop(t)
	p.apps[i] = p.begin(t)
	p.loadHomeSources(t)
}

var quiet = slog.New(slog.DiscardHandler)

// ask returns a call of a feed, mostly load_more, so that sessions get old before they end.
func (p *places) ask(reader string) engine.Request {
	r := p.request(reader)
	if p.rnd.IntN(2) == 0 {
		r.Action = engine.ActionLoadMore
	}
	switch p.rnd.IntN(6) {
	case 0, 1:
		r.Feed = feed.HomeFeed
	case 2, 3:
		r.Feed = []feed.Name{"tag:red", "tag:blue", "lang:de"}[p.rnd.IntN(3)]
	}
	return r
}

// armFault occasionally arms one fault for the next action of a server. The returned function ends
// it.
func (p *places) armFault(s *server, worst trouble) (over func()) {
	f := p.flaky[s]
	if f == nil {
		return func() {}
	}
	if p.rnd.IntN(6) == 0 {
		f.unread.Store(int64(1 + p.rnd.IntN(3)))
	}
	if p.rnd.IntN(6) == 0 {
		f.broken.Store(int64(1 + p.rnd.IntN(4)))
	}
	repaired := func() {}
	if p.rnd.IntN(3) == 0 {
		repaired = p.trouble(s, worst)
	}
	return func() {
		repaired()
		f.unread.Store(0)
		f.broken.Store(0)
	}
}

// mayFail reports whether a call has failed, which only faults may cause.
func (p *places) mayFail(t *testing.T, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	of := []error{catalog.ErrUnavailable, cache.ErrUnavailable, dedup.ErrUnavailable, recall.ErrUnavailable, social.ErrUnavailable, feed.ErrUnavailable, context.DeadlineExceeded}
	if !p.withFaults || !slices.ContainsFunc(of, func(e error) bool { return errors.Is(err, e) }) {
		require.NoError(t, err)
	}
	return true
}

// written waits until a server has written its impressions from an outage of Redis: other servers
// do not know them before.
func (p *places) written(t *testing.T, s *server, reader string, keys []string) {
	t.Helper()
	store, shared := s.stores.dedup.(*redisbloom.Store)
	if !shared || s.stores.spool == nil || len(keys) == 0 {
		return
	}
	testenv.WaitFor(t, func() bool {
		if !p.served() {
			checked, err := store.Check(t.Context(), reader, keys, p.clock.Now())
			return err == nil && !slices.Contains(checked.Verdicts, dedup.Unseen)
		}
		recorded, err := store.Recorded(t.Context(), reader, keys, p.clock.Now())
		return err == nil && !slices.Contains(recorded, false)
	}, "what was shown without Redis is written")
	for _, other := range p.apps {
		waitRedisAnswers(t, other.App)
	}
}
