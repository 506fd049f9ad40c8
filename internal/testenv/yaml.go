package testenv

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// PutYAML stores a document as YAML; Elasticsearch stores its bytes. So it may contain values that
// JSON cannot express, such as the number ".nan".
func PutYAML(t testing.TB, client interface {
	Perform(req *http.Request) (*http.Response, error)
}, index, id, doc string,
) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "/"+index+"/_doc/"+id+"?refresh=true", strings.NewReader("---\n"+doc))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/yaml")
	req.Header.Set("Accept", "application/json")
	res, err := client.Perform(req)
	require.NoError(t, err)
	require.Less(t, res.StatusCode, 300)
	require.NoError(t, res.Body.Close())
}
