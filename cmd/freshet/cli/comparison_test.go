package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/engine/offline"
)

func TestConclusions(t *testing.T) {
	some := func(mean float64) offline.Spread { return offline.Spread{N: 8, Mean: mean, Min: mean, Max: mean} }
	const hour = 3600
	figures := func(newShare, ageA, ageB, coverA, coverB float64) offline.Summary {
		return offline.Summary{
			Overlap: some(1 - newShare), RBO: some(0.9), NewShare: some(newShare),
			MedianAgeA: some(ageA), MedianAgeB: some(ageB), CoverageA: some(coverA), CoverageB: some(coverB),
		}
	}
	same := figures(0, hour, hour, 1, 1)
	same.RBO = some(1)
	nearly := figures(0, hour, hour, 1, 1)
	nearly.RBO, nearly.KendallTau = some(0.998), some(0.996)
	nobody := figures(0.25, hour, 3*hour, 0, 0)
	nobody.CoverageA, nobody.CoverageB = offline.Spread{}, offline.Spread{}
	for name, tt := range map[string]struct {
		figures offline.Summary
		want    string
	}{
		"nothing":                              {offline.Summary{}, "There is nothing to compare: neither ranking has items for these agents."},
		"same":                                 {same, "B changes nothing: the first 20 are the same, in the same order."},
		"order":                                {figures(0, hour, hour, 1, 1), "B changes the order only: the first 20 are the same items."},
		"an order that is written as the same": {nearly, "B hardly changes anything: the first 20 are the same items, in nearly the same order."},
		"both": {
			figures(0.219, 2.7*hour, 6.2*hour, 0.964, 0.929),
			"With B, 21.9% of the first 20 are new, and the items are older: 6.2h at the median instead of 2.7h; they cover 92.9% of an agent's interests instead of 96.4%.",
		},
		"no interests": {
			nobody, "With B, 25.0% of the first 20 are new, and the items are older: 3.0h at the median instead of 1.0h.",
		},
		"differences that do not matter": {
			figures(0.05, 11.5*hour, 11.7*hour, 0.852, 0.856),
			"With B, 5.0% of the first 20 are new, and the items are about as old as before (11.7h at the median); they cover about as much of an agent's interests as before (85.6%).",
		},
		"differences below what is printed": {
			figures(0.0001, 1.051*hour, 1.149*hour, 0.85201, 0.85203),
			"With B, <0.1% of the first 20 are new, and the items are about as old as before (1.1h at the median); they cover about as much of an agent's interests as before (85.2%).",
		},
	} {
		assert.Equal(t, tt.want, conclusion(offline.Comparison{K: 20, Figures: tt.figures}), name)
	}
}

func TestAgeFormat(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0s", 59: "59s", 90: "1.5m", 5400: "1.5h", 129600: "36.0h", 172800: "2.0d", 604800: "7.0d"} {
		assert.Equal(t, want, preciseAge(seconds))
	}
	assert.Equal(t, "1 click", counted(1, "click"))
	assert.Equal(t, "0 clicks", counted(0, "click"))
}
