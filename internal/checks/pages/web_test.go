// Package pages tests the pages of web/ in a real browser.
package pages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/checks/chromium"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/demo"
	"github.com/freshet/freshet/social/jobs"
)

// serve starts a demo server: 5,000 items, the readers u_1 to u_8, and admin routes open to this
// machine.
func serve(t *testing.T) (*server.App, string) {
	t.Helper()
	a, url := serveWith(t, predictable(), server.WithDemo())
	indexed(t, a)
	return a, url
}

const adminToken = "an-admin-token-for-tests"

// serveStill starts a server with items of the demo and without new ones: a new item would move
// others of its author, site and tags.
func serveStill(t *testing.T) (*server.App, string) {
	t.Helper()
	cfg := predictable()
	cfg.Auth.AdminToken = adminToken
	a, url := serveWith(t, cfg)
	fillItems(t, a)
	return a, url
}

// fillItems stores items of the demo, and its readers. One of the items is reported.
func fillItems(t *testing.T, a *server.App) {
	t.Helper()
	errs, err := a.Catalog.Put(t.Context(), demo.Generate(1, 1000, time.Now()))
	require.NoError(t, errors.Join(append(errs, err)...))
	for agent, p := range demo.Profiles() {
		require.NoError(t, a.Engine.PutProfile(t.Context(), agent, p))
	}
	send(t, a, "u_3", http.MethodPost, "/v1/items/doc_1/report", `{"reason":"spam","details":"the same again"}`)
}

// predictable returns a configuration in which clicks of simulated readers do not change lists
// during a test.
func predictable() configs.Config {
	cfg := configs.Default()
	cfg.Ranking.Popularity2h, cfg.Ranking.Popularity2d, cfg.Ranking.Explore.Share = 0, 0, 0
	return cfg
}

func serveWith(t *testing.T, cfg configs.Config, options ...server.Option) (*server.App, string) {
	t.Helper()
	cfg.DataDir = t.TempDir()
	a, err := server.Open(t.Context(), cfg, options...)
	require.NoError(t, err)
	srv := httptest.NewServer(a.Handler)
	t.Cleanup(func() {
		srv.Close()
		require.NoError(t, a.Close(context.WithoutCancel(t.Context())))
	})
	return a, srv.URL
}

// indexed waits until the initial posts of the demo are items.
func indexed(t *testing.T, a *server.App) {
	t.Helper()
	require.Eventually(t, func() bool {
		waiting, err := a.Social.List(t.Context(), jobs.Filter{Kind: jobs.Index, Limit: 1})
		return err == nil && len(waiting) == 0
	}, time.Minute, 20*time.Millisecond)
}

// readAs opens the feed page as a reader, with a query.
func readAs(tab *chromium.Tab, url, agent string, query ...string) {
	tab.Go(url + "/docs")
	chromium.Eval[any](tab, `localStorage.setItem('agent', '`+agent+`')`)
	tab.Go(url + "/?" + strings.Join(query, "&"))
}

// readDown scrolls until there are the given number of entries. It stops before the end of the last
// page, which would load another one.
func readDown(tab *chromium.Tab, entries int) {
	tab.Until(fmt.Sprintf(`%s.length >= %d ? %s : (scrollTo(0, document.body.scrollHeight), false)`, ids, entries, idle))
}

func send(t *testing.T, a *server.App, agent, method, path, body string) json.RawMessage {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("X-Agent-ID", agent)
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	require.Less(t, w.Code, 300, "%s %s: %s", method, path, w.Body)
	var answer struct{ Data json.RawMessage }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	return answer.Data
}

// ingest stores an item dated now.
func ingest(t *testing.T, a *server.App, id string, tags ...string) {
	t.Helper()
	errs, err := a.Catalog.Put(t.Context(), []feed.Item{{ID: id, Title: "News: " + id, Tags: tags, Lang: "en", UpdateTime: time.Now().Unix()}})
	require.NoError(t, err)
	for _, err := range errs {
		require.NoError(t, err)
	}
}

// firstPage makes a refresh as the agent, and returns the ids separated by spaces.
func firstPage(t *testing.T, a *server.App, agent string, limit int) string {
	t.Helper()
	answer, err := a.Engine.Feed(t.Context(), engine.Request{Agent: agent, Action: engine.ActionRefresh, Limit: limit})
	require.NoError(t, err)
	list := make([]string, len(answer.Docs))
	for i, doc := range answer.Docs {
		it, err := doc.Item()
		require.NoError(t, err)
		list[i] = it.ID
	}
	return strings.Join(list, " ")
}
