package esindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// DocID names a document.
type DocID struct {
	Index string `json:"_index"`
	ID    string `json:"_id"`
}

// Document is a document read by id or found by a search.
type Document struct {
	Index  string          `json:"_index"`
	ID     string          `json:"_id"`
	SeqNo  int64           `json:"_seq_no"`       // of the change it comes from,
	Term   int64           `json:"_primary_term"` // both only where it was read by id
	Source json.RawMessage `json:"_source"`
	Error  *Cause          `json:"error"`
}

// Get reads documents by index and id, in order; one that does not exist has no
// source. Reads by id are in real time: they see a write before any refresh.
// Errors are those of [Do]; that of a single document is [Document.Err].
func Get(ctx context.Context, client Client, ids []DocID) ([]Document, error) {
	if len(ids) == 0 {
		// No request, but a call that was given up still says so.
		return nil, ctx.Err()
	}
	body, err := json.Marshal(map[string]any{"docs": ids})
	if err != nil {
		return nil, err
	}
	var got struct {
		Docs []Document `json:"docs"`
	}
	// No filter_path: with one, Elasticsearch parses every document and writes
	// it anew, and 1.50 comes back as 1.5. Without, it sends the stored bytes.
	read := func(body []byte) error { return json.Unmarshal(body, &got) }
	if err = Do(ctx, client, http.MethodPost, "/_mget", "", body, read); NotJSON(err) {
		err = Do(ctx, client, http.MethodPost, "/_mget", "filter_path=docs", body, read)
	}
	if err == nil && len(got.Docs) != len(ids) {
		err = fmt.Errorf("elasticsearch answered %d documents for %d ids", len(got.Docs), len(ids))
	}
	return got.Docs, err
}

// NotJSON reports whether an answer could not be read because a document in it is no
// JSON: Elasticsearch takes a comment in one, and gives it back. Asked with a
// filter_path it writes each document anew, without.
func NotJSON(err error) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax)
}

// Err is why this document could not be read, nil where it was looked up, whether
// it exists or not.
func (d *Document) Err() error {
	if d.Error == nil {
		return nil
	}
	root := d.Error.Root()
	return &Error{Status: statusOf(root.Type), Type: root.Type, Reason: root.Reason}
}

// statusOf gives the errors of single documents, which come without one, the
// status a whole request would have.
func statusOf(errorType string) int {
	switch errorType {
	case notFound:
		return http.StatusNotFound
	case closed:
		return http.StatusBadRequest
	case "no_shard_available_action_exception", "unavailable_shards_exception", "es_rejected_execution_exception",
		"node_not_connected_exception", "node_disconnected_exception", "cluster_block_exception":
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
