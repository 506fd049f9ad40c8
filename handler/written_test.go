package handler

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

// countedReads is a store that counts reads of cards.
type countedReads struct {
	social.Store
	n atomic.Int64
}

func (s *countedReads) Cards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	s.n.Add(1)
	return s.Store.Cards(ctx, reader, posts)
}

// TestWrittenPostNotReadAgain checks that the answer to a write of a post is that of a read which
// follows, byte for byte, but comes from the write.
func TestWrittenPostNotReadAgain(t *testing.T) {
	t.Parallel()
	reads := &countedReads{}
	f, store := socialFixture(t, func(_ *Config, d *Deps) { reads.Store, d.Social.Store = d.Social.Store, reads })
	socialtest.PutCircle(t, store, social.Circle{ID: "c1", Owner: "u_1", Name: "Friends"}, []string{"u_2"}, time.Time{})
	socialtest.PutCircle(t, store, social.Circle{ID: "g1", Owner: "u_2", Name: "Choir", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, []string{"u_1"}, time.Time{})
	require.NoError(t, store.PutAuthor(t.Context(), social.Author{ID: "u_1", Name: "Ann", ImageURL: "https://example.com/a.png"}, time.Time{}))
	publish(t, store, social.Post{ID: "post:root", Author: "u_2", Audience: social.Audience{Circles: []string{"g1"}}})
	_, _, err := store.CreatePost(t.Context(), social.Post{ID: "post:reply", Author: "u_1", Caption: "x", ReplyTo: "post:root"}, social.Creation{})
	require.NoError(t, err)
	publish(t, store, social.Post{ID: "post:own", Author: "u_1", Reply: social.RightFollowers, React: social.RightNone})
	write := func(method, path, body string, headers ...string) reply {
		t.Helper()
		reads.n.Store(0)
		got := f.do(t, method, path, body, append(headers, asAgent)...)
		require.Less(t, got.status, http.StatusBadRequest, got.body)
		require.Zero(t, reads.n.Load(), "%s %s %s", method, path, body)
		return got
	}
	key, plain := "Idempotency-Key: k", "Accept: application/json"
	for _, w := range []struct{ method, path, body, header string }{
		{"POST", "/v1/posts", `{"caption":"x #y","mentions":["u_3"]}`, key},
		{"POST", "/v1/posts", `{"caption":"x","audience":{"followers":true},"reply":"none","react":"audience"}`, plain},
		{"POST", "/v1/posts", `{"caption":"x","audience":{"circles":["c1"]}}`, plain},
		{"POST", "/v1/posts", `{"caption":"x","audience":{"circles":["g1","c1"]}}`, plain},
		{"POST", "/v1/posts", `{"caption":"x","reply_to":"post:root"}`, plain},
		{"POST", "/v1/posts", `{"caption":"x","reply_to":"post:reply"}`, plain},
		{"PATCH", "/v1/posts/post:own", `{"caption":"z"}`, plain},
		{"PATCH", "/v1/posts/post:own", `{"caption":"z"}`, plain},
		{"PATCH", "/v1/posts/post:reply", `{"caption":"z"}`, plain},
	} {
		got := write(w.method, w.path, w.body, w.header)
		path := "/v1/posts/" + data[entry](t, got).ID
		require.Equal(t, f.do(t, "GET", path, "", asAgent).body, got.body, "%s %s", w.path, w.body)
		if w.header != key {
			continue
		}
		write("PUT", path+"/like", "")
		again := write(w.method, w.path, w.body, w.header)
		require.Equal(t, http.StatusOK, again.status)
		require.Equal(t, f.do(t, "GET", path, "", asAgent).body, again.body, "a repetition returns the post as it is now")
		require.True(t, data[entry](t, again).InFeed.HasLiked)
		write("DELETE", path+"/like", "")
	}
}
