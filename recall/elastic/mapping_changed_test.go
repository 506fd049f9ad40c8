package elastic_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	recallelastic "github.com/freshet/freshet/recall/elastic"
)

// TestAliasSwitchedRereadsMapping moves the alias to another index. An answer that does not fit
// the known mapping makes the source reread the mapping and repeat the request once.
func TestAliasSwitchedRereadsMapping(t *testing.T) {
	t.Parallel()
	epoch := func(at time.Time) any { return at.Unix() }
	iso := func(at time.Time) any { return at.Format(time.RFC3339) }
	liked := func(id string, age time.Duration, date func(time.Time) any) map[string]any {
		s := story(id, age, date)
		s["hits"] = 5
		return s
	}
	for _, test := range []struct {
		name, timeField string
		date            func(time.Time) any
	}{
		{"another date format", `{"type":"date"}`, iso},
		{"a number", `{"type":"long"}`, epoch},
		{"the same mapping", epochSeconds, epoch},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, name := connect(t)
			make := func(to, timeField string, docs []map[string]any) {
				t.Helper()
				require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+to, "", fmt.Appendf(nil, mapping, timeField), nil))
				index(t, client, to, docs)
			}
			move := func(to string) {
				t.Helper()
				body := fmt.Appendf(nil, `{"actions":[{"remove":{"index":"%[1]s-*","alias":%[1]q,"must_exist":false}},{"add":{"index":%[2]q,"alias":%[1]q}}]}`, name, to)
				require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/_aliases", "", body, nil))
			}
			make(name+"-1", epochSeconds, []map[string]any{liked("old", time.Minute, epoch)})
			make(name+"-2", test.timeField, []map[string]any{liked("a", time.Minute, test.date), liked("b", time.Hour, test.date)})
			move(name + "-1")
			inspected := func() esindex.Schema {
				t.Helper()
				report, err := esindex.Inspect(t.Context(), client, name, mapped)
				require.NoError(t, err)
				require.NoError(t, report.Err())
				return report.Schema
			}
			schema, looks := esindex.Known(inspected()), 0
			schema.Watch(time.Hour, func(context.Context, error) { looks++; schema.Set(inspected()) }, func() {})
			s := recallelastic.New(client, recallelastic.Config{Index: name, Schema: schema})
			require.Equal(t, []string{"old"}, ids(recalled(t, s, ask(feed.Profile{}))))
			require.Zero(t, looks)
			move(name + "-2")
			require.Equal(t, []string{"a", "b"}, ids(recalled(t, s, ask(feed.Profile{}))))
			require.Equal(t, 1, looks)

			// It moves again before another reread is allowed: no item may be shown whose tags may
			// be in a field of another name.
			move(name + "-1")
			result, err := s.Recall(t.Context(), ask(feed.Profile{}))
			require.Empty(t, result.Candidates)
			popular, popularErr := s.Popular(t.Context(), []recall.Span{{After: 0, Until: origin}}, 10)
			if popularErr == nil {
				require.Empty(t, popular[0])
			}
			if test.name == "the same mapping" {
				require.ErrorIs(t, err, recall.ErrUnavailable)
			}
		})
	}
}

// notWithOpenSearch skips a test whose types of fields OpenSearch does not have.
func notWithOpenSearch(t *testing.T) {
	t.Helper()
	if testenv.OpenSearch(t) {
		t.Skip("OpenSearch has no such fields")
	}
}

const epochSeconds = `{"type":"date","format":"epoch_second"}`

// TestIndexRecreatedWithoutField recreates the index under the same name without a field that
// profiles exclude items by: a search by that field fails and makes the source reread the mapping.
func TestIndexRecreatedWithoutField(t *testing.T) {
	t.Parallel()
	epoch := func(at time.Time) any { return at.Unix() }
	const (
		topics = `"keyword": {"type": "keyword"}`
		author = `"author": {"type": "keyword"}`
		meta   = `"meta": {"properties": {"author": {"type": "keyword"}, "lang": {"type": "keyword"}}}`
	)
	for _, test := range []struct {
		name, field, before, after string // a part of the mapping, and its replacements before and after
		refuses                    feed.Profile
	}{
		{"tags", topics, topics, `"other": {"type": "keyword"}`, feed.Profile{MutedTags: []string{"New York"}}},
		{"tags without doc values", topics, `"keyword": {"type": "keyword", "doc_values": false}`, `"other": {"type": "keyword"}`, feed.Profile{MutedTags: []string{"New York"}}},
		{"authors", author, author, `"other": {"type": "keyword"}`, feed.Profile{MutedAuthors: []string{"ann"}}},
		{"authors in a text", author, `"author": {"type": "text"}`, `"other": {"type": "text"}`, feed.Profile{MutedAuthors: []string{"ann"}}},
		{"authors that become a text", author, author, `"author": {"type": "text"}`, feed.Profile{MutedAuthors: []string{"ann"}}},
		{"authors in a flattened field", meta, `"meta": {"type": "flattened"}`, `"other": {"type": "flattened"}`, feed.Profile{MutedAuthors: []string{"ann"}}},
		{"languages", `"lang":`, `"lang":`, `"other":`, feed.Profile{Langs: []string{"en"}}},
		{"languages in a runtime field", `"mappings": {`, `"mappings": {"runtime": {"meta.lang": {"type": "keyword"}}, `, `"mappings": {`, feed.Profile{Langs: []string{"en"}}},
		{"groups", `"story":`, `"story":`, `"other":`, feed.Profile{MutedItems: []string{"s"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if strings.Contains(test.before, "flattened") || strings.Contains(test.before, "runtime") {
				notWithOpenSearch(t)
			}
			client, name := connect(t)
			make := func(mapping string) {
				t.Helper()
				require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+name, "", fmt.Appendf(nil, mapping, epochSeconds), nil))
				index(t, client, name, stories(epoch))
			}
			require.Contains(t, mapping, test.field)
			make(strings.Replace(mapping, test.field, test.before, 1))
			report, err := esindex.Inspect(t.Context(), client, name, mapped)
			require.NoError(t, err)
			schema, looks := esindex.Known(report.Schema), 0
			schema.Watch(time.Hour, func(context.Context, error) { looks++; schema.Refuse(esindex.ErrUnusable) }, func() {})
			s := recallelastic.New(client, recallelastic.Config{Index: name, Schema: schema})
			recalled(t, s, ask(test.refuses))
			require.Zero(t, looks)

			require.NoError(t, esindex.Do(t.Context(), client, http.MethodDelete, "/"+name, "", nil, nil))
			make(strings.Replace(strings.Replace(mapping, test.field, test.after, 1), `"mappings": {`, `"mappings": {"dynamic": false, `, 1))
			_, err = s.Recall(t.Context(), ask(test.refuses))
			require.ErrorIs(t, err, recall.ErrUnavailable)
			require.Equal(t, 1, looks)
		})
	}
}
