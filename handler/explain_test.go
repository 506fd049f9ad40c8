package handler

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// fakeExplain records its request, and ranks u_v in a variant.
type fakeExplain struct {
	Engine
	last engine.ExplainRequest
	work func(context.Context) error // nil means none
}

func (f *fakeExplain) Explain(ctx context.Context, r engine.ExplainRequest) (api.Explanation, error) {
	if f.work != nil {
		return api.Explanation{}, f.work(ctx)
	}
	f.last = r
	return api.Explanation{Agent: r.Agent, Limit: r.Limit, Candidates: []api.Explained{}}, nil
}

func (f *fakeExplain) Ranking(agent string) (string, feed.Ranking) {
	r := feed.Ranking{Base: 0.1, Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}}
	if agent == "u_v" {
		r.Decay.Offset = 2 * time.Hour
		return "b", r
	}
	return feed.Control, r
}

func explainFixture(t *testing.T) (*fixture, *fakeExplain) {
	fake := &fakeExplain{}
	return newFixture(t, func(_ *Config, d *Deps) { fake.Engine, d.Engine = d.Engine, fake }), fake
}

func TestExplainBody(t *testing.T) {
	t.Parallel()
	f, fake := explainFixture(t)
	_, control := fake.Ranking("u_1")
	slower := control
	slower.Decay.Scale, slower.PopularityWeight = 72*time.Hour, 0.5
	_, variant := fake.Ranking("u_v")
	variant.Base = 1
	noon := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		body string
		want engine.ExplainRequest
	}{
		"agent alone": {`{"agent_id":"u_1"}`, engine.ExplainRequest{Agent: "u_1", Limit: 20}},
		"all of it": {
			`{"agent_id":"u_1","limit":5,"item":"a/b:c","ranking":{"decay":{"scale":"72h"},"popularity":{"weight":0.5}},"at":"2026-03-06T13:00:00+01:00"}`,
			engine.ExplainRequest{Agent: "u_1", Limit: 5, Item: "a/b:c", Ranking: &slower, At: noon},
		},
		"home":          {`{"agent_id":"u_1","feed":"home"}`, engine.ExplainRequest{Agent: "u_1", Feed: feed.HomeFeed, Limit: 20}},
		"of a variant":  {`{"agent_id":"u_v","ranking":{"base":1}}`, engine.ExplainRequest{Agent: "u_v", Limit: 20, Ranking: &variant}},
		"no change":     {`{"agent_id":"u_1","ranking":{}}`, engine.ExplainRequest{Agent: "u_1", Limit: 20, Ranking: &control}},
		"Unix seconds":  {`{"agent_id":"u_1","at":1772798400}`, engine.ExplainRequest{Agent: "u_1", Limit: 20, At: noon}},
		"half a second": {`{"agent_id":"u_1","at":1772798400.5}`, engine.ExplainRequest{Agent: "u_1", Limit: 20, At: noon.Add(time.Second / 2)}},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.do(t, http.MethodPost, "/v1/explain", tt.body, "X-Admin-Token: "+adminToken)
			require.Equal(t, http.StatusOK, r.status, r.Msg)
			require.True(t, tt.want.At.Equal(fake.last.At), fake.last.At)
			fake.last.At, tt.want.At = time.Time{}, time.Time{}
			require.Equal(t, tt.want, fake.last)
		})
	}
}

func TestExplainRefusesBadInput(t *testing.T) {
	t.Parallel()
	f, fake := explainFixture(t)
	for name, tt := range map[string]struct {
		body string
		code int
		says string
	}{
		"nothing":           {``, 40001, "empty"},
		"no JSON":           {`{"agent_id":`, 40001, "unexpected end"},
		"a list":            {`[]`, 40001, "object"},
		"no agent":          {`{"limit":5}`, 40004, "agent_id is missing"},
		"empty agent":       {`{"agent_id":""}`, 40004, "agent_id"},
		"agent with colon":  {`{"agent_id":"a:b"}`, 40004, "agent_id"},
		"agent is a number": {`{"agent_id":7}`, 40004, "agent_id must be a string"},
		"agent is null":     {`{"agent_id":null}`, 40004, "agent_id is missing"},
		"unknown field":     {`{"agent_id":"u","action":"refresh"}`, 40001, `unknown field "action"`},
		"twice":             {`{"agent_id":"u","agent_id":"u"}`, 40001, `duplicate field "agent_id"`},
		"limit 0":           {`{"agent_id":"u","limit":0}`, 40003, "1 to 100"},
		"limit 101":         {`{"agent_id":"u","limit":101}`, 40003, "1 to 100"},
		"limit as text":     {`{"agent_id":"u","limit":"5"}`, 40003, "a whole number, not a string"},
		"item with space":   {`{"agent_id":"u","item":"a b"}`, 40004, "id has"},
		"empty item":        {`{"agent_id":"u","item":""}`, 40004, "id must"},
		"ranking is text":   {`{"agent_id":"u","ranking":"scale=72h"}`, 40001, "ranking must be an object"},
		"unknown parameter": {`{"agent_id":"u","ranking":{"scale":"72h"}}`, 40001, "scale"},
		"no duration":       {`{"agent_id":"u","ranking":{"decay":{"scale":"3 days"}}}`, 40001, "duration"},
		"time in words":     {`{"agent_id":"u","at":"yesterday"}`, 40001, "2026-03-06T12:00:00Z"},
		"time without zone": {`{"agent_id":"u","at":"2026-03-06T12:00:00"}`, 40001, "2026-03-06T12:00:00Z"},
		"time is true":      {`{"agent_id":"u","at":true}`, 40001, "2026-03-06T12:00:00Z"},
		"time far away":     {`{"agent_id":"u","at":1e300}`, 40001, "2026-03-06T12:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			*fake = fakeExplain{}
			r := f.do(t, http.MethodPost, "/v1/explain", tt.body, "X-Admin-Token: "+adminToken)
			require.Equal(t, http.StatusBadRequest, r.status)
			require.Equal(t, tt.code, r.Code, r.Msg)
			require.Contains(t, r.Msg, tt.says)
			require.Zero(t, fake.last)
		})
	}
	r := f.do(t, http.MethodPost, "/v1/explain", `{"agent_id":"u"}`+strings.Repeat(" ", MaxFeedBody), "X-Admin-Token: "+adminToken)
	require.Equal(t, 41301, r.Code)
}

func TestExplainNeedsAdmin(t *testing.T) {
	t.Parallel()
	f, _ := explainFixture(t)
	body := `{"agent_id":"u_1"}`
	require.Equal(t, 40101, f.do(t, http.MethodPost, "/v1/explain", body).Code)
	require.Equal(t, 40301, f.do(t, http.MethodPost, "/v1/explain", body, "X-Agent-ID: u_1").Code, "not even of oneself")
	require.Equal(t, 0, f.do(t, http.MethodPost, "/v1/explain", body, "Authorization: Bearer "+adminToken).Code)
	require.Equal(t, 40501, f.do(t, http.MethodGet, "/v1/explain", "", "X-Admin-Token: "+adminToken).Code)
}

// Explanations have their own slots, separate from those of readers, and free them when the client
// disconnects.
func TestExplainConcurrencyLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, fake := explainFixture(t)
		var inside atomic.Int64
		fake.work = func(ctx context.Context) error {
			if _, ok := ctx.Deadline(); !ok {
				return errors.New("there is no deadline")
			}
			inside.Add(1)
			<-ctx.Done()
			return ctx.Err()
		}
		p := openPipes(t, &http.Server{Handler: f.handler})
		const body = `{"agent_id":"u_1"}`
		var clients []net.Conn
		for range explainAtOnce {
			clients = append(clients, p.send(adminPost("/v1/explain", body)))
		}
		synctest.Wait()
		require.EqualValues(t, explainAtOnce, inside.Load())
		require.Equal(t, 50301, f.do(t, http.MethodPost, "/v1/explain", body, asAdmin).Code)
		require.Equal(t, 0, f.do(t, http.MethodPost, "/v1/feed", refresh, asAgent).Code)
		for _, c := range clients {
			require.NoError(t, c.Close())
		}
		synctest.Wait()
		fake.work = nil
		require.Equal(t, 0, f.do(t, http.MethodPost, "/v1/explain", body, asAdmin).Code)
	})
}
