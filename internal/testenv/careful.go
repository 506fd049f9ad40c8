package testenv

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// Performer sends requests to Elasticsearch.
type Performer interface {
	Perform(req *http.Request) (*http.Response, error)
}

// Careful makes an Elasticsearch answer like a cluster with search.allow_expensive_queries: false,
// a setting that would affect all tests.
type Careful struct{ Performer }

// Perform implements [Performer].
func (c Careful) Perform(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		return c.Performer.Perform(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	for _, kind := range []string{"regexp", "prefix", "wildcard", "fuzzy", "script", "script_score", "query_string"} {
		if bytes.Contains(body, []byte(`"`+kind+`":{`)) {
			refusal := `{"error": {"type": "exception", "reason": "[` + kind + `] queries cannot be executed when 'search.allow_expensive_queries' is set to false."}, "status": 400}`
			header := http.Header{"X-Elastic-Product": {"Elasticsearch"}}
			return &http.Response{StatusCode: http.StatusBadRequest, Header: header, Body: io.NopCloser(strings.NewReader(refusal))}, nil
		}
	}
	return c.Performer.Perform(req)
}
