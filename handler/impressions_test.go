package handler

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
)

func idList(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("https://x/%0*d", 240, i)
	}
	return ids
}

func TestImpressions(t *testing.T) {
	t.Parallel()
	list := func(n int) string {
		body, err := json.Marshal(map[string]any{"ids": idList(n)})
		require.NoError(t, err)
		return string(body)
	}
	for _, tt := range []struct {
		name, body string
		code       int
		want       []string
	}{
		{"one", `{"ids":["a:b/c"]}`, 0, []string{"a:b/c"}},
		{"escaped slash", `{"ids":["a\/b"]}`, 0, []string{"a/b"}},
		{"the same again", `{"ids":["a","a"]}`, 0, []string{"a", "a"}},
		{"as many as allowed", list(500), 0, idList(500)},
		{"one more", list(501), 40001, nil},
		{"none", `{"ids":[]}`, 40001, nil},
		{"missing", `{}`, 40001, nil},
		{"null", `{"ids":null}`, 40001, nil},
		{"null within", `{"ids":["a",null]}`, 40004, nil},
		{"not a list", `{"ids":"a"}`, 40001, nil},
		{"numbers", `{"ids":[1]}`, 40004, nil},
		{"unknown field", `{"ids":["a"],"agent":"x"}`, 40001, nil},
		{"twice", `{"ids":["a"],"ids":["b"]}`, 40001, nil},
		{"trailing", `{"ids":["a"]}]`, 40001, nil},
		{"empty id", `{"ids":["a",""]}`, 40004, nil},
		{"bad id", `{"ids":["a b"]}`, 40004, nil},
		{"long id", `{"ids":["` + strings.Repeat("a", 257) + `"]}`, 40004, nil},
		{"too large", `{"ids":["` + strings.Repeat("a", MaxImpressionsBody) + `"]}`, 41301, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			var got []string
			f.feed.seen = func(agent string, ids []string) error {
				require.Equal(t, "u_1", agent)
				got = ids
				return nil
			}
			res := f.do(t, "POST", "/v1/impressions", tt.body, asAgent)
			require.Equal(t, tt.code, res.Code, res.body)
			require.Equal(t, tt.want, got)
			if tt.code == 0 {
				require.JSONEq(t, fmt.Sprintf(`{"recorded":%d}`, len(tt.want)), string(res.Data))
			}
		})
	}
}

func TestImpressionsStoreDown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.feed.seen = func(string, []string) error { return catalog.ErrUnavailable }
	require.Equal(t, 50301, f.do(t, "POST", "/v1/impressions", `{"ids":["a"]}`, asAgent).Code)
	require.Equal(t, 40101, f.do(t, "POST", "/v1/impressions", `{"ids":["a"]}`).Code)
}
