package handler

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	timelines "github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

// changesServer is a server over the network, with its store.
type changesServer struct {
	*testing.T
	*httptest.Server
	store social.Store
}

func openChanges(t *testing.T, change func(*Config, *Deps)) *changesServer {
	f, store := socialFixture(t, change)
	server := httptest.NewServer(f.handler)
	t.Cleanup(server.Close)
	return &changesServer{t, server, store}
}

func (s *changesServer) get(query string, headers ...string) *http.Response {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.URL+changesPath+query, nil)
	require.NoError(s, err)
	for _, header := range append(headers, asAdmin) {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	res, err := s.Client().Do(r)
	require.NoError(s, err)
	s.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// lines reads the whole answer: the changes, and the cursor after them.
func (s *changesServer) lines(query string) (list []api.Change, cursor string) {
	s.Helper()
	res := s.get(query)
	body, err := io.ReadAll(res.Body)
	require.NoError(s, err)
	require.Equal(s, http.StatusOK, res.StatusCode, string(body))
	require.Equal(s, "application/x-ndjson", res.Header.Get("Content-Type"))
	for line := range strings.Lines(string(body)) {
		var c api.Change
		require.NoError(s, json.Unmarshal([]byte(line), &c), line)
		list = append(list, c)
	}
	last := list[len(list)-1]
	require.Empty(s, last.Type)
	require.Nil(s, last.Data)
	return list[:len(list)-1], last.Cursor
}

func (s *changesServer) follow(author string) {
	s.Helper()
	_, err := s.store.Follow(s.Context(), "u_1", author, time.Time{})
	require.NoError(s, err)
}

func TestChangesAsLines(t *testing.T) {
	s := openChanges(t, nil)
	none, cursor := s.lines("")
	require.Empty(t, none)
	root := publish(t, s.store, social.Post{Author: "ann", Mentions: []string{"bob"}, Audience: social.Audience{Public: true}})
	reply, _, err := s.store.CreatePost(t.Context(), social.Post{Author: "bob", Caption: "yes", ReplyTo: root.ID}, social.Creation{})
	require.NoError(t, err)
	_, _, err = s.store.Like(t.Context(), "u_1", root.ID)
	require.NoError(t, err)
	_, err = s.store.Block(t.Context(), "u_1", "bob")
	require.NoError(t, err)
	s.follow("ann")
	list, _ := s.lines("?after=" + cursor)
	got := map[string]api.ChangeData{}
	for _, c := range list {
		require.InDelta(t, time.Now().Unix(), c.Data.At, 60)
		c.Data.At = 0
		got[c.Type] = *c.Data
	}
	require.Equal(t, map[string]api.ChangeData{
		"post.created":    {ID: root.ID, AuthorID: "ann"},
		"mention.created": {ID: root.ID, AuthorID: "ann", AgentID: "bob"},
		"reply.created":   {ID: reply.ID, AuthorID: "bob", AgentID: "ann", ReplyTo: root.ID},
		"like.created":    {ID: root.ID, AgentID: "u_1", AuthorID: "ann"},
		"block.created":   {AgentID: "u_1", OtherID: "bob"},
		"follow.created":  {AgentID: "u_1", AuthorID: "ann"},
	}, got)
	two, next := s.lines("?after=oldest&limit=2")
	require.Equal(t, list[:2], trimmed(two, list))
	rest, _ := s.lines("?after=" + next + "&types=like.created,follow.created")
	require.Equal(t, []string{"like.created", "follow.created"}, []string{rest[0].Type, rest[1].Type})
}

// trimmed returns a list with the cursors and times of another one: those depend on where a reader began.
func trimmed(list, of []api.Change) []api.Change {
	for i := range list {
		list[i].Cursor, list[i].Data.At = of[i].Cursor, of[i].Data.At
	}
	return list
}

func TestChangesWait(t *testing.T) {
	s := openChanges(t, nil)
	_, cursor := s.lines("")
	go func() {
		time.Sleep(10 * time.Millisecond)
		s.follow("ann")
	}()
	list, _ := s.lines("?wait=30s&after=" + cursor)
	require.Len(t, list, 1)
	none, _ := s.lines("?wait=1ms&types=block.created&after=" + cursor)
	require.Empty(t, none)
}

func TestChangesAsEvents(t *testing.T) {
	s := openChanges(t, nil)
	res := s.get("", "Accept: text/event-stream")
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	body := bufio.NewReader(res.Body)
	begun := block(t, body)
	require.Contains(t, begun, "event: cursor\n")
	require.Contains(t, begun, "retry: ")
	s.follow("ann")
	told := block(t, body)
	require.Contains(t, told, "event: follow.created\ndata: {\"cursor\":")
	require.NoError(t, res.Body.Close())
	s.follow("bob")
	_, id, _ := strings.Cut(told, "id: ")
	id, _, _ = strings.Cut(id, "\n")
	again := s.get("?after=oldest", "Accept: text/event-stream", "Last-Event-ID: "+id)
	told = block(t, bufio.NewReader(again.Body))
	require.Contains(t, told, `"author_id":"bob"`)
	require.NoError(t, again.Body.Close())
}

// TestChangesPlaces checks that open streams are limited, that their places come free, and that they end
// when the server stops.
func TestChangesPlaces(t *testing.T) {
	drain := NewDrain()
	s := openChanges(t, func(_ *Config, d *Deps) { d.Drain = drain })
	open := []*http.Response{}
	for range timelines.Occupants {
		res := s.get("", "Accept: text/event-stream")
		require.Equal(t, http.StatusOK, res.StatusCode)
		open = append(open, res)
	}
	for _, refused := range []*http.Response{s.get("", "Accept: text/event-stream"), s.get("?wait=1s")} {
		require.Equal(t, http.StatusServiceUnavailable, refused.StatusCode)
		require.NotEmpty(t, refused.Header.Get("Retry-After"))
	}
	s.lines("?after=oldest") // it does not wait
	require.NoError(t, open[0].Body.Close())
	require.Eventually(t, func() bool {
		res := s.get("", "Accept: text/event-stream")
		return res.StatusCode == http.StatusOK
	}, time.Minute, time.Millisecond)
	drain.Begin(time.Minute)
	for _, res := range open[1:] {
		_, err := io.ReadAll(res.Body)
		require.NoError(t, err)
	}
}

// TestChangesHead checks that a HEAD call ends at once, as it takes no place among the streams, and that no cache
// may store the answer.
func TestChangesHead(t *testing.T) {
	s := openChanges(t, nil)
	s.follow("ann")
	for _, accept := range []string{"text/event-stream", "application/x-ndjson"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodHead, changesPath+"?after=oldest&wait=30s", nil)
		r.Header.Set("Accept", accept)
		name, value, _ := strings.Cut(asAdmin, ": ")
		r.Header.Set(name, value)
		w := httptest.NewRecorder()
		s.Config.Handler.ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, accept, w.Header().Get("Content-Type"))
		require.Contains(t, w.Header().Get("Cache-Control"), "private, no-store", "it is the admin's alone, and the next one differs")
		require.Contains(t, w.Header().Values("Vary"), callerHeaders)
	}
}

func TestChangesRefused(t *testing.T) {
	s := openChanges(t, nil)
	for query, status := range map[string]int{
		"?after=5": 400, "?after=c1.x.y": 400, "?wait=5": 400, "?wait=-1s": 400, "?limit=0": 400, "?limit=1001": 400, "?types=follow": 400, "?x=1": 400,
		"?after=c1.other.0": http.StatusGone, "?after=c1.other.1&wait=1s": http.StatusGone,
	} {
		res := s.get(query)
		require.Equal(t, status, res.StatusCode, query)
		require.Equal(t, "application/json; charset=utf-8", res.Header.Get("Content-Type"), query)
	}
}
