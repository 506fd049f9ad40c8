package replica

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// editStats edits the shards in the answers about the state of the index.
func editStats(edit func(shards map[string]any)) func(*http.Request, func() (*http.Response, error)) (*http.Response, error) {
	return func(req *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		res, err := send()
		if err != nil || !strings.Contains(req.URL.Path, "/_stats") {
			return res, err
		}
		var answer struct {
			Indices map[string]struct {
				UUID   string         `json:"uuid"`
				Shards map[string]any `json:"shards"`
			} `json:"indices"`
		}
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
			return nil, err
		}
		for _, index := range answer.Indices {
			edit(index.Shards)
		}
		body, err := json.Marshal(answer)
		if err != nil {
			return nil, err
		}
		_ = res.Body.Close()
		res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return res, nil
	}
}
