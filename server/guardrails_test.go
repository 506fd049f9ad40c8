package server

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

// TestGuardrailEndsExperiment: a limit that is surely broken ends its experiment, and no other, on whichever
// server notices first. Counts are those of two thousand readers each.
func TestGuardrailEndsExperiment(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			all := servers(t, m, func(c *configs.Config) { c.Auth.AdminToken = rankingSecret })
			a, b := all[0], all[len(all)-1]
			putRanking(t, a, `{"experiments":[{"name":"bad","share":0.25,"limits":{"rejects":0.1}},{"name":"good","share":0.25,"limits":{"rejects":0.1}},{"name":"worse","share":0.25,"limits":{"rejects":0.1}}]}`)
			waitRanking(t, b, 1)
			v := b.ranking.InForce()
			seq := uint64(0)
			count := func(rejects int64) {
				batches := map[string]*events.Batch{}
				for _, run := range []string{"control@1", "bad@1", "good@1", "worse@1"} {
					seq++
					batches[run] = &events.Batch{Variant: run, Day: feed.DayOf(noon), Sender: "s", Seq: seq, Cells: events.Cells{}, Sampled: true}
				}
				for i := range 8000 {
					reader := fmt.Sprint("r_", i)
					run, _ := v.Live.For(reader)
					batch := batches[run]
					batch.Agents = append(batch.Agents, events.AgentHash(reader))
					batch.Cells[events.CellOf(reader, events.Shown)] += 20
					n := int64(i % 2)
					if run == "bad@1" || run == "worse@1" {
						n *= rejects
					}
					batch.Cells[events.CellOf(reader, events.Rejected)] += n
				}
				for _, batch := range batches {
					require.NoError(t, a.counts.Add(t.Context(), batch))
				}
			}
			guard := func(of *App) *guardrails {
				return &guardrails{live: of.ranking, counts: of.counts, clock: of.clock, log: slog.New(slog.DiscardHandler)}
			}
			count(1)
			require.NoError(t, guard(a).check(t.Context()))
			require.Equal(t, 1, a.ranking.InForce().Version, "all alike")
			count(3)
			for _, of := range []*App{b, a} {
				require.NoError(t, guard(of).check(t.Context()), "the second finds it ended, or another version")
			}
			waitRanking(t, a, 2)
			now := a.ranking.InForce()
			require.Len(t, now.Live.Variants, 1, "both at once: a new run of the other would have to wait for readers")
			assert.Equal(t, "good", now.Live.Variants[0].Name)
			assert.Equal(t, "guardrail", now.By)
			assert.Contains(t, now.Why, "end bad: limit rejects: ")
			assert.Contains(t, now.Why, "; end worse: limit rejects: ")
			require.NoError(t, guard(a).check(t.Context()))
			assert.Equal(t, 2, a.ranking.InForce().Version)
		})
	}
}
