package esindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// DocID identifies a document.
type DocID struct {
	Index   string `json:"_index"`
	ID      string `json:"_id"`
	Routing string `json:"routing,omitempty"` // if the document has one
}

// Document is a document read by id or found by a search.
type Document struct {
	Index  string          `json:"_index"`
	ID     string          `json:"_id"`
	SeqNo  int64           `json:"_seq_no"`       // of the last change;
	Term   int64           `json:"_primary_term"` // both are set only if it was read by id
	Source json.RawMessage `json:"_source"`
	// Routing selects the document's shard if its id does not. A read by id finds the document only
	// with it.
	Routing string `json:"_routing"`
	Error   *Cause `json:"error"`
	// Broken means that the document exists, but Elasticsearch cannot write its source as JSON.
	Broken bool `json:"-"`
}

// Place returns the index, id and routing of the document.
func (d *Document) Place() DocID { return DocID{Index: d.Index, ID: d.ID, Routing: d.Routing} }

// Get reads documents by index and id, in order. A document that does not exist or is broken has no
// source. Reads by id are in real time: they see a write before any refresh. Errors are those of
// [Do]; the error of a single document is [Document.Err].
//
// A broken document makes each request that contains it fail. The ids are then halved until it is
// alone.
func Get(ctx context.Context, client Client, ids []DocID) ([]Document, error) {
	if len(ids) == 0 {
		// No request, but a cancelled call still returns its error.
		return nil, ctx.Err()
	}
	docs, err := get(ctx, client, ids, "")
	if !Unwritable(err) {
		return docs, err
	}
	if len(ids) == 1 {
		if docs, err = get(ctx, client, ids, "_source=false&"); err == nil {
			docs[0].Broken = true
		}
		return docs, err
	}
	half := len(ids) / 2
	if docs, err = Get(ctx, client, ids[:half]); err != nil {
		return nil, err
	}
	rest, err := Get(ctx, client, ids[half:])
	return append(docs, rest...), err
}

// Unwritable reports whether err means that an answer contains a document that cannot be written as
// JSON, even with a filter_path. Elasticsearch accepts documents as YAML, where a number may be
// ".nan", and stores the bytes. It answers with an error, or if the answer has begun, truncates it.
// OpenSearch answers with the error of a request that is not JSON, which none is that [Ask] encodes.
func Unwritable(err error) bool {
	if NotJSON(err) {
		return true
	}
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Status == http.StatusInternalServerError && strings.HasSuffix(e.Type, "parse_exception") ||
		e.Status == http.StatusBadRequest && e.Type == "json_parse_exception"
}

// get reads documents in one request.
func get(ctx context.Context, client Client, ids []DocID, params string) ([]Document, error) {
	request := map[string]any{"docs": ids}
	var got struct {
		Docs []Document `json:"docs"`
	}
	// No filter_path: with one, Elasticsearch parses and rewrites every document, and 1.50 becomes
	// 1.5. Without it, it sends the stored bytes.
	err := Ask(ctx, client, http.MethodPost, "/_mget", params, request, &got)
	if NotJSON(err) {
		err = Ask(ctx, client, http.MethodPost, "/_mget", params+"filter_path=docs", request, &got)
	}
	if err == nil && len(got.Docs) != len(ids) {
		err = fmt.Errorf("elasticsearch answered %d documents for %d ids", len(got.Docs), len(ids))
	}
	return got.Docs, err
}

// NotJSON reports whether an answer could not be decoded because a document in it is not valid
// JSON: Elasticsearch accepts comments in documents and returns them. With a filter_path it
// rewrites each document without them.
func NotJSON(err error) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax)
}

// Unrouted reports whether the index refuses to read the document without its routing.
func (d *Document) Unrouted() bool {
	return d.Error != nil && d.Error.Root().Type == "routing_missing_exception"
}

// Err returns the reason why this document could not be read. It is nil if it was looked up,
// whether it exists or not.
func (d *Document) Err() error {
	if d.Error == nil {
		return nil
	}
	return d.Error.Refusal(statusOf(d.Error.Root().Type))
}

// statusOf maps the error type of a single document, which has no status, to the status of a whole
// request.
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
