package feed_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

// TestParameters checks each parameter of the table, in a list of changes and in JSON: it accepts
// its bounds and values between them, and no others, and a change of it changes no other parameter.
func TestParameters(t *testing.T) {
	t.Parallel()
	single, err := feed.DefaultRanking().With("curves=single")
	require.NoError(t, err)
	require.NoError(t, single.Validate())
	var names []string
	for i := range feed.Parameters {
		p := &feed.Parameters[i]
		require.NotContains(t, names, p.Name)
		names = append(names, p.Name)
		assert.NotEmpty(t, p.Help, p.Name)
		assert.InDelta(t, p.Default, p.Of(single), 0, p.Name)
		found, ok := feed.ParameterOf(p.Path)
		require.True(t, ok)
		require.Same(t, p, found)

		most := min(p.Most, p.Least+1e6)
		for value, takes := range map[float64]bool{
			p.Least: !p.NotLeast, p.Least + (most-p.Least)/4: true, most: math.IsInf(p.Most, 1) || !p.NotMost,
			p.Least - 1: false, p.Most + 1: false, math.NaN(): false,
		} {
			if p.IsDuration() && (math.IsNaN(value) || math.IsInf(value, 1)) || math.IsInf(value, 1) {
				continue
			}
			change := p.Name + "=" + p.Text(value)
			changed, err := single.With(change)
			if !takes {
				require.ErrorIs(t, err, feed.ErrInvalid, change)
				require.ErrorContains(t, err, "must be "+p.Bounds(), change)
				continue
			}
			require.NoError(t, err, change)
			assert.InDelta(t, value, p.Of(changed), 1e-9*max(1, math.Abs(value)), change)
			others := slices.DeleteFunc(changed.All(), func(one string) bool { return slices.Contains(single.All(), one) })
			assert.LessOrEqual(t, len(others), 1, "%s changed %v", change, others)

			fromJSON, data := single, nested(p, value)
			require.NoError(t, json.Unmarshal([]byte(data), &fromJSON), data)
			assert.Equal(t, changed, fromJSON, data)
			written, err := feed.ChangesJSON(change)
			require.NoError(t, err)
			assert.JSONEq(t, data, string(written))
		}
	}
	assert.Equal(t, len(names), len(single.All()), "no parameter is written that is not in the table")
}

// nested returns the JSON that sets one parameter.
func nested(p *feed.Parameter, value float64) string {
	text := p.Text(value)
	if p.IsDuration() {
		text = fmt.Sprintf("%q", text)
	}
	for _, name := range slices.Backward(strings.Split(p.Path, ".")) {
		text = fmt.Sprintf("{%q:%s}", name, text)
	}
	return text
}
