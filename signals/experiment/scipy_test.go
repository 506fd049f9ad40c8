package experiment_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/experiment"
)

// scipyArm is an arm in the JSON of scripts/statistics/reference.py.
type scipyArm struct {
	Clicks       []int64 `json:"clicks"`
	Shown        []int64 `json:"shown"`
	ClicksBefore []int64 `json:"clicks_before"`
	ShownBefore  []int64 `json:"shown_before"`
}

type scipyCase struct {
	Arms    [2]scipyArm `json:"arms"`
	Prior   bool        `json:"prior"`
	Readers []int64     `json:"readers"`
	Shares  []float64   `json:"shares"`
}

// TestEqualsScipy compares figures of random experiments with those of scipy, on the same clicks.
// FRESHET_TEST_SCIPY is a Python that has it; scripts/statistics.sh sets it.
func TestEqualsScipy(t *testing.T) {
	python := os.Getenv("FRESHET_TEST_SCIPY")
	if python == "" {
		t.Skip("run scripts/statistics.sh to run this test")
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	var cases []scipyCase
	var arms [][2]experiment.Arm
	for i := range 16 {
		c := scipyCase{Prior: i%2 == 0, Shares: []float64{0.1 + 0.4*rnd.Float64(), 0.5}}
		readers := rnd.Int64N(20_000)
		c.Readers = []int64{int64(float64(readers) * c.Shares[0] / 0.5 * (1 + 0.05*rnd.NormFloat64())), readers}
		var pair [2]experiment.Arm
		effect := 1 + 0.3*rnd.NormFloat64()
		for arm := range pair {
			pair[arm] = experiment.Arm{During: events.Cells{}, Columns: [2]events.Column{events.Clicked, events.Shown}}
			if c.Prior {
				pair[arm].Before = events.Cells{}
			}
			for j := range 50 + rnd.IntN(400) {
				b := 2*j + arm
				pair[arm].Buckets = append(pair[arm].Buckets, b)
				habit := rnd.ExpFloat64()
				shown, before := 20*rnd.Int64N(10), 20*rnd.Int64N(30)
				rate := habit * 0.1
				if arm == 0 {
					rate *= effect
				}
				clicks, clicksBefore := int64(min(1, rate)*float64(shown)), int64(min(1, habit*0.1)*float64(before))
				c.Arms[arm].Clicks = append(c.Arms[arm].Clicks, clicks)
				c.Arms[arm].Shown = append(c.Arms[arm].Shown, shown)
				c.Arms[arm].ClicksBefore = append(c.Arms[arm].ClicksBefore, clicksBefore)
				c.Arms[arm].ShownBefore = append(c.Arms[arm].ShownBefore, before)
				pair[arm].During.Add(b, events.Shown, shown)
				pair[arm].During.Add(b, events.Clicked, clicks)
				if c.Prior {
					pair[arm].Before.Add(b, events.Shown, before)
					pair[arm].Before.Add(b, events.Clicked, clicksBefore)
				}
			}
		}
		cases, arms = append(cases, c), append(arms, pair)
	}
	asked, err := json.Marshal(cases)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), python, "../../scripts/statistics/reference.py")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(asked), os.Stderr
	answer, err := cmd.Output()
	require.NoError(t, err)
	var want []struct{ Difference, Variance, P, Low, High, Balance float64 }
	require.NoError(t, json.Unmarshal(answer, &want))
	significant := 0
	for i, w := range want {
		e := experiment.Compare(arms[i][0], arms[i][1])
		rate := func(a scipyArm) float64 { return sumOf(a.Clicks) / sumOf(a.Shown) }
		width := experiment.Width(rate(cases[i].Arms[0]), rate(cases[i].Arms[1]))
		interval := e.Interval(width, experiment.Significance)
		assert.InDelta(t, w.Difference, e.Difference, 1e-12)
		assert.InEpsilon(t, w.Variance, e.Variance, 1e-9)
		assert.InEpsilon(t, w.P, e.P(width), 1e-6)
		assert.InDelta(t, w.Low, interval.Low, 1e-9)
		assert.InDelta(t, w.High, interval.High, 1e-9)
		assert.InEpsilon(t, w.Balance, experiment.Balance(cases[i].Readers, cases[i].Shares), 1e-6)
		if w.P < experiment.Significance {
			significant++
		}
	}
	assert.Greater(t, significant, 2)
	assert.Less(t, significant, len(cases)-2)
}

func sumOf(list []int64) (sum float64) {
	for _, n := range list {
		sum += float64(n)
	}
	return sum
}
