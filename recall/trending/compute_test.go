package trending_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	recallmemory "github.com/freshet/freshet/recall/memory"
	"github.com/freshet/freshet/recall/trending"
)

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// shelf is a catalog of items.
type shelf map[string]feed.Item

func (s shelf) Docs(_ context.Context, ids []string) ([]feed.Doc, error) {
	docs := make([]feed.Doc, len(ids))
	for i, id := range ids {
		docs[i].ID = id
		if it, ok := s[id]; ok {
			docs[i].JSON, _ = json.Marshal(it)
		}
	}
	return docs, nil
}

// library returns an index and a catalog of the same items.
func library(items []feed.Item) (*recallmemory.Source, shelf) {
	index, s := recallmemory.New(), shelf{}
	index.Upsert(items)
	for _, it := range items {
		s[it.ID] = it
	}
	return index, s
}

// straight computes the set by scoring every item.
func straight(items []feed.Item, at time.Time, n int) []trending.Entry {
	var all []trending.Entry
	for _, it := range items {
		age := at.Sub(time.Unix(it.UpdateTime, 0))
		if it.Popularity() == 0 || age < 0 || age >= feed.TrendWindow {
			continue
		}
		all = append(all, trending.Entry{
			ID: it.ID, Group: it.Group(), UpdateTime: it.UpdateTime, Reactions: float64(it.Popularity()),
			Trend: feed.TrendOf(float64(it.Popularity()), age), Author: it.AuthorID, Lang: it.Lang,
			Site: feed.Site(it.URL), Tags: it.Tags, Story: []byte(feed.Sketch(it.Title)),
		})
	}
	slices.SortFunc(all, func(a, b trending.Entry) int {
		return cmp.Or(cmp.Compare(b.Trend, a.Trend), cmp.Compare(b.UpdateTime, a.UpdateTime), strings.Compare(a.ID, b.ID))
	})
	met := map[string]bool{}
	all = slices.DeleteFunc(all, func(e trending.Entry) bool {
		again := met[e.Group]
		met[e.Group] = true
		return again
	})
	return all[:min(n, len(all))]
}

// made returns items with random ages and reactions.
func made(seed uint64, n int, age func(*rand.Rand) time.Duration, likes func(*rand.Rand) int64) []feed.Item {
	draw := rand.New(rand.NewPCG(seed, 1))
	items := make([]feed.Item, n)
	for i := range items {
		items[i] = feed.Item{
			ID: fmt.Sprintf("i%05d", i), Title: fmt.Sprint("The story of number ", i), UpdateTime: noon.Add(-age(draw)).Unix(),
			Likes: likes(draw), Comments: draw.Int64N(3), AuthorID: fmt.Sprint("author", i%7), Lang: "en",
			URL: fmt.Sprintf("https://site%d.example/%d", i%5, i), Tags: []string{fmt.Sprint("tag", i%4), "all"},
		}
		if i%10 == 0 {
			items[i].GroupID = fmt.Sprint("group", i%100)
		}
	}
	return items
}

// alone puts each item into a separate group.
func alone(items []feed.Item) []feed.Item {
	for i := range items {
		items[i].GroupID = ""
	}
	return items
}

// TestComputeEqualsReference compares with scoring every item, for typical ages and reactions
// and for ones that hide the best items behind others.
func TestComputeEqualsReference(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	week := func(r *rand.Rand) time.Duration { return time.Duration(r.Int64N(int64(9*24*time.Hour))) - 12*time.Hour }
	few := func(r *rand.Rand) int64 { return r.Int64N(20) }
	for name, items := range map[string][]feed.Item{
		"none":     nil,
		"few":      made(1, 12, week, few),
		"a week":   made(2, 6000, week, few),
		"lopsided": made(3, 6000, week, func(r *rand.Rand) int64 { return int64(1 / (r.Float64() + 1e-6)) }),
		// All in one bucket: the oldest items have the most reactions.
		"one bucket": made(4, 3000, func(r *rand.Rand) time.Duration {
			return 150*time.Hour + time.Duration(r.Int64N(int64(18*time.Hour)))
		}, func(r *rand.Rand) int64 { return 900 + r.Int64N(200) }),
		"one second": alone(made(5, 2000, func(*rand.Rand) time.Duration { return 30 * time.Hour }, few)),
		"all equal":  alone(made(6, 2000, func(*rand.Rand) time.Duration { return time.Minute }, func(*rand.Rand) int64 { return 3 })),
	} {
		for _, n := range []int{1, 10, 100} {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) {
				t.Parallel()
				index, docs := library(items)
				got, err := trending.Compute(t.Context(), index, docs, noon, n)
				require.NoError(t, err)
				want := straight(items, noon, n)
				require.Equal(t, len(want), len(got.Entries))
				for i := range want {
					require.Equal(t, want[i], got.Entries[i], "place %d", i)
				}
				require.Equal(t, noon.Unix(), got.At)
			})
		}
	}
}

// TestComputeSkipsDeleted: contents are read after the index, which may lag behind
// deletions.
func TestComputeSkipsDeleted(t *testing.T) {
	t.Parallel()
	items := made(1, 10, func(*rand.Rand) time.Duration { return time.Hour }, func(r *rand.Rand) int64 { return 1 + r.Int64N(9) })
	index, docs := library(items)
	delete(docs, "i00003")
	got, err := trending.Compute(t.Context(), index, docs, noon, 100)
	require.NoError(t, err)
	require.Len(t, got.Entries, 9)
	require.False(t, slices.ContainsFunc(got.Entries, func(e trending.Entry) bool { return e.ID == "i00003" }))
}

// broken fails like an unavailable store.
type broken struct{}

func (broken) Popular(context.Context, []recall.Span, int) ([][]recall.PopularItem, error) {
	return nil, fmt.Errorf("%w: no connection", recall.ErrUnavailable)
}

func (broken) Docs(context.Context, []string) ([]feed.Doc, error) {
	return nil, fmt.Errorf("%w: no connection", catalog.ErrUnavailable)
}

func TestComputeFailure(t *testing.T) {
	t.Parallel()
	index, docs := library(made(1, 10, func(*rand.Rand) time.Duration { return 0 }, func(*rand.Rand) int64 { return 1 }))
	_, err := trending.Compute(t.Context(), broken{}, docs, noon, 10)
	require.ErrorIs(t, err, recall.ErrUnavailable)
	_, err = trending.Compute(t.Context(), index, broken{}, noon, 10)
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = trending.Compute(ctx, index, docs, noon, 10)
	require.True(t, errors.Is(err, context.Canceled))
}

func TestEncode(t *testing.T) {
	t.Parallel()
	index, docs := library(made(1, 50, func(r *rand.Rand) time.Duration { return time.Duration(r.Int64N(int64(time.Hour))) }, func(r *rand.Rand) int64 { return r.Int64N(9) }))
	set, err := trending.Compute(t.Context(), index, docs, noon, 40)
	require.NoError(t, err)
	data := set.Encode()
	got, err := trending.Decode(data)
	require.NoError(t, err)
	assert.Equal(t, set, got)
	assert.Equal(t, set.Revision, trending.RevisionOf(data[:trending.HeadBytes]))
	for _, bad := range []string{"", "1", "1 a", "1 a b\n[]", "2 a 5\n[]", "1 a 5\n", "1 a 5\n{}", "1 a 5 6\n[]", strings.Repeat("1 a 5", 30) + "\n[]"} {
		_, err := trending.Decode([]byte(bad))
		assert.Error(t, err, "%q", bad)
	}
	assert.Empty(t, trending.RevisionOf([]byte("2 a 5\n[]")))
}

// FuzzDecode decodes arbitrary values, as may be stored in Redis.
func FuzzDecode(f *testing.F) {
	f.Add(trending.NewSet(5, []trending.Entry{{ID: "a", Group: "g", Story: []byte{1}, Tags: []string{"t"}}}).Encode())
	f.Add([]byte("1 a 5\nnull"))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := trending.Decode(data)
		if err != nil {
			return
		}
		again, err := trending.Decode(set.Encode())
		require.NoError(t, err)
		require.Equal(t, set, again)
	})
}

// BenchmarkCompute computes the set over 200,000 items of a week, in memory.
func BenchmarkCompute(b *testing.B) {
	week := func(r *rand.Rand) time.Duration { return time.Duration(r.Int64N(int64(feed.TrendWindow))) }
	index, docs := library(made(1, 200_000, week, func(r *rand.Rand) int64 { return int64(1 / (r.Float64() + 1e-6)) }))
	for b.Loop() {
		if _, err := trending.Compute(b.Context(), index, docs, noon, 500); err != nil {
			b.Fatal(err)
		}
	}
}
