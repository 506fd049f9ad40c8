package app

import (
	"context"
	"time"

	"github.com/freshet/freshet/catalog/elastic"
)

// How long the folding of documents waits.
const (
	foldPause = 200 * time.Millisecond // between two pieces, to leave Elasticsearch to the readers
	foldAgain = 10 * time.Second       // after an error, and until the index is in use
	foldEvery = 10 * time.Minute       // before it looks for documents that an older server has written since
)

// startFolding gives the documents of an index of Freshet's own that were written by an older
// version what tags and languages are compared by.
func (b *builder) startFolding(ctx context.Context, items *elastic.Catalog) {
	if items == nil || !b.cfg.Elasticsearch.ManageIndex {
		return
	}
	b.background(ctx, "folding of tags", func(ctx context.Context) {
		after, total := "", 0
		for {
			next, n, err := items.Fold(ctx, after)
			pause := foldPause
			after, total = next, total+n
			switch {
			case err != nil: // it begins again
				pause = foldAgain
			case next == "":
				pause = foldEvery
				if total > 0 {
					b.log.InfoContext(ctx, "the tags of stored items were folded", "items", total)
				}
				total = 0
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
		}
	})
}
