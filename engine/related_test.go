package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/coread"
)

var (
	readTogether = api.Reason{Type: api.ReasonCoRead}
	ofRivers     = api.Reason{Type: api.ReasonSameTag, Value: "Rivers"}
)

func tagged(id string, age time.Duration, tags ...string) feed.Item {
	it := aged(id, "", age)
	it.Tags = tags
	return it
}

// related returns the ids and reasons of what is related to an item.
func (r *rig) related(t *testing.T, agent, item string, limit int) ([]string, []api.Reason) {
	t.Helper()
	got, err := r.Related(t.Context(), agent, item, limit)
	require.NoError(t, err)
	require.Len(t, got.Why, len(got.Docs))
	assert.Empty(t, got.Degraded)
	ids := []string{}
	for _, d := range got.Docs {
		ids = append(ids, d.ID)
	}
	return ids, got.Why
}

// TestRelated: at least three people connect two items, then come those of the same tags. What was shown
// stays, and nothing is recorded.
func TestRelated(t *testing.T) {
	t.Parallel()
	r, c := coReadRig(t, nil)
	r.put(t, tagged("i001", time.Hour, "Rivers"), tagged("old", 30*time.Hour, "rivers", "x"), tagged("young", 2*time.Hour, "y", "RIVERS"), tagged("other", time.Hour, "lakes"))
	r.likeMinded(t, c, 2)
	ids, why := r.related(t, "u_1", "i001", 10)
	assert.Equal(t, []string{"young", "old"}, ids, "two people are too few to tell")
	assert.Equal(t, []api.Reason{ofRivers, ofRivers}, why)
	r.read(t, c, "third", "i001", "i020")
	ids, why = r.related(t, "u_1", "i001", 10)
	assert.Equal(t, []string{"i020", "young", "old"}, ids)
	assert.Equal(t, []api.Reason{readTogether, ofRivers, ofRivers}, why)
	ids, _ = r.related(t, "third", "i001", 2)
	assert.Equal(t, []string{"i020", "young"}, ids, "for one who has read it, too")
	before := docIDs(r.ask(t, refresh(3)))
	r.related(t, "u_1", "i001", 10)
	assert.NotEqual(t, before, docIDs(r.ask(t, loadMore(3))))
	ids, _ = r.related(t, "u_1", "other", 10)
	assert.Empty(t, ids)
}

// TestRelatedWithoutCoReaders answers by tags alone.
func TestRelatedWithoutCoReaders(t *testing.T) {
	t.Parallel()
	r, c := coReadRig(t, func(_ *engine.Stores, cfg *engine.Config) { cfg.CoReads = func() bool { return false } })
	r.put(t, tagged("i001", time.Hour, "Rivers"), tagged("old", 30*time.Hour, "rivers"))
	for _, agent := range []string{"a", "b", "d"} {
		require.True(t, c.Acted(agent, []coread.Act{{Item: "i001", Dated: rankedAt.Unix()}}, rankedAt))
		require.True(t, c.Acted(agent, []coread.Act{{Item: "i020", Dated: rankedAt.Unix()}}, rankedAt))
	}
	require.NoError(t, c.Flush(t.Context()))
	ids, why := r.related(t, "u_1", "i001", 10)
	assert.Equal(t, []string{"old"}, ids)
	assert.Equal(t, []api.Reason{ofRivers}, why)
}

// TestRelatedLeavesOut: what the reader has hidden or muted, deleted items, items of the future, and the
// item's own group.
func TestRelatedLeavesOut(t *testing.T) {
	t.Parallel()
	r, c := coReadRig(t, nil)
	about, grouped, own := tagged("i001", time.Hour, "Rivers"), tagged("again", time.Hour, "rivers"), tagged("own", time.Hour, "rivers")
	about.GroupID, grouped.GroupID, own.AuthorID = "g", "g", "u_1"
	byMuted, german := tagged("muted", time.Hour, "rivers"), tagged("german", time.Hour, "rivers")
	byMuted.AuthorID, german.Lang = "m", "de"
	r.put(t, about, grouped, own, byMuted, german, tagged("tag", time.Hour, "rivers", "sport"), tagged("hidden", time.Hour, "rivers"),
		tagged("word", time.Hour, "rivers", "a spoiler"), tagged("future", -time.Hour, "rivers"), tagged("fine", time.Hour, "rivers"), tagged("gone", time.Hour, "rivers"))
	for i := range 3 {
		r.read(t, c, "o"+string(rune('a'+i)), "i001", "hidden", "muted", "i020", "gone", "own", "again")
	}
	require.NoError(t, r.stores.Catalog.Remove(t.Context(), "gone"))
	require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{MutedAuthors: []string{"m"}, MutedTags: []string{"Sport"}, MutedItems: []string{"hidden"}, Langs: []string{"en"}, MutedWords: []feed.MutedWord{{Term: "Spoiler"}}}))
	ids, why := r.related(t, "u_1", "i001", 10)
	assert.Equal(t, []string{"i020", "fine"}, ids)
	assert.Equal(t, []api.Reason{readTogether, ofRivers}, why)
	ids, _ = r.related(t, "u_2", "i001", 10)
	assert.ElementsMatch(t, []string{"hidden", "muted", "i020", "own", "fine", "tag", "german", "word"}, ids)
	for _, missing := range []string{"gone", "future", "never"} {
		_, err := r.Related(t.Context(), "u_1", missing, 10)
		require.ErrorIs(t, err, feed.ErrNotFound, missing)
	}
}

func TestRelatedRefuses(t *testing.T) {
	t.Parallel()
	r, _ := coReadRig(t, nil)
	for _, bad := range []struct {
		agent, item string
		limit       int
		want        error
	}{{"", "i001", 5, feed.ErrBadID}, {"u_1", "a b", 5, feed.ErrBadID}, {"u_1", "i001", 0, feed.ErrBadLimit}, {"u_1", "i001", 101, feed.ErrBadLimit}} {
		_, err := r.Related(t.Context(), bad.agent, bad.item, bad.limit)
		require.ErrorIs(t, err, bad.want)
	}
}

// TestRelatedDegraded: without the store of co-readers the tags remain, and the answer says so.
func TestRelatedDegraded(t *testing.T) {
	t.Parallel()
	r, c := coReadRig(t, nil)
	r.put(t, tagged("i001", time.Hour, "Rivers"), tagged("old", 30*time.Hour, "rivers"))
	c.down = errors.New("down")
	got, err := r.Related(t.Context(), "u_1", "i001", 10)
	require.NoError(t, err)
	assert.Equal(t, []string{"co_readers"}, got.Degraded)
	require.Len(t, got.Docs, 1)
	assert.Equal(t, "old", got.Docs[0].ID)
}
