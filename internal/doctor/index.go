package doctor

import (
	"context"
	"strings"

	"github.com/freshet/freshet/catalog"
	elasticcatalog "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/itemindex"
	"github.com/freshet/freshet/recall/elastic"
)

func (d *doctor) lookAtIndex(ctx context.Context, client esindex.Client) {
	index := d.cfg.Elasticsearch.Index
	what := "index " + index
	if d.Fix {
		created, err := d.createIndices(ctx, client)
		if err != nil {
			d.say(Broken, what, "see the message; the user needs the create_index privilege", "%v", err)
			return
		}
		if len(created) > 0 {
			d.say(OK, what, "", "created %s", strings.Join(created, " and "))
		}
	}
	report, err := itemindex.Inspect(ctx, client, d.cfg)
	if err != nil {
		fix := "run freshet doctor --fix, or set elasticsearch.manage_index: true"
		if !d.cfg.Elasticsearch.ManageIndex {
			fix = "create the index, or correct elasticsearch.index"
		}
		d.say(Broken, what, fix, "%v", err)
		return
	}
	for _, p := range report.Problems {
		level := Warning
		if p.Fatal {
			level = Broken
		}
		fix := "correct elasticsearch.fields or the index's mapping"
		if p.Field == itemindex.NoTokens {
			fix = "create the index anew, as the message says"
		}
		d.say(level, what, fix, "%s", p)
	}
	if report.Err() == nil {
		d.say(OK, what, "", "its mapping fits; time is kept as %s", report.Schema.Time)
		if d.cfg.UsesRedis() && !report.Schema.Live {
			d.say(OK, "live popularity", "", "off: the index has not the four fields for it (docs/own-index.md). So weight_2h and weight_2d of the ranking have no effect")
		}
		d.tellTags(report.Schema)
		d.tryRecall(ctx, client, report.Schema)
	}
}

func (d *doctor) tellTags(s esindex.Schema) {
	switch {
	case s.Folds():
		d.say(OK, "tags and languages", "", "compared in every spelling")
	case !s.Others:
		d.say(Warning, "tags and languages", "start freshet, which adds the fields; its user needs the privilege manage for the index",
			"the index lacks the fields %s and %s: interests find tags only as they are written", esindex.FoldedTags, esindex.LangKeys)
	default:
		d.say(OK, "tags and languages", "", "the index is not Freshet's: interests and lists find tags as they are written; mutes hold for every spelling, as the content has it; "+
			"languages are found by their code, the rest of them is compared with the content (docs/own-index.md)")
	}
}

// createIndices creates the missing indices: all of them, or if Freshet does not manage the item
// index, all but that one.
func (d *doctor) createIndices(ctx context.Context, client esindex.Client) ([]string, error) {
	if d.cfg.Elasticsearch.ManageIndex {
		return esindex.Ensure(ctx, client, d.cfg.Elasticsearch.Index, itemindex.Fields(d.cfg))
	}
	return esindex.EnsureBeside(ctx, client, d.cfg.Elasticsearch.Index)
}

// tryRecall runs a recall for a reader without a profile, and reads the items it finds: a mapping
// that fits does not prove that the documents do.
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
