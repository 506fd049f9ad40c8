package catalogtest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// maxSample is larger than the number of agents.
const maxSample = 10_000

// Sampler is a catalog that draws samples of the agents with a profile.
type Sampler interface {
	catalog.Catalog
	Agents(ctx context.Context, n int, seed int64) ([]string, error)
}

// RunSampler checks the contract of engine/offline's Source for samples.
func RunSampler(t *testing.T, open func(t *testing.T) Sampler) {
	t.Run("Agents", func(t *testing.T) { agents(t, open(t)) })
}

func agents(t *testing.T, c Sampler) {
	ctx := t.Context()
	none, err := c.Agents(ctx, 5, 1)
	require.NoError(t, err)
	require.Empty(t, none)
	var own []string
	for i := range 40 {
		own = append(own, fmt.Sprintf("u_sample_%02d", i))
		require.NoError(t, PutProfile(ctx, c, own[i], feed.Profile{Interests: map[string]float64{"go": 1}}))
	}
	draw := func(n int, seed int64) []string {
		t.Helper()
		ids, err := c.Agents(ctx, n, seed)
		require.NoError(t, err)
		assert.True(t, slices.IsSorted(ids), "sorted: %v", ids)
		assert.Len(t, slices.Compact(slices.Clone(ids)), len(ids), "each once: %v", ids)
		return ids
	}
	var all []string
	testenv.WaitFor(t, func() bool {
		all = draw(maxSample, 1)
		return !slices.ContainsFunc(own, func(id string) bool { return !slices.Contains(all, id) })
	}, "profiles become drawable")

	met := map[string]int{}
	for seed := range int64(60) {
		some := draw(10, seed)
		require.Len(t, some, 10)
		assert.Equal(t, some, draw(10, seed), "the same seed draws the same")
		for _, id := range some {
			assert.Contains(t, all, id)
			met[id]++
		}
	}
	for _, id := range own { // each is missed with probability (1 − 10/n)^60, less than one in ten thousand for n up to 70
		assert.NotZero(t, met[id], "%s is never drawn", id)
	}
	assert.NotEqual(t, draw(10, 1), draw(10, 2), "another seed draws others")

	require.NoError(t, c.RemoveProfile(ctx, own[0]))
	testenv.WaitFor(t, func() bool { return !slices.Contains(draw(maxSample, 1), own[0]) }, "who has no profile any more is not drawn")

	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = c.Agents(ended, 5, 1)
	require.ErrorIs(t, err, context.Canceled)
}
