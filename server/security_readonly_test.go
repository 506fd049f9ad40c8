package server

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// allData returns all stored data of a system: every key in Redis as from DUMP, which excludes only
// the TTL, and every file of the data directory.
func allData(t *testing.T, a *App) map[string]string {
	t.Helper()
	require.NoError(t, a.Flush(t.Context()))
	out := map[string]string{}
	if client := a.clients.redis; client != nil {
		keys, err := client.Keys(t.Context(), a.cfg.Redis.KeyPrefix+"*").Result()
		require.NoError(t, err)
		for _, key := range keys {
			// These change in the background: the turns of the servers and the trending set.
			if strings.HasSuffix(key, "popularity:changed:turn") || strings.Contains(key, "feed:trending") {
				continue
			}
			dump, err := client.Dump(t.Context(), key).Result()
			require.NoError(t, err, key)
			out[strings.TrimPrefix(key, a.cfg.Redis.KeyPrefix)] = fmt.Sprintf("%x", sha256.Sum256([]byte(dump)))
		}
	}
	require.NoError(t, filepath.WalkDir(a.cfg.DataDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "-shm") { // locks of readers
			return err
		}
		data, err := os.ReadFile(path)
		out[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	}))
	require.NotEmpty(t, out)
	return out
}

// checkReadOnly compares all stored data before and after look.
func checkReadOnly(t *testing.T, a *App, look func()) {
	t.Helper()
	if a.clients.redis != nil {
		clearCache(t, a, "item", "profile") // deletes marks that would expire meanwhile
	}
	first := allData(t, a)
	look()
	second := allData(t, a)
	for name := range second {
		if first[name] != second[name] { // content that was read may have been cached
			assert.Regexp(t, `^feed:(item|profile):`, name)
		}
	}
	look()
	require.Equal(t, second, allData(t, a))
}

// readAnalyses makes explanations, comparisons, replays and reports about agents and an item, at
// these times.
func (s outsider) readAnalyses(agents []string, item string, times ...time.Time) {
	s.t.Helper()
	for _, when := range times {
		for _, agent := range agents {
			body := fmt.Sprintf(`{"agent_id":%q,"item":%q,"at":%d,"ranking":{"base":0.5}}`, agent, item, when.Unix())
			_, code, _ := s.call("POST", "/v1/explain", body, asAdmin)
			require.Zero(s.t, code)
			_, code, _ = s.call("POST", "/v1/compare", fmt.Sprintf(`{"agents":[%q],"lists":true,"b":"scale=1h","at":%d}`, agent, when.Unix()), asAdmin)
			require.Zero(s.t, code)
			_, code, _ = s.call("POST", "/v1/replay", fmt.Sprintf(`{"clicks":[{"agent_id":%q,"id":%q,"at":%d}],"rankings":[{},"scale=1h"]}`, agent, item, when.Unix()), asAdmin)
			require.Zero(s.t, code)
		}
	}
	for _, path := range []string{"/v1/ranking", "/v1/ranking/history", "/v1/ranking/report", "/v1/overview", "/v1/system", "/", "/console", "/docs", "/openapi.json"} {
		res, err := http.Get(s.url + path)
		require.NoError(s.t, err)
		require.NoError(s.t, res.Body.Close())
	}
}

// TestSecurityAnalysesAreReadOnly makes explanations, comparisons, replays and reports for various
// times, and compares all stored data before and after.
func TestSecurityAnalysesAreReadOnly(t *testing.T) {
	t.Parallel()
	clock := at(noon)
	cfg := embedded(t)
	cfg.Auth.AdminToken = testAdmin
	a := open(t, cfg, WithClock(clock.Now))
	srv := httptest.NewServer(a.Handler)
	defer srv.Close()
	n := 0
	s := outsider{t, srv.URL, &n}
	put(t, a, authored(120)...)
	page := ask(t, a, refresh("u_1", 10))
	ask(t, a, loadMore("u_1", 5))
	react(t, a, "u_1", act(events.Hide, page.Docs[0].ID), act(events.Click, page.Docs[1].ID))
	require.NoError(t, a.Engine.Seen(t.Context(), "u_1", []string{"doc_0100"})) // in today's filter only
	require.NoError(t, a.stores.dedup.ClearPending(t.Context(), []dedup.Impression{{Agent: "u_1", Group: "doc_0100"}}))
	waitRecorded(t, a)
	clock.Advance(time.Minute)

	midnight := noon.Truncate(24 * time.Hour).Add(24 * time.Hour)
	checkReadOnly(t, a, func() {
		s.readAnalyses([]string{"u_1", "u_new"}, page.Docs[2].ID, time.Unix(1, 0), noon.AddDate(0, 0, -1), clock.Now(), midnight, noon.AddDate(0, 0, 7), time.Unix(253402300799, 0))
	})

	// The position of the window decides the verdicts of the filters, to the second.
	for _, c := range []struct {
		at      time.Time
		outcome api.Outcome
	}{
		{midnight.Add(-time.Second), api.OutcomeSeen},
		{midnight, api.OutcomeSeen},
		{midnight.AddDate(0, 0, cfg.Dedup.WindowDays-1).Add(-time.Second), api.OutcomeSeen},
		{midnight.AddDate(0, 0, cfg.Dedup.WindowDays-1), ""}, // on the page or after it
	} {
		_, _, data := s.call("POST", "/v1/explain", fmt.Sprintf(`{"agent_id":"u_1","limit":100,"item":"doc_0100","at":%q}`, c.at.Format(time.RFC3339)), asAdmin)
		var x api.Explanation
		require.NoError(t, json.Unmarshal([]byte(data), &x))
		if c.outcome == "" {
			require.Contains(t, []api.Outcome{api.OutcomePaged, api.OutcomeKept}, x.Item.Outcome, "%s: %s", c.at, x.Item.Reason)
			continue
		}
		require.Equal(t, c.outcome, x.Item.Outcome, "%s: %s", c.at, x.Item.Reason)
		require.Equal(t, noon.Format("20060102"), x.Item.Day)
	}
}
