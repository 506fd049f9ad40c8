package server

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// TestPostsToTheLast reads to the end: a reader who has seen thousands of posts still gets full
// pages, until all are seen.
func TestPostsToTheLast(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	posts := testenv.Posts(t)
	now := time.Unix(posts[len(posts)-1].UpdateTime, 0).Add(time.Hour)
	cfg := embedded(t)
	cfg.Dedup.FalsePositiveRate = 1e-9 // no false positives
	a := open(t, cfg, WithClock(at(now).Now))
	put(t, a, posts...)
	seen, short := newOnce(), 0
	for {
		answer := ask(t, a, loadMore("u_1", 100))
		if len(answer.Docs) == 0 {
			break
		}
		if len(answer.Docs) < 100 {
			short++
		}
		seen.add(t, "u_1's feed", ids(answer))
	}
	assert.Equal(t, len(posts), seen.len())
	assert.LessOrEqual(t, short, len(posts)/cfg.Recall.N, "only the last page of a session may be short")
}

// TestPostsWholeSession reads real posts like a reader: a refresh, load_more until nothing is left,
// and again.
func TestPostsWholeSession(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	posts := testenv.Posts(t)
	now := time.Date(2016, 3, 10, 12, 0, 0, 0, time.UTC)
	a := open(t, embedded(t), WithClock(at(now).Now))
	put(t, a, posts...)
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1",
		feed.Profile{Interests: map[string]float64{"show-hn": 3, "github.com": 2}}))

	seen := newOnce()
	first := ask(t, a, refresh("u_1", 20))
	require.Len(t, first.Docs, 20)
	onTopic := 0
	for i, it := range items(t, first) {
		age := now.Sub(time.Unix(it.UpdateTime, 0))
		assert.Less(t, age, 4*24*time.Hour, "the top of the first page is recent: %s", it.Title)
		if slices.Contains(it.Tags, "show-hn") || slices.Contains(it.Tags, "github.com") {
			assert.Equal(t, i, onTopic, "what is on topic comes first: %s", it.Title)
			onTopic++
		}
	}
	assert.GreaterOrEqual(t, onTopic, 8, "the top of the first page is on topic")

	for session := range 2 {
		answer := first
		if session > 0 {
			answer = ask(t, a, refresh("u_1", 20))
			require.Len(t, answer.Docs, 20)
		}
		pages := 1
		for {
			for _, it := range items(t, answer) {
				assert.LessOrEqual(t, it.UpdateTime, now.Unix(), "nothing from the future")
			}
			seen.add(t, fmt.Sprintf("session %d, page %d", session, pages), ids(answer))
			if !answer.HasMore {
				break
			}
			answer = ask(t, a, loadMore("u_1", 20))
			require.NotEmpty(t, answer.Docs, "has_more promised more")
			pages++
		}
		assert.GreaterOrEqual(t, pages, 24, "a session is about N candidates long")
	}
	assert.GreaterOrEqual(t, seen.len(), 970, "two sessions of 500, less the false positives")
	recorded(t, a)
}
