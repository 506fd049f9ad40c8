package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

func tell(t *testing.T, url string, body io.Reader, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequest("POST", url+"/v1/graph/events", body)
	require.NoError(t, err)
	r.Header.Set("X-Admin-Token", adminToken)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	return decodeReply(t, res)
}

func graphReport(t *testing.T, r reply) (report api.Upload) {
	t.Helper()
	require.NoError(t, json.Unmarshal(r.Data, &report), r.body)
	return report
}

func TestGraphEvents(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	srv := httptest.NewServer(f.handler)
	defer srv.Close()
	var lines bytes.Buffer
	for i := range 1500 {
		fmt.Fprintf(&lines, `{"type":"follow.created","data":{"agent_id":"u_%d","author_id":"a","at":10}}`+"\n", i)
	}
	lines.WriteString(`{"type":"follow.created","data":{"agent_id":"a","author_id":"a","at":10}}` + "\n")
	for _, encoding := range []string{"identity", "gzip"} {
		body := lines.Bytes()
		if encoding == "gzip" {
			body = gzipped(t, body)
		}
		got := tell(t, srv.URL, bytes.NewReader(body), "Content-Encoding: "+encoding)
		require.Zero(t, got.Code, got.body)
		require.Equal(t, api.Upload{Accepted: 1500, Rejected: 1, Errors: []api.Rejection{
			{Line: 1501, ID: "a/a", Reason: "a cannot follow or block themself"},
		}}, graphReport(t, got))
	}
	c, err := store.Celebrity(t.Context(), "a")
	require.NoError(t, err)
	require.EqualValues(t, 1500, c.Followers)
}

func TestGraphEventsUnreadable(t *testing.T) {
	t.Parallel()
	f, _ := socialFixture(t, nil)
	srv := httptest.NewServer(f.handler)
	defer srv.Close()
	const event = `{"type":"post.deleted","data":{"id":"post:1","at":10}}` + "\n"
	for _, tt := range []struct {
		body    string
		headers []string
		code    int
		says    string
	}{
		{"[" + event + "]", nil, 40001, "write each event on one line"},
		{event, []string{"Content-Encoding: br"}, 40001, "br"},
		{event, []string{"Content-Encoding: gzip"}, 40001, "gzip body is corrupt"},
		{event, []string{"X-Admin-Token: wrong"}, 40101, "admin token"},
		{event + strings.Repeat(" ", MaxItemsBody), nil, 41301, "64 MiB"},
	} {
		got := tell(t, srv.URL, strings.NewReader(tt.body), tt.headers...)
		require.Equal(t, tt.code, got.Code, got.body)
		require.Contains(t, got.Msg, tt.says)
	}
}

// downAfter is a store that becomes unavailable after a few events.
type downAfter struct {
	Graph
	report api.Upload
}

func (d downAfter) Read(context.Context, io.Reader) (api.Upload, error) {
	return d.report, fmt.Errorf("%w: the disk is full", social.ErrUnavailable)
}

func TestGraphEventsStoreDown(t *testing.T) {
	t.Parallel()
	f, _ := socialFixture(t, func(_ *Config, d *Deps) { d.Social.Graph = downAfter{report: api.Upload{Accepted: 3}} })
	srv := httptest.NewServer(f.handler)
	defer srv.Close()
	got := tell(t, srv.URL, strings.NewReader("x"))
	require.Equal(t, 50301, got.Code)
	require.Equal(t, api.Upload{Accepted: 3, Errors: []api.Rejection{}}, graphReport(t, got))
	require.NotContains(t, got.body, "disk")
}

// TestGraphEventEqualsCall sends the same fields by POST /v1/posts and as an event, and
// compares the stored posts.
func TestGraphEventEqualsCall(t *testing.T) {
	t.Parallel()
	f, store := socialFixture(t, nil)
	srv := httptest.NewServer(f.handler)
	defer srv.Close()
	require.Zero(t, tell(t, srv.URL, strings.NewReader(`{"type":"circle.changed","data":{"id":"c1","owner":"u_1","members":["u_2"],"at":1}}`)).Code)
	for i, fields := range []string{
		`"caption":"Rain at last #weather"`,
		`"caption":"x","tags":["y","y"],"audience":{"public":true,"followers":true},"mentions":["u_2","u_1"],"reply":"none","react":"followers"`,
		`"caption":"x","audience":{"followers":true,"circles":["c1"]},"reply":"audience"`,
		`"caption":"x","audience":{},"mentions":["u_2"],"tags":null,"react":null`,
		`"caption":"\u0000"`, `"caption":" "`, `"caption":"x","reply":"all"`, `"caption":"x","mentions":["a b"]`, `"caption":"x","captoin":"y"`,
		`"caption":"x","audience":{"circles":["a/b"]}`, `"caption":7`, `"caption":"x","tags":[""]`,
	} {
		r := httptest.NewRequest("POST", "/v1/posts", strings.NewReader("{"+fields+"}"))
		r.Header.Set("X-Agent-ID", "u_1")
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, r)
		id := fmt.Sprintf("post:event-%d", i)
		report := graphReport(t, tell(t, srv.URL, strings.NewReader(
			`{"type":"post.created","data":{"id":"`+id+`","author":{"id":"u_1"},"created_at":1772791200,`+fields+`}}`)))
		if w.Code != http.StatusCreated {
			require.Equal(t, 1, report.Rejected, "%s: the call answers %s", fields, w.Body)
			continue
		}
		require.Equal(t, 1, report.Accepted, "%s: %+v", fields, report.Errors)
		var answer struct {
			Data struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
		posts, err := store.PostsByID(t.Context(), []string{answer.Data.ID, id})
		require.NoError(t, err)
		posts[1].ID, posts[1].CreatedAt = posts[0].ID, posts[0].CreatedAt
		require.Equal(t, posts[0], posts[1], fields)
	}
}
