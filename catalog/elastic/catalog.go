// Package elastic keeps items, profiles and the versions of the ranking in
// Elasticsearch: items in the index that recall searches, the others in two
// that are named after it.
//
// A document is an item with its fields under their physical names. Its _id is
// the item's id; in an index with mapped names it may also be another, for
// items that others wrote, and is then looked up by the id field.
package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/elastic/go-elasticsearch/v8"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// Config says where items and profiles are.
type Config struct {
	Index  string         // of the items; profiles are in <Index>-agents, the ranking in <Index>-ranking; required
	Schema esindex.Schema // what esindex.Inspect found; zero: an index made by esindex.Ensure with default names
}

// Catalog is a [catalog.Catalog] in Elasticsearch. Reads by id see every
// write at once; recall and [Catalog.Scan] see it after the index is
// refreshed.
type Catalog struct {
	client   esindex.Performer
	items    string
	agents   string
	rankings string
	schema   esindex.Schema

	besideMade atomic.Bool  // the indices of profiles and of the ranking are known to exist
	newest     atomic.Int64 // version of the ranking that was the newest when last looked
}

var (
	_ catalog.Catalog  = (*Catalog)(nil)
	_ catalog.Scanner  = (*Catalog)(nil)
	_ catalog.Hydrator = (*Catalog)(nil)
)

// New returns a catalog; it asks Elasticsearch nothing yet.
func New(client *elasticsearch.Client, cfg Config) *Catalog {
	return &Catalog{client: client, items: cfg.Index, agents: esindex.Agents(cfg.Index), rankings: esindex.Rankings(cfg.Index), schema: cfg.Schema.WithDefaults()}
}

// Refresh makes everything written so far visible to searches. Servers leave
// that to the index's refresh interval.
func (c *Catalog) Refresh(ctx context.Context) error {
	return c.explain(c.do(ctx, "/"+c.items+"/_refresh", "", nil, nil))
}

// do sends a POST; every call of this package is one, because ids go into the
// body, where they need no escaping.
func (c *Catalog) do(ctx context.Context, path, params string, request any, read func([]byte) error) error {
	var body []byte
	switch r := request.(type) {
	case nil:
	case []byte:
		body = r
	default:
		var err error
		if body, err = json.Marshal(r); err != nil {
			return err
		}
	}
	return esindex.Do(ctx, c.client, http.MethodPost, path, params, body, read)
}

// explain turns an error of a request into one of the contract.
func (c *Catalog) explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, esindex.ErrUnavailable):
		return fmt.Errorf("%w: %w", catalog.ErrUnavailable, err)
	case esindex.IsType(err, "index_not_found_exception"):
		return fmt.Errorf("items in %s: %w; create it with freshet doctor --fix", c.items, err)
	}
	return fmt.Errorf("items in %s: %w", c.items, err)
}

// document is a document read by id or found by a search.
type document struct {
	Index  string          `json:"_index"`
	ID     string          `json:"_id"`
	SeqNo  int64           `json:"_seq_no"`       // of the change it comes from,
	Term   int64           `json:"_primary_term"` // both only where it was read by id
	Source json.RawMessage `json:"_source"`
	Error  *esindex.Cause  `json:"error"`
}

type docID struct {
	Index string `json:"_index"`
	ID    string `json:"_id"`
}

// get reads documents by index and _id, in order; one that does not exist has
// no source.
func (c *Catalog) get(ctx context.Context, ids []docID) ([]document, error) {
	if len(ids) == 0 {
		// No request, but a call that was given up still says so.
		return nil, ctx.Err()
	}
	var got struct {
		Docs []document `json:"docs"`
	}
	// No filter_path: with one, Elasticsearch parses every document and writes
	// it anew, and 1.50 comes back as 1.5. Without, it sends the stored bytes.
	err := c.do(ctx, "/_mget", "", map[string]any{"docs": ids},
		func(body []byte) error { return json.Unmarshal(body, &got) })
	if err != nil {
		return nil, c.explain(err)
	}
	if len(got.Docs) != len(ids) {
		return nil, fmt.Errorf("elasticsearch answered %d documents for %d ids", len(got.Docs), len(ids))
	}
	return got.Docs, nil
}

// failure is the error of one document of an answer. An index of profiles, or
// of the ranking, that does not exist has none. It may have been deleted since
// it was made, so it is made again before the next write.
func (c *Catalog) failure(d document, index string) error {
	if d.Error == nil {
		return nil
	}
	if index != c.items && d.Error.Type == "index_not_found_exception" {
		c.besideMade.Store(false)
		return nil
	}
	root := d.Error.Root()
	return c.explain(&esindex.Error{Status: statusOf(root.Type), Type: root.Type, Reason: root.Reason})
}

// statusOf gives the errors of single documents, which come without one, the
// status a whole request would have.
func statusOf(errorType string) int {
	switch errorType {
	case "index_not_found_exception":
		return http.StatusNotFound
	case "no_shard_available_action_exception", "unavailable_shards_exception", "es_rejected_execution_exception",
		"node_not_connected_exception", "node_disconnected_exception", "cluster_block_exception":
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// Docs implements [catalog.Reader].
func (c *Catalog) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	found, err := c.get(ctx, c.itemIDs(ids, 0))
	if err != nil {
		return nil, err
	}
	return c.docs(ctx, ids, found)
}

// Hydrate implements [catalog.Hydrator]: items and profile in one round trip.
func (c *Catalog) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	found, err := c.get(ctx, append(c.itemIDs(ids, 1), docID{c.agents, agent}))
	if err != nil {
		return nil, feed.Profile{}, err
	}
	docs, err := c.docs(ctx, ids, found[:len(ids)])
	if err != nil {
		return nil, feed.Profile{}, err
	}
	p, err := c.profile(found[len(ids)], agent)
	if errors.Is(err, catalog.ErrNotFound) {
		err = nil
	}
	return docs, p, err
}

func (c *Catalog) itemIDs(ids []string, spare int) []docID {
	list := make([]docID, len(ids), len(ids)+spare)
	for i, id := range ids {
		list[i] = docID{c.items, id}
	}
	return list
}

func (c *Catalog) docs(ctx context.Context, ids []string, found []document) ([]feed.Doc, error) {
	docs := make([]feed.Doc, len(ids))
	var missing []string
	for i, id := range ids {
		if err := c.failure(found[i], c.items); err != nil {
			return nil, err
		}
		docs[i].ID = id
		if len(found[i].Source) == 0 {
			missing = append(missing, id)
			continue
		}
		var err error
		if docs[i].JSON, err = itemJSON(&c.schema, id, found[i].Source); err != nil {
			return nil, err
		}
	}
	others, err := c.others(ctx, missing, true)
	if err != nil || len(others) == 0 {
		return docs, err
	}
	for i, id := range ids {
		if d, ok := others[id]; ok && docs[i].Missing() {
			if docs[i].JSON, err = itemJSON(&c.schema, id, d.Source); err != nil {
				return nil, err
			}
		}
	}
	return docs, nil
}

// others finds the documents of items whose _id is not the item's id. Only an
// index with mapped names can hold such: ours never does. A search sees what
// was refreshed; a hit whose _id is its item's id is left out, because the
// read by _id knows better whether it still exists.
func (c *Catalog) others(ctx context.Context, ids []string, source bool) (map[string]document, error) {
	if len(ids) == 0 || !c.schema.Mapped() || c.schema.MetaID() {
		return nil, nil
	}
	field := c.schema.Fields.ID
	byID := map[string]document{}
	for len(ids) > 0 {
		part := ids[:min(len(ids), maxBatch)]
		ids = ids[len(part):]
		var got struct {
			Hits struct {
				Hits []struct {
					document
					Fields map[string][]string `json:"fields"`
				} `json:"hits"`
			} `json:"hits"`
		}
		err := c.do(ctx, "/"+c.items+"/_search", "allow_partial_search_results=false", map[string]any{
			"size": maxBatch, "_source": source, "docvalue_fields": []string{field}, "track_total_hits": false,
			"query": map[string]any{"bool": map[string]any{"filter": map[string]any{"terms": map[string]any{field: part}}}},
		}, func(body []byte) error { return json.Unmarshal(body, &got) })
		if err != nil {
			return nil, c.explain(err)
		}
		for _, hit := range got.Hits.Hits {
			if id := hit.Fields[field]; len(id) == 1 && id[0] != hit.ID {
				byID[id[0]] = hit.document
			}
		}
	}
	return byID, nil
}
