package itemindex

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// TestTemplateWithoutSource checks that the server refuses to start if a template makes
// documents of any of Freshet's own indices unreadable.
func TestTemplateWithoutSource(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pattern string // suffix of the index name
		source  string
		own     bool // the index of items belongs to Freshet
		refused bool
	}{
		"items and profiles, off": {"*", `{"enabled":false}`, true, true},
		"profiles alone, off":     {"-agents", `{"enabled":false}`, true, true},
		"rankings alone, off":     {"-ranking", `{"enabled":false}`, true, true},
		"items alone, filtered":   {"", `{"excludes":["summary"]}`, true, true},
		"some are included":       {"", `{"includes":["id"]}`, true, true},
		"items of somebody else":  {"", `{"enabled":false}`, false, false},
		"on":                      {"*", `{"enabled":true}`, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			address, index := testenv.Elastic(t)
			s := at(t, address, index)
			send := func(method, path, body string) {
				require.NoError(t, esindex.Do(context.WithoutCancel(t.Context()), s.client, method, path, "", []byte(body), nil))
			}
			template := "/_index_template/" + index
			send(http.MethodPut, template, `{"index_patterns":["`+index+c.pattern+`"],"priority":900,"template":{"mappings":{"_source":`+c.source+`}}}`)
			t.Cleanup(func() {
				require.NoError(t, esindex.Do(context.WithoutCancel(t.Context()), s.client, http.MethodDelete, template, "", nil, nil))
			})
			_, err := esindex.Ensure(t.Context(), s.client, index, Fields(s.cfg))
			require.NoError(t, err)
			s.cfg.Elasticsearch.ManageIndex = c.own
			report, err := Inspect(t.Context(), s.client, s.cfg)
			require.NoError(t, err)
			if c.refused {
				require.ErrorIs(t, report.Err(), esindex.ErrUnusable)
				assert.ErrorContains(t, report.Err(), "has _source disabled or filtered")
			} else {
				require.NoError(t, report.Err())
			}
		})
	}
}

// TestNameOfOtherDeployment checks that an index is refused if the names that belong to it are taken by
// another deployment.
func TestNameOfOtherDeployment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ theirs, ours, says string }{
		"profiles among items": {"-agents", "", "profiles or rankings would be stored in"},
		"rankings among items": {"-ranking", "", "profiles or rankings would be stored in"},
		"alias for writing":    {"", "-write", "is the alias by which another deployment writes to its index"},
		"items in profiles":    {"", "-agents", "the index has no such field"},
		"another name":         {"-2", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, index := testenv.Elastic(t)
			s := at(t, address, index+c.ours)
			for _, index := range []string{index + c.theirs, index + c.ours} {
				_, err := esindex.Ensure(t.Context(), s.client, index, Fields(s.cfg))
				require.NoError(t, err)
			}
			report, err := Inspect(t.Context(), s.client, s.cfg)
			require.NoError(t, err)
			if c.says == "" {
				require.NoError(t, report.Err())
				return
			}
			require.ErrorIs(t, report.Err(), esindex.ErrUnusable)
			assert.ErrorContains(t, report.Err(), c.says)
		})
	}
}
