package doctor

import (
	"context"

	"github.com/freshet/freshet/catalog"
	elasticcatalog "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall/elastic"
)

// tryRecall recalls as for a reader without a profile, and reads what was found: a
// mapping that fits does not say that the documents do.
func (d *doctor) tryRecall(ctx context.Context, client esindex.Client, schema esindex.Schema) {
	const what, fix = "recall", "see the message; compare the index with docs/own-index.md"
	known := esindex.Known(schema)
	source := elastic.New(client, elastic.Config{Index: d.cfg.Elasticsearch.Index, Schema: known})
	found, left, err := source.Try(ctx, feed.Query{Ranking: d.cfg.Ranking, Origin: d.clock().UTC(), N: d.cfg.Recall.N})
	if err != nil {
		d.say(Broken, what, fix, "%v", err)
		return
	}
	items := elasticcatalog.New(client, elasticcatalog.Config{Index: d.cfg.Elasticsearch.Index, Schema: known})
	missing, err := unread(ctx, items, found.Candidates)
	if err != nil {
		d.say(Broken, what, fix, "the items that were found cannot be read: %v", err)
		return
	}
	if left != "" {
		d.say(Warning, what, "give these documents fields as docs/own-index.md says", "documents that a search found are left out: %s", left)
	}
	if missing > 0 {
		d.say(Warning, what, fix, "%d of %d items that a search found cannot be read", missing, len(found.Candidates))
	}
	if left == "" && missing == 0 {
		d.say(OK, what, "", "a search answers, and what it finds can be read")
	}
}

// unread counts the candidates that have no document under their id.
func unread(ctx context.Context, items catalog.Reader, candidates []feed.Candidate) (missing int, err error) {
	ids := make([]string, len(candidates))
	for i := range candidates {
		ids[i] = candidates[i].ID
	}
	docs, err := items.Docs(ctx, ids)
	for i := range docs {
		if docs[i].Missing() {
			missing++
		}
	}
	return missing, err
}
