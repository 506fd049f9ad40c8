package server

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

type answered struct {
	request engine.Request
	ids     []string
	groups  []string // of the ids
	more    bool
	at      time.Time
	real    time.Time
}

func newReader() *reader { return &reader{shown: map[string]shown{}} }

// may reports whether the item may be shown now.
func (w *world) may(r *reader, it feed.Item) bool {
	now := w.clock.Now()
	for _, key := range keys(it) {
		s, was := r.shown[key]
		switch {
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
func (r *reader) unsure(it feed.Item) bool {
	return slices.ContainsFunc(keys(it), func(key string) bool { return r.shown[key].fuzzy || r.shown[key].sessionless })
}

// due returns the groups that the reader must eventually be given. Of a group that now has a member
// which was shown before, recall may propose that member.
func (w *world) due(r *reader) map[string]string {
	out := map[string]string{}
	shown := map[string]bool{}
	for id, it := range w.items {
		switch {
		case !w.may(r, it) || r.unsure(it):
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
	due := w.due(who)
	over := w.trouble(s, anyTrouble)
	answer, err := s.feed.Feed(t.Context(), r)
	over()
	require.NoError(t, err)
	w.say("%s %s of %d %s: %v, more %t", r.Agent, r.Action, r.Limit, r.RequestID, ids(answer), answer.HasMore)
	w.take(t, s, r, answer)
	if answer.Degraded != nil {
		w.recover(t, s, r.Agent, answer)
		who.more, who.changed = false, true
		return answer
	}
	if r.Action == engine.ActionLoadMore && who.more {
		assert.NotEmpty(t, answer.Docs, "has_more was true")
	}
	if len(answer.Docs) < r.Limit && !who.changed {
		assert.False(t, answer.HasMore, "a short page, and has_more")
	}
	if len(answer.Docs) == 0 && !answer.HasMore {
		assert.Empty(t, due, "an empty answer, but there is something")
	}
	who.more, who.changed = answer.HasMore, false
	return answer
}

// take checks the items of an answer against the model and records them.
func (w *world) take(t *testing.T, s *server, r engine.Request, answer engine.Answer) {
	t.Helper()
	who := w.readers[r.Agent]
	assert.LessOrEqual(t, len(answer.Docs), r.Limit)
	for _, got := range items(t, answer) {
		if sessionless(answer) {
			assert.True(t, w.mayWithoutRedis(s, who, got), "%s of group %s was shown by this server lately", got.ID, got.Group())
			for _, key := range keys(got) {
				who.shown[key] = shown{sessionless: true, by: who.shown[key].by}
			}
		}
		w.check(t, who, got)
		served := w.cfg.Impressions.On == configs.OnServed
		for _, key := range keys(got) {
			by := who.shown[key].by
			if by == nil {
				by = map[*server]time.Time{}
			}
			by[s] = w.clock.Now()
			who.shown[key] = shown{at: w.clock.Now(), seen: served, fuzzy: served && s.lossy, sessionless: !served && sessionless(answer), by: by}
			if served && !s.lossy {
				s.confirmed = append(s.confirmed, dedup.Impression{Agent: r.Agent, Group: key})
			}
		}
	}
	who.last = ids(answer)
	if r.RequestID != "" && !sessionless(answer) {
		var groups []string
		for _, it := range items(t, answer) {
			groups = append(groups, it.Group())
		}
		who.asked = append(who.asked, answered{r, ids(answer), groups, answer.HasMore, w.clock.Now(), time.Now()})
	}
}

func (w *world) check(t *testing.T, who *reader, got feed.Item) {
	t.Helper()
	want, exists := w.items[got.ID]
	if !assert.True(t, exists, "%s is deleted", got.ID) {
		return
	}
	assert.Equal(t, want.UpdateTime, got.UpdateTime, "%s is an old version", got.ID)
	assert.Equal(t, want.Group(), got.Group(), "%s is an old version", got.ID)
	assert.LessOrEqual(t, got.UpdateTime, w.clock.Now().Unix(), "%s is from the future", got.ID)
	assert.False(t, who.profile.Refuses(&got), "%s by %s is muted", got.ID, got.AuthorID)
	assert.True(t, w.may(who, got), "%s of group %s was shown at %s", got.ID, got.Group(), who.shown[got.Group()].at)
}

// retry repeats a call that is less than a minute old.
func (w *world) retry(t *testing.T) {
	t.Helper()
	agent, who := w.anyReader()
	if len(who.asked) == 0 {
		return
	}
	first := who.asked[len(who.asked)-1-w.rnd.IntN(min(3, len(who.asked)))]
	if w.clock.Now().Sub(first.at) >= 59*time.Second || time.Since(first.real) > 50*time.Second {
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
		if it, ok := w.items[id]; ok && it.UpdateTime <= until && !who.profile.Refuses(&it) && it.Group() == first.groups[i] {
			want = append(want, id)
		}
	}
	if len(want) == len(first.ids) {
		assert.Equal(t, want, ids(answer), "the same request_id")
		assert.Equal(t, first.more, answer.HasMore)
		return
	}
	// Items deleted since are replaced, as on the first delivery.
	if assert.GreaterOrEqual(t, len(answer.Docs), len(want)) && assert.Equal(t, want, ids(answer)[:len(want)], "the same request_id") {
		answer.Docs = answer.Docs[len(want):]
		w.take(t, s, engine.Request{Agent: agent, Limit: first.request.Limit}, answer)
	}
	who.more, who.changed = false, true
}

// silent makes the same silent refresh twice: both must be equal, and have only due items.
func (w *world) silent(t *testing.T) {
	t.Helper()
	agent, who := w.anyReader()
	r := engine.Request{Agent: agent, Action: engine.ActionRefresh, Silent: true, Limit: 10}
	s := w.anyServer()
	over := w.trouble(s, anyTrouble)
	answer, err := s.feed.Feed(t.Context(), r)
	over()
	require.NoError(t, err)
	again, err := s.feed.Feed(t.Context(), r)
	require.NoError(t, err)
	w.say("%s looks: %v of %d", agent, ids(answer), answer.NewCount)
	if answer.Degraded == nil && again.Degraded == nil {
		assert.Equal(t, answer, again)
	}
	for _, got := range items(t, answer) {
		w.check(t, who, got)
	}
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
		d.server, d.request = w.anyServer(), w.request(fmt.Sprintf("u_%d", i%2))
		wg.Go(func() { d.answer, d.err = d.server.feed.Feed(t.Context(), d.request) })
	}
	wg.Wait()
	for _, d := range all {
		require.NoError(t, d.err)
		w.say("%s %s of %d %s: %v, more %t", d.request.Agent, d.request.Action, d.request.Limit, d.request.RequestID, ids(d.answer), d.answer.HasMore)
		w.take(t, d.server, d.request, d.answer)
		if d.answer.Degraded != nil {
			w.recover(t, d.server, d.request.Agent, d.answer)
		}
	}
	for _, agent := range []string{"u_0", "u_1"} { // it is unknown whose answer was last
		w.readers[agent].more, w.readers[agent].changed = false, true
	}
}

// drain pages to the end: then every due item has been delivered.
func (w *world) drain(t *testing.T, agent string) {
	t.Helper()
	w.say("%s reads everything", agent)
	for range 200 {
		r := engine.Request{Agent: agent, Action: engine.ActionLoadMore, Limit: 1 + w.rnd.IntN(20)}
		if answer := w.call(t, w.anyServer(), r); len(answer.Docs) == 0 && !answer.HasMore && !sessionless(answer) {
			return
		}
		if t.Failed() {
			return
		}
	}
	assert.NoError(t, errors.New("the feed does not end"))
}
