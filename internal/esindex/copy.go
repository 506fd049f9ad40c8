package esindex

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

const (
	copyPage = 1000
	// copyKeep is how long Elasticsearch keeps what a copy reads, from one page to the next.
	copyKeep = "10m"
	// Limits of a request that stores documents.
	storeDocuments = 1000
	storeBytes     = 4 << 20
)

// Export calls do with each document of an index, as of one moment after the call: every write that was
// answered before is among them. A missing index has none. Both products read so: their interfaces for points
// in time differ.
func Export(ctx context.Context, client Client, index string, do func(Document) error) (err error) {
	// A search sees what was refreshed. Without the right, the writes of the last second may be missing.
	err = Do(ctx, client, http.MethodPost, "/"+index+"/_refresh", "", nil, nil)
	if Missing(err) {
		return nil
	}
	if err != nil && !Forbidden(err) {
		return err
	}
	type page struct {
		ID     string `json:"_scroll_id"`
		Shards struct {
			Failed int `json:"failed"`
		} `json:"_shards"`
		Found[Document]
	}
	var p page
	ask := object{"size": copyPage, "sort": []string{"_doc"}}
	err = Ask(ctx, client, http.MethodPost, "/"+index+"/_search", "scroll="+copyKeep+"&"+wholeAnswer, ask, &p)
	defer func() {
		if p.ID != "" { // it would end by itself
			_ = Ask(context.WithoutCancel(ctx), client, http.MethodDelete, "/_search/scroll", "", object{"scroll_id": p.ID}, nil)
		}
	}()
	for err == nil && p.Shards.Failed == 0 && len(p.Hits.Hits) > 0 {
		for _, d := range p.Hits.Hits {
			if err := do(d); err != nil {
				return err
			}
		}
		next := page{}
		err = Ask(ctx, client, http.MethodPost, "/_search/scroll", "", object{"scroll": copyKeep, "scroll_id": p.ID}, &next)
		if err == nil {
			p = next
		}
	}
	if err == nil && p.Shards.Failed > 0 { // of pages after the first, no parameter makes that an error
		err = fmt.Errorf("%w: a shard of the index %s was lost while it was read; try again", ErrUnavailable, index)
	}
	return err
}

// Count returns how many documents an index has that searches see; a missing one has none.
func Count(ctx context.Context, client Client, index string) (int64, error) {
	var found struct {
		Count int64 `json:"count"`
	}
	err := Ask(ctx, client, http.MethodGet, "/"+index+"/_count", "", nil, &found)
	if Missing(err) {
		return 0, nil
	}
	return found.Count, err
}

// Import stores documents in an existing index, in place of those with their ids. next returns false after
// the last one.
func Import(ctx context.Context, client Client, index string, next func() (Document, bool, error)) error {
	var body bytes.Buffer
	n := 0
	for {
		d, more, err := next()
		if err != nil {
			return err
		}
		if more {
			action, err := json.Marshal(object{"index": DocID{ID: d.ID, Index: index, Routing: d.Routing}})
			if err != nil {
				return err
			}
			body.Write(action)
			body.WriteByte('\n')
			body.Write(d.Source)
			body.WriteByte('\n')
			n++
		}
		if n == storeDocuments || body.Len() > storeBytes || !more && n > 0 {
			if err := storeAll(ctx, client, body.Bytes()); err != nil {
				return err
			}
			body.Reset()
			n = 0
		}
		if !more {
			return Do(ctx, client, http.MethodPost, "/"+index+"/_refresh", "", nil, nil)
		}
	}
}

// storeAll sends one request with documents.
func storeAll(ctx context.Context, client Client, body []byte) error {
	var answer struct {
		Errors bool `json:"errors"`
		Items  []map[string]struct {
			ID     string `json:"_id"`
			Status int    `json:"status"`
			Error  *Cause `json:"error"`
		} `json:"items"`
	}
	if err := Ask(ctx, client, http.MethodPost, "/_bulk", Patience(ctx), body, &answer); err != nil || !answer.Errors {
		return err
	}
	for _, item := range answer.Items {
		for _, of := range item {
			if of.Error != nil {
				return fmt.Errorf("document %s: %w", of.ID, of.Error.Refusal(of.Status))
			}
		}
	}
	return nil
}
