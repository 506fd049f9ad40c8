package server

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
)

// sighting is the time and the way in which a reader was last shown something.
type sighting struct {
	counted time.Time // as an impression, for a window; zero means never
	offered time.Time // not reported yet, for sessions.ttl; zero means never
	turn    int       // the step
	listed  bool      // on a page without a session, or in a report
	unnoted bool      // the page announced that a feed may show it again
}

type askedBefore struct {
	request  engine.Request
	keys     []string // of the answer
	answered bool
	turn     int
	at       time.Time
	real     time.Time
}

// heldBack returns the last sighting of any of the keys, and whether it must not be shown again.
func (p *places) heldBack(reader string, keys []string) (sighting, bool) {
	now := p.clock.Now()
	for _, key := range keys {
		s, was := p.shownTo[reader][key]
		if was && (feed.DayOf(now)-feed.DayOf(s.counted) < 7 || now.Sub(s.offered) <= p.cfg.PendingTTL()) {
			return s, true
		}
	}
	return sighting{}, false
}

// show records what a reader is shown, as an impression or, with impressions.on: seen, as an offer.
func (p *places) show(reader string, keys []string, as sighting, counts bool) {
	for _, key := range keys {
		if counts {
			p.recorded = append(p.recorded, dedup.Impression{Agent: reader, Group: key})
		}
		before := p.shownTo[reader][key]
		if _, held := p.heldBack(reader, []string{key}); held && !before.unnoted && as.unnoted {
			continue // the earlier record holds it back as long as before
		}
		next := as
		next.turn, next.counted, next.offered = p.turn, before.counted, before.offered
		if counts {
			next.counted = p.clock.Now()
		} else {
			next.offered = p.clock.Now()
		}
		p.shownTo[reader][key] = next
	}
}

func (p *places) served() bool { return p.cfg.Impressions.On == configs.OnServed }

func (p *places) feed(t *testing.T, s *server, r engine.Request) {
	t.Helper()
	over := p.armFault(s, anyTrouble)
	answer, err := s.feed.Feed(t.Context(), r)
	over()
	p.enter(t, s, r, answer, err, nil)
}

// enter checks an answer of a feed against the sightings of the reader. first is the call that this
// one repeats.
func (p *places) enter(t *testing.T, s *server, r engine.Request, answer engine.Answer, err error, first *askedBefore) {
	t.Helper()
	p.say("%s %s %s of %d %s: %v, again %v, degraded %v, %v", r.Agent, r.Feed, r.Action, r.Limit, r.RequestID, ids(answer), answer.Refs, answer.Degraded, err)
	failed := p.mayFail(t, err)
	if first == nil && r.RequestID != "" {
		first = &askedBefore{request: r, turn: p.turn, at: p.clock.Now(), real: time.Now()}
		p.asked = append(p.asked, first)
	}
	if !failed {
		var all []string
		for i, doc := range answer.Docs {
			keys := p.keysOf(t, doc)
			all = append(all, keys...)
			p.given++
			marked := answer.Refs != nil && answer.Refs[i].ShownBefore
			if r.Feed.Named() {
				p.checkNamed(t, r, keys, answer, marked, first)
			} else {
				p.check(t, r, keys, answer, marked, first)
			}
		}
		p.show(r.Agent, all, sighting{}, p.served())
		own := ownKeys(r.Feed, all)
		p.show(r.Agent, own, sighting{}, p.served() || !sessionless(answer))
		if sessionless(answer) {
			p.written(t, s, r.Agent, all)
		}
		if first != nil {
			first.keys, first.answered = append(append(first.keys, all...), own...), true
		}
	}
}

// check checks one entry of an answer against the model.
func (p *places) check(t *testing.T, r engine.Request, keys []string, answer engine.Answer, marked bool, first *askedBefore) {
	t.Helper()
	if marked {
		p.tolerated++
		assert.Equal(t, configs.ExhaustedOldest, p.cfg.Dedup.WhenExhausted, "%v says that it was shown before", keys)
		was := slices.ContainsFunc(keys, func(key string) bool { _, was := p.shownTo[r.Agent][key]; return was })
		assert.True(t, was || p.withFaults, "%v was not shown before", keys) // items of a failed call that could not be restored count as shown
		return
	}
	was, held := p.heldBack(r.Agent, keys)
	switch {
	case !held:
	case was.unnoted, sessionless(answer):
		p.tolerated++ // that page, or this one, announced it
	case first != nil && slices.Contains(first.keys, keys[len(keys)-1]):
		p.given-- // the same page
	case first != nil && !first.answered && was.listed && was.turn > first.turn:
		p.given-- // it was handed out before it was listed
	default:
		t.Errorf("%s is shown %v again in %s in turn %d: before that in turn %d, listed %t (counted %s, offered %s)",
			r.Agent, keys, r.Feed, p.turn, was.turn, was.listed, was.counted.Format(time.DateTime), was.offered.Format(time.DateTime))
	}
}

// ownKeys returns the keys by which a named feed knows what it has shown itself.
func ownKeys(name feed.Name, keys []string) (own []string) {
	for _, key := range keys {
		if name.Named() {
			own = append(own, feed.ScopedKey(name.Scope(), key))
		}
	}
	return own
}

// checkNamed checks one entry of a named feed: it must not have shown it itself, and must mark it if and
// only if something else has.
func (p *places) checkNamed(t *testing.T, r engine.Request, keys []string, answer engine.Answer, marked bool, first *askedBefore) {
	t.Helper()
	p.check(t, r, ownKeys(r.Feed, keys), answer, false, first)
	was, held := p.heldBack(r.Agent, keys)
	switch {
	case marked == held, p.withFaults && marked, sessionless(answer), was.unnoted:
	case first != nil && first.answered && slices.Contains(first.keys, keys[len(keys)-1]): // as it was then
	case held && was.listed && (was.turn == p.turn || first != nil && was.turn > first.turn): // listed after that
	default:
		t.Errorf("%s is shown %v in %s in turn %d, marked %t: before that in turn %d, listed %t (counted %s, offered %s)",
			r.Agent, keys, r.Feed, p.turn, marked, was.turn, was.listed, was.counted.Format(time.DateTime), was.offered.Format(time.DateTime))
	}
}

// again repeats a call that is less than a minute old, on any server.
func (p *places) again(t *testing.T) {
	t.Helper()
	if len(p.asked) == 0 {
		return
	}
	first := p.asked[len(p.asked)-1-p.rnd.IntN(min(4, len(p.asked)))]
	if p.clock.Now().Sub(first.at) >= 59*time.Second || time.Since(first.real) > 50*time.Second {
		return
	}
	s := p.anyServer()
	over := p.armFault(s, aCut)
	answer, err := s.feed.Feed(t.Context(), first.request)
	over()
	p.enter(t, s, first.request, answer, err, first)
}

// timeline reads a page of a timeline, from the newest post or below the previous page.
func (p *places) timeline(t *testing.T, s *server, reader string) {
	t.Helper()
	over := p.armFault(s, anyTrouble)
	page, err := s.network.timelines.Timeline(t.Context(), p.nextOf(reader))
	over()
	p.list(t, s, reader, "timeline", page, err)
}

func (p *places) nextOf(reader string) timeline.Request {
	r := timeline.Request{Agent: reader, Limit: 1 + p.rnd.IntN(8)}
	if p.rnd.IntN(3) > 0 {
		r.Below = p.cursors[reader]
	}
	return r
}

// author reads a page of an author, sometimes without being signed in.
func (p *places) author(t *testing.T, s *server, reader string) {
	t.Helper()
	r := timeline.AuthorRequest{Reader: reader, Author: p.anyOf(p.authors), Limit: 1 + p.rnd.IntN(6)}
	if p.rnd.IntN(4) == 0 {
		r.Reader = ""
	}
	over := p.armFault(s, anyTrouble)
	page, err := s.network.timelines.Author(t.Context(), r)
	over()
	p.list(t, s, r.Reader, "author", page, err)
}

// list records a page without a session. It may repeat posts.
func (p *places) list(t *testing.T, s *server, reader, what string, page timeline.Page, err error) {
	t.Helper()
	var keys []string
	for _, c := range page.Posts {
		keys = append(keys, c.ID)
	}
	p.say("%s reads %s: %v, degraded %v, %v", reader, what, keys, page.Degraded, err)
	if p.mayFail(t, err) || reader == "" {
		return
	}
	if what == "timeline" {
		p.cursors[reader] = page.Next
		if !page.HasMore {
			delete(p.cursors, reader)
		}
	}
	p.given += len(keys)
	unnoted := slices.Contains(page.Degraded, "session")
	if unnoted && s.stores.spool != nil {
		p.written(t, s, reader, keys)
		unnoted = false
	}
	p.show(reader, keys, sighting{listed: true, unnoted: unnoted}, p.served())
}

// report has a client report what it has shown.
func (p *places) report(t *testing.T, s *server, reader string) {
	t.Helper()
	var list []string
	for range 1 + p.rnd.IntN(4) {
		list = append(list, p.anyItem())
	}
	over := p.armFault(s, aCut)
	err := s.feed.Seen(t.Context(), reader, list)
	over()
	p.say("%s has seen %v, %v", reader, list, err)
	if p.mayFail(t, err) {
		return
	}
	for _, id := range list {
		p.show(reader, keys(p.items[id]), sighting{listed: true}, true)
	}
}

// readOnlyCalls makes calls without side effects: a badge counts new items, an explanation lists
// the next ones, and the guest feed is the same for everybody.
func (p *places) readOnlyCalls(t *testing.T, s *server, reader string) {
	t.Helper()
	r := engine.Request{Agent: reader, Feed: p.ask(reader).Feed, Action: engine.ActionRefresh, Silent: true, Limit: 10}
	answer, err := s.feed.Feed(t.Context(), r)
	if p.mayFail(t, err) {
		return
	}
	for _, doc := range answer.Docs {
		keys := p.keysOf(t, doc)
		if r.Feed.Named() {
			keys = ownKeys(r.Feed, keys)
		}
		_, held := p.heldBack(reader, keys)
		assert.False(t, held && answer.Degraded == nil, "%s is no news", doc.ID)
	}
	_, err = s.feed.Explain(t.Context(), engine.ExplainRequest{Agent: reader, Feed: r.Feed, Limit: 5})
	p.mayFail(t, err)
	(&httpSystem{t, s.App}).call(reader, "GET", "/v1/feed/guest?limit=10", "")
}

// devices has one reader make concurrent calls from several devices to all servers.
func (p *places) devices(t *testing.T, reader string) {
	t.Helper()
	type call struct {
		server  *server
		request engine.Request
		answer  engine.Answer
		err     error
	}
	type look struct {
		server *server
		page   timeline.Page
		err    error
	}
	calls, looks := make([]call, 4), make([]look, 2)
	for _, s := range p.apps {
		defer p.armFault(s, anyTrouble)()
	}
	p.say("%s with several devices", reader)
	var wg sync.WaitGroup
	for i := range calls {
		c := &calls[i]
		c.server, c.request = p.anyServer(), p.ask(reader)
		wg.Go(func() { c.answer, c.err = c.server.feed.Feed(t.Context(), c.request) })
	}
	for i := range looks {
		l, r := &looks[i], p.nextOf(reader)
		l.server = p.anyServer()
		wg.Go(func() { l.page, l.err = l.server.network.timelines.Timeline(t.Context(), r) })
	}
	wg.Wait()
	// The order in which the answers would be valid one after the other: a timeline may repeat a
	// feed's items, and a page without the stores may repeat those of another server.
	// Named feeds come last: they may repeat what any other call has shown.
	slices.SortStableFunc(calls, func(a, b call) int {
		return cmp.Or(order(a.request.Feed.Named(), b.request.Feed.Named()), order(sessionless(a.answer), sessionless(b.answer)))
	})
	named := slices.IndexFunc(calls, func(c call) bool { return c.request.Feed.Named() })
	if named < 0 {
		named = len(calls)
	}
	for _, c := range calls[:named] {
		p.enter(t, c.server, c.request, c.answer, c.err, nil)
	}
	for _, l := range looks {
		p.list(t, l.server, reader, "timeline", l.page, l.err)
	}
	for _, c := range calls[named:] {
		p.enter(t, c.server, c.request, c.answer, c.err, nil)
	}
}

func order(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// keysOf returns the keys of an entry of an answer, its id last.
func (p *places) keysOf(t *testing.T, doc feed.Doc) []string {
	t.Helper()
	if feed.IsPost(doc.ID) {
		return []string{doc.ID}
	}
	var it feed.Item
	require.NoError(t, json.Unmarshal(doc.JSON, &it))
	return keys(it)
}
