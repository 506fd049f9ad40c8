package itemindex

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	recallelastic "github.com/freshet/freshet/recall/elastic"
	"github.com/freshet/freshet/server/connect"
)

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// system is an index with its users, as in a server.
type system struct {
	*testing.T
	cfg    configs.Config
	client esindex.Client
	watch  *Watch
	items  *catalogelastic.Catalog
	use    Use
}

// at returns a system over an index that does not exist yet.
func at(t *testing.T, address, index string) *system {
	t.Helper()
	cfg := configs.Default()
	cfg.Server.RequestTimeout = 20 * time.Second // on a busy machine Elasticsearch must not count as down
	cfg.Elasticsearch.Addresses, cfg.Elasticsearch.Index = []string{address}, index
	log := slog.New(slog.DiscardHandler)
	client, err := connect.Elastic(cfg, log)
	require.NoError(t, err)
	s := &system{T: t, cfg: cfg, client: client, watch: New(client, cfg, log)}
	s.items = catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: s.watch.Schema()})
	source := recallelastic.New(client, recallelastic.Config{Index: index, Schema: s.watch.Schema()})
	front := recall.NewShared(source, func() time.Time { return noon }, recall.SharedConfig{Fallback: 10 * time.Minute, Timeout: cfg.Server.RequestTimeout})
	s.use = Use{
		Ready:  func(context.Context) error { return nil },
		Query:  func() feed.Query { return feed.Query{Ranking: cfg.Ranking, Origin: noon, N: 10} },
		Docs:   s.items.Docs,
		Shared: front,
	}
	return s
}

// inUse returns a system with one item in an index created by Freshet.
func inUse(t *testing.T) *system {
	t.Helper()
	address, index := testenv.Elastic(t)
	s := at(t, address, index)
	require.NoError(t, s.watch.Try(t.Context()))
	s.begin()
	s.put()
	return s
}

// begin visits the index until it is in use: the first searches of a new index may fail.
func (s *system) begin() {
	testenv.WaitFor(s, func() bool {
		s.watch.Begin(s.Context(), s.use)
		return s.watch.Waiting() == nil
	}, "the index to be in use")
}

func (s *system) put() {
	item := feed.Item{ID: "one", Title: "One", UpdateTime: noon.Unix()}
	errs, err := s.items.Put(s.Context(), []feed.Item{item})
	require.NoError(s, errors.Join(append(errs, err)...))
	s.send(http.MethodPost, "/_refresh")
}

func (s *system) send(method, path string) {
	require.NoError(s, esindex.Do(s.Context(), s.client, method, "/"+s.cfg.Elasticsearch.Index+path, "", nil, nil))
}

func left() time.Duration { return time.Minute }

// TestNotReadyBeforeRecall checks that a readable mapping alone, without a recall, does
// not make a server ready.
func TestNotReadyBeforeRecall(t *testing.T) {
	t.Parallel()
	address, index := testenv.Elastic(t)
	s := at(t, address, index)
	require.NoError(t, s.watch.Try(t.Context()), "it makes the index")
	_, err := s.watch.Schema().Get()
	require.ErrorIs(t, err, esindex.ErrUnavailable)
	state := s.watch.Check(left)(t.Context())
	require.Error(t, state.Err)
	assert.False(t, state.Optional)
	assert.Equal(t, notReached, state.Reason)

	notYet := errors.New("the ranking is not known")
	s.use.Ready = func(context.Context) error { return notYet }
	s.watch.Begin(t.Context(), s.use)
	require.ErrorIs(t, s.watch.Waiting(), notYet)
	_, err = s.watch.Schema().Get()
	require.ErrorIs(t, err, esindex.ErrUnavailable)

	s.use.Ready = func(context.Context) error { return nil }
	s.begin()
	state = s.watch.Check(left)(t.Context())
	require.NoError(t, state.Err)
	assert.True(t, state.Optional)
	assert.Equal(t, time.Minute, state.Left)
}

func TestElasticsearchDown(t *testing.T) {
	t.Parallel()
	s := at(t, "http://127.0.0.1:1", "items")
	require.NoError(t, s.watch.Try(t.Context()))
	s.use.Ready = func(context.Context) error { t.Error("it has not answered"); return nil }
	s.watch.Begin(t.Context(), s.use)
	s.watch.visit(t.Context(), s.use)
	require.ErrorIs(t, s.watch.Waiting(), esindex.ErrUnavailable)
	state := s.watch.Check(left)(t.Context())
	assert.False(t, state.Optional, "a new server gets no readers")
	assert.Equal(t, notReached+": connection refused", state.Reason)
}

// TestOtherProductAtStart has an address that leads to something else.
func TestOtherProductAtStart(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(other.Close)
	s := at(t, other.URL, "items")
	require.NoError(t, s.watch.Try(t.Context()))
	s.watch.visit(t.Context(), s.use)
	assert.Equal(t, notReached+": what responds (200 OK) is not Elasticsearch 8", s.watch.Check(left)(t.Context()).Reason)
}

// TestIndexDeletedAndRestored removes the index and restores it: the substitute for recall is
// retained, and the server stays ready.
func TestIndexDeletedAndRestored(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		away, back func(s *system)
		reason     string
	}{
		"deleted": {
			func(s *system) { s.send(http.MethodDelete, "") },
			func(s *system) {
				_, err := esindex.Ensure(s.Context(), s.client, s.cfg.Elasticsearch.Index, Fields(s.cfg))
				require.NoError(s, err)
			},
			"there is no index ",
		},
		"closed": {
			func(s *system) { s.send(http.MethodPost, "/_close") },
			func(s *system) { s.send(http.MethodPost, "/_open") },
			"is closed; open it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := inUse(t)
			require.NoError(t, s.watch.RecallForAll(t.Context(), s.use))
			require.Positive(t, s.use.Shared.FallbackLeft())
			c.away(s)
			s.watch.visit(t.Context(), s.use)
			require.NoError(t, s.watch.Waiting(), "it was in use")
			state := s.watch.Check(left)(t.Context())
			require.Error(t, state.Err)
			assert.True(t, state.Optional)
			assert.Contains(t, state.Reason, c.reason)
			assert.Positive(t, s.use.Shared.FallbackLeft())
			assert.Len(t, s.watch.woken, 1, "to know soon when it is there again")

			c.back(s)
			testenv.WaitFor(t, func() bool {
				s.watch.visit(t.Context(), s.use)
				return s.watch.Check(left)(t.Context()).Err == nil
			}, "the index to be in use again")
		})
	}
}

// TestRecallRefused checks that a failed recall is reported at once if the index is closed,
// which a check can find, and not if only the query of one reader failed.
func TestRecallRefused(t *testing.T) {
	t.Parallel()
	s := inUse(t)
	s.watch.recheck(t.Context(), errors.New("too many clauses"))
	require.NoError(t, s.watch.refusal())
	s.send(http.MethodPost, "/_close")
	err := esindex.Do(t.Context(), s.client, http.MethodPost, "/"+s.cfg.Elasticsearch.Index+"/_search", "", nil, nil)
	require.Error(t, err)
	s.watch.recheck(t.Context(), err)
	require.ErrorIs(t, s.watch.refusal(), err)
	assert.Contains(t, s.watch.Check(left)(t.Context()).Reason, "is closed; open it")
}

// TestFallbackListMappingChanged checks that a list is not used if the mapping has changed since
// its contents were read: the mapping determines whether they show what readers refuse.
func TestFallbackListMappingChanged(t *testing.T) {
	t.Parallel()
	s := inUse(t)
	require.NoError(t, s.watch.RecallForAll(t.Context(), s.use))
	s.use.Docs = func(ctx context.Context, ids []string) ([]feed.Doc, error) {
		defer func() {
			other := *s.watch.Schema().Last()
			other.Untold |= esindex.ByTags
			s.watch.Schema().Set(other)
		}()
		return s.items.Docs(ctx, ids)
	}
	require.ErrorIs(t, s.watch.RecallForAll(t.Context(), s.use), esindex.ErrUnavailable)
}

// TestTellsMappingUnknown checks that Freshet's own index is assumed to have all fields by
// which readers refuse items, and an external one is not.
func TestTellsMappingUnknown(t *testing.T) {
	muting := &feed.Profile{MutedAuthors: []string{"bob"}}
	s := at(t, "http://127.0.0.1:1", "items")
	assert.True(t, s.watch.ContentDecides(muting))
	s.watch.cfg.Elasticsearch.ManageIndex = false
	assert.False(t, s.watch.ContentDecides(muting))
	assert.True(t, s.watch.ContentDecides(&feed.Profile{}))
	s.watch.Schema().Set(esindex.Schema{})
	known, err := s.watch.Schema().Get()
	require.NoError(t, err)
	assert.Equal(t, known.ContentDecides(muting), s.watch.ContentDecides(muting))
}
