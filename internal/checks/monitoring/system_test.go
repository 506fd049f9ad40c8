package monitoring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
)

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

var modes = []struct {
	name   string
	config func(t *testing.T) configs.Config
}{{"embedded", embedded}, {"services", services}}

func embedded(t *testing.T) configs.Config {
	cfg := configs.Default()
	cfg.DataDir = t.TempDir()
	return cfg
}

func services(t *testing.T) configs.Config {
	_, prefix := testenv.Redis(t)
	address, index := testenv.Elastic(t)
	cfg := embedded(t)
	// On a machine busy with other tests a healthy Redis must not count as down.
	cfg.Server.RequestTimeout = 20 * time.Second
	cfg.Redis.URL, cfg.Redis.KeyPrefix = testenv.RedisURL(t), prefix
	cfg.Elasticsearch.Addresses, cfg.Elasticsearch.Index = []string{address}, index
	cfg.Postgres.URL = testenv.Postgres(t)
	return cfg
}

// open starts a system that is closed when the test ends. Its clock stands
// still.
func open(t *testing.T, cfg configs.Config) *server.App {
	t.Helper()
	a, err := server.Open(t.Context(), cfg, server.WithLogger(slog.New(slog.DiscardHandler)), server.WithClock(func() time.Time { return noon }))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, a.Close(context.WithoutCancel(t.Context()))) })
	return a
}

func fill(t *testing.T, a *server.App, cfg configs.Config) {
	t.Helper()
	items := make([]feed.Item, 300)
	for i := range items {
		items[i] = feed.Item{
			ID: fmt.Sprintf("doc_%04d", i), Title: fmt.Sprintf("Item %d", i), Tags: []string{fmt.Sprintf("tag-%d", i%5)},
			UpdateTime: noon.Add(-time.Duration(i) * time.Minute).Unix(),
		}
	}
	errs, err := a.Catalog.Put(t.Context(), items)
	require.NoError(t, errors.Join(append(errs, err)...))
	if !cfg.UsesElasticsearch() {
		return
	}
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: cfg.Elasticsearch.Addresses})
	require.NoError(t, err)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/"+cfg.Elasticsearch.Index+"/_refresh", "", nil, nil))
}
