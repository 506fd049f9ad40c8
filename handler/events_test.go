package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
)

type fakeReactions struct {
	err     error
	acts    []engine.Act
	unliked []string
}

func (f *fakeReactions) React(_ context.Context, agent string, acts []engine.Act) (api.EventsTaken, error) {
	if agent != "u_1" {
		return api.EventsTaken{}, errors.New("another agent")
	}
	f.acts = acts
	return api.EventsTaken{Accepted: len(acts)}, f.err
}

func (f *fakeReactions) Liked(ctx context.Context, agent string, card social.Card) (api.EventsTaken, error) {
	return f.React(ctx, agent, []engine.Act{{Kind: events.Like, ID: card.ID}})
}

func (f *fakeReactions) Unliked(agent, post string) error {
	f.unliked = append(f.unliked, agent+" "+post)
	return f.err
}

type countsFunc func(from, to feed.Day) ([]events.Totals, error)

func (countsFunc) Cells(context.Context, []string, []events.Column, feed.Day, feed.Day) ([]events.DayCells, error) {
	return nil, nil
}

func (countsFunc) Readers(_ context.Context, runs []string) ([]int64, float64, error) {
	return make([]int64, len(runs)), 1, nil
}

func (f countsFunc) Read(_ context.Context, from, to feed.Day) ([]events.Totals, error) {
	if f == nil {
		return nil, nil
	}
	return f(from, to)
}

type plainRanking struct{ Rankings }

func (plainRanking) Current(context.Context) (ranking.Version, error) {
	return ranking.Version{}, nil
}

func TestEvents(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range MaxEvents {
		many = append(many, fmt.Sprintf(`{"type":"like","id":"https://x/%0*d"}`, 240, i))
	}
	list := func(events ...string) string { return `{"events":[` + strings.Join(events, ",") + `]}` }
	for _, tt := range []struct {
		name, body string
		code       int
		want       int
	}{
		{"a click", `{"type":"click","id":"a:b/c"}`, 0, 1},
		{"a hide", `{"id":"a\/b","type":"hide"}`, 0, 1},
		{"an escaped type", `{"id":"a","type":"\u006cike"}`, 0, 1},
		{"a list", list(`{"type":"like","id":"a"}`, `{"type":"dislike","id":"b"}`), 0, 2},
		{"the same again", list(`{"type":"like","id":"a"}`, `{"type":"like","id":"a"}`), 0, 2},
		{"as many as allowed", list(many...), 0, MaxEvents},
		{"one more", list(append(many, many[0])...), 40001, 0},
		{"none", `{"events":[]}`, 40001, 0},
		{"nothing", `{}`, 40001, 0},
		{"no body", ``, 40001, 0},
		{"a bare list", `[{"type":"like","id":"a"}]`, 40001, 0},
		{"null", `{"events":null}`, 40001, 0},
		{"null within", list(`null`), 40001, 0},
		{"a list of ids", `{"events":["a"]}`, 40001, 0},
		{"both forms", `{"type":"click","id":"a","events":[]}`, 40001, 0},
		{"no type", `{"id":"a"}`, 40001, 0},
		{"no id", `{"type":"click"}`, 40004, 0},
		{"an unknown type", `{"type":"view","id":"a"}`, 40001, 0},
		{"another case", `{"type":"Click","id":"a"}`, 40001, 0},
		{"a type that is no string", `{"type":1,"id":"a"}`, 40001, 0},
		{"a null type", `{"type":null,"id":"a"}`, 40001, 0},
		{"an id that is no string", `{"type":"click","id":5}`, 40004, 0},
		{"an unknown field", `{"type":"click","id":"a","at":5}`, 40001, 0},
		{"an unknown field within", list(`{"type":"click","id":"a","agent":"u_2"}`), 40001, 0},
		{"twice", `{"type":"click","type":"like","id":"a"}`, 40001, 0},
		{"trailing", `{"type":"click","id":"a"}]`, 40001, 0},
		{"an empty id", `{"type":"click","id":""}`, 40004, 0},
		{"a bad id", list(`{"type":"click","id":"a"}`, `{"type":"click","id":"a b"}`), 40004, 0},
		{"a long id", `{"type":"click","id":"` + strings.Repeat("a", 257) + `"}`, 40004, 0},
		{"too large", `{"type":"click","id":"` + strings.Repeat("a", MaxEventsBody) + `"}`, 41301, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, nil)
			fake := f.reactions
			res := f.do(t, "POST", "/v1/events", tt.body, asAgent)
			require.Equal(t, tt.code, res.Code, res.body)
			require.Len(t, fake.acts, tt.want)
			if tt.code == 0 {
				require.JSONEq(t, fmt.Sprintf(`{"accepted":%d,"not_shown":0}`, tt.want), string(res.Data))
			}
		})
	}
	f := newFixture(t, nil)
	fake := f.reactions
	res := f.do(t, "POST", "/v1/events", list(`{"type":"hide","id":"x"}`, `{"type":"click","id":"a\/b"}`), asAgent)
	require.Zero(t, res.Code)
	require.Equal(t, []engine.Act{{Kind: events.Hide, ID: "x"}, {Kind: events.Click, ID: "a/b"}}, fake.acts)
	res = f.do(t, "POST", "/v1/events", list(`{"type":"hide","id":"x"}`, `{"type":"look","id":"a"}`), asAgent)
	require.Contains(t, res.Msg, "events[1]: ")
	require.Contains(t, res.Msg, `"look"`)
}

func TestEventsRefused(t *testing.T) {
	t.Parallel()
	const body = `{"type":"click","id":"a"}`
	f := newFixture(t, nil)
	fake := f.reactions
	require.Equal(t, 40101, f.do(t, "POST", "/v1/events", body).Code)
	require.Equal(t, 40004, f.do(t, "POST", "/v1/events", body, "X-Agent-ID: a:b").Code)
	require.Equal(t, 40501, f.do(t, "GET", "/v1/events", "", asAgent).Code)
	for _, err := range []error{events.ErrUnavailable, catalog.ErrUnavailable} {
		fake.err = err
		res := f.do(t, "POST", "/v1/events", body, asAgent)
		require.Equal(t, 50301, res.Code)
		require.NotEmpty(t, res.header.Get("Retry-After"))
	}

	f = newFixture(t, func(c *Config, _ *Deps) { c.RateLimit = 0.001 })
	require.Zero(t, f.do(t, "POST", "/v1/events", body, asAgent).Code)
	require.Equal(t, 42901, f.do(t, "POST", "/v1/events", body, asAgent).Code)
}

func TestReport(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	var from, to feed.Day
	var fails error
	f := newFixture(t, func(c *Config, d *Deps) {
		c.Clock, d.Rankings = func() time.Time { return now }, plainRanking{}
		d.Counts = countsFunc(func(f, t feed.Day) ([]events.Totals, error) {
			from, to = f, t
			return []events.Totals{{Variant: feed.Control, Counts: map[string]int64{"impressions": 200, "click": 20}}}, fails
		})
	})
	res := f.do(t, "GET", "/v1/ranking/report", "", asAdmin)
	require.Zero(t, res.Code, res.body)
	var report api.Report
	require.NoError(t, json.Unmarshal(res.Data, &report))
	assert.Equal(t, 7, report.Days)
	assert.Equal(t, feed.DayOf(now), to)
	assert.Equal(t, to-6, from)
	assert.Equal(t, feed.Control, report.Variants[0].Name)
	assert.Equal(t, 0.1, report.Variants[0].CTR)

	require.Zero(t, f.do(t, "GET", "/v1/ranking/report?days=90", "", asAdmin).Code)
	assert.Equal(t, to-89, from)
	for _, days := range []string{"0", "-1", "91", "x", "", "1.5"} {
		require.Equal(t, 40001, f.do(t, "GET", "/v1/ranking/report?days="+days, "", asAdmin).Code, days)
	}
	require.Zero(t, f.do(t, "GET", "/v1/ranking/report?effect=0.05", "", asAdmin).Code)
	for _, effect := range []string{"0", "-1", "11", "x", "5%25", ""} {
		require.Equal(t, 40001, f.do(t, "GET", "/v1/ranking/report?effect="+effect, "", asAdmin).Code, effect)
	}
	require.Equal(t, 40301, f.do(t, "GET", "/v1/ranking/report", "", asAgent).Code)
	require.Equal(t, 40101, f.do(t, "GET", "/v1/ranking/report", "").Code)
	fails = events.ErrUnavailable
	require.Equal(t, 50301, f.do(t, "GET", "/v1/ranking/report", "", asAdmin).Code)
}

// TestPutProfileKeepsMutedItems checks that the answer has the muted items that the profile
// retains because the request has none.
func TestPutProfileKeepsMutedItems(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	f.profiles.all["u_1"] = feed.Profile{MutedItems: []string{"x"}}
	res := f.do(t, "PUT", "/v1/agents/u_1/profile", `{"keywords":["k"]}`, asAgent)
	require.JSONEq(t, `{"keywords":["k"],"muted_items":["x"]}`, string(res.Data))
	res = f.do(t, "PUT", "/v1/agents/u_1/profile", `{"muted_items":["y"]}`, asAgent)
	require.JSONEq(t, `{"muted_items":["y"]}`, string(res.Data))
	require.Equal(t, 40004, f.do(t, "PUT", "/v1/agents/u_1/profile", `{"muted_items":["a b"]}`, asAgent).Code)
}
