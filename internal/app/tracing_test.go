package app

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTraces sends a request that carries a trace id to a server with a
// collector: the collector is told of the request and of its stages.
func TestTraces(t *testing.T) {
	var mu sync.Mutex
	var got bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		_, _ = io.Copy(&got, body)
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)

	a := open(t, embedded(t), WithClock(at(noon).Now))
	put(t, a, catalogue(20)...)
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/feed", strings.NewReader(`{"action":"refresh"}`))
	req.Header.Set("X-Agent-ID", "u_1")
	req.Header.Set("traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, req)
	require.Equal(t, http.StatusOK, w.Code)
	require.NoError(t, a.Close(context.WithoutCancel(t.Context())))

	mu.Lock()
	defer mu.Unlock()
	id, err := hex.DecodeString(trace)
	require.NoError(t, err)
	assert.Contains(t, got.String(), string(id), "the caller's trace goes on")
	for _, span := range []string{"freshet", "feed refresh", "recall", "dedup", "page", "hydrate"} {
		assert.Contains(t, got.String(), span)
	}
}
