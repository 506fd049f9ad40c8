package itemindex

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
)

// TestAddressMovedToOtherCluster leads an address to a cluster whose index has another UUID.
// Existing connections lead to the first cluster, which still answers; the next check finds the
// second, and later requests go there.
func TestAddressMovedToOtherCluster(t *testing.T) {
	t.Parallel()
	address, index := testenv.Elastic(t)
	real, err := url.Parse(address)
	require.NoError(t, err)
	switched := faultproxy.StartRaw(t, real.Host)
	s := at(t, "http://"+switched.Addr, index)
	require.NoError(t, s.watch.Try(t.Context()))
	s.begin()
	uuid := s.watch.found.Schema.UUIDs
	require.NotEmpty(t, uuid)
	var reached atomic.Int64
	forward := testenv.Forward(t, address, func(res *http.Response) error {
		body, err := io.ReadAll(res.Body)
		body = bytes.ReplaceAll(body, []byte(uuid), []byte(strings.Repeat("x", len(uuid))))
		res.Body = io.NopCloser(bytes.NewReader(body))
		return err
	})
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(other.Close)
	// Idle connections stay with the first cluster. No request before the check proves it: a recall in
	// the background may hold the only one, and the request would open another, to the second.
	s.put()
	switched.Lead(other.Listener.Addr().String())

	s.watch.recheck(t.Context(), nil)
	assert.NotEqual(t, uuid, s.watch.found.Schema.UUIDs)
	before := reached.Load()
	require.Positive(t, before)
	require.NoError(t, esindex.Do(t.Context(), s.client, http.MethodHead, "/", "", nil, nil))
	assert.Greater(t, reached.Load(), before, "later requests go to the second cluster")
}

// TestIndexWriteBlockReported checks that readiness names the setting of any index of Freshet that
// blocks writes, until it is removed.
func TestIndexWriteBlockReported(t *testing.T) {
	t.Parallel()
	s := inUse(t)
	index := s.cfg.Elasticsearch.Index
	set := func(of, name, value string) {
		body := []byte(`{"` + name + `":` + value + `}`)
		require.NoError(t, esindex.Do(t.Context(), s.client, http.MethodPut, "/"+of+"/_settings", "", body, nil))
	}
	for _, of := range []string{index, esindex.Agents(index), esindex.Rankings(index)} {
		for _, name := range []string{"index.blocks.read_only_allow_delete", "index.blocks.write", "index.blocks.read_only"} {
			set(of, name, "true")
			s.watch.checkWrites(t.Context())
			state := s.watch.Check(left)(t.Context())
			require.Error(t, state.Err)
			assert.True(t, state.Optional)
			assert.Equal(t, "reachable, but writes are refused: "+name+" of "+of+" is true", state.Reason)
			set(of, name, "null")
			s.watch.checkWrites(t.Context())
			require.NoError(t, s.watch.Check(left)(t.Context()).Err)
		}
		set(of, "index.default_pipeline", `"no_such"`) // of a template that matches every index
		s.watch.checkWrites(t.Context())
		assert.Equal(t, "reachable, but writes are refused: "+of+": pipeline with id [no_such] does not exist", s.watch.Check(left)(t.Context()).Reason)
		set(of, "index.default_pipeline", "null")
		s.watch.checkWrites(t.Context())
		require.NoError(t, s.watch.Check(left)(t.Context()).Err)
	}
}

// TestUnusableIndexNotChanged checks that nothing is created beside an index that is
// refused, and that the index stays as it is.
func TestUnusableIndexNotChanged(t *testing.T) {
	t.Parallel()
	address, index := testenv.Elastic(t)
	s := at(t, address, index)
	body := []byte(`{"mappings":{"properties":{"title":{"type":"text"},"update_time":{"type":"date","format":"epoch_second"}}}}`)
	require.NoError(t, esindex.Do(t.Context(), s.client, http.MethodPut, "/"+index, "", body, nil))
	state := func() (text string) {
		require.NoError(t, esindex.Do(t.Context(), s.client, http.MethodGet, "/"+index+"*", "", nil, func(b []byte) error {
			text = string(b)
			return nil
		}))
		return text
	}
	before := state()
	require.ErrorIs(t, s.watch.Try(t.Context()), esindex.ErrUnusable)
	assert.Equal(t, before, state())
}
