// Package standby answers the contents of the list that stands in for recall while it is down.
package standby

import (
	"context"
	"errors"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// Catalog is a catalog that has the contents of the list that stands in
// for recall while it is down, and tells the list what is written.
type Catalog struct {
	catalog.Watched
	list *recall.Front
}

// New puts the list of a front before a catalog.
func New(next catalog.Catalog, front *recall.Front) Catalog {
	told := func(_ context.Context, w catalog.Written) error {
		front.Upsert(w.Stored)
		for _, id := range w.Removed {
			front.Delete(id)
		}
		return nil
	}
	watch := func([]string) func(context.Context, catalog.Written) error { return told }
	return Catalog{catalog.Watched{Catalog: next, Watch: watch}, front}
}

// Docs implements [catalog.Reader]. While the catalog is down, what is kept
// comes back; the error stays where something is missing.
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

// Hydrate implements [catalog.Catalog]; see Docs. Where the profile cannot be
// read nothing comes back, because the items may be muted by it.
func (c Catalog) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	docs, p, err := c.Catalog.Hydrate(ctx, agent, ids)
	return docs, p, c.fill(docs, err)
}

// fill puts what is kept into the places that are empty because the catalog is
// down. What remains of the error is returned.
func (c Catalog) fill(docs []feed.Doc, err error) (remains error) {
	if len(docs) == 0 || !errors.Is(err, catalog.ErrUnavailable) {
		return err
	}
	for i := range docs {
		if !docs[i].Missing() {
			continue
		}
		if kept, ok := c.list.Doc(docs[i].ID); ok {
			docs[i] = kept
		} else {
			remains = err
		}
	}
	return remains
}

// Remove implements [catalog.Writer].
func (c Catalog) Remove(ctx context.Context, id string) error {
	err := c.Watched.Remove(ctx, id)
	c.list.Delete(id) // also after an error: the reply alone may have been lost
	return err
}
