package connect

import (
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
)

// TestElasticsearchCA checks that a server with a certificate of an authority unknown to
// the machine is accepted if elasticsearch.ca_cert names the authority.
func TestElasticsearchCA(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		assert.Equal(t, "freshet word", user+" "+password)
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(server.Close)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(authority, certificate, 0o600))

	cfg := configs.Default()
	cfg.Elasticsearch.Addresses = []string{strings.Replace(server.URL, "://", "://freshet@", 1)}
	cfg.Elasticsearch.Password = "word"
	ask := func() error {
		client, err := Elastic(cfg, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		return esindex.Do(t.Context(), client, http.MethodGet, "/", "", nil, nil)
	}
	require.Error(t, ask())
	cfg.Elasticsearch.CACert = authority
	require.NoError(t, ask())
}

// TestElasticsearchDeadConnections checks that when open connections die silently and new ones
// work, only one call gets no answer, however many connections were open.
func TestElasticsearchDeadConnections(t *testing.T) {
	t.Parallel()
	const open = 32
	together := make(chan struct{})
	var waiting atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/together" {
			if waiting.Add(1) == open {
				close(together)
			}
			<-together
		}
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(server.Close)
	network := faultproxy.StartRaw(t, server.Listener.Addr().String())
	cfg := configs.Default()
	cfg.Elasticsearch.Addresses, cfg.Server.RequestTimeout = []string{"http://" + network.Addr}, 2*time.Second
	client, err := Elastic(cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	ask := func(path string) error { return esindex.Do(t.Context(), client, http.MethodGet, path, "", nil, nil) }
	var calls sync.WaitGroup
	for range open {
		calls.Go(func() { assert.NoError(t, ask("/together")) })
	}
	calls.Wait()
	require.EqualValues(t, open, network.Made.Load(), "each has a connection of its own")

	network.Blackhole()
	began := time.Now()
	_ = ask("/") // the client retries it if there is time
	require.Less(t, time.Since(began), 2*cfg.Server.RequestTimeout)
	for range open {
		require.NoError(t, ask("/"))
	}
	// Besides the connection that they share there is one that asks whether the server is up, and a
	// busy transport may open another while that one is not idle yet.
	assert.Less(t, network.Made.Load(), int64(open+open/2), "they share a few new ones")
}

// TestElasticsearchInvalidCA checks that an invalid file is reported before it is used.
func TestElasticsearchInvalidCA(t *testing.T) {
	cfg := configs.Default()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, []byte("no certificate"), 0o600))
	for file, says := range map[string]string{empty: "contains no certificate in PEM format", empty + ".not": "no such file"} {
		cfg.Elasticsearch.CACert = file
		_, err := Elastic(cfg, slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, "elasticsearch.ca_cert: ")
		assert.ErrorContains(t, err, says)
	}
}
