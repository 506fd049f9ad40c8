package doctor

import (
	"context"
	"strings"

	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/itemindex"
)

func (d *doctor) lookAtIndex(ctx context.Context, client esindex.Client) {
	index := d.cfg.Elasticsearch.Index
	what := "index " + index
	if d.fix {
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

// tellTags says how tags and languages are compared.
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

// createIndices creates what is missing: all indices, or only those beside the
// items' one where Freshet does not manage that.
func (d *doctor) createIndices(ctx context.Context, client esindex.Client) ([]string, error) {
	if d.cfg.Elasticsearch.ManageIndex {
		return esindex.Ensure(ctx, client, d.cfg.Elasticsearch.Index, itemindex.Fields(d.cfg))
	}
	return esindex.EnsureBeside(ctx, client, d.cfg.Elasticsearch.Index)
}
