package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
)

// TestRetryClockBehind retries a call at a time before the newest item of its page, as at a server
// whose clock is behind that of the server that made the page: the page is the same.
func TestRetryClockBehind(t *testing.T) {
	t.Parallel()
	r := newRig(t, 10, nil)
	r.put(t, aged("new", "", time.Minute))
	ask := engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: 5, RequestID: "r"}
	first, err := r.Feed(t.Context(), ask)
	require.NoError(t, err)
	require.Contains(t, docIDs(first), "new")
	before := rankedAt.Add(-2 * time.Minute)
	r.now.Store(&before)
	again, err := r.Feed(t.Context(), ask)
	require.NoError(t, err)
	assert.Equal(t, docIDs(first), docIDs(again))
	r.put(t, aged("new", "", -10*time.Minute))
	again, err = r.Feed(t.Context(), ask)
	require.NoError(t, err)
	assert.NotContains(t, docIDs(again), "new", "it was given a date in the future")
	ask.RequestID = ""
	ask.Agent = "u_2"
	other, err := r.Feed(t.Context(), ask)
	require.NoError(t, err)
	assert.NotContains(t, docIDs(other), "new", "a new page has nothing from the future")
}
