package postgres_test

import (
	"fmt"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/postgres"
)

// switched is one address in front of a primary and a hot standby, and a store behind it.
type switched struct {
	*testing.T
	primary, standby *testenv.OwnPostgres
	address          *faultproxy.Proxy
	store            *postgres.Store
}

// startSwitched puts a new address in front of these, with parameters in its URL.
func startSwitched(t *testing.T, primary, standby *testenv.OwnPostgres, parameters string) switched {
	t.Helper()
	s := switched{T: t, primary: primary, standby: standby}
	s.address = faultproxy.StartPostgres(t, s.primary.Addr())
	u, err := url.Parse(s.primary.URL)
	require.NoError(t, err)
	u.Host = s.address.Addrs[0]
	s.store = open(t, u.String()+parameters, social.Options{})
	return s
}

// fill opens several connections.
func (s switched) fill() {
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for n := range 20 {
				_, _ = s.store.Follow(s.Context(), fmt.Sprint("fan", i), fmt.Sprint("star", n), zero)
				_, _ = s.store.Author(s.Context(), "a", "b")
			}
		})
	}
	group.Wait()
}

// write makes a change of each kind of call that writes.
func (s switched) write() error {
	if _, _, err := s.store.CreatePost(s.Context(), social.Post{Author: "a", Caption: "x", Audience: social.Audience{Public: true}}, social.Creation{}); err != nil {
		return err
	}
	return s.store.Enqueue(s.Context(), jobs.Spec{Kind: jobs.Erase, Key: "a"})
}

// TestAddressMovedToStandby leads an address to a standby for a while, with connections opened
// meanwhile, and back to the primary. No connection is cut then, and the very next writes
// succeed on each of them.
func TestAddressMovedToStandby(t *testing.T) {
	primary := testenv.StartPostgres(t)
	standby := primary.StartStandby()
	for name, parameters := range map[string]string{
		"as it is": "", "target_session_attrs": "&target_session_attrs=read-write", "simple protocol": "&default_query_exec_mode=exec",
	} {
		t.Run(name, func(t *testing.T) {
			s := startSwitched(t, primary, standby, parameters)
			s.fill()
			require.NoError(t, s.write())
			s.address.Lead(s.standby.Addr())
			s.address.HangUp()
			s.fill()
			require.ErrorIs(t, s.write(), social.ErrUnavailable)
			testenv.WaitFor(t, func() bool { return assert.ErrorIs(t, s.store.Ping(t.Context()), social.ErrTakesNoWrites) }, "readiness to name it")

			s.address.Lead(s.primary.Addr())
			testenv.WaitFor(t, func() bool { return s.write() == nil }, "a connection to the primary")
			for range 50 {
				require.NoError(t, s.write(), "no other connection is left at the standby")
			}
			var group sync.WaitGroup
			for range 20 {
				group.Go(func() {
					assert.NoError(t, s.write())
					assert.NoError(t, s.store.Ping(t.Context()))
				})
			}
			group.Wait()
		})
	}
}

// TestReadsLeaveStandby checks that reads alone, which a standby answers with old data, find the
// primary again.
func TestReadsLeaveStandby(t *testing.T) {
	primary := testenv.StartPostgres(t)
	s := startSwitched(t, primary, primary.StartStandby(), "")
	s.address.Lead(s.standby.Addr())
	s.address.HangUp()
	s.fill()
	script(t, s.standby.URL, `SELECT pg_wal_replay_pause()`)
	s.address.Lead(s.primary.Addr())
	direct := open(t, s.primary.URL, social.Options{})
	_, err := direct.Block(t.Context(), "blocker", "blocked")
	require.NoError(t, err)
	blocked := func() bool {
		list, err := s.store.Blocked(t.Context(), "blocker", "", 10)
		return err == nil && len(list) == 1
	}
	testenv.WaitFor(t, blocked, "the block to be read from the primary")
	for range 50 {
		require.True(t, blocked(), "no connection is left at the standby")
	}
}
