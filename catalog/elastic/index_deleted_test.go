package elastic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/catalogtest"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// TestWriteToDeletedIndex deletes indices between all kinds of writes. Whatever the order, an
// index that exists afterwards must have Freshet's mapping, and items put then must be stored.
func TestWriteToDeletedIndex(t *testing.T) {
	client, index := connect(t)
	c := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema(), Own: &esindex.Fields{}})
	items := numbered(0, 20, 1)
	counts := map[string]feed.Counts{}
	var ids []string
	for i := range items {
		items[i].Business = map[string]json.RawMessage{fmt.Sprintf("field_%d", i): json.RawMessage(`1`)}
		counts[items[i].ID] = feed.Counts{Last: 1}
		ids = append(ids, items[i].ID)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var rounds atomic.Int64
	var writers sync.WaitGroup
	for _, write := range []func() error{
		func() error { _, err := c.Put(ctx, items); return err },
		func() error { _, _, err := c.SetCounts(ctx, counts); return err },
		func() error {
			_, err := c.Update(ctx, ids, func(it feed.Item) (feed.Item, error) { it.Title += "."; return it, nil })
			return err
		},
		func() error {
			if err := c.Remove(ctx, ids[0]); !errors.Is(err, feed.ErrNotFound) {
				return err
			}
			return nil
		},
		func() error {
			return catalogtest.PutProfile(ctx, c, "u", feed.Profile{Interests: map[string]float64{"a.b": 1, "a.b.c": 1}})
		},
	} {
		writers.Go(func() {
			for ctx.Err() == nil {
				if err := write(); err != nil && ctx.Err() == nil && !errors.Is(err, catalog.ErrUnavailable) {
					assert.NoError(t, err)
				}
				rounds.Add(1)
			}
		})
	}
	for range 15 {
		until := rounds.Load() + 10
		for rounds.Load() < until {
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodDelete, "/"+index+","+esindex.Agents(index), "ignore_unavailable=true", nil, nil))
			for _, name := range []string{index, esindex.Agents(index)} {
				assertOwn(t, client, name)
			}
		}
	}
	stop()
	writers.Wait()

	// The shards of a recreated index may take a moment to answer.
	answers := func(do func() error) {
		t.Helper()
		var err error
		testenv.WaitFor(t, func() bool {
			err = do()
			return !errors.Is(err, catalog.ErrUnavailable)
		}, "the new index answers")
		require.NoError(t, err)
	}
	answers(func() error {
		errs, err := c.Put(t.Context(), items)
		assert.Nil(t, errs)
		return err
	})
	var docs []feed.Doc
	answers(func() (err error) {
		docs, err = c.Docs(t.Context(), ids)
		return err
	})
	for i := range docs {
		require.False(t, docs[i].Missing(), ids[i])
	}
	answers(func() error { return catalogtest.PutProfile(t.Context(), c, "u", feed.Profile{}) })
	assertOwn(t, client, index)
	assertOwn(t, client, esindex.Agents(index))
}

// assertOwn fails the test if an index has fields that were added by its documents.
func assertOwn(t *testing.T, client esindex.Client, name string) {
	t.Helper()
	var found map[string]struct {
		Mappings struct {
			Dynamic    string
			Enabled    *bool
			Properties map[string]json.RawMessage
		}
	}
	err := esindex.Do(t.Context(), client, http.MethodGet, "/"+name+"/_mapping", "", nil, func(data []byte) error { return json.Unmarshal(data, &found) })
	if esindex.Missing(err) {
		return
	}
	require.NoError(t, err)
	m := found[name].Mappings
	assert.True(t, m.Dynamic == "false" || m.Enabled != nil && !*m.Enabled, "%s: %+v", name, m)
}
