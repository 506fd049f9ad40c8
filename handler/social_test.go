package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

func as(agent string) string { return "X-Agent-ID: " + agent }

func data[T any](t testing.TB, r reply) T {
	t.Helper()
	require.Zero(t, r.Code, r.body)
	var out T
	require.NoError(t, json.Unmarshal(r.Data, &out), r.body)
	return out
}

type entry struct {
	ID      string `json:"id"`
	Caption string `json:"caption"`
	Tags    []string
	Author  map[string]string
	Likes   int64
	InFeed  *struct {
		Source, Reason string
		HasLiked       bool `json:"has_liked"`
		CanReply       bool `json:"can_reply"`
		CanReact       bool `json:"can_react"`
	} `json:"in_feed"`
}

type pageOfEntries struct {
	Items   []entry
	Next    *string `json:"next_cursor"`
	HasMore bool    `json:"has_more"`
}

func (p pageOfEntries) ids() []string {
	ids := []string{}
	for _, it := range p.Items {
		ids = append(ids, it.ID)
	}
	return ids
}

func TestSocialRoutesOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, path := range []string{"/v1/posts", "/v1/posts/post:1", "/v1/timeline", "/v1/authors/u_1", "/v1/circles/c1", "/v1/agents/u_1/following"} {
		require.Equal(t, 40401, f.do(t, "GET", path, "", asAgent, asAdmin).Code, path)
	}
}

// An entry is the stored content, byte for byte, followed by the fields added to it.
func TestEntryEqualsStoredContent(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	require.NoError(t, store.PutAuthor(t.Context(), social.Author{ID: "u_2", Name: `A "quoted" <name>`, Bio: "not told here"}, time.Time{}))
	p := publish(t, store, social.Post{ID: "post:p", Author: "u_2", Caption: "Rain \u2028 & <b> é #Weather", Tags: []string{"sky"}, CreatedAt: 1772791200})
	content := string(p.Content())
	author := `,"author":{"id":"u_2","name":"A \"quoted\" \u003cname\u003e","image_url":""},"likes":0,"comments":0`
	got := f.do(t, "GET", "/v1/posts/post:p", "")
	require.Equal(t, successHead+strings.TrimSuffix(content, "}")+author+"}}", got.body)
	got = f.do(t, "GET", "/v1/posts/post:p", "", asAgent)
	require.Equal(t, successHead+strings.TrimSuffix(content, "}")+author+
		`,"in_feed":{"has_liked":false,"can_reply":true,"can_react":true,"is_promoted":false}}}`, got.body)
	_, err := store.Follow(t.Context(), "u_1", "u_2", time.Time{})
	require.NoError(t, err)
	whole := strings.TrimSuffix(content, "}") + author +
		`,"in_feed":{"source":"following","reason":"follow","has_liked":false,"can_reply":true,"can_react":true,"is_promoted":false}}`
	require.Equal(t, successHead+whole+"}", f.do(t, "GET", "/v1/posts/post:p", "", asAgent).body)
	for _, path := range []string{"/v1/timeline", "/v1/authors/u_2/posts"} {
		require.Equal(t, successHead+`{"items":[`+whole+`],"next_cursor":"post:p:1772791200","has_more":false}}`, f.do(t, "GET", path, "", asAgent).body, path)
	}
}

// A grid has of each post the first thumbnail, the counts, and what tells posts apart.
func TestGridTiles(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	images := []social.Image{{URL: "/media/k1", Thumbnail: "/media/t1", Width: 640, Height: 480, Color: "#112233", Alt: "A lake"}, {URL: "/media/k2"}}
	publish(t, store, social.Post{ID: "post:p", Author: "u_2", Images: images, CreatedAt: 1772791200})
	publish(t, store, social.Post{ID: "post:q", Author: "u_2", CreatedAt: 1772791100})
	require.NoError(t, store.SetCounts(t.Context(), "post:q", social.Counts{Likes: 4, Comments: 2}, time.Time{}))
	want := successHead + `{"items":[{"id":"post:p","created_at":1772791200,"likes":0,"comments":0,"caption":"A post of u_2","image_count":2,"audience":{"public":true},"thumbnail":{"url":"/media/t1","width":640,"height":480,"color":"#112233","alt":"A lake"}},` +
		`{"id":"post:q","created_at":1772791100,"likes":4,"comments":2,"caption":"A post of u_2","image_count":0,"audience":{"public":true}}],"next_cursor":"post:q:1772791100","has_more":false}}`
	require.Equal(t, want, f.do(t, "GET", "/v1/authors/u_2/posts?view=grid", "", asAgent).body)
	require.Equal(t, want, f.do(t, "GET", "/v1/authors/u_2/posts?view=grid", "").body)
	require.Equal(t, f.do(t, "GET", "/v1/authors/u_2/posts", "", asAgent).body, f.do(t, "GET", "/v1/authors/u_2/posts?view=", "", asAgent).body)
	require.Equal(t, f.do(t, "GET", "/v1/circles", "", asAgent).body, f.do(t, "GET", "/v1/circles?of=", "", asAgent).body)
	for i := range 9 {
		publish(t, store, social.Post{Author: "u_2", CreatedAt: int64(1772791000 + i)})
	}
	page := data[pageOfEntries](t, f.do(t, "GET", "/v1/authors/u_2/posts?view=grid", ""))
	require.Len(t, page.Items, 10)
	rest := data[pageOfEntries](t, f.do(t, "GET", "/v1/authors/u_2/posts?view=grid&limit=5&cursor="+*page.Next, ""))
	require.Len(t, rest.Items, 1)
	require.False(t, rest.HasMore)
	for _, view := range []string{"list", "Grid", "1", "grid&view=grid"} {
		require.Equal(t, 40001, f.do(t, "GET", "/v1/authors/u_2/posts?view="+view, "").Code, view)
	}
	require.Equal(t, 40003, f.do(t, "GET", "/v1/authors/u_2/posts?view=grid&limit=0", "").Code)
}

func TestPublishing(t *testing.T) {
	t.Parallel()
	f, _ := socialFixture(t, nil)
	got := f.do(t, "POST", "/v1/posts", `{"caption":"Rain #Weather","tags":["sky"]}`, asAgent, "Idempotency-Key: k")
	require.Equal(t, http.StatusCreated, got.status)
	post := data[entry](t, got)
	require.Equal(t, []string{"sky", "Weather"}, post.Tags)
	require.Equal(t, "self", post.InFeed.Reason)
	require.Equal(t, []string{post.ID}, data[pageOfEntries](t, f.do(t, "GET", "/v1/timeline", "", asAgent)).ids())

	again := f.do(t, "POST", "/v1/posts", `{"tags":["sky"],"caption":"Rain #Weather"}`, asAgent, "Idempotency-Key: k")
	require.Equal(t, http.StatusOK, again.status, "it was there before")
	require.Equal(t, post, data[entry](t, again))
	require.Equal(t, 40901, f.do(t, "POST", "/v1/posts", `{"caption":"Sun"}`, asAgent, "Idempotency-Key: k").Code)
	other := f.do(t, "POST", "/v1/posts", `{"caption":"Sun"}`, as("u_2"), "Idempotency-Key: k")
	require.Equal(t, http.StatusCreated, other.status, "keys are each author's own")
	require.Equal(t, 40001, f.do(t, "POST", "/v1/posts", `{"caption":"Sun"}`, asAgent, "Idempotency-Key: a", "Idempotency-Key: b").Code)
	require.Equal(t, 40001, f.do(t, "POST", "/v1/posts", `{"caption":"Sun"}`, asAgent, "Idempotency-Key: \xff").Code)
	require.Equal(t, 40004, f.do(t, "POST", "/v1/posts", `{"caption":"Sun"}`, as("@server")).Code, "nobody can be it")
	require.Equal(t, 41301, f.do(t, "POST", "/v1/posts", `{"caption":"`+strings.Repeat("x", MaxPostBody)+`"}`, asAgent).Code)
	got = f.do(t, "POST", "/v1/posts", `{"caption":"`+strings.Repeat("x", 5001)+`"}`, asAgent)
	require.Equal(t, 42201, got.Code)
	require.Contains(t, got.Msg, "at most 5000")
	require.Equal(t, 42201, f.do(t, "POST", "/v1/posts", `{"caption":"x","audience":{"circles":["nobodys"]}}`, asAgent).Code)
	require.Equal(t, 42201, f.do(t, "POST", "/v1/posts", `{"caption":"x","reply":"friends"}`, asAgent).Code)
}

// The largest valid post fits the limit of the body, however it is escaped.
func TestLargestPost(t *testing.T) {
	t.Parallel()
	f, _ := socialFixture(t, nil)
	escaped := func(n int) string { return strings.Repeat(`\ud83d\ude00`, n) }
	tags := make([]string, feed.MaxTags)
	for i := range tags {
		tags[i] = fmt.Sprintf(`"%02d%s"`, i, escaped(feed.MaxTermLength-2))
	}
	body := `{"caption":"` + escaped(social.MaxCaption) + `","tags":[` + strings.Join(tags, ",") + `]}`
	require.Equal(t, http.StatusCreated, f.do(t, "POST", "/v1/posts", body, asAgent).status)
}

func TestEditing(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	publish(t, store, social.Post{ID: "post:p", Author: "u_1", Tags: []string{"sky"}})
	publish(t, store, social.Post{ID: "post:q", Author: "u_1", Mentions: []string{"u_2"}})
	got := data[entry](t, f.do(t, "PATCH", "/v1/posts/post:p", `{"caption":"New","tags":null}`, asAgent))
	require.Equal(t, "New", got.Caption)
	require.Equal(t, []string{"sky"}, got.Tags, "null is what is not there")
	require.Empty(t, data[entry](t, f.do(t, "PATCH", "/v1/posts/post:p", `{"tags":[]}`, asAgent)).Tags)
	require.Equal(t, 40301, f.do(t, "PATCH", "/v1/posts/post:p", `{"caption":"x"}`, as("u_2")).Code)
	require.Equal(t, 40301, f.do(t, "PATCH", "/v1/posts/post:q", `{"caption":"x"}`, as("u_2")).Code, "they see it")
	require.Equal(t, 40401, f.do(t, "PATCH", "/v1/posts/post:q", `{"caption":"x"}`, as("u_3")).Code)
	byAdmin := f.do(t, "PATCH", "/v1/posts/post:p", `{"caption":"Moderated"}`, asAdmin)
	require.Equal(t, "Moderated", data[entry](t, byAdmin).Caption)
	require.Nil(t, data[entry](t, byAdmin).InFeed)
	require.Equal(t, `{"code":0,"msg":"success","data":{}}`, f.do(t, "PATCH", "/v1/posts/post:q", `{"caption":"Moderated"}`, asAdmin).body,
		"a post that is not public is not an admin's to read")
	require.Equal(t, "Moderated", data[entry](t, f.do(t, "GET", "/v1/posts/post:q", "", as("u_2"))).Caption)
	require.Contains(t, f.do(t, "PATCH", "/v1/posts/post:p", `{}`, asAgent).Msg, "send caption, tags, alts or reply")
}

// The answer for a post that is deleted, or not visible to the caller, is byte for byte that for a
// post that never existed, on every route that names a post.
func TestInvisiblePostNotFound(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	publish(t, store, social.Post{ID: "post:gone", Author: "u_2"})
	require.NoError(t, store.DeletePost(t.Context(), "post:gone", "", time.Time{}))
	publish(t, store, social.Post{ID: "post:private", Author: "u_2", Mentions: []string{"u_5"}})
	publish(t, store, social.Post{ID: "post:blocked", Author: "u_3"})
	_, err := store.Block(t.Context(), "u_3", "u_1")
	require.NoError(t, err)
	for _, call := range [][3]string{
		{"GET", "", ""}, {"PATCH", "", `{"caption":"x"}`}, {"PATCH", "", `{"alts":["a"]}`}, {"DELETE", "", ""}, {"PUT", "/like", ""}, {"DELETE", "/like", ""},
	} {
		ask := func(id string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(call[0], "/v1/posts/"+id+call[1], strings.NewReader(call[2]))
			r.Header.Set("X-Agent-ID", "u_1")
			r.Header.Set("X-Request-ID", "same")
			w := httptest.NewRecorder()
			f.handler.ServeHTTP(w, r)
			return w
		}
		never := ask("post:never")
		if call[0]+call[1] == "DELETE/like" {
			require.Contains(t, never.Body.String(), `{"likes":0,"has_liked":false}`)
		} else {
			require.Equal(t, 404, never.Code)
		}
		for _, id := range []string{"post:gone", "post:private", "post:blocked"} {
			got := ask(id)
			require.Equal(t, never.Code, got.Code, "%v %s", call, id)
			require.Equal(t, never.Body.String(), got.Body.String(), "%v %s", call, id)
			require.Equal(t, never.Header(), got.Header(), "%v %s", call, id)
		}
	}
	require.Equal(t, f.do(t, "GET", "/v1/authors/never/posts", "", asAgent).body, f.do(t, "GET", "/v1/authors/u_3/posts", "", asAgent).body)
	require.Equal(t, f.do(t, "GET", "/v1/authors/never", "", asAgent).body, f.do(t, "GET", "/v1/authors/u_3", "", asAgent).body)
}

func TestLikes(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	acts := f.reactions
	publish(t, store, social.Post{ID: "post:p", Author: "u_2"})
	like := func(method, agent string) api.Likes {
		return data[api.Likes](t, f.do(t, method, "/v1/posts/post:p/like", "", as(agent)))
	}
	require.Equal(t, api.Likes{Likes: 1, HasLiked: true}, like("PUT", "u_1"))
	require.Equal(t, []engine.Act{{Kind: events.Like, ID: "post:p"}}, acts.acts)
	acts.acts = nil
	require.Equal(t, api.Likes{Likes: 1, HasLiked: true}, like("PUT", "u_1"))
	require.Empty(t, acts.acts, "a repetition is no act")
	require.Equal(t, api.Likes{Likes: 2, HasLiked: true}, like("PUT", "u_7"), "an act that cannot be counted costs no like")
	require.Contains(t, f.log.String(), "a like was stored, but not counted as an act")
	require.True(t, data[entry](t, f.do(t, "GET", "/v1/posts/post:p", "", asAgent)).InFeed.HasLiked)
	require.Equal(t, api.Likes{Likes: 1, HasLiked: false}, like("DELETE", "u_1"))
	require.Equal(t, api.Likes{Likes: 1, HasLiked: false}, like("DELETE", "u_1"))
	require.Empty(t, acts.acts)
	require.Equal(t, []string{"u_1 post:p"}, acts.unliked, "once")
	acts.err = events.ErrUnavailable
	require.Zero(t, like("DELETE", "u_7"), "an act that cannot be taken back keeps no like")
	require.Contains(t, f.log.String(), "a like was removed, but the act still counts")
}

func TestTimelinePages(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	var want []string
	for i := range 25 {
		p := publish(t, store, social.Post{ID: fmt.Sprintf("post:%02d", i), Author: "u_2", CreatedAt: 1772791200 + int64(i/10)})
		want = append(want, p.ID)
	}
	slices.Reverse(want)
	_, err := store.Follow(t.Context(), "u_1", "u_2", time.Time{})
	require.NoError(t, err)
	for _, path := range []string{"/v1/timeline", "/v1/authors/u_2/posts"} {
		var got []string
		query := "?limit=10"
		for {
			page := data[pageOfEntries](t, f.do(t, "GET", path+query, "", asAgent))
			got = append(got, page.ids()...)
			require.NotNil(t, page.Next)
			if !page.HasMore {
				break
			}
			query = "?limit=10&cursor=" + url.QueryEscape(*page.Next)
		}
		require.Equal(t, want, got, path)
		require.Len(t, data[pageOfEntries](t, f.do(t, "GET", path, "", asAgent)).Items, engine.DefaultLimit)
		for query, code := range map[string]int{
			"?limit=0": 40003, "?limit=101": 40003, "?limit=ten": 40003, "?page=2": 40001,
			"?cursor=": 0, "?limit=": 40003, "?cursor=&cursor=": 40001,
			"?cursor=5": 40001, "?cursor=1e3": 40001, "?cursor=post:a": 40001, "?cursor=post:a:": 40001, "?cursor=a:5": 40001, "?cursor=post:a:b:5": 40001,
			"?cursor=post:a:0": 40001, "?cursor=post:a:%2B5": 40001, "?cursor=post:a:007": 40001, "?cursor=post:a:-5": 40001, "?cursor=post:a:99999999999999999999": 40001, "?cursor=post:a:1000000000000000000": 40001, "?cursor=post:a:999999999999999999": 0, "?cursor=:5": 40001,
			"?cursor=post:a:5&cursor=post:a:5": 40001, "?cursor=post%3Aa%3A5": 0, "?cursor=null": 40001,
		} {
			got := f.do(t, "GET", path+query, "", asAgent)
			assert.Equal(t, code, got.Code, "%s: %s", query, got.body)
		}
	}
	require.Equal(t, `{"code":0,"msg":"success","data":{"items":[],"next_cursor":null,"has_more":false,"new_reader":true}}`, f.do(t, "GET", "/v1/timeline", "", as("u_9")).body)
	require.Equal(t, 40101, f.do(t, "GET", "/v1/timeline", "").Code)
	require.Equal(t, 40101, f.do(t, "GET", "/v1/timeline", "", asAdmin).Code)
}

// A page reports what it lacks, and has a cursor even if it is short.
func TestTimelineShortAndDegraded(t *testing.T) {
	t.Parallel()
	f, _ := socialFixture(t, func(_ *Config, d *Deps) { d.Social.Timelines = shortTimelines{} })
	require.Equal(t, `{"code":0,"msg":"success","data":{"items":[],"next_cursor":"post:a:b:7","has_more":true,"degraded":["timeline"]}}`,
		f.do(t, "GET", "/v1/timeline", "", asAgent).body)
	require.Contains(t, f.log.String(), `"degraded":"timeline"`)
	require.Equal(t, `{"code":0,"msg":"success","data":{"items":[],"next_cursor":"post:a:b:7","has_more":true,"degraded":["session"]}}`,
		f.do(t, "GET", "/v1/authors/u_2/posts", "", asAgent).body)
	require.Equal(t, `{"code":0,"msg":"success","data":{"items":[],"next_cursor":"post:a:b:7","has_more":true,"degraded":["session"]}}`,
		f.do(t, "GET", "/v1/circles/c1/posts", "", asAgent).body)
	require.Contains(t, f.log.String(), `"degraded":"session"`)
	got := f.do(t, "POST", "/v1/timeline/warm", "", asAgent)
	require.Equal(t, 50301, got.Code)
	require.Contains(t, got.Msg, "social store")
}

type shortTimelines struct{}

func (shortTimelines) Timeline(context.Context, timeline.Request) (timeline.Page, error) {
	return timeline.Page{
		Posts: []social.Card{{ID: "post:x"}, {ID: "post:y", Visible: true}},
		Next:  social.Position{At: 7, ID: "post:a:b"}, HasMore: true, Degraded: []string{"timeline"},
	}, nil
}

func (s shortTimelines) Author(ctx context.Context, _ timeline.AuthorRequest) (timeline.Page, error) {
	page, err := s.Timeline(ctx, timeline.Request{})
	page.Degraded = []string{"session"}
	return page, err
}

func (s shortTimelines) Circle(ctx context.Context, _ timeline.CircleRequest) (timeline.Page, error) {
	return s.Author(ctx, timeline.AuthorRequest{})
}

func (s shortTimelines) Liked(ctx context.Context, _ timeline.LikedRequest) (timeline.Page, error) {
	return s.Timeline(ctx, timeline.Request{})
}

func (s shortTimelines) Replies(ctx context.Context, _ timeline.RepliesRequest) (timeline.Page, error) {
	return s.Timeline(ctx, timeline.Request{})
}

func (shortTimelines) Notifications(context.Context, timeline.NoticesRequest) (social.NoticePage, error) {
	return social.NoticePage{}, social.ErrUnavailable
}

func (shortTimelines) Warm(context.Context, string) error { return social.ErrUnavailable }

func TestAuthors(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	require.Equal(t, `{"code":0,"msg":"success","data":{"id":"u_1","name":"Ana","bio":"Rain"}}`,
		f.do(t, "PUT", "/v1/authors/u_1", `{"name":"Ana","bio":"Rain"}`, asAgent).body)
	publish(t, store, social.Post{Author: "u_1", Audience: social.Audience{Followers: true}})
	publish(t, store, social.Post{Author: "u_1"})
	_, err := store.Follow(t.Context(), "u_2", "u_1", time.Time{})
	require.NoError(t, err)
	for reader, want := range map[string]social.AuthorInfo{
		"u_2": {Posts: 2, IsFollowing: true}, "u_3": {Posts: 1}, "": {Posts: 1},
	} {
		want.Author, want.Followers = social.Author{ID: "u_1", Name: "Ana", Bio: "Rain"}, 1
		require.Equal(t, want, data[social.AuthorInfo](t, f.do(t, "GET", "/v1/authors/u_1", "", as(reader))), reader)
	}
	require.JSONEq(t, `{"changed":true}`, string(f.do(t, "PUT", "/v1/agents/u_3/blocked/u_1", "", as("u_3")).Data))
	require.Equal(t, `{"code":0,"msg":"success","data":{"id":"u_1","is_blocked":true}}`, f.do(t, "GET", "/v1/authors/u_1", "", as("u_3")).body)
	require.Equal(t, 40401, f.do(t, "GET", "/v1/authors/u_3", "", asAgent).Code)
	require.JSONEq(t, `{"agents":["u_1"],"next_after":null}`, withoutCards(string(f.do(t, "GET", "/v1/agents/u_3/blocked", "", as("u_3")).Data)))
	require.Equal(t, 40301, f.do(t, "GET", "/v1/agents/u_3/blocked", "", asAgent).Code, "nobody else's to read")
	require.JSONEq(t, `{"changed":true}`, string(f.do(t, "DELETE", "/v1/agents/u_3/blocked/u_1", "", as("u_3")).Data))
	require.Equal(t, 40301, f.do(t, "PUT", "/v1/authors/u_1", `{"name":"Not Ana"}`, as("u_2")).Code)
	require.Equal(t, 40101, f.do(t, "PUT", "/v1/authors/u_1", `{"name":"Not Ana"}`).Code)
	require.Zero(t, f.do(t, "PUT", "/v1/authors/u_1", `{"name":"By an admin"}`, asAdmin).Code)
	require.Equal(t, 40001, f.do(t, "PUT", "/v1/authors/u_1", `{"name":"`+strings.Repeat("x", 257)+`"}`, asAgent).Code)
	require.Equal(t, 40301, f.do(t, "DELETE", "/v1/authors/u_1", "", as("u_2")).Code)
	require.Zero(t, f.do(t, "DELETE", "/v1/authors/u_1", "", asAgent).Code)
	require.Empty(t, data[pageOfEntries](t, f.do(t, "GET", "/v1/authors/u_1/posts", "", as("u_2"))).Items)
}

var cardsOf = regexp.MustCompile(`"cards":\[[^\]]*\],`)

// withoutCards returns a list of agents without their cards.
func withoutCards(body string) string { return cardsOf.ReplaceAllString(body, "") }

func TestFollowsAndBlocks(t *testing.T) {
	t.Parallel()
	f, _ := socialFixture(t, nil)
	do := func(method, path string) bool {
		return data[changed](t, f.do(t, method, "/v1/agents/u_1/"+path, "", asAgent)).Changed
	}
	require.True(t, do("PUT", "following/u_2"))
	require.False(t, do("PUT", "following/u_2"))
	require.True(t, do("PUT", "following/@server"))
	require.True(t, do("PUT", "following/10086"))
	require.Equal(t, `{"code":0,"msg":"success","data":{"agents":["10086","@server","u_2"],"next_after":null}}`, withoutCards(f.do(t, "GET", "/v1/agents/u_1/following", "", asAgent).body))
	require.Equal(t, `{"code":0,"msg":"success","data":{"agents":["10086"],"next_after":"10086"}}`, withoutCards(f.do(t, "GET", "/v1/agents/u_1/following?limit=1", "", asAgent).body))
	require.Equal(t, `{"code":0,"msg":"success","data":{"agents":["@server","u_2"],"next_after":null}}`, withoutCards(f.do(t, "GET", "/v1/agents/u_1/following?after=10086&limit=2", "", asAdmin).body))
	require.Equal(t, `{"code":0,"msg":"success","data":{"agents":["u_1"],"next_after":null}}`, withoutCards(f.do(t, "GET", "/v1/agents/u_2/followers", "", as("u_2")).body))
	require.Equal(t, `{"code":0,"msg":"success","data":{"agents":[],"next_after":null}}`, withoutCards(f.do(t, "GET", "/v1/agents/u_2/following", "", as("u_2")).body))
	require.Equal(t, 40301, f.do(t, "GET", "/v1/agents/u_2/followers", "", asAgent).Code)
	require.Equal(t, 40301, f.do(t, "PUT", "/v1/agents/u_2/following/u_1", "", asAgent).Code)
	require.True(t, do("DELETE", "following/u_2"))
	require.False(t, do("DELETE", "following/u_2"))

	require.True(t, do("PUT", "following/u_2"))
	require.True(t, do("PUT", "blocked/u_2"))
	require.False(t, do("DELETE", "following/u_2"), "the block has ended it")
	got := f.do(t, "PUT", "/v1/agents/u_2/following/u_1", "", as("u_2"))
	require.Equal(t, 40301, got.Code)
	require.Contains(t, got.Msg, "one of the two blocks the other")
	require.True(t, do("DELETE", "blocked/u_2"))
	require.True(t, do("PUT", "following/u_2"))
	require.Equal(t, 40001, f.do(t, "PUT", "/v1/agents/u_1/following/u_1", "", asAgent).Code)
}

// When several authors are followed in one call, each is accepted or refused separately, and the
// next call of the timeline has their posts.
func TestFollowSeveralAuthors(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	_, err := store.Block(t.Context(), "u_3", "u_1")
	require.NoError(t, err)
	_, err = store.Follow(t.Context(), "u_1", "u_4", time.Time{})
	require.NoError(t, err)
	for _, author := range []string{"u_2", "u_4"} {
		publish(t, store, social.Post{Author: author})
	}
	path := "/v1/agents/u_1/following"
	require.Len(t, data[pageOfEntries](t, f.do(t, "GET", "/v1/timeline", "", asAgent)).Items, 1, "there is a list")
	got := f.do(t, "POST", path, `{"authors":["u_1","u_2","u_3","u_4","u_2"]}`, asAgent)
	out := data[api.Followed](t, got)
	require.Equal(t, 1, out.Changed, got.body)
	require.Len(t, out.Refused, 2)
	for i, want := range []api.FollowRefused{{Author: "u_1", Code: 40001}, {Author: "u_3", Code: 40301}} {
		require.NotEmpty(t, out.Refused[i].Msg)
		out.Refused[i].Msg = ""
		require.Equal(t, want, out.Refused[i])
	}
	require.Len(t, data[pageOfEntries](t, f.do(t, "GET", "/v1/timeline", "", asAgent)).Items, 2)
	for body, code := range map[string]int{
		`{"authors":[]}`: 40001, `{}`: 40001, `{"authors":["u_2","a b"]}`: 40004,
		`{"authors":["x"` + strings.Repeat(`,"x"`, MaxFollows) + `]}`: 40001,
	} {
		require.Equal(t, code, f.do(t, "POST", path, body, asAgent).Code, body)
	}
	require.Contains(t, f.do(t, "POST", path, `{"authors":["u_2","a b"]}`, asAgent).Msg, `authors[1]: bad id: agent_id has " "`)
	require.Equal(t, 40301, f.do(t, "POST", path, `{"authors":["u_2"]}`, as("u_2")).Code)
}

func TestFollowsManagedByApp(t *testing.T) {
	t.Parallel()
	f, _ := socialFixture(t, func(_ *Config, d *Deps) { d.Social.FollowsByApp = true })
	for _, method := range []string{"PUT", "DELETE"} {
		got := f.do(t, method, "/v1/agents/u_1/following/u_3", "", asAgent)
		require.Equal(t, 40301, got.Code)
		require.Contains(t, got.Msg, "the app manages follows")
		require.True(t, data[changed](t, f.do(t, method, "/v1/agents/u_1/following/u_3", "", asAdmin)).Changed)
	}
	require.Equal(t, 40301, f.do(t, "POST", "/v1/agents/u_1/following", `{"authors":["u_4"]}`, asAgent).Code)
	require.Zero(t, f.do(t, "PUT", "/v1/agents/u_1/blocked/u_3", "", asAgent).Code, "blocks are everybody's own")
	require.Zero(t, f.do(t, "GET", "/v1/agents/u_1/following", "", asAgent).Code)
}

func TestCircles(t *testing.T) {
	t.Parallel()
	f, _ := socialFixture(t, nil)
	circle := func(method, path, body, caller string) string {
		return f.do(t, method, "/v1/circles/"+path, body, caller).body
	}
	success := func(data string) string { return `{"code":0,"msg":"success","data":` + data + `}` }
	require.Equal(t, success(`{"id":"c1","owner":"u_1","name":"Friends","size":2,"kind":"circle"}`), circle("PUT", "c1", `{"name":"Friends","members":["u_3","u_2","u_2"]}`, asAgent))
	require.Equal(t, success(`{"id":"c1","owner":"u_1","name":"Old friends","size":2,"kind":"circle"}`), circle("PUT", "c1", `{"name":"Old friends"}`, asAdmin))
	require.Equal(t, success(`{"changed":true}`), circle("PUT", "c1/members/u_4", "", asAgent))
	require.Equal(t, success(`{"changed":false}`), circle("PUT", "c1/members/u_4", "", asAdmin))
	require.Equal(t, success(`{"agents":["u_2","u_3"],"next_after":"u_3"}`), withoutCards(circle("GET", "c1/members?limit=2", "", asAgent)))
	require.Equal(t, success(`{"agents":["u_4"],"next_after":null}`), withoutCards(circle("GET", "c1/members?limit=2&after=u_3", "", asAgent)))
	require.Equal(t, success(`{"changed":true}`), circle("DELETE", "c1/members/u_2", "", asAgent))
	require.Equal(t, success(`{"id":"c1","owner":"u_1","name":"Old friends","size":2,"kind":"circle"}`), circle("GET", "c1", "", asAgent))
	require.Equal(t, success(`{"id":"c1","owner":"u_1","size":0,"kind":"circle"}`), circle("PUT", "c1", `{"members":[]}`, asAgent), "none is an answer, too")
	require.Equal(t, success(`{"id":"c2","owner":"u_7","size":0,"kind":"circle"}`), circle("PUT", "c2", `{"owner":"u_7"}`, asAdmin))
	require.Equal(t, success(`{"id":"c0","owner":"u_1","name":"Zero","size":0,"kind":"circle"}`), circle("PUT", "c0", `{"name":"Zero"}`, asAgent))
	require.Equal(t, success(`{"circles":[{"id":"c0","owner":"u_1","name":"Zero","size":0,"kind":"circle"}],"next_after":"c0"}`), f.do(t, "GET", "/v1/circles?limit=1", "", asAgent).body)
	require.Equal(t, success(`{"circles":[{"id":"c1","owner":"u_1","size":0,"kind":"circle"}],"next_after":null}`), f.do(t, "GET", "/v1/circles?after=c0", "", asAgent).body)
	require.Equal(t, success(`{"circles":[],"next_after":null}`), f.do(t, "GET", "/v1/circles", "", as("u_9")).body)
	for _, call := range [][3]string{
		{"GET", "c1", ""}, {"PUT", "c1", "{}"}, {"DELETE", "c1", ""}, {"GET", "c1/members", ""}, {"PUT", "c1/members/u_2", ""}, {"DELETE", "c1/members/u_4", ""},
	} {
		want := 40401 // as if the circle did not exist, also for members
		if call[0] == "PUT" && call[1] == "c1" {
			want = 40301
		}
		require.Equal(t, want, f.do(t, call[0], "/v1/circles/"+call[1], call[2], as("u_2")).Code, call)
		require.Equal(t, 40101, f.do(t, call[0], "/v1/circles/"+call[1], call[2]).Code, call)
	}
	require.Equal(t, 40301, f.do(t, "PUT", "/v1/circles/c1", `{"owner":"u_2"}`, asAdmin).Code, "its owner cannot be changed")
	require.Contains(t, circle("PUT", "c3", `{}`, asAdmin), "owner is missing")
	require.Equal(t, success(`{"changed":true}`), circle("PUT", "c1/members/u_5", "", asAgent))
	require.Equal(t, success(`{"changed":true}`), circle("DELETE", "c1/members/u_5", "", as("u_5")), "members may leave")
	require.Equal(t, success(`{"changed":false}`), circle("DELETE", "c1/members/u_5", "", as("u_5")))
	require.Equal(t, success(`{"changed":false}`), circle("DELETE", "never/members/u_5", "", as("u_5")))
	require.Equal(t, success(`{}`), circle("DELETE", "c1", "", asAgent))
	require.Contains(t, circle("GET", "c1", "", asAgent), "not found: nothing exists with this id")
}

// TestGroups follows a group from creation to deletion, as its members and others see it.
func TestGroups(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	call := func(method, path, body, caller string) string {
		t.Helper()
		return f.do(t, method, "/v1/circles"+path, body, caller).body
	}
	success := func(data string) string { return `{"code":0,"msg":"success","data":` + data + `}` }
	code := func(want int, method, path, body, caller string) {
		t.Helper()
		require.Equal(t, want, f.do(t, method, path, body, caller).Code, "%s %s by %s", method, path, caller)
	}
	const club = `{"id":"club","owner":"u_1","name":"Rowers","size":1,"kind":"group","post":"members","history":"joined","members_visible_to":"members"}`
	require.Equal(t, success(club), call("PUT", "/club", `{"name":"Rowers","kind":"group","members_visible_to":"members"}`, asAgent))
	code(40401, "GET", "/v1/circles/club", "", as("u_2"))
	require.Equal(t, success(`{"changed":true}`), call("PUT", "/club/invitations/u_2", "", asAgent))
	require.Equal(t, success(`{"changed":false}`), call("PUT", "/club/invitations/u_2", "", asAgent))
	require.Equal(t, success(club), call("GET", "/club", "", as("u_2")))
	require.Equal(t, success(`{"circles":[`+club+`],"next_after":null}`), call("GET", "?of=invited", "", as("u_2")))
	require.Equal(t, success(`{"circles":[],"next_after":null}`), call("GET", "?of=joined", "", as("u_2")))
	code(40301, "GET", "/v1/circles/club/members", "", as("u_2"))
	code(42201, "POST", "/v1/posts", `{"caption":"x","audience":{"circles":["club"]}}`, as("u_2"))
	require.Equal(t, success(`{"changed":true}`), call("PUT", "/club/members/u_2", "", as("u_2")))
	require.Equal(t, success(`{"changed":false}`), call("PUT", "/club/members/u_2", "", as("u_2")))
	code(40401, "PUT", "/v1/circles/club/members/u_3", "", as("u_3"))
	code(0, "POST", "/v1/posts", `{"caption":"x","audience":{"circles":["club"]}}`, as("u_2"))
	require.Contains(t, call("GET", "?of=joined", "", as("u_2")), `"id":"club"`)
	require.Contains(t, call("PATCH", "/club", `{"post":"owner"}`, asAgent), `"name":"Rowers","size":2,"kind":"group","post":"owner"`)
	require.Equal(t, success(`{"agents":["u_1","u_2"],"next_after":null}`), withoutCards(call("GET", "/club/members", "", as("u_2"))))
	require.Contains(t, f.do(t, "POST", "/v1/posts", `{"caption":"x","audience":{"circles":["club"]}}`, as("u_2")).Msg, "only the owner may post to club")
	code(40301, "PUT", "/v1/circles/club/members/u_3", "", as("u_2"))
	code(40301, "PUT", "/v1/circles/club/invitations/u_3", "", as("u_2"))
	code(40301, "DELETE", "/v1/circles/club", "", as("u_2"))
	code(40301, "DELETE", "/v1/circles/club/members/u_1", "", asAgent)
	for _, fixed := range []string{`{"history":"all"}`, `{"members_visible_to":"owner"}`, `{"kind":"event","until":4102444800}`} {
		code(40301, "PUT", "/v1/circles/club", fixed, asAgent)
		code(40301, "PATCH", "/v1/circles/club", fixed, asAdmin)
	}
	require.Equal(t, success(`{"changed":true}`), call("DELETE", "/club/members/u_2", "", as("u_2")))
	code(40401, "GET", "/v1/circles/club/members", "", as("u_2"))
	require.Equal(t, success(`{"changed":true}`), call("PUT", "/club/invitations/u_2", "", asAdmin))
	require.Equal(t, success(`{"changed":true}`), call("DELETE", "/club/invitations/u_2", "", as("u_2")))
	require.Equal(t, success(`{"changed":false}`), call("DELETE", "/club/invitations/u_2", "", asAgent))
	code(40001, "PUT", "/v1/circles/party", `{"kind":"event"}`, asAgent)
	require.Contains(t, f.do(t, "PUT", "/v1/circles/party", `{"kind":"event","until":"2020-01-02T03:04:05Z"}`, asAgent).Msg, "until is in the past")
	socialtest.PutCircle(t, store, social.Circle{ID: "party", Owner: "u_1", CircleTerms: social.CircleTerms{Kind: social.KindEvent}, Until: 1577934245},
		nil, time.Now())
	require.Contains(t, f.do(t, "POST", "/v1/posts", `{"caption":"x","audience":{"circles":["party"]}}`, asAgent).Msg,
		"the event party ended at 2020-01-02T03:04:05Z and accepts no new posts")
	require.Contains(t, call("PUT", "/c1", `{}`, asAgent), `"kind":"circle"`)
	code(40001, "PUT", "/v1/circles/c1/invitations/u_2", "", asAgent)
	code(40001, "GET", "/v1/circles?of=seen", "", asAgent)
}

// TestPatches changes single fields of circles and cards: the others stay.
func TestPatches(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	for _, step := range []struct{ method, path, body, caller, want string }{
		{"PUT", "/v1/circles/g", `{"name":"Rowers","kind":"group","post":"owner"}`, asAgent, `"name":"Rowers","size":1,"kind":"group","post":"owner"`},
		{"PATCH", "/v1/circles/g", `{"post":"members"}`, asAgent, `"name":"Rowers","size":1,"kind":"group","post":"members"`},
		{"PATCH", "/v1/circles/g", `{"name":"Rowers of <the> bank"}`, asAgent, `"name":"Rowers of \u003cthe\u003e bank","size":1`},
		{"PATCH", "/v1/circles/g", `{"name":null}`, asAgent, `{"id":"g","owner":"u_1","size":1`},
		{"PATCH", "/v1/circles/g", `{"post":"owner","name":"N"}`, asAdmin, `"post":"owner"`},
		{"PATCH", "/v1/circles/g", `{"post":null}`, asAgent, `"name":"N","size":1,"kind":"group","post":"members"`},
		{"PATCH", "/v1/circles/g", `{}`, asAgent, `"name":"N"`},
		{"PATCH", "/v1/circles/g", `{"post":"owner","name":7}`, asAgent, `name must be a string`},
		{"PATCH", "/v1/circles/g", `{"size":null}`, asAgent, `unknown field \"size\"`},
		{"PATCH", "/v1/circles/g", `{"members":null}`, asAgent, `members must be a list, not null; send [] to remove all`},
		{"PATCH", "/v1/circles/g", `{"owner":null}`, asAgent, `owner: `},
		{"PATCH", "/v1/circles/g", `{"owner":"u_2"}`, asAgent, `u_2 is no member of g; only a member can become its owner`},
		{"PATCH", "/v1/circles/g", `[]`, asAgent, `object`},
		{"PATCH", "/v1/circles/none", `{"name":"x"}`, asAdmin, `not found`},
		{"PUT", "/v1/circles/e", `{"name":"Regatta","kind":"event","until":4102444800}`, asAgent, `"until":4102444800`},
		{"PATCH", "/v1/circles/e", `{"until":"2100-01-02T00:00:00Z"}`, asAgent, `"name":"Regatta","size":1,"kind":"event","post":"members","history":"joined","members_visible_to":"owner","until":4102531200`},
		{"PATCH", "/v1/circles/e", `{"until":null}`, asAgent, `until is missing: an event needs an end time`},
		{"PUT", "/v1/authors/u_1", `{"name":"Ann","bio":"b","image_url":"https://x/y"}`, asAgent, `"bio":"b"`},
		{"PATCH", "/v1/authors/u_1", `{"bio":null,"name":"Anna"}`, asAgent, `{"id":"u_1","name":"Anna","image_url":"https://x/y"}`},
		{"PATCH", "/v1/authors/u_1", `{"bio":"c"}`, asAdmin, `{"id":"u_1","name":"Anna","image_url":"https://x/y","bio":"c"}`},
		{"GET", "/v1/authors/u_1", ``, asAgent, `{"id":"u_1","name":"Anna","image_url":"https://x/y","bio":"c",`},
		{"PATCH", "/v1/authors/u_1", `{"suggest_from_follows":false}`, asAgent, `"bio":"c","suggest_from_follows":false}`},
		{"PATCH", "/v1/authors/u_1", `{"bio":"d"}`, asAgent, `"bio":"d","suggest_from_follows":false}`},
		{"PATCH", "/v1/authors/u_1", `{"suggest_from_follows":null}`, asAgent, `"bio":"d"}`},
		{"PATCH", "/v1/authors/u_1", `{"id":"u_2"}`, asAgent, `unknown field`},
		{"PATCH", "/v1/authors/u_2", `{"name":"x"}`, asAgent, `only for itself`},
	} {
		require.Contains(t, f.do(t, step.method, step.path, step.body, step.caller).body, step.want, "%s %s %s", step.method, step.path, step.body)
	}
	for path, body := range map[string]string{"/v1/circles/g": `{"name":"M"}`, "/v1/authors/u_1": `{"name":"M"}`, "/v1/agents/u_1/profile": `{"langs":["en"]}`} {
		got := f.do(t, "PATCH", path, body, asAgent, "Content-Type: application/merge-patch+json")
		require.Zero(t, got.Code, "%s: %s", path, got.body)
	}
	_, err := store.AddMember(t.Context(), "g", "u_2", "", time.Time{})
	require.NoError(t, err)
	require.Contains(t, f.do(t, "PATCH", "/v1/circles/g", `{"owner":"u_2"}`, asAgent).body, `"owner":"u_2","name":"M","size":2`)
	require.Equal(t, 40301, f.do(t, "PATCH", "/v1/circles/g", `{"owner":"u_1"}`, asAgent).Code)
}

func TestEraseAgent(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	publish(t, store, social.Post{ID: "post:p", Author: "u_1"})
	f.profiles.all["u_1"] = feed.Profile{Langs: []string{"en"}}
	require.Equal(t, 40301, f.do(t, "DELETE", "/v1/agents/u_1", "", as("u_2")).Code)
	for range 2 { // the second deletion finds nothing and is no error
		require.Zero(t, f.do(t, "DELETE", "/v1/agents/u_1", "", asAgent).Code)
	}
	require.Empty(t, f.profiles.all)
	require.Equal(t, 40401, f.do(t, "GET", "/v1/posts/post:p", "", asAgent).Code)
}

// Ids may have every allowed character, literal or escaped.
func TestSocialRouteIDs(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	const odd = "A.z_0@-9"
	post := "post:" + odd
	publish(t, store, social.Post{ID: post, Author: odd})
	escape := func(id string) string {
		var b strings.Builder
		for i := range len(id) {
			fmt.Fprintf(&b, "%%%02X", id[i])
		}
		return b.String()
	}
	for _, write := range []func(string) string{url.PathEscape, escape, func(id string) string { return id }} {
		require.Equal(t, post, data[entry](t, f.do(t, "GET", "/v1/posts/"+write(post), "")).ID)
		require.Equal(t, post, data[pageOfEntries](t, f.do(t, "GET", "/v1/authors/"+write(odd)+"/posts", "")).Items[0].ID)
		require.Zero(t, f.do(t, "PUT", "/v1/posts/"+write(post)+"/like", "", asAgent).Code)
		require.Zero(t, f.do(t, "PUT", "/v1/agents/u_1/following/"+write(odd), "", asAgent).Code)
		require.Zero(t, f.do(t, "PUT", "/v1/agents/"+write(odd)+"/blocked/u_9", "", as(odd)).Code)
		require.Zero(t, f.do(t, "PUT", "/v1/circles/"+write(odd), "{}", as(odd)).Code)
		require.Zero(t, f.do(t, "PUT", "/v1/circles/"+write(odd)+"/members/"+write(odd), "", as(odd)).Code)
		require.Zero(t, f.do(t, "GET", "/v1/timeline?cursor="+write(post)+":5", "", as(odd)).Code)
	}
	for path, code := range map[string]int{
		"/v1/posts/" + odd: 40004, "/v1/posts/post:": 40004, "/v1/posts/post:a:b": 40004, "/v1/posts/post:a%00": 40004, "/v1/posts/post:%ff": 40004,
		"/v1/posts/post:" + strings.Repeat("x", 129): 40004, "/v1/posts/": 40401, "/v1/posts/post:a%2Fb": 40401, "/v1/posts/post:a/": 40401,
		"/v1/authors/a:b": 40004, "/v1/authors/@server": 40004, "/v1/authors/": 40401,
	} {
		require.Equal(t, code, f.do(t, "GET", path, "").Code, path)
	}
}

// A personal answer must not be cached, and names in Vary the headers that identify the caller.
func TestPersonalAnswersNotCached(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	publish(t, store, social.Post{ID: "post:p", Author: "u_1"})
	for _, path := range []string{"/v1/posts/post:p", "/v1/posts/post:never", "/v1/posts/bad", "/v1/timeline", "/v1/authors/u_1/posts", "/v1/circles/c1"} {
		got := f.do(t, "GET", path, "", asAgent)
		require.Equal(t, "private, no-store", got.header.Get("Cache-Control"), path)
		require.Equal(t, []string{"Accept-Encoding", "Authorization, X-Agent-ID, X-Admin-Token"}, got.header.Values("Vary"), path)
	}
	require.Equal(t, "no-store", f.do(t, "POST", "/v1/feed", refresh, asAgent).header.Get("Cache-Control"))
}

// A demo treats every caller on its machine as an admin, but a call with an agent id is that
// agent's call.
func TestDemoAgentIsNoAdmin(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, func(c *Config, _ *Deps) { c.Auth = Auth{Demo: true} })
	publish(t, store, social.Post{ID: "post:p", Author: "u_1"})
	ask := func(method, path, body string, agent string) reply {
		r := httptest.NewRequest(method, "http://127.0.0.1:8080"+path, strings.NewReader(body))
		r.RemoteAddr = "127.0.0.1:5000"
		if agent != "" {
			r.Header.Set("X-Agent-ID", agent)
		}
		return f.serve(t, r)
	}
	require.Equal(t, 40301, ask("PATCH", "/v1/posts/post:p", `{"caption":"x"}`, "u_2").Code)
	require.Equal(t, 40301, ask("PUT", "/v1/authors/u_1", `{}`, "u_2").Code)
	require.Equal(t, 40004, ask("PATCH", "/v1/posts/post:p", `{"caption":"x"}`, "u:2").Code)
	require.Zero(t, ask("PATCH", "/v1/posts/post:p", `{"caption":"x"}`, "").Code)
	require.Zero(t, ask("PUT", "/v1/authors/u_1", `{}`, "u_1").Code)
}

// In token mode an invalid token is refused even where none is needed, and the admin's token
// identifies no reader.
func TestTokenModeReaders(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, func(c *Config, _ *Deps) {
		c.Auth.Mode, c.Auth.JWT.Secret, c.Clock = ModeJWT, hmacSecret, func() time.Time { return testNow }
	})
	publish(t, store, social.Post{ID: "post:p", Author: "u_1"})
	publish(t, store, social.Post{ID: "post:q", Author: "u_1", Mentions: []string{"u_2"}})
	read := func(id string, headers ...string) int { return f.do(t, "GET", "/v1/posts/"+id, "", headers...).Code }
	mine := "Authorization: Bearer " + sign(t, hs256, []byte(hmacSecret), goodClaims(), nil)
	require.Zero(t, read("post:p"))
	require.Equal(t, 40401, read("post:q"))
	require.Equal(t, 40401, read("post:q", asAgent), "a header says nothing here")
	require.Zero(t, read("post:q", mine))
	require.Equal(t, 40101, read("post:p", "Authorization: Bearer x.y.z"))
	require.Equal(t, 40101, read("post:p", "Authorization: Basic eDp5"))
	require.Zero(t, read("post:p", "Authorization: Bearer "+adminToken))
	require.Equal(t, 40401, read("post:q", "Authorization: Bearer "+adminToken))
	require.Zero(t, f.do(t, "PATCH", "/v1/posts/post:q", `{"caption":"x"}`, mine).Code)
	require.Zero(t, f.do(t, "DELETE", "/v1/posts/post:q", "", "Authorization: Bearer "+adminToken).Code)
}

// Anonymous readers are limited like agents; admins are not.
func TestConcurrencyLimitSocialRoutes(t *testing.T) {
	t.Parallel()
	inside, leave := make(chan struct{}), make(chan struct{})
	f, store := socialFixture(t, func(c *Config, d *Deps) {
		c.MaxInFlight = 1
		d.Social.Timelines = waiting{inside, leave}
	})
	publish(t, store, social.Post{ID: "post:p", Author: "u_1"})
	done := make(chan reply, 1)
	go func() { done <- f.do(t, "GET", "/v1/timeline", "", asAgent) }()
	<-inside
	require.Equal(t, 50301, f.do(t, "GET", "/v1/posts/post:p", "").Code)
	require.Equal(t, 50301, f.do(t, "PATCH", "/v1/posts/post:p", `{"caption":"x"}`, asAgent).Code)
	require.Zero(t, f.do(t, "PATCH", "/v1/posts/post:p", `{"caption":"x"}`, asAdmin).Code)
	close(leave)
	require.Zero(t, (<-done).Code)
}

type waiting struct{ inside, leave chan struct{} }

func (w waiting) Timeline(ctx context.Context, _ timeline.Request) (timeline.Page, error) {
	w.inside <- struct{}{}
	select {
	case <-w.leave:
		return timeline.Page{}, nil
	case <-ctx.Done():
		return timeline.Page{}, ctx.Err()
	}
}

func (w waiting) Author(ctx context.Context, _ timeline.AuthorRequest) (timeline.Page, error) {
	return w.Timeline(ctx, timeline.Request{})
}

func (w waiting) Circle(ctx context.Context, _ timeline.CircleRequest) (timeline.Page, error) {
	return w.Timeline(ctx, timeline.Request{})
}

func (w waiting) Liked(ctx context.Context, _ timeline.LikedRequest) (timeline.Page, error) {
	return w.Timeline(ctx, timeline.Request{})
}

func (w waiting) Replies(ctx context.Context, _ timeline.RepliesRequest) (timeline.Page, error) {
	return w.Timeline(ctx, timeline.Request{})
}

func (waiting) Notifications(context.Context, timeline.NoticesRequest) (social.NoticePage, error) {
	return social.NoticePage{}, errors.New("not here")
}

func (waiting) Warm(context.Context, string) error { return errors.New("not here") }
