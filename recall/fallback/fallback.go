// Package fallback provides the contents of recall's fallback list while the catalog is down.
package fallback

import (
	"context"
	"errors"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// Catalog is a catalog that falls back to the contents of recall's fallback list, and updates
// the list on writes.
type Catalog struct {
	catalog.WriteHook
	list *recall.Shared
}

// New returns a catalog over next that uses the fallback list of a [recall.Shared].
func New(next catalog.Catalog, shared *recall.Shared) Catalog {
	told := func(_ context.Context, w catalog.Written) error {
		shared.Upsert(w.Stored)
		for _, id := range w.Removed {
			shared.Delete(id)
		}
		return nil
	}
	watch := func([]string) func(context.Context, catalog.Written) error { return told }
	return Catalog{catalog.WriteHook{Catalog: next, OnWrite: watch}, shared}
}

// Docs implements [catalog.Reader]. While the catalog is down, it returns contents of the
// fallback list; the error remains if an item is missing from it.
func (c Catalog) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	docs, err := c.Catalog.Docs(ctx, ids)
	if err != nil && len(docs) == 0 {
		docs = make([]feed.Doc, len(ids))
		for i, id := range ids {
			docs[i].ID = id
		}
	}
	return docs, c.fill(docs, err)
}

// Hydrate implements [catalog.Catalog], with the same fallback as Docs. If the profile cannot
// be read, it returns nothing, because the profile may mute the items.
func (c Catalog) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	docs, p, err := c.Catalog.Hydrate(ctx, agent, ids)
	return docs, p, c.fill(docs, err)
}

// fill fills docs that are missing because the catalog is down from the fallback list. It
// returns the error if some remain missing.
func (c Catalog) fill(docs []feed.Doc, err error) (remains error) {
	if len(docs) == 0 || !errors.Is(err, catalog.ErrUnavailable) {
		return err
	}
	for i := range docs {
		if !docs[i].Missing() {
			continue
		}
		if kept, ok := c.list.FallbackDoc(docs[i].ID); ok {
			docs[i] = kept
		} else {
			remains = err
		}
	}
	return remains
}

// Remove implements [catalog.Writer].
func (c Catalog) Remove(ctx context.Context, id string) error {
	err := c.WriteHook.Remove(ctx, id)
	c.list.Delete(id) // even after an error: only the response may have been lost
	return err
}
