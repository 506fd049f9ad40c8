package esindex_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
)

const (
	page   = "<html><body><h1>error</h1></body></html>"
	ofType = `{"error":{"root_cause":[{"type":%[1]q,"reason":"x"}],"type":%[1]q,"reason":"x"},"status":%[2]d}`
)

// refusals are error answers to a search, by Elasticsearch or by a proxy in front of it.
var refusals = []struct {
	name   string
	status int
	kind   string // the type of Elasticsearch's error; "" means a proxy's page
	// outage: readers are answered without Elasticsearch. lasting: an operator has to change
	// something, so a server does not start, and /readyz has the reason.
	outage, lasting bool
}{
	{"a query it does not understand", 400, "parsing_exception", false, true},
	{"a query of a field that is not mapped so", 400, "search_phase_execution_exception", false, true},
	{"a change of what has changed", 409, "version_conflict_engine_exception", false, true},
	{"a document that a pipeline refuses", 500, "fail_processor_exception", false, true},
	{"a closed index", 400, "index_closed_exception", true, true},
	{"no such index", 404, "index_not_found_exception", true, true},
	{"credentials changed", 401, "security_exception", true, true},
	{"a role lost", 403, "security_exception", true, true},
	{"a full disk", 429, "cluster_block_exception", true, false},
	{"a read-only index", 403, "cluster_block_exception", true, false},
	{"overload", 429, "es_rejected_execution_exception", true, false},
	{"a circuit breaker", 429, "circuit_breaking_exception", true, false},
	{"a shard that moves", 500, "illegal_index_shard_state_exception", true, false},
	{"all shards failed", 500, "search_phase_execution_exception", true, true},
	{"a defect", 500, "null_pointer_exception", true, true},
	{"no shard", 503, "no_shard_available_action_exception", true, false},
	{"a body that is too large", 413, "content_too_long_exception", true, true},
	{"a proxy's 400", 400, "", true, false},
	{"a proxy's login", 302, "", true, false},
	{"a proxy's moved", 301, "", true, false},
	{"a proxy's 401", 401, "", true, false},
	{"a proxy's 403", 403, "", true, false},
	{"an ingress without a backend", 404, "", true, false},
	{"a method that is not allowed", 405, "", true, false},
	{"a proxy's timeout", 408, "", true, false},
	{"a proxy's 409", 409, "", true, false},
	{"a proxy's limit of bodies", 413, "", true, false},
	{"a proxy's limit of URLs", 414, "", true, false},
	{"a rate limit", 429, "", true, false},
	{"legal reasons", 451, "", true, false},
	{"nginx's 499", 499, "", true, false},
	{"a proxy's 500", 500, "", true, false},
	{"501", 501, "", true, false},
	{"502", 502, "", true, false},
	{"503", 503, "", true, false},
	{"504", 504, "", true, false},
	{"a CDN's 520", 520, "", true, false},
	{"a CDN's 522", 522, "", true, false},
	{"a CDN's 530", 530, "", true, false},
	{"a login page", 200, "", true, false},
}

// TestErrorIsOutage checks that every error is an outage, except those about the request itself.
func TestErrorIsOutage(t *testing.T) {
	for _, r := range refusals {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if r.kind == "" {
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("Location", "/login")
				w.WriteHeader(r.status)
				_, _ = io.WriteString(w, page)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("X-Elastic-Product", "Elasticsearch")
			w.WriteHeader(r.status)
			_, _ = fmt.Fprintf(w, ofType, r.kind, r.status)
		}))
		client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{server.URL}})
		require.NoError(t, err)
		err = esindex.Do(t.Context(), client, http.MethodPost, "/items/_search", "", []byte("{}"), nil)
		require.Error(t, err, r.name)
		assert.Equal(t, r.outage, errors.Is(err, esindex.ErrUnavailable), "%s: %v", r.name, err)
		assert.Equal(t, r.lasting, esindex.Refused(err), "%s: %v", r.name, err)
		server.Close()
	}
}

// TestMissingAnswerIsOutage checks that a missing answer is an outage, unless the caller has
// canceled the request.
func TestMissingAnswerIsOutage(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(server.Close)
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{server.URL}})
	require.NoError(t, err)
	err = esindex.Do(t.Context(), client, http.MethodGet, "/", "", nil, nil)
	require.ErrorIs(t, err, esindex.ErrUnavailable)
	gone, leave := context.WithCancel(t.Context())
	leave()
	err = esindex.Do(gone, client, http.MethodGet, "/", "", nil, nil)
	require.NotErrorIs(t, err, esindex.ErrUnavailable)
	require.ErrorIs(t, err, context.Canceled)
}

// TestTruncatedAnswerIsOutage checks that an answer truncated by a buffering proxy or a dying node
// is an outage.
func TestTruncatedAnswerIsOutage(t *testing.T) {
	decode := func(data []byte) error { return json.Unmarshal(data, new(struct{ Hits struct{ Hits []string } })) }
	for body, outage := range map[string]bool{
		"": true, " ": true, "{": true, `{"hits":{"hits":["a"`: true, `{"hits":{"hits":["a"]}`: true, page: true, "ok": true, "\x1f\x8b\x08": true, "{}{": true,
		`{"hits":{"hits":["a"]}}`: false, `{}`: false, // an answer without the requested parts
	} {
		for _, cut := range []bool{false, true} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Elastic-Product", "Elasticsearch")
				w.Header().Set("Content-Type", "application/json")
				if cut {
					w.Header().Set("Content-Length", strconv.Itoa(len(body)+10))
				}
				_, _ = io.WriteString(w, body)
			}))
			client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{server.URL}})
			require.NoError(t, err)
			err = esindex.Do(t.Context(), client, http.MethodPost, "/items/_search", "", []byte("{}"), decode)
			assert.Equal(t, outage || cut, errors.Is(err, esindex.ErrUnavailable), "%q: %v", body, err)
			assert.Equal(t, outage || cut, err != nil, "%q", body)
			server.Close()
		}
	}
}
