package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/freshet/freshet/catalog"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/esindex"
	recallelastic "github.com/freshet/freshet/recall/elastic"
	"github.com/freshet/freshet/recall/replica"
	"github.com/freshet/freshet/server/itemindex"
)

func (d *doctor) checkIndex(ctx context.Context, client esindex.Client) {
	index := d.cfg.Elasticsearch.Index
	what := "index " + index
	if d.Fix {
		created, err := d.createIndices(ctx, client)
		if err != nil {
			fix := "see the message"
			if forbidden(err) {
				fix = "give the user the privilege create_index, or manage, for the indices"
			}
			d.report(Broken, what, fix, "%v", err)
			return
		}
		if len(created) > 0 {
			d.report(OK, what, "", "created %s", strings.Join(created, " and "))
		}
	}
	report, err := itemindex.Inspect(ctx, client, d.cfg)
	if err != nil {
		fix := "run freshet doctor --fix, or set elasticsearch.manage_index: true"
		if !d.cfg.Elasticsearch.ManageIndex {
			fix = "create the index, or correct elasticsearch.index"
		}
		d.report(Broken, what, fix, "%v", err)
		return
	}
	for _, p := range report.Problems {
		level := Warning
		if p.Fatal {
			level = Broken
		}
		fix := "correct elasticsearch.fields or the index's mapping"
		switch p.Field {
		case itemindex.NoTokens:
			fix = "recreate the index, as the message says"
		case "":
			fix = "see the message"
		}
		d.report(level, what, fix, "%s", p)
	}
	if report.Err() == nil {
		d.report(OK, what, "", "its mapping fits; time is kept as %s", report.Schema.Time)
		switch {
		case !d.cfg.UsesRedis():
		case !report.Schema.Live:
			d.report(OK, "live popularity", "", "off: the index lacks the four fields it requires (docs/own-index.md). So the ranking's weight_2h and weight_2d have no effect")
		case !report.Schema.Acts:
			d.report(OK, "live popularity", "", "the index lacks the three fields of the latest act (docs/own-index.md): a click by a server whose clock is ahead counts for more than one")
		}
		d.reportHalfLives(report.Schema)
		d.reportTags(report.Schema)
		d.tryRecall(ctx, client, report.Schema)
		if d.cfg.RecallsFromCopy() {
			d.tryCopy(ctx, client, report.Schema)
		}
	}
}

// forbidden reports whether Elasticsearch refused a call because of the user.
func forbidden(err error) bool {
	var refused *esindex.Error
	return errors.As(err, &refused) && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden)
}

func (d *doctor) reportTags(s esindex.Schema) {
	switch {
	case s.Folds():
		d.report(OK, "tags and languages", "", "matched in every spelling")
	case !s.Others:
		d.report(Warning, "tags and languages", "start freshet, which adds the fields; its user needs the manage privilege for the index",
			"the index lacks the fields %s and %s: interests match tags only with the same spelling", esindex.FoldedTags, esindex.LangKeys)
	default:
		d.report(OK, "tags and languages", "", "the index is not Freshet's: interests and lists match tags only with the same spelling; mutes match every spelling in the content; "+
			"languages are searched by their code; other subtags are compared with the content (docs/own-index.md)")
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
	source := recallelastic.New(client, recallelastic.Config{Index: d.cfg.Elasticsearch.Index, Schema: known})
	found, left, err := source.Try(ctx, feed.Query{Ranking: d.cfg.Ranking, Origin: d.clock().UTC(), N: d.cfg.Recall.N})
	if err != nil {
		d.report(Broken, what, fix, "%v", err)
		return
	}
	items := catalogelastic.New(client, catalogelastic.Config{Index: d.cfg.Elasticsearch.Index, Schema: known})
	missing, err := unread(ctx, items, found.Candidates)
	if err != nil {
		d.report(Broken, what, fix, "the items found by a search cannot be read: %v", err)
		return
	}
	if left != "" {
		d.report(Warning, what, "correct the fields of these documents: docs/own-index.md", "a search leaves out documents that it found: %s", left)
	}
	if missing > 0 {
		d.report(Warning, what, fix, "%d of %d items found by a search cannot be read", missing, len(found.Candidates))
	}
	if left == "" && missing == 0 {
		d.report(OK, what, "", "a search works, and the items it finds can be read")
	}
}

// tryCopy makes the requests with which recall from memory follows the index.
func (d *doctor) tryCopy(ctx context.Context, client esindex.Client, schema esindex.Schema) {
	const what = "recall from memory"
	source := replica.New(client, replica.Config{Index: d.cfg.Elasticsearch.Index, Schema: esindex.Known(schema), Clock: d.clock, Timeout: d.cfg.Server.RequestTimeout})
	if err := source.Try(ctx); err != nil {
		d.report(Warning, what, "see the message; the user needs the privileges monitor and maintenance for the index, or set recall.from to elasticsearch",
			"the index cannot be copied, so Elasticsearch recalls: %v", err)
		return
	}
	d.report(OK, what, "", "the index can be copied")
}

// unread counts the candidates that have no document under their id.
func unread(ctx context.Context, items catalog.Reader, candidates []feed.Candidate) (missing int, err error) {
	ids := convert.Each(candidates, func(c feed.Candidate) string { return c.ID })
	docs, err := items.Docs(ctx, ids)
	for i := range docs {
		if docs[i].Missing() {
			missing++
		}
	}
	return missing, err
}

// reportHalfLives reports the half-lives that a setting names and the index has no fields for.
func (d *doctor) reportHalfLives(s esindex.Schema) {
	if !d.cfg.UsesRedis() {
		return
	}
	for h := range (d.cfg.HalfLives() &^ s.More).All() {
		f := esindex.MoreFieldsOf(h)
		if d.cfg.Elasticsearch.ManageIndex {
			d.report(OK, "live popularity", "", "the index lacks the fields of popularity.half_lives %s; a server that starts adds them", h.Name)
			continue
		}
		d.report(Warning, "live popularity", fmt.Sprintf("add %s, %s and %s to the mapping (docs/own-index.md)", f.Sum, f.Epoch, f.Count),
			"the index lacks the fields of popularity.half_lives %s: the ranking's weight_%s has no effect", h.Name, h.Name)
	}
}
