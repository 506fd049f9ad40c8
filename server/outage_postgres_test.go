package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

// postgresOutages are the ways in which PostgreSQL can become unreachable; each returns a function
// that restores it.
var postgresOutages = map[string]func(t *testing.T, p *testenv.OwnPostgres) (back func()){
	"stopped": func(_ *testing.T, p *testenv.OwnPostgres) func() {
		p.Crash()
		return p.Start
	},
	"frozen": func(t *testing.T, p *testenv.OwnPostgres) func() {
		p.Freeze()
		t.Cleanup(p.Thaw) // closing would wait for it
		return p.Thaw
	},
}

// scroll reads a timeline page by page, until its end or an error.
func (s *httpSystem) scroll(reader string, limit string) (ids []string, last httpAnswer) {
	s.Helper()
	cursor := ""
	for {
		last = s.call(reader, "GET", "/v1/timeline?limit="+limit+cursor, "")
		if last.status != http.StatusOK {
			return ids, last
		}
		ids = append(ids, last.ids()...)
		if !last.Data.HasMore {
			return ids, last
		}
		cursor = "&cursor=" + url.QueryEscape(*last.Data.NextCursor)
	}
}

func (s *httpSystem) publish(p social.Post) string {
	s.Helper()
	p.Caption = "secret of " + p.ID
	_, _, err := s.a.network.fanout.Store().CreatePost(s.Context(), p, social.Creation{})
	require.NoError(s, err)
	return p.ID
}

// createNetwork creates a network: what "reader" follows, with posts for every audience.
func (s *httpSystem) createNetwork() (public []string) {
	s.Helper()
	ctx, store := s.Context(), s.a.network.fanout.Store()
	for _, author := range []string{"ann", "bob", "eve"} {
		_, err := store.Follow(ctx, "reader", author, time.Time{})
		require.NoError(s, err)
	}
	socialtest.PutCircle(s, store, social.Circle{ID: "c1", Owner: "ann"}, []string{"reader"}, time.Time{})
	require.NoError(s, store.PutAuthor(ctx, social.Author{ID: "ann", Name: "Ann"}, time.Time{}))
	everybody, at := social.Audience{Public: true}, time.Now().Unix()-100
	s.call("reader", "GET", "/v1/timeline", "") // builds a list
	for i, p := range []social.Post{
		{ID: "post:public1", Author: "ann", Audience: everybody},
		{ID: "post:followers", Author: "ann", Audience: social.Audience{Followers: true}},
		{ID: "post:circle", Author: "ann", Audience: social.Audience{Circles: []string{"c1"}}},
		{ID: "post:mention", Author: "ann", Mentions: []string{"reader"}},
		{ID: "post:remote", Author: "bob", Origin: "elsewhere.example", Audience: social.Audience{Followers: true}},
		{ID: "post:granted", Author: "bob", Origin: "elsewhere.example", Audience: everybody, React: social.RightAudience, Grants: []string{"reader"}},
		{ID: "post:deleted", Author: "ann", Audience: everybody},
		{ID: "post:erased", Author: "eve", Audience: everybody},
		{ID: "post:muted", Author: "bob", Audience: everybody, Tags: []string{"dull"}},
		{ID: "post:public2", Author: "bob", Audience: everybody},
		{ID: "post:public3", Author: "ann", Audience: everybody, Mentions: []string{"reader"}},
	} {
		p.CreatedAt = at + int64(i)
		s.publish(p)
	}
	waitSettled(s, s.a)
	s.waitCached("post:public1", "post:public2", "post:public3", "post:muted", "post:deleted", "post:erased")
	return []string{"post:public3", "post:public2", "post:public1"}
}

// TestPostgresDownServesCachedPublicPosts makes PostgreSQL unreachable: readers get the cached
// public posts, and nothing else.
func TestPostgresDownServesCachedPublicPosts(t *testing.T) {
	t.Parallel()
	for name, take := range postgresOutages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s := ownPostgres(t)
			public := s.createNetwork()
			require.Equal(t, 200, s.call("reader", "PUT", "/v1/agents/reader/profile", `{"muted_tags":["dull"]}`).status)
			for _, id := range []string{"post:public1", "post:public2"} {
				require.Equal(t, 200, s.call("reader", "PUT", "/v1/posts/"+id+"/like", "").status)
			}
			before, _ := s.scroll("reader", "3")
			require.Equal(t, 200, s.call("ann", "DELETE", "/v1/posts/post:deleted", "").status)
			require.Equal(t, 200, s.call("eve", "DELETE", "/v1/authors/eve", "").status)
			require.Len(t, before, 10, "all but the muted one")
			for _, id := range append(before, "post:muted") { // each reader reads each post
				s.call("reader", "GET", "/v1/posts/"+id, "")
			}
			refreshIndex(t, s.a)
			waitSettled(t, s.a)
			s.onlyPublicIsCached(public)
			want, _ := s.scroll("reader", "3")

			back := take(t, p)
			for range 20 { // forty pages; those of a frozen PostgreSQL must be answered in time
				ids, last := s.scroll("reader", "2")
				require.Equal(t, public, ids, "%s", last.body)
				require.Equal(t, 200, last.status, last.body)
				// A queue that cannot be read may be behind, and the lists late with it.
				require.Subset(t, []string{"timeline", "social"}, last.Data.Degraded)
				require.Contains(t, last.Data.Degraded, "social")
				for _, p := range last.Data.Items {
					require.Equal(t, "following", p.InFeed.Source)
					require.Nil(t, p.InFeed.Reason)
					require.False(t, p.InFeed.HasLiked || p.InFeed.CanReply || p.InFeed.CanReact)
				}
			}
			s.checkOtherRoutes(public)
			s.writesAreRefused()

			back()
			// On a busy machine one or two more pages may be served without PostgreSQL; they say
			// so.
			testenv.WaitFor(t, func() bool {
				got, _ := s.scroll("reader", "3")
				return slices.Equal(want, got)
			}, "the timeline to be as before: %v", want)
			require.Equal(t, "follow", *s.call("reader", "GET", "/v1/posts/post:public1", "").Data.InFeed.Reason)
			waitSettled(t, s.a)
		})
	}
}

// onlyPublicIsCached checks all cards in Redis.
func (s *httpSystem) onlyPublicIsCached(public []string) {
	s.Helper()
	ctx, client := s.Context(), s.a.clients.redis
	keys, err := client.Keys(ctx, s.a.cfg.Redis.KeyPrefix+"feed:post:*").Result()
	require.NoError(s, err)
	for _, key := range keys {
		value, err := client.Get(ctx, key).Result()
		require.NoError(s, err)
		id := key[strings.LastIndex(key, "post:"):]
		if !slices.Contains(public, id) && id != "post:muted" {
			assert.NotContains(s, value, "secret", key)
		}
	}
}

func (s *httpSystem) checkOtherRoutes(public []string) {
	s.Helper()
	for _, id := range append([]string{
		"post:followers", "post:circle", "post:mention", "post:remote", "post:granted", "post:deleted", "post:erased", "post:never",
	}, public...) {
		for _, reader := range []string{"reader", "ann", "stranger", ""} {
			got := s.call(reader, "GET", "/v1/posts/"+id, "")
			if !slices.Contains(public, id) {
				require.Equal(s, 503, got.status, "%s for %q: %s", id, reader, got.body)
				require.NotContains(s, got.body, "secret")
				continue
			}
			require.Equal(s, 200, got.status, got.body)
			require.Equal(s, []string{"social"}, got.Data.Degraded)
			require.Contains(s, got.body, "secret of "+id)
		}
	}
	for _, path := range []string{"/v1/authors/ann", "/v1/authors/ann/posts"} {
		require.Equal(s, 503, s.call("reader", "GET", path, "").status, path)
	}
	require.Equal(s, 503, s.call("nobody-reads-this", "GET", "/v1/timeline", "").status, "there is nothing to show")
	for _, reader := range []string{"stranger", "ann"} { // no timeline has shown them any
		got := s.call(reader, "POST", "/v1/feed", `{"action":"refresh","limit":50}`)
		require.Equal(s, 200, got.status, got.body)
		require.Contains(s, got.Data.Degraded, "social")
		require.NotEmpty(s, got.Data.Items)
		for _, p := range got.Data.Items {
			require.True(s, slices.Contains(public, p.ID) || p.ID == "post:muted", "%s is shown to %s", p.ID, reader)
			require.Equal(s, "discovery", p.InFeed.Source)
			require.Nil(s, p.InFeed.Reason)
		}
	}
}

func (s *httpSystem) writesAreRefused() {
	s.Helper()
	for _, w := range [][3]string{
		{"POST", "/v1/posts", `{"caption":"x"}`},
		{"PATCH", "/v1/posts/post:public1", `{"caption":"x"}`},
		{"DELETE", "/v1/posts/post:public1", ""},
		{"PUT", "/v1/posts/post:public1/like", ""},
		{"PUT", "/v1/agents/ann/following/bob", ""},
		{"DELETE", "/v1/authors/ann", ""},
	} {
		got := s.call("ann", w[0], w[1], w[2])
		require.Equal(s, 503, got.status, "%v: %s", w, got.body)
	}
	got := s.call("reader", "GET", "/v1/posts/post:public1", "")
	require.Contains(s, got.body, "secret of post:public1", "nothing is half done")
}
