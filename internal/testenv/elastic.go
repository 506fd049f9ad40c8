package testenv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// Elastic returns the address of the real Elasticsearch and an index name unique to this test;
// indices with this prefix are deleted when the test ends. A test that only needs an index managed
// by Freshet is faster with [ReusedElastic].
func Elastic(t testing.TB) (address, index string) {
	t.Helper()
	x := newIndices(t)
	t.Cleanup(func() {
		if err := x.remove(context.Background()); err != nil {
			t.Logf("%v are left behind: %v", x, err)
		}
	})
	return x.address, x.name
}

// ReusedElastic is [Elastic] for tests that change no mapping and no setting of an index: the
// indices under this name may exist already, without documents. Creating and deleting them takes
// Elasticsearch about twenty times as long. made describes how the indices are created, if not as
// the server creates its own; they are shared only by tests with the same made.
func ReusedElastic(t testing.TB, made string) (address, index string) {
	t.Helper()
	elasticAddress(t)
	x := indices.take(t, made, func() place { return newIndices(t) }).(*ownIndices)
	return x.address, x.name
}

// OpenSearch reports whether FRESHET_TEST_ELASTICSEARCH names an OpenSearch, whose types of fields and
// of errors are others.
func OpenSearch(t testing.TB) bool {
	t.Helper()
	body, err := (&ownIndices{address: elasticAddress(t)}).call(t.Context(), http.MethodGet, "/", "")
	if err != nil {
		t.Fatalf("FRESHET_TEST_ELASTICSEARCH: %v", err)
	}
	return strings.Contains(string(body), "opensearch")
}

func elasticAddress(t testing.TB) string {
	t.Helper()
	address := os.Getenv("FRESHET_TEST_ELASTICSEARCH")
	if address == "" {
		missing(t, "FRESHET_TEST_ELASTICSEARCH", "the address of an Elasticsearch 8 (http://127.0.0.1:9200)")
	}
	return strings.TrimSuffix(address, "/")
}

// ownIndices is an index of items and those that belong to it, all of which may be missing.
type ownIndices struct{ address, name string }

func newIndices(t testing.TB) *ownIndices {
	t.Helper()
	return &ownIndices{elasticAddress(t), "freshet-" + Unique()}
}

func (x *ownIndices) String() string { return "the indices " + x.name }

// of returns the path for the indices with these endings.
func (x *ownIndices) of(endings ...string) string {
	names := make([]string, len(endings))
	for i, ending := range endings {
		names[i] = x.name + ending
	}
	return "/" + strings.Join(names, ",")
}

func (x *ownIndices) remove(ctx context.Context) error {
	_, err := x.call(ctx, http.MethodDelete, x.of("", "-v2", "-0", "-1", "-2", "-agents", "-ranking")+"?ignore_unavailable=true", "")
	return err
}

// mostDocuments is the number of documents from which deleting the indices is faster than deleting
// single documents.
const mostDocuments = 5000

// empty deletes documents until a refresh shows none.
func (x *ownIndices) empty(ctx context.Context) error {
	all := x.of("", "-agents", "-ranking")
	for {
		if _, err := x.call(ctx, http.MethodPost, all+"/_refresh?ignore_unavailable=true", ""); err != nil {
			return err
		}
		body, err := x.call(ctx, http.MethodGet, fmt.Sprintf("%s/_search?ignore_unavailable=true&_source=false&size=%d", all, mostDocuments), "")
		if err != nil {
			return err
		}
		var found struct {
			Hits struct {
				Hits []struct {
					Index string `json:"_index"`
					ID    string `json:"_id"`
				}
			}
		}
		if err := json.Unmarshal(body, &found); err != nil {
			return err
		}
		switch len(found.Hits.Hits) {
		case 0:
			return nil
		case mostDocuments:
			return errors.New("there are many documents")
		}
		var deletes strings.Builder
		for _, hit := range found.Hits.Hits {
			fmt.Fprintf(&deletes, `{"delete":{"_index":%q,"_id":%q}}`+"\n", hit.Index, hit.ID)
		}
		if _, err := x.call(ctx, http.MethodPost, "/_bulk", deletes.String()); err != nil {
			return err
		}
	}
}

// oneRequest uses a new connection for each request: a busy server closes idle ones at any time,
// and net/http then does not retry requests that write.
var oneRequest = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// call sends one request and returns the body of the response.
func (x *ownIndices) call(ctx context.Context, method, path, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, x.address+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := oneRequest.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %s: %s", method, path, res.Status, answer)
	}
	return answer, err
}
