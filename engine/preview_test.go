package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

// The pages that follow equal the preview, to the end of the session, and the preview has no side
// effect.
func TestPreviewEqualsPages(t *testing.T) {
	r := newRig(t, 50, nil)
	r.wants(t, refresh(10), run(0, 10), true)
	r.settled(t)
	recorded := len(r.recorder.all())

	var seen [][]string
	for range 2 { // a preview changes nothing
		lists, err := r.Preview(t.Context(), "u_1", 10, time.Time{}, dayLong())
		require.NoError(t, err)
		require.Len(t, lists, 1)
		seen = append(seen, feed.IDs(lists[0]))
	}
	assert.Equal(t, [][]string{run(10, 50), run(10, 50)}, seen)
	assert.Len(t, r.recorder.all(), recorded)
	assert.Len(t, r.tally.delivered, 10)
	r.wants(t, loadMore(5), run(10, 15), true) // of the first session still

	got := docIDs(r.ask(t, refresh(20)))
	for more := true; more; {
		a := r.ask(t, loadMore(20))
		got, more = append(got, docIDs(a)...), a.HasMore
	}
	assert.Equal(t, run(15, 50), got)
}

func TestPreviewSeveralRankings(t *testing.T) {
	r := newRig(t, 0, nil)
	r.put(t, aged("new", "", 2*time.Hour), aged("topical", "", 60*time.Hour, "go"), aged("ancient", "", 200*time.Hour, "go"))
	require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"go": 1}}))
	long, err := dayLong().With("scale=240h")
	require.NoError(t, err)
	lists, err := r.Preview(t.Context(), "u_1", 10, rankedAt.Add(-100*time.Hour), dayLong(), long)
	require.NoError(t, err)
	require.Len(t, lists, 2)
	assert.Equal(t, []string{"new", "topical"}, feed.IDs(lists[0]))
	assert.Equal(t, []string{"topical", "new"}, feed.IDs(lists[1]), "nothing as old as since")
}

func TestPreviewRefuses(t *testing.T) {
	r := newRig(t, 1, nil)
	_, err := r.Preview(t.Context(), "u:1", 10, time.Time{}, dayLong())
	require.ErrorIs(t, err, feed.ErrBadID)
	_, err = r.Preview(t.Context(), "u_1", 0, time.Time{}, dayLong())
	require.ErrorIs(t, err, feed.ErrBadLimit)
	_, err = r.Preview(t.Context(), "u_1", 10, time.Time{}, feed.Ranking{})
	require.ErrorIs(t, err, feed.ErrInvalid)
}
