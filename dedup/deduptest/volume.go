package deduptest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/freshet/freshet/dedup"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// batchSize and checkSize keep the number of round trips of the volume tests
// small; both are sizes a busy server sees.
const (
	batchSize = 5_000
	checkSize = 500
)

// recordAll writes the impressions in batches.
func recordAll(t *testing.T, s Store, day int, all []dedup.Impression) {
	t.Helper()
	for len(all) > 0 {
		n := min(batchSize, len(all))
		record(t, s, days(day), all[:n])
		all = all[n:]
	}
}

// countSeen checks the groups of one agent and returns how many are not Unseen.
func countSeen(t *testing.T, s Store, day int, agent string, groups []string) int {
	t.Helper()
	seen := 0
	for len(groups) > 0 {
		n := min(checkSize, len(groups))
		for _, v := range check(t, s, days(day), agent, groups[:n]...) {
			if v != dedup.Unseen {
				seen++
			}
		}
		groups = groups[n:]
	}
	return seen
}

func manyAgents(t *testing.T, open Open) {
	s := open(t, config())
	const agents = 300
	var batch []dedup.Impression
	given := make([][]string, agents)
	for i := range 5_000 {
		agent, group := i%agents, fmt.Sprintf("doc_%d", i)
		given[agent] = append(given[agent], group)
		batch = append(batch, dedup.Impression{Agent: fmt.Sprintf("u_%d", agent), Group: group})
	}
	record(t, s, Start, batch)
	for i := range agents {
		agent := fmt.Sprintf("u_%d", i)
		require.Equal(t, len(given[i]), countSeen(t, s, 0, agent, given[i]), "agent %s", agent)
		require.Zero(t, countSeen(t, s, 0, agent, given[(i+1)%agents]), "agent %s and its neighbour's groups", agent)
	}
}

func atCapacity(t *testing.T, open Open) {
	cfg := config()
	s := open(t, cfg)
	const agents, each = 20, 1_000
	groups, others := names("doc_", each), names("new_", each)
	var all []dedup.Impression
	for i := range agents {
		all = append(all, impressions(fmt.Sprintf("u_%d", i), groups...)...)
	}
	recordAll(t, s, 0, all)
	found, wrong := 0, 0
	for i := range agents {
		agent := fmt.Sprintf("u_%d", i)
		found += countSeen(t, s, 0, agent, groups)
		wrong += countSeen(t, s, 0, agent, others)
	}
	assert.Equal(t, agents*each, found, "what was recorded is never Unseen")
	// One full day accounts for a seventh of the window's rate; the factor of two is more than five
	// standard deviations of the count.
	assert.LessOrEqual(t, float64(wrong)/(agents*each), 2*cfg.FilterRate(), "false positives of one full day")
}

func shards(t *testing.T, open Open) {
	cfg := config()
	cfg.Shards = 3
	s := open(t, cfg)
	groups := names("doc_", 100)
	var all []dedup.Impression
	for i := range 20 {
		all = append(all, impressions(fmt.Sprintf("u_%d", i), groups...)...)
	}
	record(t, s, days(0), all[:1_000])
	record(t, s, days(1), all[1_000:])
	for i := range 20 {
		agent := fmt.Sprintf("u_%d", i)
		want := dedup.SeenDaysAgo(1)
		if i >= 10 {
			want = dedup.SeenDaysAgo(0)
		}
		for _, v := range check(t, s, days(1), agent, groups...) {
			require.Equal(t, want, v, "agent %s", agent)
		}
		require.Zero(t, countSeen(t, s, 1, agent, names("new_", 100)))
	}
}

// concurrentUse runs the whole life cycle of impressions for several agents concurrently, across a
// midnight, as the goroutines of a server do.
func concurrentUse(t *testing.T, open Open) {
	s := open(t, config())
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			agent := fmt.Sprintf("u_%d", i)
			for round := range 10 {
				if err := oneLife(t, s, agent, round); err != nil {
					t.Errorf("agent %s round %d: %v", agent, round, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for i := range 16 {
		agent := fmt.Sprintf("u_%d", i)
		for round := range 10 {
			require.Equal(t, 20, countSeen(t, s, 1, agent, names(fmt.Sprintf("doc_%d_", round), 20)))
		}
	}
}

func oneLife(t *testing.T, s Store, agent string, round int) error {
	ctx, now := t.Context(), days(round/5)
	groups := names(fmt.Sprintf("doc_%d_", round), 20)
	before, err := s.Check(ctx, agent, groups, now)
	if err != nil {
		return err
	}
	if err := s.Claim(ctx, agent, groups, now); err != nil {
		return err
	}
	for i := range groups {
		if before.Verdicts[i] != dedup.Unseen {
			return fmt.Errorf("%s was %v", groups[i], before.Verdicts[i])
		}
	}
	batch := impressions(agent, groups...)
	if _, err := s.Record(ctx, batch, now); err != nil {
		return err
	}
	if err := s.ClearPending(ctx, batch); err != nil {
		return err
	}
	after, err := s.Check(ctx, agent, groups, now)
	if err != nil {
		return err
	}
	for i, v := range after.Verdicts {
		if _, ok := v.DaysAgo(); !ok {
			return fmt.Errorf("%s is %v after it was recorded", groups[i], v)
		}
	}
	return nil
}

// FalsePositives fills a window of seven days with 50,000 impressions a day, 1 to 10 times the
// capacity. At the default rate of 1 % for the whole window it counts how many of 200,000 pairs
// that were never shown are reported as seen, and checks that none of 200,000 shown pairs is
// reported as unseen.
func FalsePositives(t *testing.T, open func(t *testing.T, cfg dedup.Config) Store) {
	for _, times := range []float64{1, 2, 4.5, 10} {
		t.Run(fmt.Sprintf("%g times the capacity", times), func(t *testing.T) {
			cfg := DefaultConfig()
			cfg.DailyCapacity = int(agentsOfDay * perDay / times)
			cfg.FalsePositiveRate = 0.01
			falsePositives(t, open(t, cfg), cfg)
		})
	}
}

const (
	agentsOfDay = 100
	perDay      = 500 // impressions per agent
)

func falsePositives(t *testing.T, s Store, cfg dedup.Config) {
	group := func(day int) []string { return names(fmt.Sprintf("doc_%d_", day), perDay) }
	for day := range cfg.WindowDays {
		var all []dedup.Impression
		for i := range agentsOfDay {
			all = append(all, impressions(fmt.Sprintf("u_%d", i), group(day)...)...)
		}
		recordAll(t, s, day, all)
	}

	const asked = 4 * perDay * agentsOfDay
	last := cfg.WindowDays - 1
	found, wrong := 0, 0
	for i := range agentsOfDay {
		agent := fmt.Sprintf("u_%d", i)
		for _, day := range []int{0, 2, 4, 6} {
			found += countSeen(t, s, last, agent, group(day))
		}
		wrong += countSeen(t, s, last, agent, names("new_", 4*perDay))
	}
	rate := float64(wrong) / asked
	t.Logf("false positives over the whole window: %d of %d = %.4f (promised %.4f)", wrong, asked, rate, cfg.FalsePositiveRate)
	assert.Equal(t, asked, found, "what was recorded is never Unseen")
	assert.LessOrEqual(t, rate, 1.2*cfg.FalsePositiveRate)
	assert.Positive(t, wrong, "a full Bloom filter without a false hit means the measurement asks for nothing")
}
