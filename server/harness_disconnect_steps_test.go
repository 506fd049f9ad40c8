package server

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// cutPart selects the commands of a step to cut.
type cutPart int

const (
	cutAnswer cutPart = iota // those that the answer waits for
	cutRecord                // those that record the impressions afterwards
	cutCount                 // those that count for the report
	cutAll                   // the first two
)

type cutStep struct {
	name      string
	part      cutPart
	requestID bool // made both with and without one
	before    func(t *testing.T, l *cutServer, r *cutReader, requestID string)
	call      func(t *testing.T, l *cutServer, r *cutReader, requestID string)
}

// cutSteps begins with the slowest step.
var cutSteps = []cutStep{
	{name: "impressions", part: cutAll, before: cutBegin, call: cutSeen},
	{name: "first refresh", requestID: true, call: cutRefresh},
	{name: "refresh", requestID: true, before: cutBegin, call: cutRefresh},
	{name: "load_more", requestID: true, before: cutBegin, call: cutLoadMore},
	{name: "load_more, topped up", requestID: true, before: cutRemove, call: cutLoadMore},
	{name: "load_more without a session", requestID: true, before: cutEndSession, call: cutLoadMore},
	{name: "refresh sent again", before: cutFirstTry(refresh), call: cutSendAgain},
	{name: "load_more sent again", before: cutFirstTry(loadMore), call: cutSendAgain},
	{name: "silent refresh", call: cutPeek},
	{name: "hide", before: cutBegin, call: cutHide},
	{name: "mute", before: cutBegin, call: cutMute},
	{name: "recording", part: cutRecord, call: cutRefresh},
	{name: "counting", part: cutCount, call: cutRefresh},
}

func (s cutStep) requestIDs() []string {
	if s.requestID {
		return []string{"", "with-id"}
	}
	return []string{""}
}

func (s cutStep) prepare(t *testing.T, l *cutServer, r *cutReader, requestID string) {
	t.Helper()
	if s.before != nil {
		s.before(t, l, r, requestID)
	}
	waitRecorded(t, l.App)
	require.False(t, t.Failed(), "before the step")
}

// tidy restores the items that a step has removed from the catalog.
func (s cutStep) tidy(t *testing.T, l *cutServer, r *cutReader) {
	t.Helper()
	if l.cfg.UsesElasticsearch() {
		return
	}
	var back []feed.Item
	for _, it := range madeItems(cutItems) {
		for _, id := range r.removed {
			if it.ID == id {
				back = append(back, it)
			}
		}
	}
	put(t, l.App, back...)
}

// cutAsk calls the feed and checks that the page has the next due items, whatever the fault. A
// later call with the same request id must return the same page.
func cutAsk(t *testing.T, l *cutServer, r *cutReader, request engine.Request) {
	t.Helper()
	want := append([]string{}, r.due[:cutPage]...)
	ctx, cancel := within(t, l)
	defer cancel()
	answer, err := l.Engine.Feed(ctx, request)
	require.NoError(t, err, "the call fails")
	if r.refused && len(r.removed) > 0 { // the page may be short if it could not be topped up
		want = want[:min(len(want), len(answer.Docs))]
		assert.NotEmpty(t, want)
	}
	assert.Equal(t, want, ids(answer), "the page; degraded %v", answer.Degraded)
	assert.True(t, answer.HasMore)
	r.take(t, "the call", answer)
	if request.RequestID != "" {
		r.asked, r.answered = request, answer
	}
}

// repeat repeats the call if it had a request id.
func (r *cutReader) repeat(t *testing.T, l *cutServer) {
	t.Helper()
	if r.asked.RequestID == "" {
		return
	}
	again := ask(t, l.App, r.asked)
	assert.Equal(t, ids(r.answered), ids(again), "the same request id; degraded %v, then %v", r.answered.Degraded, again.Degraded)
	assert.Equal(t, r.answered.HasMore, again.HasMore)
	r.takeOther(t, again)
}

// takeOther records items that only the repetition has shown, which is already a failure.
func (r *cutReader) takeOther(t *testing.T, again engine.Answer) {
	t.Helper()
	again.Docs = slices.DeleteFunc(slices.Clone(again.Docs), func(d feed.Doc) bool { return slices.Contains(ids(r.answered), d.ID) })
	r.take(t, "the repetition", again)
}

func cutBegin(t *testing.T, l *cutServer, r *cutReader, _ string) {
	t.Helper()
	r.take(t, "the page before", ask(t, l.App, refresh(r.agent, cutPage)))
}

// cutRemove deletes three items of the next page, or hides them if all servers share a catalog.
func cutRemove(t *testing.T, l *cutServer, r *cutReader, _ string) {
	t.Helper()
	cutBegin(t, l, r, "")
	r.removed = []string{r.due[1], r.due[2], r.due[cutPage-1]}
	if l.cfg.UsesElasticsearch() {
		r.hide(t, l, r.removed)
		return
	}
	for _, id := range r.drop(r.removed) {
		require.NoError(t, l.Catalog.Remove(t.Context(), id))
	}
}

func cutEndSession(t *testing.T, l *cutServer, r *cutReader, _ string) {
	t.Helper()
	cutBegin(t, l, r, "")
	require.NoError(t, l.stores.sessions.Delete(t.Context(), r.agent))
}

func cutRefresh(t *testing.T, l *cutServer, r *cutReader, requestID string) {
	t.Helper()
	request := refresh(r.agent, cutPage)
	request.RequestID = requestID
	cutAsk(t, l, r, request)
}

func cutLoadMore(t *testing.T, l *cutServer, r *cutReader, requestID string) {
	t.Helper()
	request := loadMore(r.agent, cutPage)
	request.RequestID = requestID
	cutAsk(t, l, r, request)
}

// cutFirstTry makes the first of two equal calls.
func cutFirstTry(request func(string, int) engine.Request) func(*testing.T, *cutServer, *cutReader, string) {
	return func(t *testing.T, l *cutServer, r *cutReader, _ string) {
		t.Helper()
		cutBegin(t, l, r, "")
		r.asked = request(r.agent, cutPage)
		r.asked.RequestID = "again"
		r.answered = ask(t, l.App, r.asked)
		r.take(t, "the first try", r.answered)
	}
}

func cutSendAgain(t *testing.T, l *cutServer, r *cutReader, _ string) {
	t.Helper()
	ctx, cancel := within(t, l)
	defer cancel()
	answer, err := l.Engine.Feed(ctx, r.asked)
	require.NoError(t, err, "the call fails")
	assert.Equal(t, ids(r.answered), ids(answer), "the same request id; degraded %v", answer.Degraded)
	r.takeOther(t, answer)
}

func cutPeek(t *testing.T, l *cutServer, r *cutReader, _ string) {
	t.Helper()
	ctx, cancel := within(t, l)
	defer cancel()
	request := refresh(r.agent, cutPage)
	request.Silent = true
	answer, err := l.Engine.Feed(ctx, request)
	require.NoError(t, err, "the call fails")
	if answer.Degraded == nil { // otherwise it is unknown which items are new
		assert.Equal(t, r.due[:cutPage], ids(answer))
	}
}

func cutSeen(t *testing.T, l *cutServer, r *cutReader, _ string) {
	t.Helper()
	ctx, cancel := within(t, l)
	defer cancel()
	r.seen = r.drop([]string{r.due[0], r.due[3], r.due[20]})
	require.NoError(t, l.Engine.Seen(ctx, r.agent, r.seen), "the call fails")
}

func cutHide(t *testing.T, l *cutServer, r *cutReader, _ string) {
	t.Helper()
	ctx, cancel := within(t, l)
	defer cancel()
	_, err := l.Engine.React(ctx, r.agent, hiding(r.drop([]string{r.due[0], r.due[3], r.due[20]})))
	require.NoError(t, err, "the call fails")
}

func cutMute(t *testing.T, l *cutServer, r *cutReader, _ string) {
	t.Helper()
	ctx, cancel := within(t, l)
	defer cancel()
	var muted []string
	for _, it := range madeItems(cutItems) {
		if it.Tags[0] == "tag-3" {
			muted = append(muted, it.ID)
		}
	}
	r.drop(muted)
	require.NoError(t, l.Engine.PutProfile(ctx, r.agent, feed.Profile{MutedTags: []string{"tag-3"}}), "the call fails")
}
