package doctor

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// answering starts an Elasticsearch with these answers by path; it refuses a request without one.
func answering(t *testing.T, answers map[string]string) esindex.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		body := answers[r.URL.Path]
		if body == "" {
			w.WriteHeader(http.StatusForbidden)
			body = `{"error":{"type":"security_exception","reason":"not allowed"},"status":403}`
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{server.URL}})
	require.NoError(t, err)
	return client
}

func TestDoctorChecksReplicas(t *testing.T) {
	t.Parallel()
	cfg := configs.Default()
	for _, tt := range []struct {
		health, replicas string
		level            Level
		says             []string
	}{
		{"green", "0", Warning, []string{"without replicas: a", needsReplicas}},
		{"yellow", "1", Warning, []string{"with unassigned replicas: a", needsReplicas}},
		{"red", "1", Broken, []string{"without a primary shard"}}, // searches fail
		{"green", "1", OK, nil},
	} {
		d := &doctor{cfg: cfg}
		d.checkReplicas(t.Context(), answering(t, map[string]string{
			"/_cat/indices/" + strings.Join(indices(cfg), ","): `[{"index":"a","health":"` + tt.health + `","rep":"` + tt.replicas + `"}]`,
		}))
		f := about(t, d.findings, "elasticsearch replicas")
		assert.Equal(t, tt.level, f.Level, "%v", f)
		for _, part := range tt.says {
			assert.Contains(t, f.Detail, part)
		}
		assert.Equal(t, tt.level == Warning, strings.Contains(f.Fix, "number_of_replicas"), "%v", f)
	}
}

func TestDoctorChecksDisks(t *testing.T) {
	t.Parallel()
	disks := func(freeGB int) string {
		return fmt.Sprintf(`[{"node":"n1","disk.avail":"%d","disk.total":"%d"},{"node":"UNASSIGNED","disk.avail":null,"disk.total":null}]`, freeGB<<30, 1000<<30)
	}
	settings := func(enabled, low, headroom string) string {
		const p = "cluster.routing.allocation.disk."
		return fmt.Sprintf(`{"persistent":{},"transient":{%q:%q},"defaults":{%q:%q,%q:%q,%q:"90%%",%q:"150GB",%q:"95%%",%q:"100GB"}}`,
			p+"watermark.low", low, p+"threshold_enabled", enabled, p+"watermark.low.max_headroom", headroom,
			p+"watermark.high", p+"watermark.high.max_headroom", p+"watermark.flood_stage", p+"watermark.flood_stage.max_headroom")
	}
	for _, test := range []struct {
		name, settings, disks string
		level                 Level
		says                  string
	}{
		{"room", settings("true", "85%", "-1"), disks(200), OK, "n1 has 200.0 GiB free"},
		{"past the low one", settings("true", "85%", "-1"), disks(149), Warning, "n1 has 149.0 GiB free, past the low watermark (85%)"},
		{"large disks may fill further", settings("true", "85%", "120GB"), disks(149), OK, "n1 has 149.0 GiB free"},
		{"past the high one", settings("true", "85%", "-1"), disks(99), Warning, "past the high watermark (90%)"},
		{"past the flood stage", settings("true", "0.85", "200gb"), disks(49), Warning, "past the flood_stage watermark (95%)"},
		{"bytes", settings("true", "300gb", "-1"), disks(299), Warning, "past the low watermark (300gb)"},
		{"switched off", settings("false", "85%", "-1"), disks(500), Warning, "threshold_enabled is false"},
		{"not allowed", "", disks(500), Warning, "not allowed"},
	} {
		d := &doctor{}
		d.checkDisks(t.Context(), answering(t, map[string]string{"/_cluster/settings": test.settings, "/_cat/allocation": test.disks}))
		f := about(t, d.findings, "elasticsearch disks")
		assert.Equal(t, test.level, f.Level, "%s: %v", test.name, f)
		assert.Contains(t, f.Detail, test.says, test.name)
		if test.says != "not allowed" && test.level != OK {
			assert.Contains(t, f.Detail, needsDisk, test.name)
		}
	}
}

// TestDoctorExternalIndexSettings has settings on the indices that Freshet did not make.
func TestDoctorExternalIndexSettings(t *testing.T) {
	t.Parallel()
	address, index := testenv.Elastic(t)
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}})
	require.NoError(t, err)
	_, err = esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	cfg := configs.Default()
	cfg.Elasticsearch.Index = index
	for _, tt := range []struct {
		of, setting, value string
		want               []Level
		says               string
	}{
		{index, "index.write.wait_for_active_shards", `"2"`, []Level{Warning}, "index.write.wait_for_active_shards of " + index + " is 2: writes are refused"},
		{esindex.Agents(index), "index.write.wait_for_active_shards", `"all"`, []Level{Warning}, "writes are refused"},
		{index, "index.write.wait_for_active_shards", `"1"`, []Level{OK}, ""},
		{index, "index.refresh_interval", `"-1"`, []Level{Broken}, "searches never find"},
		{index, "index.refresh_interval", `"30s"`, []Level{OK}, ""},
		{esindex.Agents(index), "index.refresh_interval", `"-1"`, []Level{OK}, ""},
		{index, "index.final_pipeline", `"redact"`, []Level{Warning}, "is redact: this ingest pipeline"},
		{index, "index.blocks.write", `true`, []Level{Broken}, "nothing can be written"},
		{esindex.Rankings(index), "index.blocks.read_only", `true`, []Level{Broken}, "nothing can be written"},
		{index, "index.blocks.read", `true`, []Level{Broken}, "nothing can be searched"},
		{index, "index.blocks.read_only_allow_delete", `true`, []Level{Broken}, "sets it when a disk is full"},
	} {
		set := func(value string) {
			body := fmt.Appendf(nil, `{%q:%s}`, tt.setting, value)
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+tt.of+"/_settings", "", body, nil))
		}
		set(tt.value)
		d := &doctor{cfg: cfg}
		d.checkIndexSettings(t.Context(), client)
		set("null")
		assert.Equal(t, tt.want, levels(d.findings, "elasticsearch index settings"), "%v", d.findings)
		assert.Contains(t, d.findings[0].Detail, tt.says)
		comesBack := strings.HasSuffix(tt.setting, "allow_delete") // while its disk is full
		assert.Equal(t, comesBack, strings.Contains(d.findings[0].Fix, "disk space"), d.findings[0].Fix)
	}
}

// TestDoctorTriesElasticWrites tries a write to each index, also where no setting of an index refuses it.
func TestDoctorTriesElasticWrites(t *testing.T) {
	t.Parallel()
	address, index := testenv.Elastic(t)
	cfg := servicesAt(t, productionRedis(t).Options().Addr, address)
	cfg.Elasticsearch.Index = index
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}})
	require.NoError(t, err)
	try := func(client esindex.Client) []Finding {
		d := &doctor{cfg: cfg}
		d.tryElasticWrites(t.Context(), client)
		return d.findings
	}
	assert.Empty(t, try(client), "there is no index yet")
	_, err = esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	assert.Equal(t, OK, about(t, try(client), "elasticsearch writes").Level)
	block := func(value string) {
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+esindex.Agents(index)+"/_settings", "", []byte(`{"index.blocks.write":`+value+`}`), nil))
	}
	block("true")
	found := about(t, try(client), "elasticsearch writes")
	assert.Equal(t, Broken, found.Level)
	assert.Contains(t, found.Detail, esindex.Agents(index)+" cannot be written: ")
	block("null")
	assert.Equal(t, OK, about(t, try(client), "elasticsearch writes").Level)
	for _, of := range []string{index, esindex.Agents(index), esindex.Rankings(index)} { // a template may set it for all
		pipeline := func(name string) {
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+of+"/_settings", "", []byte(`{"index.default_pipeline":`+name+`}`), nil))
		}
		pipeline(`"no_such"`)
		found = about(t, try(client), "elasticsearch writes")
		assert.Equal(t, Broken, found.Level)
		assert.Contains(t, found.Detail, of+" cannot be written: ")
		assert.Contains(t, found.Detail, "pipeline with id [no_such] does not exist")
		assert.Contains(t, found.Fix, "ingest pipeline")
		pipeline("null")
	}
	assert.Equal(t, OK, about(t, try(client), "elasticsearch writes").Level)
	for _, in := range []string{index, esindex.Agents(index), esindex.Rankings(index)} {
		var found struct{ Count int }
		require.NoError(t, esindex.Ask(t.Context(), client, http.MethodGet, "/"+in+"/_count", "", nil, &found))
		assert.Zero(t, found.Count, "nothing is left in %s", in)
	}
}

// TestDoctorTriesCopyOfIndex tries the requests of recall from memory, with a user who may make them
// and with one who may not.
func TestDoctorTriesCopyOfIndex(t *testing.T) {
	t.Parallel()
	address, index := testenv.Elastic(t)
	cfg := servicesAt(t, productionRedis(t).Options().Addr, address)
	cfg.Elasticsearch.Index = index
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}})
	require.NoError(t, err)
	_, err = esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	try := func(client esindex.Client) Finding {
		d := &doctor{cfg: cfg, clock: time.Now}
		d.tryCopy(t.Context(), client, esindex.OwnSchema(esindex.Fields{}))
		return about(t, d.findings, "recall from memory")
	}
	assert.Equal(t, OK, try(client).Level)
	found := try(answering(t, nil))
	assert.Equal(t, Warning, found.Level)
	assert.Contains(t, found.Fix, "maintenance")
}

// TestDoctorIndexNotCreated has an index that Elasticsearch does not create for a reason of its own, as
// it does at its limit of shards. Rights are named only if it refuses the user.
func TestDoctorIndexNotCreated(t *testing.T) {
	t.Parallel()
	address, name := testenv.Elastic(t)
	cfg := servicesAt(t, oneServer(t), address)
	cfg.Elasticsearch.Index = strings.ToUpper(name)
	found := about(t, Check(t.Context(), cfg, Options{Fix: true}), "index "+cfg.Elasticsearch.Index)
	assert.Equal(t, Broken, found.Level)
	assert.Contains(t, found.Detail, "must be lowercase")
	assert.Equal(t, "see the message", found.Fix)
	for status, want := range map[int]bool{http.StatusForbidden: true, http.StatusUnauthorized: true, http.StatusBadRequest: false} {
		assert.Equal(t, want, forbidden(fmt.Errorf("create: %w", &esindex.Error{Status: status})), status)
	}
	assert.False(t, forbidden(errors.New("no connection")))
}

// refusing forwards requests to Elasticsearch, but for one that it refuses as for a user without the
// privilege. It records the requests that it forwards.
type refusing struct {
	next   http.Handler
	mu     sync.Mutex
	made   map[string]bool
	refuse string
}

func (p *refusing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	request := r.Method + " " + r.URL.Path
	p.mu.Lock()
	p.made[request] = true
	refused := request == p.refuse
	p.mu.Unlock()
	if !refused {
		p.next.ServeHTTP(w, r)
		return
	}
	w.Header().Set("X-Elastic-Product", "Elasticsearch")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	_, _ = io.WriteString(w, `{"error":{"type":"security_exception","reason":"this request is not allowed"},"status":403}`)
}

// TestDoctorReportsEachRefusal refuses each request of the doctor to Elasticsearch in turn, as for a user
// who lacks the privilege for it. Each refusal is reported, with what to do.
func TestDoctorReportsEachRefusal(t *testing.T) {
	t.Parallel()
	address, index := testenv.Elastic(t)
	direct, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}})
	require.NoError(t, err)
	_, err = esindex.Ensure(t.Context(), direct, index, esindex.Fields{})
	require.NoError(t, err)
	proxy := &refusing{next: testenv.Forward(t, address, nil), made: map[string]bool{}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	cfg := servicesAt(t, oneServer(t), server.URL)
	cfg.Elasticsearch.Index, cfg.Recall.From = index, configs.FromMemory
	problems := func(refuse string) map[string]Finding {
		proxy.mu.Lock()
		proxy.refuse = refuse
		proxy.mu.Unlock()
		d := &doctor{cfg: cfg, clock: time.Now}
		d.checkElastic(t.Context())
		found := map[string]Finding{}
		for _, f := range d.findings {
			if f.Level != OK {
				found[f.What] = f
			}
		}
		return found
	}
	usual := problems("")
	requests := slices.Sorted(maps.Keys(proxy.made))
	require.Greater(t, len(requests), 10)
	for _, request := range requests {
		found := problems(request)
		reported := false
		for what, f := range found {
			if strings.Contains(f.Detail, "this request is not allowed") {
				reported = true
				assert.NotEmpty(t, f.Fix, what)
			}
		}
		assert.True(t, reported, "%s: %v, as usual %v", request, found, usual)
	}
}
