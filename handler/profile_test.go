package handler

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestProfileRoundTrip(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	const path = "/v1/agents/u_1/profile"
	require.Equal(t, 40401, f.do(t, "GET", path, "", asAgent).Code)
	require.Equal(t, 40401, f.do(t, "DELETE", path, "", asAgent).Code)

	body := `{"interests":{"go":2.5},"keywords":["db"],"langs":["en"],"muted_authors":["x"],"muted_tags":["y"]}`
	got := f.do(t, "PUT", path, body, asAgent)
	require.Equal(t, 200, got.status)
	require.JSONEq(t, body, string(got.Data))
	require.JSONEq(t, body, string(f.do(t, "GET", path, "", asAgent).Data))

	got = f.do(t, "DELETE", path, "", asAgent)
	require.Equal(t, `{"code":0,"msg":"success","data":{}}`, got.body)
	require.Equal(t, 40401, f.do(t, "GET", path, "", asAgent).Code)
}

func TestProfileRefusals(t *testing.T) {
	t.Parallel()
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"t%d":1`, i)
		}
		return `{"interests":{` + b.String()[1:] + `}}`
	}
	for _, tt := range []struct {
		name, body string
		status     int
		code       int
	}{
		{"empty object clears", `{}`, 200, 0},
		{"as many interests as allowed", many(feed.MaxInterests), 200, 0},
		{"one more", many(feed.MaxInterests + 1), 400, 40001},
		{"no body", ``, 400, 40001},
		{"null", `null`, 400, 40001},
		{"list", `[]`, 400, 40001},
		{"broken", `{"keywords":["a"`, 400, 40001},
		{"trailing", `{} {}`, 400, 40001},
		{"unknown field", `{"likes":["a"]}`, 400, 40001},
		{"weight", `{"interests":{"a":101}}`, 400, 40001},
		{"type", `{"keywords":"a"}`, 400, 40001},
		{"too large", `{"keywords":["` + strings.Repeat("a", MaxProfileBody) + `"]}`, 413, 41301},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			got := f.do(t, "PUT", "/v1/agents/u_1/profile", tt.body, asAdmin)
			require.Equal(t, tt.status, got.status, got.body)
			require.Equal(t, tt.code, got.Code)
			require.Equal(t, tt.code == 0, len(f.profiles.all) == 1)
		})
	}
}

func TestProfileMalformedAgent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	for _, agent := range []string{"a:b", "a%20b", strings.Repeat("a", 129)} {
		require.Equal(t, 40004, f.do(t, "GET", "/v1/agents/"+agent+"/profile", "", asAdmin).Code)
	}
}

type learnedProfiles struct {
	Engine
	gains []feed.LearnedGain
}

func (p learnedProfiles) Learned(string, *feed.Profile) []feed.LearnedGain {
	return slices.Clone(p.gains)
}

// TestLearnedRounded checks that numbers have four significant digits, and that a factor below
// one is not rounded up to one.
func TestLearnedRounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(_ *Config, d *Deps) {
		d.Engine = learnedProfiles{d.Engine, []feed.LearnedGain{
			{Score: 0.024999995366001216}, {Score: 0.0000123456}, {Factor: 0.7750000278039954}, {Factor: 0.99999}, {},
		}}
	})
	require.Equal(t, 200, f.do(t, "PUT", "/v1/agents/u_1/profile", `{}`, asAgent).status)
	got := string(f.do(t, "GET", "/v1/agents/u_1/profile", "", asAgent).Data)
	require.JSONEq(t, `{"learned":[{"kind":"","value":"","score":0.025},{"kind":"","value":"","score":0.00001235},
		{"kind":"","value":"","factor":0.775},{"kind":"","value":"","factor":0.9999},{"kind":"","value":""}]}`, got)
}
