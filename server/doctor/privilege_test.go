package doctor

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// TestDoctorNamesPrivilege refuses the user one kind of action of Elasticsearch at a time: the doctor
// names the privilege that is missing, and checks what it can nevertheless.
func TestDoctorNamesPrivilege(t *testing.T) {
	t.Parallel()
	address, index := testenv.Elastic(t)
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}})
	require.NoError(t, err)
	_, err = esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	for path, test := range map[string]struct {
		action, what string
		level        Level
		fix          string
	}{
		"/":         {"cluster:monitor/main", "elasticsearch", Warning, "give the user the cluster privilege monitor"},
		"/_cat/":    {"indices:monitor/stats", "elasticsearch replicas", Warning, "give the user the privilege monitor for the indices"},
		"/_mapping": {"indices:admin/mappings/get", "index " + index, Broken, "give the user the privilege view_index_metadata for the indices"},
		"/_search":  {"indices:data/read/search", "recall", Broken, "give the user the privilege read for the indices"},
		"/_bulk":    {"indices:data/write/bulk", "elasticsearch writes", Broken, "give the user the privilege write for the indices"},
	} {
		t.Run(test.action, func(t *testing.T) {
			t.Parallel()
			forward := testenv.Forward(t, address, nil)
			elastic := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != path && (path == "/" || !strings.Contains(r.URL.Path, path)) {
					forward.ServeHTTP(w, r)
					return
				}
				w.Header().Set("X-Elastic-Product", "Elasticsearch")
				w.WriteHeader(http.StatusForbidden)
				_, _ = io.WriteString(w, fmt.Sprintf(`{"error":{"type":"security_exception","reason":"action [%s] is unauthorized for user [freshet]"},"status":403}`, test.action))
			}))
			t.Cleanup(elastic.Close)
			cfg := servicesAt(t, productionRedis(t).Options().Addr, elastic.URL)
			cfg.Elasticsearch.Index = index
			d := &doctor{cfg: cfg, clock: time.Now}
			d.checkElastic(t.Context())
			found := about(t, d.findings, test.what)
			assert.Equal(t, test.level, found.Level, "%v", found)
			assert.Equal(t, test.fix, found.Fix, "%v", found)
			about(t, d.findings, "elasticsearch disks") // the rest is checked, too
		})
	}
}
