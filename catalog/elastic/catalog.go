// Package elastic stores items and profiles in Elasticsearch: items in the index that recall
// searches, profiles in a second index named after it.
//
// A document is an item with its fields under their physical names. Its _id is the item's id.
// In an index with mapped names, items of other writers may have another _id, and are then
// looked up by the id field.
package elastic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// Config configures a [Catalog].
type Config struct {
	Index  string              // of the items; profiles are in <Index>-agents; required
	Schema *esindex.LateSchema // from esindex.Inspect; required
	// Counts returns the live popularity of the items being put, for those that have any. Nil
	// means that no item has any.
	Counts func(ctx context.Context, ids []string) (map[string]feed.Counts, error)
	// Own defines the index, which is created when items are put and it is missing. Nil means a
	// foreign index; nothing can be put while it is missing.
	Own *esindex.Fields
}

// Catalog is a [catalog.Catalog] in Elasticsearch. Reads by id see every write at once, recall
// after a refresh. Until the schema is known, item calls return [catalog.ErrUnavailable].
type Catalog struct {
	catalog.Uncached
	catalog.Records
	client esindex.Client
	items  string
	agents string
	schema *esindex.LateSchema
	counts func(ctx context.Context, ids []string) (map[string]feed.Counts, error)

	writers map[string]*esindex.Writer // by index
	own     bool
}

var _ catalog.Catalog = (*Catalog)(nil)

// New returns a catalog. It makes no request.
func New(client esindex.Client, cfg Config) *Catalog {
	c := &Catalog{client: client, items: cfg.Index, agents: esindex.Agents(cfg.Index), schema: cfg.Schema, counts: cfg.Counts, own: cfg.Own != nil}
	var ensure func(ctx context.Context) error
	if c.own {
		ensure = func(ctx context.Context) error {
			_, err := esindex.Ensure(ctx, client, cfg.Index, *cfg.Own)
			return err
		}
	}
	ensureBeside := func(ctx context.Context) error {
		_, err := esindex.EnsureBeside(ctx, client, cfg.Index)
		return err
	}
	c.writers = map[string]*esindex.Writer{
		c.items:  esindex.NewWriter(client, c.items, ensure),
		c.agents: esindex.NewWriter(client, c.agents, ensureBeside),
	}
	c.Records = c.changeRecord
	return c
}

// Refresh makes all writes so far visible to searches, for tests.
func (c *Catalog) Refresh(ctx context.Context) error {
	return c.contractError(esindex.Ask(ctx, c.client, http.MethodPost, "/"+c.items+"/_refresh", "", nil, nil))
}

// contractError converts a request error into one of the contract.
func (c *Catalog) contractError(err error) error {
	switch {
	case err == nil:
		return nil
	case esindex.Missing(err):
		return fmt.Errorf("%w: items in %s: %w; create it with freshet doctor --fix, or restore it", catalog.ErrUnavailable, c.items, err)
	case errors.Is(err, esindex.ErrUnavailable):
		return fmt.Errorf("%w: %w", catalog.ErrUnavailable, err)
	}
	return fmt.Errorf("items in %s: %w", c.items, err)
}

// get is [esindex.Get] with the errors of the contract.
func (c *Catalog) get(ctx context.Context, ids []esindex.DocID) ([]esindex.Document, error) {
	docs, err := esindex.Get(ctx, c.client, ids)
	return docs, c.contractError(err)
}

// failure returns the error of one document of a response. A missing index of profiles is not
// an error.
func (c *Catalog) failure(d esindex.Document, index string) error {
	err := d.Err()
	if index != c.items && esindex.Missing(err) || d.Unrouted() {
		return nil
	}
	return c.contractError(err)
}

// several reports whether a document could not be read by its _id because the name covers
// several indices, as an alias or a pattern.
func (c *Catalog) several(d *esindex.Document) bool {
	if d.Error == nil {
		return false
	}
	root := d.Error.Root()
	return strings.ContainsAny(c.items, "*,") || root.Type == "illegal_argument_exception" && strings.Contains(root.Reason, "more than one index")
}

// Docs implements [catalog.Reader].
func (c *Catalog) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	found, err := c.get(ctx, c.itemIDs(ids, 0))
	if err != nil {
		return nil, err
	}
	return c.docs(ctx, ids, found)
}

// Hydrate implements [catalog.Catalog] with one round trip for items and profile.
func (c *Catalog) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	found, err := c.get(ctx, append(c.itemIDs(ids, 1), esindex.DocID{Index: c.agents, ID: agent}))
	if err != nil {
		return nil, feed.Profile{}, err
	}
	p, err := c.profile(found[len(ids)], agent)
	if err != nil && !errors.Is(err, feed.ErrNotFound) {
		return nil, feed.Profile{}, err
	}
	docs, err := c.docs(ctx, ids, found[:len(ids)])
	if errors.Is(err, catalog.ErrUnavailable) { // the items' index may be refused while the profile can be read
		docs = make([]feed.Doc, len(ids))
		for i, id := range ids {
			docs[i].ID = id
		}
	}
	return docs, p, err
}

func (c *Catalog) itemIDs(ids []string, spare int) []esindex.DocID {
	list := make([]esindex.DocID, len(ids), len(ids)+spare)
	for i, id := range ids {
		list[i] = esindex.DocID{Index: c.items, ID: id}
	}
	return list
}

// docs returns the items of documents that were read by _id. The owner of a foreign index may
// have replaced it with one that has other field names for what readers mute, so the result is
// returned only if the schema still matches the index after the read.
func (c *Catalog) docs(ctx context.Context, ids []string, found []esindex.Document) (docs []feed.Doc, err error) {
	for try := 1; ; try++ {
		schema, err := c.schema.Get()
		if err != nil {
			return nil, c.contractError(err)
		}
		docs, err = c.docsBy(ctx, schema, ids, found)
		if err != nil || len(ids) == 0 || !schema.ByOthers() {
			return docs, err
		}
		switch same, err := schema.Same(ctx, c.client, c.items); {
		case err != nil:
			return nil, c.contractError(err)
		case same:
			return docs, nil
		case try == 2 || !c.schema.Recheck(ctx, schema, nil):
			return nil, fmt.Errorf("%w: index %s was replaced during the read", catalog.ErrUnavailable, c.items)
		}
		if found, err = c.get(ctx, c.itemIDs(ids, 0)); err != nil {
			return nil, err
		}
	}
}

func (c *Catalog) docsBy(ctx context.Context, schema *esindex.Schema, ids []string, found []esindex.Document) ([]feed.Doc, error) {
	stored, others, err := c.located(ctx, schema, ids, found, true)
	if err != nil {
		return nil, err
	}
	var incomplete []string
	for i, id := range ids {
		if len(found[i].Source) > 0 && !stored[i].complete {
			incomplete = append(incomplete, id)
		}
	}
	indexed, err := c.search(ctx, schema, incomplete, false)
	if err != nil {
		return nil, err
	}
	docs := make([]feed.Doc, len(ids))
	for i, id := range ids {
		docs[i] = feed.Doc{ID: id, JSON: stored[i].json}
		h, ok := others[id]
		of, incomplete := indexed[id]
		if incomplete && !ok {
			h, ok = of, true
			h.Source = found[i].Source // a search sees only refreshed content
		}
		if ok {
			if docs[i].JSON, err = h.itemJSON(schema, id); err != nil {
				return nil, err
			}
		}
	}
	return docs, nil
}

// located returns the items of documents that were read by _id, and the search hits for the
// others. It clears documents that belong to another item.
func (c *Catalog) located(ctx context.Context, schema *esindex.Schema, ids []string, docs []esindex.Document, source bool) (all []stored, others map[string]hit, err error) {
	var missing []string // ids that are the _id of no document
	var doubted []string // ids whose document may belong to another item
	several := false
	all = make([]stored, len(ids))
	for i, id := range ids {
		d := &docs[i]
		if c.several(d) {
			several, d.Error = true, nil
		} else if err := c.failure(*d, c.items); err != nil {
			return nil, nil, err
		}
		if len(d.Source) == 0 {
			missing = append(missing, id)
			continue
		}
		if all[i], err = itemJSON(schema, id, d.Source); err != nil {
			return nil, nil, err
		}
		if all[i].other {
			doubted = append(doubted, id)
			all[i], d.Source = stored{}, nil
		}
	}
	look := c.others
	if several { // then nothing can be read by _id
		look = c.search
	}
	if others, err = look(ctx, schema, missing, source); err != nil {
		return nil, nil, err
	}
	known, err := c.search(ctx, schema, doubted, source)
	maps.Copy(others, known)
	return all, others, err
}
