package recall_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
)

// source answers a query with its ordinal number.
type source struct {
	asked atomic.Int64
	do    func(ctx context.Context, nth int64) error
}

func (s *source) Name() string { return "counting" }

func (s *source) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	n := s.asked.Add(1)
	if s.do != nil {
		if err := s.do(ctx, n); err != nil {
			return recall.Result{}, err
		}
	}
	return recall.Result{Next: fmt.Sprint(n)}, nil
}

// TestSharedAnswersHaveOwnMemory checks that an answer that readers share is in no buffer of theirs.
func TestSharedAnswersHaveOwnMemory(t *testing.T) {
	s := recall.NewShared(buffered{}, time.Now, recall.SharedConfig{Share: time.Hour})
	q := query()
	q.Buffer = make([]feed.Candidate, 1)
	first, err := s.Recall(t.Context(), q)
	require.NoError(t, err)
	q.Buffer[0].ID = "of the next answer"
	again, err := s.Recall(t.Context(), query())
	require.NoError(t, err)
	require.Equal(t, []string{"a", "a"}, []string{first.Candidates[0].ID, again.Candidates[0].ID})
}

// buffered answers in the buffer, if there is one.
type buffered struct{}

func (buffered) Name() string { return "buffered" }

func (buffered) Recall(_ context.Context, q feed.Query) (recall.Result, error) {
	return recall.Result{Candidates: append(q.Buffer[:0], feed.Candidate{ID: "a"})}, nil
}

func query() feed.Query {
	one := feed.Curve{Shape: feed.Exp, Scale: time.Hour, Offset: time.Minute, Decay: 0.5, Weight: 1}
	return feed.Query{
		Profile: feed.Profile{
			Interests: map[string]float64{"go": 1, "rust": 2}, Keywords: feed.Keywords("a", "b"), Langs: []string{"en"},
			MutedAuthors: []string{"x"}, MutedTags: []string{"y"}, MutedItems: []string{"z"},
			Learned: feed.Learned{At: 900, Features: []feed.LearnedFeature{{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "go"}, Evidence: 1}}},
		},
		Ranking: feed.Ranking{
			Decay: feed.Decay{
				Scale: time.Hour, Offset: time.Minute, Decay: 0.5, Floor: 0.1, Curves: feed.Curves{one, one, one, one},
			},
			PopularityWeight: 1, Popularity2h: 1, Popularity2d: 1, PopularityMore: feed.PerHalfLife{1, 1, 1, 1}, Base: 0.1, KeywordsSummary: 0.5,
			Diversity: feed.Diversity{
				Author: feed.Spread{Decay: 0.9, Floor: 0.3}, Site: feed.Spread{Decay: 0.7, Floor: 0.1}, Tag: feed.Spread{Decay: 0.8, Floor: 0.2}, SameStory: 0.6,
			}, Explore: feed.Explore{Share: 0.3},
			Learned: feed.LearnedWeights{Tags: 0.5, Author: 0.5, Lang: 0.5, Words: 0.5, Negative: 0.3, HalfLife: time.Hour},
		},
		Origin: time.Unix(1000, 0), Since: time.Unix(10, 0), N: 5, After: "c",
	}
}

func recalled(t *testing.T, s recall.Source, q feed.Query) string {
	t.Helper()
	r, err := s.Recall(t.Context(), q)
	require.NoError(t, err)
	return r.Next
}

func TestSharedAnswersWithinTTL(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := recall.NewShared(&source{}, func() time.Time { return now }, recall.SharedConfig{Share: time.Second})
	require.Equal(t, "counting", s.Name())
	require.Equal(t, "1", recalled(t, s, query()))
	now = now.Add(time.Second - 1)
	require.Equal(t, "1", recalled(t, s, query()))
	now = now.Add(1)
	require.Equal(t, "2", recalled(t, s, query()))
	now = now.Add(-time.Minute)
	require.Equal(t, "3", recalled(t, s, query()), "an answer from the future is not young")
}

func TestSharedOff(t *testing.T) {
	s := recall.NewShared(&source{}, time.Now, recall.SharedConfig{})
	require.Equal(t, "1", recalled(t, s, query()))
	require.Equal(t, "2", recalled(t, s, query()))
}

func TestSharedBounded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := recall.NewShared(&source{}, func() time.Time { return now }, recall.SharedConfig{Share: time.Second})
	q := query()
	for n := 1; n <= 257; n++ {
		q.N = n
		require.Equal(t, fmt.Sprint(n), recalled(t, s, q))
	}
	require.Equal(t, "257", recalled(t, s, q), "the newest is kept")
	q.N = 1
	require.Equal(t, "258", recalled(t, s, q), "the oldest is not")
}

// long returns as many candidates as requested.
type long struct{ source }

func (s *long) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	r, err := s.source.Recall(ctx, q)
	r.Candidates = make([]feed.Candidate, q.N)
	return r, err
}

// Answers for readers who have seen much are long, so the cache is also bounded by the number of
// candidates.
func TestSharedBoundedInCandidates(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := recall.NewShared(&long{}, func() time.Time { return now }, recall.SharedConfig{Share: time.Hour})
	q := query()
	held := testenv.Retained(func() {
		for n := range 100 {
			q.N, q.After = 10_000, fmt.Sprint("round ", n+1)
			recalled(t, s, q)
		}
	})
	assert.Equal(t, "100", recalled(t, s, q), "the newest is kept")
	assert.Less(t, held, int64(20<<20), "a hundred of them would hold 128 MB")

	for range 20 { // a new answer replaces the expired one
		now = now.Add(time.Hour)
		recalled(t, s, q)
	}
	q.After, now = "round 95", time.Unix(1_700_000_000, 0)
	assert.Equal(t, "95", recalled(t, s, q), "the others are still kept")

	q.N = 128_001
	asked := recalled(t, s, q)
	assert.NotEqual(t, asked, recalled(t, s, q), "one that alone is too much is not kept")
}

// TestSharedDistinguishesQueries changes each field of a query in turn.
func TestSharedDistinguishesQueries(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := recall.NewShared(&source{}, func() time.Time { return now }, recall.SharedConfig{Share: time.Second})
	require.Equal(t, "1", recalled(t, s, query()))
	asked := 1
	differs := func(name string, q feed.Query) {
		asked++
		require.Equal(t, fmt.Sprint(asked), recalled(t, s, q), name)
		require.Equal(t, fmt.Sprint(asked), recalled(t, s, q), name)
	}
	var walk func(name string, v reflect.Value, q *feed.Query)
	walk = func(name string, v reflect.Value, q *feed.Query) {
		// Agent and Home are for sources of home only, co-readers change scores after recall, and mutes that have
		// ended were left out before.
		if slices.Contains([]string{"Query.Buffer", "Query.Agent", "Query.Ranking.Home", "Query.Ranking.CoRead", "Query.Profile.MutedUntil"}, name) {
			return
		}
		old := reflect.New(v.Type()).Elem()
		old.Set(v)
		switch at := v.Interface().(type) {
		case time.Time:
			v.Set(reflect.ValueOf(at.Add(time.Nanosecond)))
		case map[string]float64:
			v.Set(reflect.ValueOf(map[string]float64{"go": 1, "rust": 2.5}))
			differs(name, *q)
			v.Set(reflect.ValueOf(map[string]float64{"go": 1, "Rust": 2}))
		case []feed.Keyword:
			v.Set(reflect.ValueOf(append(feed.Keywords("new"), at...)))
			differs(name, *q)
			v.Set(reflect.ValueOf([]feed.Keyword{{Term: at[0].Term, Weight: at[0].Weight + 1}}))
		case []feed.MutedWord:
			v.Set(reflect.ValueOf(append([]feed.MutedWord{{Term: "new"}}, at...)))
		case []feed.LearnedFeature:
			for _, f := range []feed.LearnedFeature{
				{Feature: feed.Feature{Kind: "word", Value: at[0].Value}, Evidence: at[0].Evidence},
				{Feature: feed.Feature{Kind: at[0].Kind, Value: "rust"}, Evidence: at[0].Evidence},
			} {
				v.Set(reflect.ValueOf([]feed.LearnedFeature{f}))
				differs(name, *q)
			}
			v.Set(reflect.ValueOf([]feed.LearnedFeature{{Feature: at[0].Feature, Evidence: at[0].Evidence / 2}}))
		case *feed.Filter:
			for _, f := range []feed.Filter{
				{}, {All: feed.Conditions{Tags: []string{"go"}}}, {All: feed.Conditions{Langs: []string{"go"}}}, {Any: feed.Conditions{Tags: []string{"go"}}},
			} {
				v.Set(reflect.ValueOf(&f))
				differs(name, *q)
			}
			v.Set(reflect.ValueOf(&feed.Filter{None: feed.Conditions{Tags: []string{"go"}}}))
		case bool:
			return // Alone does not affect the recalled items
		case []string:
			v.Set(reflect.ValueOf(append([]string{"new"}, at...)))
		default:
			switch v.Kind() {
			case reflect.Struct:
				for i := range v.NumField() {
					walk(name+"."+v.Type().Field(i).Name, v.Field(i), q)
				}
				return
			case reflect.Array:
				for i := range v.Len() {
					walk(fmt.Sprintf("%s[%d]", name, i), v.Index(i), q)
				}
				return
			case reflect.String:
				v.SetString(v.String() + "x")
			case reflect.Float64:
				v.SetFloat(v.Float() / 3)
			case reflect.Int, reflect.Int64:
				v.SetInt(v.Int() + 1)
			default:
				t.Fatalf("%s has a type this test does not know: %s", name, v.Type())
			}
		}
		differs(name, *q)
		v.Set(old)
	}
	q := query()
	walk("Query", reflect.ValueOf(&q).Elem(), &q)

	// Values moved from one list to the next, and text moved between two words.
	q = query()
	q.Profile.Keywords, q.Profile.Langs = feed.Keywords("a", "b", "en"), nil
	differs("lists", q)
	q = query()
	q.Profile.Keywords = feed.Keywords("ab")
	differs("words", q)
	require.Equal(t, "1", recalled(t, s, query()))
}

func TestSharedSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &source{do: func(ctx context.Context, _ int64) error {
			select {
			case <-time.After(time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		s := recall.NewShared(src, time.Now, recall.SharedConfig{Share: time.Second})
		leader, giveUp := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			_, err := s.Recall(leader, query())
			assert.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		for range 10 {
			all.Go(func() {
				r, err := s.Recall(t.Context(), query())
				assert.NoError(t, err)
				assert.Equal(t, "1", r.Next)
			})
		}
		synctest.Wait()
		giveUp()
		all.Wait()
		require.EqualValues(t, 1, src.asked.Load())
	})
}

func TestSharedFailures(t *testing.T) {
	t.Run("errors are given to all who wait and not kept", func(t *testing.T) {
		bad := errors.New("bad")
		src := &source{do: func(_ context.Context, nth int64) error {
			if nth == 1 {
				return bad
			}
			return nil
		}}
		s := recall.NewShared(src, time.Now, recall.SharedConfig{Share: time.Hour})
		_, err := s.Recall(t.Context(), query())
		require.ErrorIs(t, err, bad)
		require.Equal(t, "2", recalled(t, s, query()))
	})
	t.Run("a panic is an error", func(t *testing.T) {
		s := recall.NewShared(&source{do: func(context.Context, int64) error { panic("oops") }}, time.Now, recall.SharedConfig{Share: time.Hour})
		_, err := s.Recall(t.Context(), query())
		require.ErrorContains(t, err, "oops")
	})
	t.Run("no answer in time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			src := &source{do: func(ctx context.Context, _ int64) error { <-ctx.Done(); return ctx.Err() }}
			s := recall.NewShared(src, time.Now, recall.SharedConfig{Share: time.Hour, Timeout: time.Minute})
			_, err := s.Recall(t.Context(), query())
			require.ErrorIs(t, err, recall.ErrUnavailable)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	})
	t.Run("given up before it began", func(t *testing.T) {
		src := &source{}
		s := recall.NewShared(src, time.Now, recall.SharedConfig{Share: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Recall(ctx, query())
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, src.asked.Load())
	})
}

func BenchmarkSharedHit(b *testing.B) {
	s := recall.NewShared(&source{}, time.Now, recall.SharedConfig{Share: time.Hour})
	q := query()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Recall(b.Context(), q)
	}
}
