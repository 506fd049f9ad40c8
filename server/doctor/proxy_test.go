package doctor

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/server/connect"
)

// TestDoctorNamesProxy: the proxy that the environment names for other calls may refuse those to services.
func TestDoctorNamesProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(proxy.Close)
	for _, name := range []string{"NO_PROXY", "no_proxy", "http_proxy", "https_proxy"} {
		t.Setenv(name, "")
	}
	named := "http://user:pw@" + proxy.Listener.Addr().String()
	t.Setenv("HTTP_PROXY", named)
	t.Setenv("HTTPS_PROXY", named)
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	cfg := embedded(t)
	cfg.Elasticsearch.Addresses = []string{"http://elastic.invalid:9200"}
	found := about(t, Check(t.Context(), cfg, Options{}), "elasticsearch")
	assert.Equal(t, Broken, found.Level)
	assert.Contains(t, found.Fix, "NO_PROXY")
	assert.Contains(t, found.Fix, proxy.URL)
	assert.NotContains(t, found.Fix, "pw")

	cfg = embedded(t)
	cfg.Media.URL = "s3://bucket?region=r&use_path_style=true&endpoint=http://store.invalid:9000"
	found = about(t, Check(t.Context(), cfg, Options{}), "media")
	assert.Equal(t, Broken, found.Level)
	assert.Contains(t, found.Fix, "NO_PROXY")

	t.Setenv("NO_PROXY", ".invalid")
	assert.Empty(t, connect.Proxy("http://elastic.invalid:9200"))
	assert.Empty(t, connect.Proxy("http://127.0.0.1:9200"), "no proxy reaches this machine")
}
