package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/social"
)

// waitPrefetched waits until the contents of a session's next n entries are cached, of posts only
// the public ones, and returns the ids of these entries.
func waitPrefetched(t testing.TB, a *App, agent string, name feed.Name, n int, public func(id string) bool) (next []string) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		refs, err := a.stores.sessions.Next(t.Context(), agent, name, n)
		require.NoError(t, err)
		next = feed.IDs(refs)
		var posts []string
		for _, id := range next {
			if feed.IsPost(id) {
				if public(id) {
					posts = append(posts, id)
				}
				continue
			}
			if size, err := a.clients.redis.StrLen(t.Context(), a.cfg.Redis.KeyPrefix+"feed:item:"+id).Result(); err != nil || size == 0 {
				return false
			}
		}
		if len(posts) == 0 {
			return true
		}
		cards, err := a.network.kept.Cached(t.Context(), posts)
		return err == nil && !slices.ContainsFunc(cards, func(c social.Card) bool { return !c.Visible })
	}, "the next page is read ahead")
	require.Len(t, next, n)
	return next
}

// TestPrefetchElasticsearchDown stops Elasticsearch after a page: the next page is full if it was
// prefetched, and only then. Recall has no substitute here, and the server is ready all the same.
func TestPrefetchElasticsearchDown(t *testing.T) {
	t.Parallel()
	cfg, es := elasticsearchLink(t)
	a := open(t, cfg, WithClock(at(noon).Now), WithRecallCache(0, 0))
	put(t, a, madeItems(100)...)
	clearCache(t, a, "item")
	seen := newOnce()
	seen.add(t, "before", ids(ask(t, a, refresh("u_1", 10))))
	for range 2 { // after a refresh and after a load_more
		next := waitPrefetched(t, a, "u_1", feed.ForYou, 10, nil)
		es.set(true)
		answer := ask(t, a, loadMore("u_1", 10))
		assert.Nil(t, answer.Degraded)
		assert.Equal(t, next, ids(answer))
		assert.True(t, answer.HasMore)
		seen.add(t, "while down", ids(answer))
		es.set(false)
		testenv.WaitFor(t, func() bool { return esindex.Ping(t.Context(), a.clients.elastic, a.cfg.Elasticsearch.Index) == nil }, "Elasticsearch is asked again")
		seen.add(t, "back", ids(ask(t, a, loadMore("u_1", 10))))
	}
	waitPrefetched(t, a, "u_1", feed.ForYou, 10, nil)
	_, err := a.Catalog.Profile(t.Context(), "u_2")
	require.ErrorIs(t, err, feed.ErrNotFound)
	es.set(true)
	_, err = a.Engine.Feed(t.Context(), refresh("u_2", 10))
	require.ErrorIs(t, err, recall.ErrUnavailable, "there is no session either")
	state := ready(t, a)
	assert.Equal(t, http.StatusOK, state.status)
	assert.Equal(t, "down", state.state)
	assert.Nil(t, state.secondsLeft)
	clearCache(t, a, "item")
	_, err = a.Engine.Feed(t.Context(), loadMore("u_1", 10))
	require.ErrorIs(t, err, catalog.ErrUnavailable)
}

func publicPost(id string) bool {
	return strings.HasSuffix(id, "0") || strings.HasSuffix(id, "2") || strings.HasSuffix(id, "4") || strings.HasSuffix(id, "6") || strings.HasSuffix(id, "8")
}

// TestPrefetchPostgresDown stops PostgreSQL after a page: the next page has its items and its
// public posts, which only the prefetch has cached, and nothing that is not public.
func TestPrefetchPostgresDown(t *testing.T) {
	t.Parallel()
	p, s := ownPostgres(t)
	fillHome(t, s.a)
	cfg := s.a.cfg
	cfg.DataDir, cfg.Jobs.Workers = t.TempDir(), 0
	a := open(t, cfg) // this server has not cached anything yet
	put(t, a)         // waits for Elasticsearch
	clearCache(t, a, "item", "post")
	sessions := []struct {
		agent string
		feed  feed.Name
	}{{"stranger", feed.ForYou}, {"another", feed.HomeFeed}, {"u", feed.HomeFeed}}
	next := map[string][]string{}
	for _, of := range sessions {
		if of.feed == feed.HomeFeed {
			require.Len(t, home(t, a, of.agent, "refresh", 20).Data.Items, 20)
		} else {
			require.Len(t, ask(t, a, refresh(of.agent, 20)).Docs, 20)
		}
		next[of.agent] = waitPrefetched(t, a, of.agent, of.feed, 20, publicPost)
	}
	p.Crash()
	for _, of := range sessions {
		var want []string
		posts := 0
		for _, id := range next[of.agent] {
			if !feed.IsPost(id) || publicPost(id) {
				want = append(want, id)
			}
			if feed.IsPost(id) {
				posts++
			}
		}
		require.NotZero(t, posts, "there are posts on the page of %s", of.agent)
		var got, degraded []string
		if of.feed == feed.HomeFeed {
			page := home(t, a, of.agent, "load_more", 20)
			got, degraded = page.ids(), page.Data.Degraded
		} else {
			answer := ask(t, a, loadMore(of.agent, 20))
			got, degraded = ids(answer), answer.Degraded
		}
		assert.Equal(t, want, got, of.agent)
		assert.Equal(t, []string{"social"}, degraded, of.agent)
	}
	keys, err := a.clients.redis.Keys(t.Context(), cfg.Redis.KeyPrefix+"feed:post:*").Result()
	require.NoError(t, err)
	require.NotEmpty(t, keys)
	for _, key := range keys {
		assert.True(t, publicPost(key), "%s is kept and not public", key)
	}
}

// TestPrefetchOffWhenEmbedded checks that there is no prefetch when content is in process.
func TestPrefetchOffWhenEmbedded(t *testing.T) {
	t.Parallel()
	a := open(t, embedded(t))
	assert.Nil(t, a.openPrefetch(t.Context(), a.Catalog))
}
