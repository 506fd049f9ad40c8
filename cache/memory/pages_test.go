package memory

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/cache/cachetest"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// TestConformanceOpened runs the suite on sessions whose records are in files.
func TestConformanceOpened(t *testing.T) {
	t.Parallel()
	cachetest.Run(t, func(t *testing.T, ttl time.Duration) cachetest.Env {
		clock := newClock()
		seen := inProcess(t, newClock().Now)
		s := reopen(t, t.TempDir(), seen, ttl, clock.Now)
		return cachetest.Env{A: s, B: s, Seen: seen, Advance: clock.Advance}
	})
}

// reopen opens sessions of a directory, whatever has them open.
func reopen(t *testing.T, dir string, seen Store, ttl time.Duration, clock feed.Clock) *Sessions {
	t.Helper()
	s, err := Open(t.Context(), dir, seen, ttl, clock)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close(t.Context())) })
	return s
}

func refsOf(ids ...string) (list []feed.Ref) {
	for _, id := range ids {
		list = append(list, feed.Ref{ID: id, Group: id})
	}
	return list
}

// full is a store whose disk is full.
type full struct{ dedup.Claimer }

func (full) Claim(context.Context, string, []string, time.Time) error { return dedup.ErrUnavailable }

// TestOpenAfterKill opens the files of sessions that were never closed: a retry gets what was claimed
// and not given back, for a minute, also after a second kill, and with half a line at the end.
func TestOpenAfterKill(t *testing.T) {
	t.Parallel()
	dir, clock := t.TempDir(), newClock()
	seen := inProcess(t, clock.Now)
	s := reopen(t, dir, seen, time.Hour, clock.Now)
	call := func(id, owner string) cache.Call {
		return cache.Call{RequestID: id, Owner: owner, Feed: feed.ForYou, Action: "refresh", Limit: 2}
	}
	replace := func(id string, ranked ...string) {
		_, err := s.Replace(t.Context(), cache.Replace{Agent: "u", Ranked: refsOf(ranked...), Limit: 2, Now: clock.Now(), CheckedAt: clock.Now().UnixMilli(), Call: call(id, "first"+id)})
		require.NoError(t, err)
	}
	replace("kept", "a", "b", "c")
	replace("back", "d", "e")
	require.NoError(t, s.Restore(t.Context(), "u", refsOf("d", "e"), call("back", "firstback")))
	replace("part", "f", "g")
	require.NoError(t, s.Restore(t.Context(), "u", refsOf("g"), call("part", "firstpart")))
	require.NoError(t, s.pages.keep("u", call("unclaimed", "x"), &record{action: "refresh", limit: 2, ends: clock.Now().Add(time.Minute), steps: []step{{refs: refsOf("h")}}}))
	file, err := os.OpenFile(filepath.Join(dir, pagesFile), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(`{"agent":"u","feed":"for_you","id":"kept","act`)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	s.claimer = full{seen}
	_, err = s.Replace(t.Context(), cache.Replace{Agent: "u", Ranked: refsOf("i"), Limit: 2, Now: clock.Now(), CheckedAt: clock.Now().UnixMilli(), Call: call("refused", "x")})
	require.ErrorIs(t, err, cache.ErrUnavailable)
	s.claimer = seen
	replace("other", "i")                               // has what the refused call did not get
	for _, owner := range []string{"second", "third"} { // no session is closed before the next is opened
		s = reopen(t, dir, seen, time.Hour, clock.Now)
		if owner == "second" {
			replace("later", "h") // has what the unclaimed page lists
		}
		for id, want := range map[string][]feed.Ref{"kept": refsOf("a", "b"), "back": nil, "part": refsOf("f"), "unclaimed": nil, "refused": nil} {
			page, ok, err := s.Replay(t.Context(), "u", call(id, owner))
			require.NoError(t, err)
			assert.Equal(t, want != nil, ok, id)
			assert.Equal(t, want, page.Refs, id)
			assert.Equal(t, want != nil, page.Replayed, id)
		}
		clock.Advance(20 * time.Second)
	}
	other := call("kept", "fourth")
	other.Action = "load_more"
	_, _, err = s.Replay(t.Context(), "u", other)
	require.ErrorIs(t, err, cache.ErrConflict)

	clock.Advance(cache.RetryTTL)
	s = reopen(t, dir, seen, time.Hour, clock.Now)
	_, ok, err := s.Replay(t.Context(), "u", call("kept", "fifth"))
	require.NoError(t, err)
	assert.False(t, ok)
	text, err := os.ReadFile(filepath.Join(dir, olderFile))
	require.NoError(t, err)
	assert.Empty(t, text, "what is over is in no file")
}

// TestRetryOfRevivedGivenBack gives back a page that was read from the file: it returns to the session.
func TestRetryOfRevivedGivenBack(t *testing.T) {
	t.Parallel()
	dir, clock := t.TempDir(), newClock()
	seen := inProcess(t, clock.Now)
	s := reopen(t, dir, seen, time.Hour, clock.Now)
	call := cache.Call{RequestID: "r", Owner: "first", Feed: feed.HomeFeed, Action: "refresh", Limit: 2}
	_, err := s.Replace(t.Context(), cache.Replace{Agent: "u", Ranked: refsOf("a", "b"), Limit: 2, Now: clock.Now(), CheckedAt: clock.Now().UnixMilli(), Call: call})
	require.NoError(t, err)
	s = reopen(t, dir, seen, time.Hour, clock.Now)
	call.Owner = "second"
	_, ok, err := s.Replay(t.Context(), "u", call)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, s.Restore(t.Context(), "u", refsOf("a", "b"), call))
	page, err := s.Pop(t.Context(), cache.Pop{Agent: "u", Limit: 2, Now: clock.Now(), Call: cache.Call{Owner: "x", Feed: feed.HomeFeed, Action: "load_more", Limit: 2}})
	require.NoError(t, err)
	assert.Equal(t, refsOf("a", "b"), page.Refs)
}

// TestPagesTurn writes for many minutes: the files hold the last two at most, and each page for one.
func TestPagesTurn(t *testing.T) {
	t.Parallel()
	clock := newClock()
	p := &pages{path: t.TempDir(), clock: clock.Now}
	t.Cleanup(func() { require.NoError(t, p.close()) })
	for n := range 30 {
		r := &record{ends: clock.Now().Add(cache.RetryTTL), steps: []step{{refs: refsOf("a")}}}
		require.NoError(t, p.keep("u", cache.Call{RequestID: string(rune('A' + n))}, r))
		clock.Advance(20 * time.Second)
		all, err := p.load()
		require.NoError(t, err)
		var ids []string
		for _, l := range all {
			ids = append(ids, l.ID)
		}
		slices.Sort(ids)
		var want []string
		for back := min(n, 1); back >= 0; back-- {
			want = append(want, string(rune('A'+n-back)))
		}
		require.Equal(t, want, ids)
		text, err := os.ReadFile(filepath.Join(p.path, olderFile))
		if err == nil {
			assert.Less(t, len(text), 2000)
		}
	}
}
