package evaluation

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/offline"
)

// TestReplayBatchesClicks checks that other events between clicks cause no additional calls.
func TestReplayBatchesClicks(t *testing.T) {
	t.Parallel()
	var sizes []int
	in := clicks{skipped: map[string]int{}, handOn: func(_ context.Context, some []offline.Click) error {
		sizes = append(sizes, len(some))
		return nil
	}}
	five := strings.Repeat(`{"agent_id":"u_1","id":"doc_1","at":1,"type":"view"}`+"\n", 4) + `{"agent_id":"u_1","id":"doc_1","at":1,"type":"click"}` + "\n"
	rejected, _, err := in.read(t.Context(), strings.NewReader(strings.Repeat(five, 10)+"not JSON\n"), 4)
	require.NoError(t, err)
	assert.Equal(t, 1, rejected)
	assert.Equal(t, []int{4, 4, 2}, sizes)
	assert.Equal(t, map[string]int{"view": 40}, in.skipped)
}

func TestReplayCallFailure(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, atOnce := range map[string]int{"within the file": 1, "at its end": 10} {
		calls := 0
		in := clicks{skipped: map[string]int{}, handOn: func(context.Context, []offline.Click) error {
			calls++
			return broken
		}}
		_, _, err := in.read(t.Context(), strings.NewReader(strings.Repeat(`{"agent_id":"u_1","id":"doc_1","at":1,"type":"click"}`+"\n", 3)), atOnce)
		require.ErrorIs(t, err, broken, name)
		assert.Equal(t, 1, calls, name)
	}
}
