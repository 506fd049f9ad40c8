package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// reportOf returns the rows of a report by name, once all servers have written their counts.
func reportOf(t *testing.T, all []*App) map[string]api.ReportRow {
	t.Helper()
	for _, a := range all {
		require.NoError(t, a.tally.Flush(t.Context()))
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/ranking/report", nil)
	r.Header.Set("X-Admin-Token", rankingSecret)
	w := httptest.NewRecorder()
	all[0].Handler.ServeHTTP(w, r)
	var report struct{ Variants []api.ReportRow }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &struct{ Data any }{&report}))
	rows := map[string]api.ReportRow{}
	for _, row := range report.Variants {
		rows[row.Name] = row
	}
	return rows
}

// TestExperimentCountsWhatItShowed: readers see a page before an experiment, and page on and click
// during it, on another server. Only what the experiment showed counts for it, and nothing after its
// end.
func TestExperimentCountsWhatItShowed(t *testing.T) {
	for _, m := range modes {
		for _, on := range []string{configs.OnServed, configs.OnSeen} {
			t.Run(m.name+", impressions when "+on, func(t *testing.T) {
				t.Parallel()
				all := servers(t, m, func(c *configs.Config) { c.Auth.AdminToken, c.Impressions.On = rankingSecret, on })
				a, b := all[0], all[len(all)-1]
				put(t, a, authored(60)...)
				var readers []string
				for i := range 12 {
					readers = append(readers, fmt.Sprint("u_", i))
				}
				page := func(at *App, asked engine.Request) (list []string) {
					list = ids(ask(t, at, asked))
					if on == configs.OnSeen {
						require.NoError(t, at.Engine.Seen(t.Context(), asked.Agent, list))
					}
					return list
				}
				click := func(reader string, ids []string) {
					var acts []engine.Act
					for _, id := range ids {
						acts = append(acts, act(events.Click, id))
					}
					require.Equal(t, len(ids), react(t, b, reader, acts...).Accepted)
				}
				before := map[string][]string{}
				for _, r := range readers {
					before[r] = page(a, refresh(r, 5))
				}
				reportOf(t, all)
				putRanking(t, a, `{"experiments":[{"name":"aa","share":0.5}]}`)
				waitRanking(t, b, 1)
				in := map[string]int64{}
				during := map[string][]string{}
				for _, r := range readers {
					click(r, before[r])     // shown by control, before
					page(b, loadMore(r, 5)) // of the session from before
					reportOf(t, all)
					list := page(a, refresh(r, 5))
					reportOf(t, all) // another server reads the page from the store
					next := page(b, loadMore(r, 3))
					click(r, append(list[:1:1], next[2])) // at positions 1 and 8
					during[r] = list
					variant, _ := a.Engine.Ranking(r)
					in[variant]++
				}
				require.Len(t, in, 2)
				rows := reportOf(t, all)
				for name, n := range in {
					row := rows[name]
					assert.Equal(t, []int64{8 * n, 2 * n, n}, []int64{row.Impressions, row.Clicks, row.Agents}, name)
					assert.Equal(t, 1, row.Version, name)
					byPosition := map[int][2]int64{}
					for _, p := range row.Positions {
						byPosition[p.From] = [2]int64{p.Impressions, p.Clicks}
					}
					assert.Equal(t, map[int][2]int64{1: {n, n}, 2: {n, 0}, 3: {n, 0}, 4: {2 * n, 0}, 6: {3 * n, n}}, byPosition, name)
				}
				assert.Equal(t, api.ReportPair{Variant: in["aa"], Control: in["control"]}, rows["aa"].Difference.Readers)

				putRanking(t, b, `{"experiments":[]}`)
				waitRanking(t, a, 2)
				for _, r := range readers {
					click(r, during[r])
				}
				ended := reportOf(t, all)["aa"]
				assert.Equal(t, rows["aa"].Shown, ended.Shown, "what has ended stays as it ended")
			})
		}
	}
}

// TestPagesOfExperimentsErased: erasing an agent deletes the record of their pages.
func TestPagesOfExperimentsErased(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			var cfg configs.Config
			all := adminServers(t, m, &cfg)
			put(t, all[0], authored(60)...)
			putRanking(t, all[0], `{"experiments":[{"name":"aa","share":0.5}]}`)
			pages := func() int {
				require.NoError(t, all[0].tally.Flush(t.Context()))
				got, err := all[0].counts.PagesOf(t.Context(), []uint64{events.AgentHash("u_1")})
				require.NoError(t, err)
				return len(got[0])
			}
			ask(t, all[0], refresh("u_1", 5))
			require.Equal(t, 1, pages())
			require.NoError(t, all[0].Engine.Forget(t.Context(), "u_1"))
			require.Zero(t, pages())
		})
	}
}
