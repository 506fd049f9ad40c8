package client_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
)

const adminToken = "an-admin-token-for-the-client"

// embedded starts a complete embedded server and returns its handler.
func embedded(change func(*configs.Config), options ...server.Option) (h http.Handler, stop func()) {
	dir, err := os.MkdirTemp("", "freshet-client")
	if err != nil {
		panic(err)
	}
	cfg := configs.Default()
	cfg.DataDir, cfg.Auth.AdminToken = dir, adminToken
	if cfg.Ranking, err = cfg.Ranking.With("curves=single"); err != nil { // independent of the default
		panic(err)
	}
	change(&cfg)
	a, err := server.Open(context.Background(), cfg, append(options, server.WithRecallCache(0, 0), server.WithLogger(slog.New(slog.DiscardHandler)))...)
	if err != nil {
		panic(err)
	}
	return a.Handler, func() {
		_, _ = a.Close(context.Background()), os.RemoveAll(dir)
	}
}

// newPair returns two clients of a real server, a reader's and the admin's.
func newPair(t *testing.T, change func(*configs.Config), options ...server.Option) (reader, admin *client.Client) {
	t.Helper()
	h, stop := embedded(change, options...)
	t.Cleanup(stop)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return connect(t, server.URL, client.WithAgent("u_1")), connect(t, server.URL, client.WithAdminToken(adminToken))
}

func asShipped(*configs.Config) {}

func posts(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"post/%d","title":"Post %d","update_time":%d,"reading_minutes":%d}`+"\n", i, i, 1772791200+i, i)
	}
	return b.String()
}

func TestFeedOnRealServer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var now atomic.Int64
	now.Store(1772800000)
	reader, admin := newPair(t, asShipped, server.WithClock(func() time.Time { return time.Unix(now.Load(), 0) }))
	sum, err := admin.Ingest(ctx, strings.NewReader(posts(30)+"{}\n"), func(r client.Rejection) {
		assert.Equal(t, client.Rejection{Line: 31, Reason: "id is missing"}, r)
	})
	require.NoError(t, err)
	require.Equal(t, client.Summary{Accepted: 30, Rejected: 1, Requests: 1}, sum)

	met := map[string]bool{}
	page, err := reader.Refresh(ctx, 12)
	for {
		require.NoError(t, err)
		for _, it := range page.Items {
			require.False(t, met[it.ID], "%s twice", it.ID)
			met[it.ID] = true
			require.JSONEq(t, strings.TrimPrefix(it.ID, "post/"), string(it.Business["reading_minutes"]))
		}
		if !page.HasMore {
			break
		}
		page, err = reader.LoadMore(ctx, 12)
	}
	require.Len(t, met, 30)

	now.Add(10)
	require.NoError(t, admin.PutItem(ctx, feed.Item{ID: "news", Title: "News", UpdateTime: now.Load()}))
	badge, err := reader.Silent(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, 1, *badge.NewCount)
	require.True(t, json.Valid(badge.Raw))
	other, err := reader.As("u_2").Refresh(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, "news", other.Items[0].ID)
	require.NoError(t, reader.Seen(ctx, "news", "post/1"))
}

func TestRelatedOnRealServer(t *testing.T) {
	t.Parallel()
	h, stop := embedded(func(*configs.Config) {}, server.WithClock(func() time.Time { return time.Unix(1772800000, 0) }))
	defer stop()
	server := httptest.NewServer(h)
	defer server.Close()
	reader, admin := connect(t, server.URL, client.WithAgent("u_1")), connect(t, server.URL, client.WithAdminToken(adminToken))
	for _, id := range []string{"a/related", "a", "b"} { // ids may end as the route does
		require.NoError(t, admin.PutItem(t.Context(), feed.Item{ID: id, Title: "Title of " + id, UpdateTime: 1772800000, Tags: []string{"rivers"}}))
	}
	it, err := admin.Item(t.Context(), "a/related")
	require.NoError(t, err)
	assert.Equal(t, "Title of a/related", it.Title)
	for id, want := range map[string][]string{"a": {"a/related", "b"}, "a/related": {"a", "b"}} {
		page, err := reader.Related(t.Context(), id, 0)
		require.NoError(t, err)
		require.Len(t, page.Items, 2)
		assert.ElementsMatch(t, want, []string{page.Items[0].ID, page.Items[1].ID})
		in, err := client.InFeedOf(page.Items[0])
		require.NoError(t, err)
		assert.Equal(t, []api.Reason{{Type: api.ReasonSameTag, Value: "rivers"}}, in.Why)
	}
	_, err = reader.Related(t.Context(), "nothing", 5)
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, 40401, refused.Code)
}

// The set is computed when a server starts, so the test starts it twice.
func TestGuestFeedOnRealServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for start := range 2 {
		h, stop := embedded(func(cfg *configs.Config) { cfg.DataDir = dir }, server.WithClock(func() time.Time { return time.Unix(1772800000, 0) }))
		server := httptest.NewServer(h)
		nobody, admin := connect(t, server.URL), connect(t, server.URL, client.WithAdminToken(adminToken))
		if start == 0 {
			for i, likes := range []int64{1, 9, 3} {
				require.NoError(t, admin.PutItem(t.Context(), feed.Item{ID: fmt.Sprint("i", i), Title: fmt.Sprint("Item ", i), UpdateTime: 1772800000, Likes: likes}))
			}
		} else {
			page, err := nobody.Guest(t.Context(), 2)
			require.NoError(t, err)
			require.Len(t, page.Items, 2)
			for i, trend := range []string{"hot", "warm"} {
				in, err := client.InFeedOf(page.Items[i])
				require.NoError(t, err)
				assert.Equal(t, &client.InFeed{Source: "trending", Trend: trend}, in)
			}
			assert.Equal(t, "i1", page.Items[0].ID)
			assert.True(t, json.Valid(page.Raw))
			page, err = nobody.Guest(t.Context(), 0)
			require.NoError(t, err)
			assert.Len(t, page.Items, 3)
			_, err = nobody.Guest(t.Context(), 101)
			var refused *client.Error
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, 40003, refused.Code)
		}
		server.Close()
		stop()
	}
}

func TestItemsAndProfilesOnRealServer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	reader, admin := newPair(t, asShipped)
	want := feed.Item{ID: "a/b:c", Title: "T", UpdateTime: 1772791200, Tags: []string{"x"}}
	require.NoError(t, admin.PutItem(ctx, want))
	got, err := admin.Item(ctx, want.ID)
	require.NoError(t, err)
	require.Equal(t, want, got)
	want.Likes, want.Tags = 3, nil
	got, err = admin.PatchItem(ctx, want.ID, map[string]any{"likes": 3, "tags": nil})
	require.NoError(t, err)
	require.Equal(t, want, got)
	got, err = admin.Item(ctx, want.ID)
	require.NoError(t, err)
	require.Equal(t, want, got)
	var rejected []client.Rejection
	sum, err := admin.IngestCounts(ctx, strings.NewReader(`{"id":"never","likes":1}`+"\n"+`{"id":"a/b:c","comments":8}`), func(r client.Rejection) { rejected = append(rejected, r) })
	require.NoError(t, err)
	require.Equal(t, client.Summary{Accepted: 1, Rejected: 1, Requests: 1}, sum)
	require.Equal(t, []client.Rejection{{Line: 1, ID: "never", Reason: "item never: not found"}}, rejected)
	want.Comments = 8
	got, err = admin.Item(ctx, want.ID)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.NoError(t, admin.PutItem(ctx, feed.Item{ID: "older", Title: "Older", UpdateTime: 1772790000, AuthorID: "7", Tags: []string{"1.5"}}))
	page, err := admin.Items(ctx, client.ItemFilter{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, []feed.Item{want}, page.Items)
	require.NotNil(t, page.NextCursor)
	page, err = admin.Items(ctx, client.ItemFilter{Author: "7", Tag: "1.5", Since: 1772790000, Cursor: *page.NextCursor})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Nil(t, page.NextCursor)
	_, err = admin.Items(ctx, client.ItemFilter{Cursor: "x"})
	require.ErrorContains(t, err, "start again without a cursor")
	require.NoError(t, admin.DeleteItem(ctx, want.ID))
	_, err = admin.PatchItem(ctx, want.ID, map[string]any{"likes": 4})
	require.ErrorIs(t, err, client.ErrNotFound)
	require.ErrorIs(t, admin.DeleteItem(ctx, want.ID), client.ErrNotFound)
	require.ErrorContains(t, admin.PutItem(ctx, feed.Item{ID: "x"}), "title is missing")

	profile := feed.Profile{Interests: map[string]float64{"space": 3}, Langs: []string{"en"}}
	stored, err := reader.PutProfile(ctx, "u_1", profile)
	require.NoError(t, err)
	require.Equal(t, profile, stored)
	known, err := admin.Profile(ctx, "u_1")
	require.NoError(t, err)
	require.NotEmpty(t, known.Tag)
	require.Equal(t, client.AgentProfile{Profile: profile, Tag: known.Tag}, known)
	changed, err := reader.Mute(ctx, "u_1", client.MutedTags, "a/b c?")
	require.NoError(t, err)
	require.True(t, changed)
	_, err = reader.PutProfileOf(ctx, "u_1", known.Tag, profile)
	require.ErrorIs(t, err, client.ErrPrecondition)
	patched, err := reader.PatchProfile(ctx, "u_1", map[string]any{"langs": nil, "muted_authors": []string{"ann"}})
	require.NoError(t, err)
	require.Equal(t, feed.Profile{Interests: profile.Interests, MutedAuthors: []string{"ann"}, MutedTags: []string{"a/b c?"}}, patched.Profile)
	put, err := reader.PutProfileOf(ctx, "u_1", patched.Tag, profile)
	require.NoError(t, err)
	require.Equal(t, known, put)
	end := time.Date(2100, 1, 2, 3, 4, 5, 600_000_000, time.FixedZone("", 3600))
	for _, word := range []string{"a/b c?", "é+&"} {
		changed, err = reader.MuteUntil(ctx, "u_1", client.MutedWords, word, end)
		require.NoError(t, err)
		require.True(t, changed)
	}
	changed, err = reader.Mute(ctx, "u_1", client.MutedWords, "A B C")
	require.NoError(t, err)
	require.True(t, changed, "without an end")
	_, err = reader.MuteUntil(ctx, "u_1", client.MutedWords, "x", end.AddDate(-200, 0, 0))
	require.ErrorIs(t, err, client.ErrBadRequest)
	require.ErrorContains(t, err, "is not in the future")
	_, err = reader.Mute(ctx, "u_1", client.MutedWords, "the")
	require.ErrorContains(t, err, "mute a longer phrase")
	_, err = reader.MuteUntil(ctx, "u_1", client.MutedAuthors, "bob", end)
	require.NoError(t, err)
	known, err = reader.Profile(ctx, "u_1")
	require.NoError(t, err)
	require.Equal(t, []feed.MutedWord{{Term: "a/b c?"}, {Term: "é+&", Until: end.UTC()}}, known.MutedWords)
	require.Equal(t, feed.MuteEnds{Authors: map[string]time.Time{"bob": end.UTC()}}, known.MutedUntil)
	changed, err = reader.Unmute(ctx, "u_1", client.MutedWords, "É+")
	require.NoError(t, err)
	require.True(t, changed)
	changed, err = reader.Unmute(ctx, "u_1", client.MutedTags, "a/b c?")
	require.NoError(t, err)
	require.False(t, changed)
	require.NoError(t, reader.ForgetLearned(ctx, "u_1"))
	_, err = reader.As("u_2").Profile(ctx, "u_1")
	require.ErrorIs(t, err, client.ErrForbidden)
	require.NoError(t, reader.DeleteProfile(ctx, "u_1"))
	require.ErrorIs(t, reader.DeleteProfile(ctx, "u_1"), client.ErrNotFound)

	ready, err := reader.Ready(ctx)
	require.NoError(t, err)
	require.Equal(t, map[string]client.Dependency{"data_dir": {State: "up"}, "social": {State: "up", Optional: true}}, ready,
		"an embedded server stands on nothing but its disk")
}

func TestErrorsOnRealServer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	reader, admin := newPair(t, func(*configs.Config) {})
	_, err := admin.Item(ctx, "a b")
	require.ErrorIs(t, err, client.ErrBadRequest)
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 40004, refused.Code)
	require.NotEmpty(t, refused.RequestID)
	require.ErrorIs(t, reader.DeleteItem(ctx, "a"), client.ErrForbidden)
	_, err = reader.As("").Refresh(ctx, 0)
	require.ErrorIs(t, err, client.ErrUnauthenticated)

	_, err = reader.Feed(ctx, client.Ask{Action: client.ActionRefresh, RequestID: "r1"})
	require.NoError(t, err)
	_, err = reader.Feed(ctx, client.Ask{Action: client.ActionLoadMore, RequestID: "r1"})
	require.ErrorIs(t, err, client.ErrConflict)

	hasty, _ := newPair(t, func(c *configs.Config) { c.Server.RateLimit = 0.001 })
	_, err = hasty.Refresh(ctx, 1)
	require.NoError(t, err)
	_, err = hasty.Refresh(ctx, 1)
	require.ErrorIs(t, err, client.ErrRateLimited)
	require.ErrorAs(t, err, &refused)
	require.Greater(t, refused.RetryAfter, time.Minute)
	require.NotErrorIs(t, err, client.ErrUnavailable)
}

// cutting executes the first calls and drops their responses.
type cutting struct {
	next  http.Handler
	drops atomic.Int32
	calls atomic.Int32
}

func (c *cutting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.calls.Add(1)
	if c.drops.Add(-1) >= 0 {
		c.next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	c.next.ServeHTTP(w, r)
}

// A page whose response was lost is returned again, and none is skipped.
func TestAnswerLostSkipsNoPage(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h, stop := embedded(asShipped)
	t.Cleanup(stop)
	lossy := &cutting{next: h}
	server := httptest.NewServer(lossy)
	t.Cleanup(server.Close)
	admin := connect(t, server.URL, client.WithToken(adminToken))
	_, err := admin.Ingest(ctx, strings.NewReader(posts(40)), func(client.Rejection) {})
	require.NoError(t, err)

	reader := connect(t, server.URL, client.WithAgent("u_1"), client.WithRetries(5, time.Millisecond))
	var order []string
	for i := range 4 {
		lossy.drops.Store(int32(i))
		action := client.ActionLoadMore
		if i == 0 {
			action = client.ActionRefresh
		}
		page, err := reader.Feed(ctx, client.Ask{Action: action, Limit: 10})
		require.NoError(t, err)
		for _, it := range page.Items {
			order = append(order, it.ID)
		}
	}
	require.Len(t, order, 40)
	for i, id := range order {
		require.Equal(t, fmt.Sprintf("post/%d", 39-i), id, "newest first, without a gap")
	}

	// Without a request id it is unknown whether the call was executed, so the client does not
	// retry.
	once := connect(t, server.URL, client.WithAgent("u_1"), client.WithRetries(5, time.Millisecond))
	lossy.drops.Store(1)
	lossy.calls.Store(0)
	_, err = once.Do(ctx, client.Request{Method: http.MethodPost, Path: "/v1/feed", Body: []byte(`{"action":"refresh"}`)})
	require.ErrorIs(t, err, client.ErrUnreachable)
	require.EqualValues(t, 1, lossy.calls.Load())
}

// A token must not be sent to the target of a redirect.
func TestRedirectNotFollowed(t *testing.T) {
	t.Parallel()
	var told atomic.Bool
	thief := serve(t, func(http.ResponseWriter, *http.Request) { told.Store(true) })
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief+r.URL.Path, http.StatusTemporaryRedirect)
	})
	_, err := connect(t, url, client.WithAdminToken("secret"), client.WithRetries(3, time.Millisecond)).Item(t.Context(), "a")
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusTemporaryRedirect, refused.Status)
	require.ErrorContains(t, err, thief, "where it leads is the address to use, as behind a gateway that wants https")
	require.False(t, told.Load())
}

// An endless response must not fill the memory.
func TestAnswerSizeBounded(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		zw := gzip.NewWriter(w)
		spaces := make([]byte, 1<<20)
		for range 65 {
			if _, err := zw.Write(spaces); err != nil {
				return
			}
		}
		_ = zw.Close()
	})
	_, err := connect(t, url, client.WithTimeout(time.Minute)).Item(t.Context(), "a")
	require.ErrorIs(t, err, client.ErrNotFreshet)
}

func TestReadyServerDown(t *testing.T) {
	t.Parallel()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 503, `{"code":50301,"msg":"not ready","data":{"dependencies":{"redis":{"state":"down","error":"timed out"}}}}`)
	})
	states, err := connect(t, url, client.WithRetries(5, time.Hour)).Ready(t.Context())
	require.ErrorIs(t, err, client.ErrUnavailable)
	require.Equal(t, map[string]client.Dependency{"redis": {State: "down", Error: "timed out"}}, states)
}
