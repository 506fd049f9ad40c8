package ranking_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/ranking"
)

func edited(t *testing.T, changes string) feed.Ranking {
	t.Helper()
	r, err := configured.With(changes)
	require.NoError(t, err)
	return r
}

func TestAnEditOfTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		a, _ := openLive(t, store)
		b, _ := openLive(t, store)
		change(t, a, ranking.Change{Edit: with("weight=0.2"), Experiments: []ranking.Experiment{{Name: "slow", Share: 0.1}}})

		// Only what was edited changes; what was set otherwise stays.
		require.NoError(t, a.FileEdited(t.Context(), "/etc/freshet.yaml", configured, edited(t, "scale=48h")))
		v := a.InForce()
		require.Equal(t, 2, v.Version)
		require.Equal(t, "config /etc/freshet.yaml", v.By)
		require.Equal(t, "the file says scale=48h", v.Why)
		require.Equal(t, "scale=48h,weight=0.2", v.Live.Ranking.Changes(configured))
		require.Len(t, v.Live.Variants, 1)

		// The other server sees the same edit: it is in force.
		require.NoError(t, b.FileEdited(t.Context(), "/mnt/freshet.yaml", configured, edited(t, "scale=48h")))
		require.Equal(t, 2, current(t, b))

		// A server that sees an edit late does not undo what somebody has set since.
		c, _ := openLive(t, store)
		require.NoError(t, a.FileEdited(t.Context(), "f", edited(t, "scale=48h"), edited(t, "scale=96h")))
		change(t, a, ranking.Change{Edit: with("scale=12h")})
		require.NoError(t, c.FileEdited(t.Context(), "f", edited(t, "scale=48h"), edited(t, "scale=96h")))
		require.Equal(t, 4, current(t, c))
		// But the same edit made anew is one.
		require.NoError(t, c.FileEdited(t.Context(), "f", edited(t, "scale=48h"), edited(t, "scale=96h")))
		require.Equal(t, 5, current(t, c))
	})
}

func TestServersThatSeeAnEditAtOnceStoreItOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		var all sync.WaitGroup
		for range 5 {
			l, _ := openLive(t, store)
			all.Go(func() { assert.NoError(t, l.FileEdited(t.Context(), "f", configured, edited(t, "scale=48h"))) })
		}
		all.Wait()
		list, err := store.Versions(t.Context(), 10)
		require.NoError(t, err)
		require.Len(t, list, 1)
	})
}

func TestAnEditThatCannotBeStoredIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{Store: newStore(t)}
		l, _ := openLive(t, w)
		w.set(true)
		require.ErrorIs(t, l.FileEdited(t.Context(), "f", configured, edited(t, "scale=48h")), ranking.ErrUnavailable)
		w.set(false)
		require.NoError(t, l.FileEdited(t.Context(), "f", configured, edited(t, "scale=48h")))
		require.Equal(t, 1, l.InForce().Version)
	})
}

func TestStartSaysWhenTheFileIsNotInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		first, _ := openLive(t, store)
		change(t, first, ranking.Change{Edit: with("scale=48h")})
		l, log := openLive(t, store)
		require.Equal(t, "scale=48h", l.InForce().Live.Ranking.Changes(configured))
		require.Equal(t, 1, log.count("not the configuration's"))
		require.Equal(t, 1, log.count("stored=\"scale=48h\"")+log.count("stored=scale=48h"))
	})
}

func TestLongPathsAreNamedByTheirEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := openLive(t, newStore(t))
		path := strings.Repeat("é", 100) + "/freshet.yaml"
		require.NoError(t, l.FileEdited(t.Context(), path, configured, edited(t, "scale=48h")))
		by := l.InForce().By
		require.True(t, strings.HasPrefix(by, "config é"), by)
		require.True(t, strings.HasSuffix(by, "/freshet.yaml"), by)
		require.LessOrEqual(t, len(by), ranking.MaxBy)
	})
}
