package server

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

// TestJobsOfAProcessThatDied checks that in embedded mode leases of a dead process are not waited
// for: no other process can hold one.
func TestJobsOfAProcessThatDied(t *testing.T) {
	t.Parallel()
	clock, cfg := at(noon), embedded(t)
	file := filepath.Join(cfg.DataDir, socialsqlite.FileName)
	died, err := socialsqlite.Open(t.Context(), file, social.Options{Clock: clock.Now})
	require.NoError(t, err)
	require.NoError(t, died.Enqueue(t.Context(), jobs.Spec{Kind: jobs.Deliver, Key: "post:a"}, jobs.Spec{Kind: jobs.AuthorAgent, Key: "a/b"}))
	_, err = died.LeaseKey(t.Context(), jobs.AuthorAgent, "a/b", time.Hour)
	require.NoError(t, err)
	list, err := died.Lease(t.Context(), 1, time.Hour)
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.NoError(t, died.Close())
	settled(t, open(t, cfg, WithClock(clock.Now)))
}
