package server

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// sight is a system, and the posts whose ways before somebody's eyes are watched. Each is known by a word of
// its caption.
type sight struct {
	httpSystem
	servers []*App
	clock   *clock
	ids     map[string]string // by word
	authors map[string]string // by word
	image   string            // of zebra
	fresh   int               // readers that were made for a feed
}

// seen is that a reader was shown a post by a view.
type seen struct{ view, reader, word string }

// view is a way by which a post may come before somebody's eyes.
type view struct {
	name       string
	recommends bool // it shows nothing by a suspended author
	readers    []string
	read       func(reader string) string
}

const nameless = "a guest"

// newSight has ann post to everybody (zebra, with an image), to followers (yodel), to a group (xenon) and to
// somebody whom she mentions (waltz), and reply to bob (vivid), who replies to her (umbra).
func newSight(t *testing.T, m mode) *sight {
	cfg, now := m.config(t), at(noon)
	cfg.Auth.AdminToken, cfg.Media.URL = peopleAdmin, "file://"+t.TempDir()
	s := &sight{httpSystem: httpSystem{T: t, a: open(t, cfg, WithClock(now.Now))}, clock: now, ids: map[string]string{}, authors: map[string]string{}}
	s.servers = []*App{s.a}
	if m.name == "services" {
		cfg.DataDir = t.TempDir()
		s.servers = append(s.servers, open(t, cfg, WithClock(now.Now)))
	}
	var items []feed.Item
	for i := range 4 {
		items = append(items, feed.Item{ID: fmt.Sprint("doc_", i), Title: fmt.Sprintf("i%da i%db", i, i), Tags: []string{"go"}, UpdateTime: noon.Add(-time.Hour).Unix()})
	}
	put(t, s.a, items...)
	s.must("ann", "PUT", "/v1/circles/club", `{"kind":"group"}`)
	s.must("ann", "PUT", "/v1/circles/club/invitations/mia", "")
	s.must("mia", "PUT", "/v1/circles/club/members/mia", "")
	s.must("fan", "PUT", "/v1/agents/fan/following/ann", "")
	root := s.must("bob", "POST", "/v1/posts", `{"caption":"root","audience":{"public":true}}`).Data.ID
	s.publishImage()
	for _, p := range [][3]string{
		{"ann", "yodel", `"audience":{"followers":true}`},
		{"ann", "xenon", `"audience":{"circles":["club"]}`},
		{"ann", "waltz", `"audience":{},"mentions":["max"]`},
		{"ann", "vivid", `"reply_to":"` + root + `"`},
		{"bob", "umbra", `"reply_to":"` + s.ids["zebra"] + `"`},
	} {
		s.clock.Advance(time.Second)
		s.authors[p[1]] = p[0]
		s.ids[p[1]] = s.must(p[0], "POST", "/v1/posts", fmt.Sprintf(`{"caption":%q,%s}`, p[1], p[2])).Data.ID
	}
	s.ids["root"] = root
	s.must("sam", "PUT", "/v1/posts/"+s.ids["zebra"]+"/like", "")
	s.settle()
	for _, a := range s.servers {
		waitTrending(t, a)
	}
	return s
}

// must makes a call that must succeed, on the first server.
func (s *sight) must(who, method, path, body string) httpAnswer {
	s.Helper()
	got := s.call(who, method, path, body)
	require.Less(s, got.status, 300, "%s %s %s: %s", who, method, path, got.body)
	return got
}

// publishImage posts zebra.
func (s *sight) publishImage() {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	require.NoError(s, form.WriteField("post", `{"caption":"zebra","tags":["go"],"audience":{"public":true}}`))
	part, err := form.CreateFormFile("image", "x.png")
	require.NoError(s, err)
	require.NoError(s, png.Encode(part, image.NewGray(image.Rect(0, 0, 8, 8))))
	require.NoError(s, form.Close())
	got := s.call("ann", "POST", "/v1/posts", body.String(), "Content-Type", form.FormDataContentType())
	require.Equal(s, http.StatusCreated, got.status, got.body)
	_, rest, found := strings.Cut(got.body, "/media/")
	require.True(s, found, got.body)
	key, _, _ := strings.Cut(rest, `"`)
	s.image, s.ids["zebra"], s.authors["zebra"] = "/media/"+key, got.Data.ID, "ann"
}

// settle runs the jobs, and makes the index answer what was written.
func (s *sight) settle() {
	s.Helper()
	testenv.WaitFor(s.T, func() bool {
		s.clock.Advance(time.Second)
		retryFailed(s.T, s.servers[0])
		stats, err := s.servers[0].network.store.Stats(s.Context())
		if err != nil {
			return false
		}
		for _, row := range stats.Rows {
			if row.State != "completed" {
				return false
			}
		}
		return true
	}, "the queue is empty")
	for _, a := range s.servers {
		refreshIndex(s.T, a)
		_ = a.trending.Update(s.Context())
	}
}

// get returns a function that reads a path, in which ~ stands for the reader, on the last server; "" if it is refused.
func (s *sight) get(path string) func(reader string) string {
	return func(reader string) string {
		s.a = s.servers[len(s.servers)-1]
		defer func() { s.a = s.servers[0] }()
		if reader == nameless {
			reader = guest
		}
		got := s.call(reader, "GET", path, "")
		require.NotEqual(s, 503, got.status, got.body)
		if got.status != 200 {
			return ""
		}
		return got.body
	}
}

// views lists every way, apart from the feeds, by which readers may see posts.
func (s *sight) views() []view {
	agents := []string{"ann", "bob", "fan", "mia", "max", "sam"}
	all := append(slices.Clone(agents), nameless)
	list := []view{
		{"author's page", false, all, s.get("/v1/authors/ann/posts?limit=100")},
		{"grid", false, all, s.get("/v1/authors/ann/posts?view=grid&limit=100")},
		{"timeline", false, agents, s.get("/v1/timeline?limit=100")},
		{"group", false, agents, s.get("/v1/circles/club/posts?limit=100")},
		{"replies to bob", false, all, s.get("/v1/posts/" + s.ids["root"] + "/replies")},
		{"replies to zebra", false, all, s.get("/v1/posts/" + s.ids["zebra"] + "/replies")},
		{"likes", false, []string{"sam"}, s.get("/v1/agents/sam/likes")},
		{"guest feed", true, []string{nameless}, s.get("/v1/feed/guest?limit=50")},
		{"related", true, []string{"bob", "fan", "mia", "max", "sam"}, s.get("/v1/items/doc_0/related?limit=50")},
		{"image", false, all, s.readImage},
	}
	for _, reader := range agents {
		list = append(list, view{"notifications", false, []string{reader}, s.get("/v1/agents/" + reader + "/notifications")})
	}
	for _, word := range slices.Sorted(maps.Keys(s.authors)) {
		list = append(list, view{"post " + word, false, all, s.get("/v1/posts/" + s.ids[word])})
	}
	return list
}

// readImage returns the word of the post whose image the reader sees, on the last server.
func (s *sight) readImage(reader string) string {
	r := httptest.NewRequestWithContext(s.Context(), http.MethodGet, s.image, nil)
	if reader != nameless {
		r.Header.Set("X-Agent-ID", reader)
	}
	w := httptest.NewRecorder()
	s.servers[len(s.servers)-1].Handler.ServeHTTP(w, r)
	if w.Code != 200 {
		return ""
	}
	return "zebra"
}

// look reads every view as every reader.
func (s *sight) look() map[seen]bool {
	s.Helper()
	all := map[seen]bool{}
	note := func(v string, reader, body string, byID bool) {
		for word, id := range s.ids {
			there := strings.Contains(body, word) || strings.Contains(body, `"id":"`+id+`"`) || byID && strings.Contains(body, id)
			if there && s.authors[word] != "" {
				all[seen{v, reader, word}] = true
			}
		}
	}
	for _, v := range s.views() {
		for _, reader := range v.readers {
			note(v.name, reader, v.read(reader), v.name == "notifications")
		}
	}
	for _, name := range []string{"for_you", "home", "tag:go"} {
		for _, kind := range []string{"a follower", "a stranger"} {
			note(name, kind, s.readFeed(name, kind), false)
		}
	}
	return all
}

// readFeed reads a feed as a reader who has read nothing yet, and checks that the badge told how much there is.
func (s *sight) readFeed(name, kind string) string {
	s.Helper()
	s.fresh++
	reader := fmt.Sprint("r", s.fresh)
	if kind == "a follower" {
		s.must(reader, "PUT", "/v1/agents/"+reader+"/following/ann", "")
	}
	s.a = s.servers[len(s.servers)-1]
	defer func() { s.a = s.servers[0] }()
	ask := func(more string) httpAnswer {
		got := s.call(reader, "POST", "/v1/feed", fmt.Sprintf(`{"feed":%q,"action":"refresh",%s}`, name, more))
		require.Equal(s, 200, got.status, got.body)
		return got
	}
	badge := ask(`"silent":true,"limit":1`)
	page := ask(`"limit":50`)
	if name != "home" { // whose badge does not count what it leaves out of a round
		require.Contains(s, badge.body, fmt.Sprintf(`"new_count":%d`, len(page.Data.Items)), "the badge of %s, of %s", name, kind)
	}
	return badge.body + page.body
}

// moderate has a moderator do something.
func (s *sight) moderate(kind, id, action, more string) {
	s.Helper()
	body := fmt.Sprintf(`{"object":{"kind":%q,"id":%q},"action":%q%s}`, kind, id, action, more)
	got := s.call(guest, "POST", "/v1/moderation", body, "X-Admin-Token", peopleAdmin)
	require.Equal(s, 200, got.status, got.body)
}

// each has a moderator do the same with each post of ann.
func (s *sight) each(action string) {
	s.Helper()
	for _, word := range slices.Sorted(maps.Keys(s.authors)) {
		if s.authors[word] == "ann" {
			s.moderate("post", s.ids[word], action, "")
		}
	}
}

// nobodySees checks that no other than their authors sees hidden posts, by any view, nor a reply under them.
func (s *sight) nobodySees(while string, hidden ...string) {
	s.Helper()
	now := s.look()
	for x := range now {
		gone := slices.Contains(hidden, x.word) || x.word == "umbra" && slices.Contains(hidden, "zebra")
		require.False(s, gone && x.reader != s.authors[x.word], "%s: %+v", while, x)
	}
	for _, word := range hidden {
		require.True(s, now[seen{"post " + word, s.authors[word], word}], "%s: its author keeps %s", while, word)
	}
}

// TestModerationEverywhere hides posts, and suspends their author, in turn, and reads them by every way there is, as
// their author, a follower, a member, somebody mentioned, a stranger and a guest; with services on another server
// than the moderator's. Whatever undoes it brings back exactly what there was.
func TestModerationEverywhere(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newSight(t, m)
			before := s.look()
			s.checkFixture(before)
			all := []string{"zebra", "yodel", "xenon", "waltz", "vivid"}
			restored := func(after string) {
				t.Helper()
				s.settle()
				require.Equal(t, before, s.look(), "after %s", after)
			}
			s.each("hold")
			s.nobodySees("held, at once", all...)
			s.settle()
			s.each("hold")
			s.must("ann", "PATCH", "/v1/posts/"+s.ids["zebra"], `{"caption":"the zebra","tags":["go","new"]}`)
			s.settle()
			s.nobodySees("held, and edited", all...)
			s.each("remove")
			s.nobodySees("removed", all...)
			s.each("restore")
			s.each("restore")
			restored("hold, remove, restore")

			s.moderate("post", s.ids["zebra"], "remove", "")
			s.moderate("post", s.ids["umbra"], "hold", "")
			s.moderate("post", s.ids["zebra"], "restore", "")
			s.settle()
			s.nobodySees("held below a post that was restored", "umbra")
			s.moderate("post", s.ids["umbra"], "restore", "")
			restored("a reply was restored")
			s.suspendEverywhere(before, restored)
		})
	}
}

// checkFixture checks that each post is seen by those who are meant to see it, so that the test can fail.
func (s *sight) checkFixture(all map[seen]bool) {
	s.Helper()
	for _, x := range []seen{
		{"post zebra", nameless, "zebra"},
		{"image", nameless, "zebra"},
		{"timeline", "fan", "yodel"},
		{"group", "mia", "xenon"},
		{"timeline", "max", "waltz"},
		{"notifications", "max", "waltz"},
		{"replies to bob", "sam", "vivid"},
		{"notifications", "bob", "vivid"},
		{"replies to zebra", nameless, "umbra"},
		{"likes", "sam", "zebra"},
		{"guest feed", nameless, "zebra"},
		{"related", "sam", "zebra"},
		{"for_you", "a stranger", "zebra"},
		{"home", "a follower", "yodel"},
		{"home", "a stranger", "zebra"},
		{"tag:go", "a stranger", "zebra"},
		{"author's page", "fan", "yodel"},
		{"grid", nameless, "zebra"},
	} {
		require.True(s, all[x], "%+v", x)
	}
	require.False(s, all[seen{"timeline", "sam", "yodel"}] || all[seen{"author's page", "fan", "xenon"}])
}

// suspendEverywhere suspends the author: what recommends shows nothing of theirs, everything else does.
func (s *sight) suspendEverywhere(before map[seen]bool, restored func(after string)) {
	s.Helper()
	want := maps.Clone(before)
	recommends := []string{"for_you", "home", "tag:go"}
	for _, v := range s.views() {
		if v.recommends {
			recommends = append(recommends, v.name)
		}
	}
	maps.DeleteFunc(want, func(x seen, _ bool) bool { return slices.Contains(recommends, x.view) && s.authors[x.word] == "ann" })
	suspend := func(d time.Duration) {
		s.moderate("author", "ann", "suspend", fmt.Sprintf(`,"until":%d`, s.clock.Now().Add(d).Unix()))
	}
	suspend(time.Hour)
	require.Equal(s, want, s.look(), "suspended, at once")
	s.settle()
	s.moderate("post", s.ids["zebra"], "hold", "")
	s.moderate("post", s.ids["zebra"], "restore", "")
	s.settle()
	require.Equal(s, want, s.look(), "a post is restored while its author is suspended")
	s.clock.Advance(time.Hour)
	restored("the end of a suspension")
	suspend(time.Hour)
	s.moderate("author", "ann", "lift", "")
	restored("a suspension was lifted")
}
