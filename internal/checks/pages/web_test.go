// Package pages uses the pages of web/ in a real browser.
package pages

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/app"
	"github.com/freshet/freshet/jobs"
)

// serve is a demo server: 5,000 items, the readers u_1 to u_8, and admin routes
// that are open to this machine.
func serve(t *testing.T) (*app.App, string) {
	t.Helper()
	cfg := configs.Default()
	// What simulated readers click would change lists while a test looks at them.
	cfg.Ranking.Popularity.Weight2h, cfg.Ranking.Popularity.Weight2d, cfg.Ranking.Explore.Share = 0, 0, 0
	a, url := serveWith(t, cfg, app.WithDemo())
	indexed(t, a)
	return a, url
}

// serveWith is a server of its own data.
func serveWith(t *testing.T, cfg configs.Config, options ...app.Option) (*app.App, string) {
	t.Helper()
	cfg.DataDir = t.TempDir()
	a, err := app.Open(t.Context(), cfg, options...)
	require.NoError(t, err)
	srv := httptest.NewServer(a.Handler)
	t.Cleanup(func() {
		srv.Close()
		require.NoError(t, a.Close(context.WithoutCancel(t.Context())))
	})
	return a, srv.URL
}

// indexed waits until the posts that the demo begins with are items.
func indexed(t *testing.T, a *app.App) {
	t.Helper()
	require.Eventually(t, func() bool {
		waiting, err := a.Social.List(t.Context(), jobs.Filter{Kind: jobs.Index, Limit: 1})
		return err == nil && len(waiting) == 0
	}, time.Minute, 20*time.Millisecond)
}

// ingest puts an item in that has just come out.
func ingest(t *testing.T, a *app.App, id string, tags ...string) {
	t.Helper()
	errs, err := a.Catalog.Put(t.Context(), []feed.Item{{ID: id, Title: "News: " + id, Tags: tags, Lang: "en", UpdateTime: time.Now().Unix()}})
	require.NoError(t, err)
	for _, err := range errs {
		require.NoError(t, err)
	}
}

// firstPage refreshes as the agent does, and returns the ids with blanks between
// them.
func firstPage(t *testing.T, a *app.App, agent string, limit int) string {
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
