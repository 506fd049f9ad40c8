package elastic_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	recallelastic "github.com/freshet/freshet/recall/elastic"
)

// TestExternalIndexSettings: an external index with low limits, in a cluster that refuses
// expensive queries, returns the same items as one without limits.
func TestExternalIndexSettings(t *testing.T) {
	t.Parallel()
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprint("none", i)
	}
	langs := []string{"en", "fr", "it", "es", "pt", "ja", "ko", "ru", "uk", "cs", "sk", "pl", "nl", "sv", "da", "nb", "fi", "et", "lv", "lt"}
	for setting, round := range map[string]int{
		`"index.max_terms_count": 3`: 20, `"index.max_docvalue_fields_search": 1`: 20, `"index.max_docvalue_fields_search": 0`: 20, `"index.max_result_window": 4`: 4, `"index.max_regex_length": 5`: 20,
	} {
		t.Run(setting, func(t *testing.T) {
			client, name := connect(t)
			client = testenv.Careful{Performer: client}
			settings := strings.Replace(mapping, `"number_of_shards": 2`, `"number_of_shards": 2, `+setting, 1)
			settings = strings.Replace(settings, `"author": {"type": "keyword"}`, `"author": {"type": "keyword", "null_value": "nobody"}`, 1)
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+name, "", fmt.Appendf(nil, settings, epochSeconds), nil))
			var docs []map[string]any
			var all []string
			for i, lang := range []string{"en", "EN_us", "de", "", "fr-CA", "mul", "ko"} {
				doc := story(fmt.Sprint("s", i), time.Duration(i)*time.Minute, func(at time.Time) any { return at.Unix() })
				doc["meta"] = map[string]any{"lang": lang, "author": fmt.Sprint("a", i)}
				docs, all = append(docs, doc), append(all, fmt.Sprint("s", i))
			}
			index(t, client, name, docs)
			report, err := esindex.Inspect(t.Context(), client, name, mapped)
			require.NoError(t, err)
			require.NoError(t, report.Schema.ReadLangs(t.Context(), client, name))
			require.NoError(t, report.Err())
			s := recallelastic.New(client, recallelastic.Config{Index: name, Schema: esindex.Known(report.Schema)})
			p := feed.Profile{Langs: langs, MutedAuthors: append(slices.Clone(many), "a6"), MutedTags: many, MutedItems: append(slices.Clone(many), "s0")}
			q := ask(p)
			q.N = 500
			var found []string
			for {
				r := recalled(t, s, q)
				require.LessOrEqual(t, len(r.Candidates), round)
				found = append(found, ids(r)...)
				if q.After = r.Next; q.After == "" {
					break
				}
			}
			assert.Equal(t, []string{"s1", "s3", "s4", "s5"}, found)
			factors, err := s.Explain(t.Context(), ask(p), all)
			require.NoError(t, err)
			for i, f := range factors {
				assert.True(t, f.Known, all[i])
			}
			refused, err := s.Refused(t.Context(), &p, all)
			require.NoError(t, err)
			assert.Equal(t, map[string]bool{"s0": true, "s2": true, "s6": true}, refused)
		})
	}
}

// TestLanguagesWithoutDocValues: without doc values languages are judged by the content alone. If
// the index knows more than the content, they are found by their codes.
func TestLanguagesWithoutDocValues(t *testing.T) {
	t.Parallel()
	for field, want := range map[string][]string{
		`{"type": "keyword"}`:                      {"s0", "s1"},
		`{"type": "keyword", "doc_values": false}`: {"s0", "s1", "s2"},
		`{"type": "text"}`:                         {"s0", "s1"},
	} {
		t.Run(field, func(t *testing.T) {
			client, name := connect(t)
			settings := strings.Replace(mapping, `"lang": {"type": "keyword"}`, `"lang": `+field, 1)
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+name, "", fmt.Appendf(nil, settings, epochSeconds), nil))
			var docs []map[string]any
			for i, lang := range []string{"en", "en-GB", "de"} {
				doc := story(fmt.Sprint("s", i), time.Duration(i)*time.Minute, func(at time.Time) any { return at.Unix() })
				doc["meta"] = map[string]any{"lang": lang}
				docs = append(docs, doc)
			}
			index(t, client, name, docs)
			report, err := esindex.Inspect(t.Context(), client, name, mapped)
			require.NoError(t, err)
			require.NoError(t, report.Schema.ReadLangs(t.Context(), client, name))
			s := recallelastic.New(client, recallelastic.Config{Index: name, Schema: esindex.Known(report.Schema)})
			assert.Equal(t, want, ids(recalled(t, s, ask(feed.Profile{Langs: []string{"en"}}))))
		})
	}
}
