package esindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// DocID names a document.
type DocID struct {
	Index   string `json:"_index"`
	ID      string `json:"_id"`
	Routing string `json:"routing,omitempty"` // where the document has one
}

// Document is a document read by id or found by a search.
type Document struct {
	Index  string          `json:"_index"`
	ID     string          `json:"_id"`
	SeqNo  int64           `json:"_seq_no"`       // of the change it comes from,
	Term   int64           `json:"_primary_term"` // both only where it was read by id
	Source json.RawMessage `json:"_source"`
	// Routing is what the document's shard is chosen by, where that is not its id. A read
	// by id finds the document only with it.
	Routing string `json:"_routing"`
	Error   *Cause `json:"error"`
	// Broken: the document exists, but Elasticsearch cannot write its source as JSON.
	Broken bool `json:"-"`
}

// Place is where the document is.
func (d *Document) Place() DocID { return DocID{Index: d.Index, ID: d.ID, Routing: d.Routing} }

// Get reads documents by index and id, in order; one that does not exist has no
// source, nor has one that is broken. Reads by id are in real time: they see a write
// before any refresh. Errors are those of [Do]; that of a single document is
// [Document.Err].
//
// A broken document fails each request that it is part of: the ids are then halved, until
// it is alone.
func Get(ctx context.Context, client Client, ids []DocID) ([]Document, error) {
	if len(ids) == 0 {
		// No request, but a call that was given up still says so.
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

// Unwritable reports whether err says that an answer holds a document that cannot be
// written as JSON, also with a filter_path. Elasticsearch takes documents as YAML, in
// which a number may be ".nan", and keeps the bytes. It refuses to answer, or where it has
// begun to, ends in the middle.
func Unwritable(err error) bool {
	var e *Error
	return NotJSON(err) || errors.As(err, &e) && e.Status == http.StatusInternalServerError && strings.HasSuffix(e.Type, "parse_exception")
}

// get reads documents in one request.
func get(ctx context.Context, client Client, ids []DocID, params string) ([]Document, error) {
	request := map[string]any{"docs": ids}
	var got struct {
		Docs []Document `json:"docs"`
	}
	// No filter_path: with one, Elasticsearch parses every document and writes
	// it anew, and 1.50 comes back as 1.5. Without, it sends the stored bytes.
	err := Ask(ctx, client, http.MethodPost, "/_mget", params, request, &got)
	if NotJSON(err) {
		err = Ask(ctx, client, http.MethodPost, "/_mget", params+"filter_path=docs", request, &got)
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

// Unrouted reports whether the index refuses to look a document up without its routing.
func (d *Document) Unrouted() bool {
	return d.Error != nil && d.Error.Root().Type == "routing_missing_exception"
}

// Err is why this document could not be read, nil where it was looked up, whether
// it exists or not.
func (d *Document) Err() error {
	if d.Error == nil {
		return nil
	}
	return d.Error.Refusal(statusOf(d.Error.Root().Type))
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
