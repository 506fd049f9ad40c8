package elastic_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// TestIndexWriteBlock checks that each item is reported as unavailable until the
// block on writes is removed.
func TestIndexWriteBlock(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	c := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema(), Own: &esindex.Fields{}})
	errs, err := c.Put(t.Context(), []feed.Item{{ID: "stored", Title: "T", UpdateTime: 1}})
	require.NoError(t, err)
	require.Nil(t, errs)
	for _, block := range []string{"read_only_allow_delete", "read_only", "write"} {
		set := func(value string) {
			body := []byte(`{"index.blocks.` + block + `":` + value + `}`)
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index+"/_settings", "", body, nil))
		}
		set("true")
		items := []feed.Item{{ID: "new", Title: "T", UpdateTime: 1}, {ID: "stored", Title: "U", UpdateTime: 1}}
		errs, err := c.Put(t.Context(), items)
		for _, err := range append(errs, err) {
			require.True(t, err == nil || errors.Is(err, catalog.ErrUnavailable), "%s: %v", block, err)
		}
		require.True(t, err != nil || len(errs) == 2 && errs[0] != nil && errs[1] != nil, "%s: %v %v", block, errs, err)
		_, err = catalog.UpdateOne(t.Context(), c, "stored", func(it feed.Item) (feed.Item, error) { it.Likes++; return it, nil })
		require.ErrorIs(t, err, catalog.ErrUnavailable, block)
		set("null")
		errs, err = c.Put(t.Context(), items)
		require.NoError(t, err, block)
		require.Nil(t, errs, block)
	}
}

// TestIndexReplicasUnassigned: Elasticsearch refuses writes because replicas are not assigned to
// a node; the error must give the reason before the call's deadline.
func TestIndexReplicasUnassigned(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	body := []byte(`{"index.number_of_replicas":3,"index.write.wait_for_active_shards":"all"}`)
	_, err := esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index+","+esindex.Agents(index)+"/_settings", "", body, nil))
	c := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema(), Own: &esindex.Fields{}})
	for name, write := range map[string]func(ctx context.Context) error{
		"item": func(ctx context.Context) error {
			errs, err := c.Put(ctx, []feed.Item{{ID: "a", Title: "T", UpdateTime: 1}})
			return errors.Join(append(errs, err)...)
		},
		"profile": func(ctx context.Context) error {
			_, err := c.EditProfile(ctx, "ann", func(p *feed.Profile) (bool, error) { p.MutedTags = []string{"x"}; return true, nil })
			return err
		},
		"mute": func(ctx context.Context) error { return c.MuteItems(ctx, "bob", []string{"a"}) },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := write(ctx)
		cancel()
		require.ErrorIs(t, err, catalog.ErrUnavailable, name)
		require.ErrorContains(t, err, "active", name)
	}
}

// bulkless answers bulk requests itself unless answer returns neither a response nor an error.
type bulkless struct {
	esindex.Client
	answer func() (*http.Response, error)
}

func (b bulkless) Perform(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/_bulk") {
		if res, err := b.answer(); res != nil || err != nil {
			return res, err
		}
	}
	return b.Client.Perform(req)
}

// TestPutPartialFailure: if only some of a put's requests succeed, the errors say
// which items are stored.
func TestPutPartialFailure(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	items := make([]feed.Item, 4500) // in three requests
	for i := range items {
		items[i] = feed.Item{ID: fmt.Sprint("i", i), Title: "T", UpdateTime: 1}
	}
	for nth, stored := range []int{0, 2000, 4000} {
		sent := 0
		c := catalogelastic.New(bulkless{client, func() (*http.Response, error) {
			if sent++; sent > nth {
				return nil, errors.New("connection reset")
			}
			return nil, nil
		}}, catalogelastic.Config{Index: index, Schema: ownSchema(), Own: &esindex.Fields{}})
		errs, err := c.Put(t.Context(), items)
		if stored == 0 {
			require.ErrorIs(t, err, catalog.ErrUnavailable)
			require.Nil(t, errs)
			continue
		}
		require.NoError(t, err)
		require.Len(t, errs, len(items))
		require.Len(t, catalog.Stored(items, errs), stored)
		for i, err := range errs {
			require.Equal(t, i >= stored, errors.Is(err, catalog.ErrUnavailable))
		}
	}
}

// TestIngestPipelineRefusesItem, regardless of the status that Elasticsearch returns; errors
// that are not about the item are temporary.
func TestIngestPipelineRefusesItem(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	for kind, tt := range map[string]struct {
		status int
		is     error
	}{
		"fail_processor_exception":            {500, feed.ErrInvalid},
		"illegal_argument_exception":          {400, feed.ErrInvalid},
		"document_parsing_exception":          {400, feed.ErrInvalid},
		"cluster_block_exception":             {429, catalog.ErrUnavailable},
		"es_rejected_execution_exception":     {429, catalog.ErrUnavailable},
		"circuit_breaking_exception":          {429, catalog.ErrUnavailable},
		"unavailable_shards_exception":        {503, catalog.ErrUnavailable},
		"process_cluster_event_timeout":       {503, catalog.ErrUnavailable},
		"security_exception":                  {403, catalog.ErrUnavailable},
		"illegal_index_shard_state_exception": {500, catalog.ErrUnavailable},
		"already_closed_exception":            {500, catalog.ErrUnavailable},
		"index_closed_exception":              {400, catalog.ErrUnavailable},
	} {
		answer := fmt.Sprintf(`{"items":[{"index":{"status":201}},{"index":{"status":%d,"error":{"type":%q,"reason":"x"}}}]}`, tt.status, kind)
		c := catalogelastic.New(bulkless{client, func() (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(answer))}, nil
		}}, catalogelastic.Config{Index: index, Schema: ownSchema(), Own: &esindex.Fields{}})
		errs, err := c.Put(t.Context(), []feed.Item{{ID: "a", Title: "T", UpdateTime: 1}, {ID: "b", Title: "T", UpdateTime: 1}})
		require.NoError(t, err, kind)
		require.NoError(t, errs[0], kind)
		require.ErrorIs(t, errs[1], tt.is, kind)
		require.NotErrorIs(t, errs[1], map[error]error{feed.ErrInvalid: catalog.ErrUnavailable, catalog.ErrUnavailable: feed.ErrInvalid}[tt.is], kind)
	}
}
