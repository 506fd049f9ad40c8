package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/version"
)

// TestEachWayTellsTheSameVersion compares the version in the metrics, the OpenAPI document and the
// resource of the traces. The test of the command is in cmd/freshet.
func TestEachWayTellsTheSameVersion(t *testing.T) {
	got := collect(t)
	a := open(t, embedded(t))
	get := func(path string) string {
		w := httptest.NewRecorder()
		a.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		require.Equal(t, http.StatusOK, w.Code)
		return w.Body.String()
	}
	assert.Regexp(t, `(?m)^freshet_build_info\{[^}]*version="\Q`+version.String()+`\E"\} 1$`, get("/metrics"))

	var document struct{ Info struct{ Version string } }
	require.NoError(t, json.Unmarshal([]byte(get("/openapi.json")), &document))
	assert.Equal(t, version.String(), document.Info.Version)

	require.NoError(t, a.Close(context.WithoutCancel(t.Context())))
	require.NotEmpty(t, got.versions)
	for _, v := range got.versions {
		assert.Equal(t, version.String(), v)
	}
}
