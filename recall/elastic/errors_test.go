package elastic_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
	recallelastic "github.com/freshet/freshet/recall/elastic"
)

func TestBadCursors(t *testing.T) {
	t.Parallel()
	s, _, _ := open(t, []feed.Item{item("a", 0, "x"), item("b", 0, "x")})
	q := ask(feed.Profile{})
	q.N = 1
	next := recalled(t, s, q).Next
	for _, bad := range []string{
		"x", "|", "||", "|[]", "|{}", "|[1,2]", `|[1,2,"a"]`, `|["1",2,"a",null]`, `|[1,"2","a",null]`, `|[1,2,3,null]`, `|[1,2,"a",3]`,
		`|[1,2,"a",null,5]`, `|[1,2,"a",null],"size":1`, next + "]", "pit" + next, next[:len(next)-1], `|[null,2,"a",null]`, `|[[1],2,"a",null]`,
	} {
		q.After = bad
		_, err := s.Recall(t.Context(), q)
		require.ErrorIs(t, err, recall.ErrBadCursor, bad)
	}
	q.After = next
	require.Equal(t, []string{"b"}, ids(recalled(t, s, q)))
}

func TestErrors(t *testing.T) {
	t.Parallel()
	q := ask(feed.Profile{})
	t.Run("nobody listens", func(t *testing.T) {
		client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{"http://127.0.0.1:1"}})
		require.NoError(t, err)
		_, err = recallelastic.New(client, recallelastic.Config{Index: "x", Schema: ownSchema()}).Recall(t.Context(), q)
		require.ErrorIs(t, err, recall.ErrUnavailable)
	})
	client, name := connect(t)
	s := recallelastic.New(client, recallelastic.Config{Index: name, Schema: ownSchema()})
	t.Run("no index", func(t *testing.T) {
		_, err := s.Recall(t.Context(), q)
		require.ErrorContains(t, err, "index_not_found_exception")
		require.ErrorContains(t, err, "freshet doctor --fix")
		require.ErrorIs(t, err, recall.ErrUnavailable, "the index may be restored or created")
	})
	t.Run("a closed index", func(t *testing.T) {
		client, name := connect(t)
		_, err := esindex.Ensure(t.Context(), client, name, esindex.Fields{})
		require.NoError(t, err)
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/"+name+"/_close", "", nil, nil))
		_, err = recallelastic.New(client, recallelastic.Config{Index: name, Schema: ownSchema()}).Recall(t.Context(), q)
		require.ErrorIs(t, err, recall.ErrUnavailable, "the index may be opened again")
	})
	t.Run("given up", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Recall(ctx, q)
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, recall.ErrUnavailable)
	})
	t.Run("too late", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		_, err := s.Recall(ctx, q)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, recall.ErrUnavailable)
	})
	t.Run("refused", func(t *testing.T) {
		_, err := esindex.Ensure(t.Context(), client, name, esindex.Fields{})
		require.NoError(t, err)
		index(t, client, name, []feed.Item{item("a", 0, "x")})
		bad := q
		bad.Ranking.Decay.Decay = 2
		_, err = s.Recall(t.Context(), bad)
		require.ErrorContains(t, err, "decay")
		require.ErrorIs(t, err, recall.ErrUnavailable, "readers have their sessions, and what stands in")
	})
}

func TestInvalidIDsSkipped(t *testing.T) {
	t.Parallel()
	client, name := connect(t)
	_, err := esindex.Ensure(t.Context(), client, name, esindex.Fields{})
	require.NoError(t, err)
	doc := func(id, group string) map[string]any {
		return map[string]any{"id": id, "group_id": group, "title": "x", "update_time": origin}
	}
	index(t, client, name, []map[string]any{doc("a|b", "g1"), doc(`q"uo\te`, "g2"), doc("fine/1", "two words"), doc("fine/2", "g4")})
	r := recalled(t, recallelastic.New(client, recallelastic.Config{Index: name, Schema: ownSchema()}), ask(feed.Profile{}))
	require.Equal(t, []string{"fine/2"}, ids(r))
}
