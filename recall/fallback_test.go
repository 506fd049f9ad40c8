package recall_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
)

// list is a source that returns its items or fails.
type list struct {
	items []feed.Item
	err   error
}

func (l *list) Name() string { return "list" }

func (l *list) Recall(context.Context, feed.Query) (recall.Result, error) {
	var result recall.Result
	for _, it := range l.items {
		result.Candidates = append(result.Candidates, feed.Candidate{ID: it.ID, Group: it.Group(), UpdateTime: it.UpdateTime})
	}
	return result, l.err
}

// docs returns the contents of the source's items.
func (l *list) docs(_ context.Context, ids []string) ([]feed.Doc, error) {
	out := make([]feed.Doc, len(ids))
	for i, id := range ids {
		out[i].ID = id
		for _, it := range l.items {
			if it.ID == id {
				out[i].JSON, _ = it.MarshalJSON()
			}
		}
	}
	return out, nil
}

func candidates(r recall.Result) []string {
	out := []string{}
	for _, c := range r.Candidates {
		out = append(out, c.ID)
	}
	return out
}

func TestStandbyRecallDown(t *testing.T) {
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	down := fmt.Errorf("%w: gone", recall.ErrUnavailable)
	items := []feed.Item{
		{ID: "a", Title: "A", AuthorID: "kim", UpdateTime: now.Unix() - 10},
		{ID: "b", Title: "B", Lang: "de", UpdateTime: now.Unix() - 20},
		{ID: "c", Title: "C", Tags: []string{"go"}, AuthorID: "lee", AuthorIDs: []string{"lee", "max"}, Langs: []string{"en", "fr"}, UpdateTime: now.Unix() - 30},
		{ID: "d", Title: "D", GroupID: "story", UpdateTime: now.Unix() - 40},
	}
	query := func(p feed.Profile) feed.Query { return feed.Query{N: 10, Origin: now, Profile: p} }
	further, since, few, early := query(feed.Profile{}), query(feed.Profile{}), query(feed.Profile{}), query(feed.Profile{})
	further.After, since.Since, few.N, early.Origin = "more", now.Add(-time.Hour), 2, now.Add(-15*time.Second)
	for _, c := range []struct {
		name  string
		err   error
		after time.Duration
		ask   feed.Query
		want  []string // nil means the error
	}{
		{"anybody", down, 9 * time.Minute, query(feed.Profile{Interests: map[string]float64{"go": 1}}), []string{"a", "b", "c", "d"}},
		{"an author muted", down, 0, query(feed.Profile{MutedAuthors: []string{"kim"}}), []string{"b", "c", "d"}},
		{"one of several authors muted", down, 0, query(feed.Profile{MutedAuthors: []string{"max"}}), []string{"a", "b", "d"}},
		{"one of several languages", down, 0, query(feed.Profile{Langs: []string{"fr"}}), []string{"a", "c", "d"}},
		{"none of several languages", down, 0, query(feed.Profile{Langs: []string{"de"}}), []string{"a", "b", "d"}},
		{"a tag muted", down, 0, query(feed.Profile{MutedTags: []string{"go"}}), []string{"a", "b", "d"}},
		{"a group muted", down, 0, query(feed.Profile{MutedItems: []string{"story"}}), []string{"a", "b", "c"}},
		{"one language", down, 0, query(feed.Profile{Langs: []string{"en"}}), []string{"a", "c", "d"}},
		{"nothing is left", down, 0, query(feed.Profile{Langs: []string{"en"}, MutedTags: []string{"go"}, MutedAuthors: []string{"kim"}, MutedItems: []string{"d"}}), nil},
		{"no more than asked for", down, 0, few, []string{"a", "b"}},
		{"dated after the origin", down, 0, early, []string{"b", "c", "d"}},
		{"too old", down, 10 * time.Minute, query(feed.Profile{}), nil},
		{"a clock set back", down, -time.Minute, query(feed.Profile{}), nil},
		{"a further round", down, 0, further, nil},
		{"what is new", down, 0, since, nil},
		{"an error of the query itself", recall.ErrBadCursor, 0, query(feed.Profile{}), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := now
			source := &list{items: items}
			s := recall.NewShared(source, func() time.Time { return at }, recall.SharedConfig{Fallback: 10 * time.Minute})
			require.NoError(t, s.RenewFallback(t.Context(), query(feed.Profile{}), source.docs, nil))
			at, source.err = now.Add(c.after), c.err
			got, err := s.Recall(t.Context(), c.ask)
			if c.want == nil {
				require.ErrorIs(t, err, c.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, candidates(got))
			assert.True(t, got.Stale)
			assert.Empty(t, got.Next)
			assert.Equal(t, 10*time.Minute-c.after, s.FallbackLeft())
			doc, ok := s.FallbackDoc("a")
			require.True(t, ok)
			assert.Contains(t, string(doc.JSON), `"A"`)
		})
	}
}

// If the content does not tell whether a profile excludes an item, every item is excluded, but no
// post.
func TestTells(t *testing.T) {
	told := recall.ContentDecides(func(p *feed.Profile) bool { return len(p.MutedTags) == 0 })
	tags, author := &feed.Profile{MutedTags: []string{"go"}}, &feed.Profile{MutedAuthors: []string{"kim"}}
	item, post := &feed.Item{ID: "a", AuthorID: "ann"}, &feed.Item{ID: feed.PostPrefix + "1", AuthorID: "ann"}
	for _, c := range []struct {
		tells   recall.ContentDecides
		profile *feed.Profile
		item    *feed.Item
		refused bool
	}{
		{told, &feed.Profile{}, item, false},
		{told, author, item, false},
		{told, author, &feed.Item{ID: "a", AuthorID: "kim"}, true},
		{told, tags, item, true},
		{told, tags, post, false},
		{told, tags, &feed.Item{ID: post.ID, Tags: []string{"go"}}, true},
		{nil, tags, item, false},
		{nil, tags, &feed.Item{ID: "a", Tags: []string{"go"}}, true},
	} {
		assert.Equal(t, c.refused, c.tells.Refused(c.profile)(c.item), "%+v", c)
	}

	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	source := &list{items: []feed.Item{{ID: "a", Title: "A", UpdateTime: now.Unix() - 10}}}
	s := recall.NewShared(source, func() time.Time { return now }, recall.SharedConfig{Fallback: time.Minute})
	require.NoError(t, s.RenewFallback(t.Context(), feed.Query{N: 10, Origin: now}, source.docs, told))
	source.err = recall.ErrUnavailable
	_, err := s.Recall(t.Context(), feed.Query{N: 10, Origin: now, Profile: *tags})
	require.ErrorIs(t, err, recall.ErrUnavailable, "the ContentDecides stored with the list applies")
	got, err := s.Recall(t.Context(), feed.Query{N: 10, Origin: now, Profile: *author})
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, candidates(got))
}

func TestStandbyFollowsWrites(t *testing.T) {
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	item := func(id string) feed.Item { return feed.Item{ID: id, Title: "first", UpdateTime: now.Unix() - 10} }
	source := &list{items: []feed.Item{item("a"), item("b"), item("c"), item("d")}}
	s := recall.NewShared(source, func() time.Time { return now }, recall.SharedConfig{Fallback: time.Minute})
	q := feed.Query{N: 10, Origin: now}
	ids := func() []string {
		was := source.err
		source.err = recall.ErrUnavailable
		defer func() { source.err = was }()
		got, _ := s.Recall(t.Context(), q)
		return candidates(got)
	}
	assert.Empty(t, ids(), "nothing stands in before the first renewal")
	assert.Zero(t, s.FallbackLeft())

	// A write while contents are being read: the order of the two is unknown.
	require.NoError(t, s.RenewFallback(t.Context(), q, func(ctx context.Context, ids []string) ([]feed.Doc, error) {
		s.Delete("b")
		return source.docs(ctx, ids)
	}, nil))
	assert.Equal(t, []string{"a", "c", "d"}, ids())

	s.Delete("c")
	s.Delete("nowhere")
	muted, moved := item("a"), item("d")
	muted.AuthorID, moved.GroupID = "kim", "story"
	s.Upsert([]feed.Item{muted, moved, item("new")})
	assert.Equal(t, []string{"a"}, ids())
	_, ok := s.FallbackDoc("c")
	assert.False(t, ok)
	q.Profile.MutedAuthors = []string{"kim"}
	assert.Empty(t, ids(), "mutes are those of what was written")
	q.Profile = feed.Profile{}

	source.err = errors.New("broken")
	require.ErrorIs(t, s.RenewFallback(t.Context(), q, source.docs, nil), source.err)
	assert.Equal(t, []string{"a"}, ids(), "the list of before stays")
	source.err = nil
	require.NoError(t, s.RenewFallback(t.Context(), q, source.docs, nil))
	assert.Equal(t, []string{"a", "b", "c", "d"}, ids())
}

func TestStandbyBounded(t *testing.T) {
	testenv.WithoutRace(t)
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	source := &list{}
	for i := range 5000 {
		source.items = append(source.items, feed.Item{ID: fmt.Sprintf("item-%04d", i), Title: "A title", Summary: strings.Repeat("x", 10_000), UpdateTime: now.Unix() - int64(i)})
	}
	one, err := source.items[0].MarshalJSON()
	require.NoError(t, err)
	s := recall.NewShared(source, func() time.Time { return now }, recall.SharedConfig{Fallback: time.Minute})
	q := feed.Query{N: 5000, Origin: now}
	require.NoError(t, s.RenewFallback(t.Context(), q, source.docs, nil))
	source.err = recall.ErrUnavailable
	got, err := s.Recall(t.Context(), q)
	require.NoError(t, err)
	assert.Len(t, got.Candidates, 32<<20/len(one), "the best, as far as there is room")
}
