package server

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

type answered struct {
	request engine.Request
	ids     []string
	groups  []string // of the ids
	marked  []string // the ids that were marked as shown before
	more    bool
	at      time.Time
	real    time.Time
}

func newReader() *reader {
	return &reader{shown: map[string]shown{}, scopes: map[feed.Name]map[string]shown{}}
}

// may reports whether the item may be shown now, by what was shown.
func (w *world) may(before map[string]shown, it feed.Item) bool {
	now := w.clock.Now()
	for _, key := range keys(it) {
		s, was := before[key]
		switch {
		case was && !s.again.IsZero() && now.Sub(s.again) <= w.cfg.PendingTTL():
			return false
		case !was, s.sessionless:
		case s.seen && feed.DayOf(now)-feed.DayOf(s.at) < 7:
			return false
		case !s.seen && now.Sub(s.at) <= w.cfg.PendingTTL():
			return false
		}
	}
	return true
}

// unsure reports whether it is unknown if the item may be shown: it was shown by a server that may
// die before it records it, or that alone knows of it.
func unsure(before map[string]shown, it feed.Item) bool {
	return slices.ContainsFunc(keys(it), func(key string) bool { return before[key].fuzzy || before[key].sessionless })
}

// due returns the groups that the reader must eventually be given in a feed. Of a group that now has a member
// which was shown before, recall may propose that member.
func (w *world) due(r *reader, name feed.Name) map[string]string {
	out := map[string]string{}
	shown := map[string]bool{}
	before := r.before(name)
	for id, it := range w.items {
		switch {
		case !w.selects(name, it):
		case !w.may(before, it) || unsure(before, it):
			shown[it.Group()] = true
		case w.shows(r, it):
			out[it.Group()] = id
		}
	}
	maps.DeleteFunc(out, func(group, _ string) bool { return shown[group] })
	return out
}

func (w *world) shows(r *reader, it feed.Item) bool {
	return it.UpdateTime <= w.clock.Now().Unix() && !r.profile.Refuses(&it)
}

func (w *world) call(t *testing.T, s *server, r engine.Request) engine.Answer {
	t.Helper()
	who := w.readers[r.Agent]
	own, other := who.flows(r.Feed)
	due := w.due(who, r.Feed)
	over := w.trouble(s, anyTrouble)
	answer, err := s.feed.Feed(t.Context(), r)
	over()
	if !w.exists(r.Feed) {
		require.ErrorIs(t, err, feed.ErrNotFound, "there is no feed %s", r.Feed)
		return answer
	}
	require.NoError(t, err)
	w.tellCall(r, answer)
	w.take(t, s, r, answer)
	if answer.Degraded != nil {
		w.recover(t, s, r.Agent, answer)
		who.disturb()
		return answer
	}
	if r.Action == engine.ActionLoadMore && own.more {
		assert.NotEmpty(t, answer.Docs, "has_more was true")
	}
	if len(answer.Docs) < r.Limit && !own.changed {
		assert.False(t, answer.HasMore, "a short page, and has_more")
	}
	if len(answer.Docs) == 0 && !answer.HasMore {
		assert.Empty(t, due, "an empty answer, but there is something")
	}
	own.more, own.changed = answer.HasMore, false
	other.disturb()
	return answer
}

func (w *world) tellCall(r engine.Request, answer engine.Answer) {
	w.say("%s %s %s of %d %s: %v, more %t, shown before %v", r.Agent, r.Feed, r.Action, r.Limit, r.RequestID, ids(answer), answer.HasMore, marked(answer))
}

// take checks the items of an answer against the model and records them.
func (w *world) take(t *testing.T, s *server, r engine.Request, answer engine.Answer) {
	t.Helper()
	who := w.readers[r.Agent]
	assert.LessOrEqual(t, len(answer.Docs), r.Limit)
	for i, got := range items(t, answer) {
		w.takeItem(t, s, r, got, answer, answer.Refs[i].ShownBefore)
	}
	who.last = ids(answer)
	w.remember(t, r, answer)
}

// remember notes an answer that a retry must repeat.
func (w *world) remember(t *testing.T, r engine.Request, answer engine.Answer) {
	t.Helper()
	who := w.readers[r.Agent]
	if r.RequestID != "" && !sessionless(answer) {
		var groups []string
		for _, it := range items(t, answer) {
			groups = append(groups, it.Group())
		}
		who.asked = append(who.asked, answered{r, ids(answer), groups, marked(answer), answer.HasMore, w.clock.Now(), time.Now()})
	}
}

// takeItem checks an item of an answer against the model and records it, of a named feed under its scope, too.
func (w *world) takeItem(t *testing.T, s *server, r engine.Request, got feed.Item, answer engine.Answer, again bool) {
	t.Helper()
	who := w.readers[r.Agent]
	before := who.before(r.Feed)
	if sessionless(answer) {
		assert.True(t, w.mayWithoutRedis(s, before, got), "%s of group %s was shown by this server lately", got.ID, got.Group())
		for _, key := range keys(got) {
			before[key] = shown{sessionless: true, by: before[key].by}
		}
	}
	w.check(t, who, r.Feed, got)
	if r.Feed.Named() && answer.Degraded == nil {
		w.checkMark(t, who, got, again)
	}
	served := w.cfg.Impressions.On == configs.OnServed
	for _, key := range keys(got) {
		w.record(s, r.Agent, who.shown, key, served, sessionless(answer))
		if r.Feed.Named() { // no report names a feed, so what it delivers is recorded at once
			w.record(s, r.Agent, before, key, served || !sessionless(answer), sessionless(answer))
		}
		if (served || r.Feed.Named()) && !s.lossy {
			s.confirmed = append(s.confirmed, w.confirmed(r, key, served)...)
		}
	}
}

// record notes that a server has shown a key.
func (w *world) record(s *server, agent string, in map[string]shown, key string, seen, without bool) {
	before := in[key]
	by := before.by
	if by == nil {
		by = map[*server]time.Time{}
	}
	by[s] = w.clock.Now()
	now := shown{at: w.clock.Now(), seen: seen, fuzzy: seen && s.lossy, sessionless: !seen && without, by: by}
	if !seen && before.seen { // by a named feed: the impression before it stays
		if !without {
			before.again = now.at
		}
		before.by = by
		now = before
	}
	in[key] = now
}

// check checks that an item is as it is stored, and may be in the feed now.
func (w *world) check(t *testing.T, who *reader, name feed.Name, got feed.Item) {
	t.Helper()
	want, exists := w.items[got.ID]
	if !assert.True(t, exists, "%s is deleted", got.ID) {
		return
	}
	assert.Equal(t, want.UpdateTime, got.UpdateTime, "%s is an old version", got.ID)
	assert.Equal(t, want.Group(), got.Group(), "%s is an old version", got.ID)
	assert.LessOrEqual(t, got.UpdateTime, w.clock.Now().Unix(), "%s is from the future", got.ID)
	assert.False(t, who.profile.Refuses(&got), "%s by %s is muted", got.ID, got.AuthorID)
	assert.True(t, w.selects(name, want), "%s is not in %s", got.ID, name)
	before := who.before(name)
	assert.True(t, w.may(before, got) || w.lost(before, got), "%s of group %s was shown in %s at %s", got.ID, got.Group(), name, before[got.Group()].at)
}

// retry repeats a call that is less than a minute old.
func (w *world) retry(t *testing.T) {
	t.Helper()
	agent, who := w.anyReader()
	if len(who.asked) == 0 {
		return
	}
	first := who.asked[len(who.asked)-1-w.rnd.IntN(min(3, len(who.asked)))]
	if w.clock.Now().Sub(first.at) >= 59*time.Second || time.Since(first.real) > 50*time.Second || !w.exists(first.request.Feed) {
		return
	}
	s := w.anyServer()
	over := w.trouble(s, aCut)
	answer, err := s.feed.Feed(t.Context(), first.request)
	over()
	require.NoError(t, err)
	w.say("%s again %s: %v, more %t", agent, first.request.RequestID, ids(answer), answer.HasMore)
	want := []string{}
	until := w.clock.Now().Add(5 * time.Minute).Unix() // the clock of who made the page may be ahead
	for i, id := range first.ids {                     // an item that changed its group would be newly chosen
		if it, ok := w.items[id]; ok && it.UpdateTime <= until && !who.profile.Refuses(&it) && it.Group() == first.groups[i] && w.selects(first.request.Feed, it) {
			want = append(want, id)
		}
	}
	if len(want) == len(first.ids) {
		assert.Equal(t, want, ids(answer), "the same request_id")
		assert.Equal(t, first.marked, marked(answer), "the same request_id")
		assert.Equal(t, first.more, answer.HasMore)
		return
	}
	// Items deleted since are replaced, as on the first delivery.
	if assert.GreaterOrEqual(t, len(answer.Docs), len(want)) && assert.Equal(t, want, ids(answer)[:len(want)], "the same request_id") {
		answer.Docs, answer.Refs = answer.Docs[len(want):], answer.Refs[len(want):]
		w.take(t, s, engine.Request{Agent: agent, Feed: first.request.Feed, Limit: first.request.Limit}, answer)
	}
	who.disturb()
}

// silent makes the same silent refresh twice: both must be equal, and have only due items.
func (w *world) silent(t *testing.T) {
	t.Helper()
	agent, who := w.anyReader()
	r := engine.Request{Agent: agent, Action: engine.ActionRefresh, Silent: true, Limit: 10, Feed: w.anyFeed()}
	if !w.exists(r.Feed) {
		return
	}
	s := w.anyServer()
	over := w.trouble(s, anyTrouble)
	answer, err := s.feed.Feed(t.Context(), r)
	over()
	require.NoError(t, err)
	again, err := s.feed.Feed(t.Context(), r)
	require.NoError(t, err)
	w.say("%s looks at %s: %v of %d", agent, r.Feed, ids(answer), answer.NewCount)
	if answer.Degraded == nil && again.Degraded == nil {
		assert.Equal(t, answer, again)
	}
	for _, got := range items(t, answer) {
		w.check(t, who, r.Feed, got)
	}
	assert.LessOrEqual(t, answer.NewCount, w.unseen(who, r.Feed), "the badge of %s", r.Feed)
}

// burst makes concurrent calls of two readers to all servers.
func (w *world) burst(t *testing.T) {
	t.Helper()
	type done struct {
		server  *server
		request engine.Request
		answer  engine.Answer
		err     error
	}
	all := make([]done, 8)
	w.say("a burst")
	for _, s := range w.apps {
		defer w.trouble(s, anyTrouble)()
	}
	var wg sync.WaitGroup
	for i := range all {
		d := &all[i]
		d.server, d.request = w.anyServer(), w.inAnyFeed(fmt.Sprintf("u_%d", i%2))
		wg.Go(func() { d.answer, d.err = d.server.feed.Feed(t.Context(), d.request) })
	}
	wg.Wait()
	for _, d := range all {
		if !w.exists(d.request.Feed) {
			require.ErrorIs(t, d.err, feed.ErrNotFound)
			continue
		}
		require.NoError(t, d.err)
		w.tellCall(d.request, d.answer)
	}
	// What a named feed marks was shown by another call, which may be one of these.
	for _, again := range []bool{false, true} {
		for _, d := range all {
			w.takeMarked(t, d.server, d.request, d.answer, again)
		}
	}
	for _, d := range all {
		if d.err == nil {
			w.remember(t, d.request, d.answer)
		}
		if d.answer.Degraded != nil {
			w.recover(t, d.server, d.request.Agent, d.answer)
		}
	}
	for _, agent := range []string{"u_0", "u_1"} { // it is unknown whose answer was last
		w.readers[agent].disturb()
	}
}

// drain pages to the end: then every due item has been delivered.
func (w *world) drain(t *testing.T, agent string, name feed.Name) {
	t.Helper()
	if !w.exists(name) {
		return
	}
	w.say("%s reads everything in %s", agent, name)
	for range 200 {
		r := engine.Request{Agent: agent, Feed: name, Action: engine.ActionLoadMore, Limit: 1 + w.rnd.IntN(20)}
		if answer := w.call(t, w.anyServer(), r); len(answer.Docs) == 0 && !answer.HasMore && !sessionless(answer) {
			return
		}
		if t.Failed() {
			return
		}
	}
	assert.NoError(t, fmt.Errorf("the feed %s does not end", name))
}
