package elastic

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/esindex"
)

// folded are the tags and the language of an item as they are compared, where the index has
// fields for them.
type folded struct {
	name   string
	values []string
}

// foldedOf are those that Freshet fills in, in the order they are written in. That of the
// language is always there, so that a document without is one that was written before.
func foldedOf(s *esindex.Schema, it *feed.Item) []folded {
	if !s.Folds() {
		return nil
	}
	langs := terms.LangKeys(it.Lang)
	if len(langs) == 0 {
		langs = []string{esindex.AnyLang}
	}
	if len(it.Tags) == 0 {
		return []folded{{esindex.LangKeys, langs}}
	}
	return []folded{{esindex.FoldedTags, terms.FoldAll(it.Tags)}, {esindex.LangKeys, langs}}
}

// appendFolded writes them as [cutFolded] reads them.
func appendFolded(data []byte, s *esindex.Schema, it *feed.Item) []byte {
	for _, f := range foldedOf(s, it) {
		values, _ := json.Marshal(f.values) // strings can always be encoded
		data = append(append(data, `,"`+f.name+`":`...), values...)
	}
	return data
}

// cutFolded takes off the end what appendFolded has written there. A quote within a value is
// escaped, so a name between quotes that is followed by one list of strings to the end is that
// of a field.
func cutFolded(doc []byte) []byte {
	for _, name := range []string{esindex.LangKeys, esindex.FoldedTags} {
		field := []byte(`,"` + name + `":`)
		var values []string
		if at := bytes.LastIndex(doc, field); at >= 0 && json.Unmarshal(doc[at+len(field):], &values) == nil {
			doc = doc[:at]
		}
	}
	return doc
}

// foldAtOnce is how many documents one call of [Catalog.Fold] writes anew at most.
const foldAtOnce = 500

// Fold gives documents that were written without them the folded tags and the language, the
// newest first: a number of those that come after a place, "" for the first. It answers how
// many there were, and the place to go on from; "" where that was all. A document that
// somebody writes meanwhile is left as that one leaves it. In an index without the fields, or
// of somebody else's, it does nothing.
func (c *Catalog) Fold(ctx context.Context, after string) (next string, n int, err error) {
	schema, err := c.schema.Get()
	if err != nil {
		return "", 0, c.contractError(err)
	}
	if !schema.Folds() || schema.MetaID() || schema.Partial {
		return "", 0, nil
	}
	exists := func(field string) map[string]any { return map[string]any{"exists": map[string]string{"field": field}} }
	request := map[string]any{
		"size": foldAtOnce, "track_total_hits": false, "_source": false,
		"query": map[string]any{"bool": map[string]any{
			"filter": []any{
				exists(schema.Fields.UpdateTime), exists(schema.Fields.ID),
				map[string]any{"bool": map[string]any{"should": []any{exists(schema.Fields.Tags), exists(schema.Fields.Lang)}}},
			},
			"must_not": exists(esindex.LangKeys),
		}},
		"sort": []any{map[string]string{schema.Fields.UpdateTime: "desc"}, map[string]string{schema.Fields.ID: "desc"}},
	}
	if after != "" {
		request["search_after"] = json.RawMessage(after)
	}
	hits, err := c.find(ctx, request)
	if err != nil || len(hits) == 0 {
		return "", 0, err
	}
	ids := make([]string, len(hits))
	for i := range hits {
		ids[i] = hits[i].sorted(1)
	}
	// One that cannot be written is as it was: its content tells what readers refuse.
	if _, err := c.Update(ctx, ids, func(it feed.Item) (feed.Item, error) { return it, nil }); err != nil {
		return "", 0, err
	}
	if len(hits) == foldAtOnce {
		next = string(hits[len(hits)-1].Sort)
	}
	return next, len(hits), nil
}
