package engine

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

func TestAnswersAreCountedByActionAndResult(t *testing.T) {
	some := Answer{Docs: []feed.Doc{{ID: "a"}, {ID: "b"}}}
	for _, c := range []struct {
		r              Request
		a              Answer
		err            error
		action, result string
		items          float64
	}{
		{Request{Action: ActionRefresh}, some, nil, "refresh", "ok", 2},
		{Request{Action: ActionLoadMore}, some, nil, "load_more", "ok", 2},
		{Request{Action: ActionRefresh, Silent: true}, some, nil, "silent", "ok", 0},
		{Request{Action: ActionLoadMore}, Answer{}, nil, "load_more", "empty", 0},
		{Request{Action: ActionRefresh}, some, errors.New("x"), "refresh", "error", 0},
	} {
		counter := answersTotal.WithLabelValues(c.action, c.result)
		before, items := testutil.ToFloat64(counter), testutil.ToFloat64(itemsTotal)
		countAnswer(c.r, c.a, c.err)
		assert.Equal(t, before+1, testutil.ToFloat64(counter), "%s %s", c.action, c.result)
		assert.Equal(t, items+c.items, testutil.ToFloat64(itemsTotal), "%s %s", c.action, c.result)
	}
}

func TestLoadMoreIsCountedByWhatAnsweredIt(t *testing.T) {
	refs := []feed.Ref{{ID: "a", Group: "a"}}
	for from, count := range map[string]func(){
		"session": func() { countLoadMore(page{Page: cache.Page{Refs: refs}}, nil) },
		"refresh": func() { countLoadMore(page{}, nil) },
		"retry":   func() { countLoadMore(page{Page: cache.Page{Replayed: true}}, nil) },
		"error":   func() { countLoadMore(page{}, errors.New("x")) },
	} {
		counter := loadMoreTotal.WithLabelValues(from)
		before := testutil.ToFloat64(counter)
		count()
		assert.Equal(t, before+1, testutil.ToFloat64(counter), from)
	}
}

func TestDegradedAnswersAreCountedByPart(t *testing.T) {
	value := func(part string) float64 { return testutil.ToFloat64(degradedTotal.WithLabelValues(part)) }
	before := map[string]float64{}
	for _, name := range partNames {
		before[name] = value(name)
	}
	countDegraded(lacksDedup | lacksSession)
	assert.Equal(t, before["recall"], value("recall"))
	assert.Equal(t, before["dedup"]+1, value("dedup"))
	assert.Equal(t, before["session"]+1, value("session"))
	assert.Equal(t, before["catalog"], value("catalog"))
}

// BenchmarkCountAnswer is what counting costs each answer; the baseline looks
// the labels up each time.
func BenchmarkCountAnswer(b *testing.B) {
	r, a := Request{Action: ActionLoadMore}, Answer{Docs: make([]feed.Doc, 20)}
	b.Run("resolved", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			countAnswer(r, a, nil)
		}
	})
	b.Run("looked up", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			answersTotal.WithLabelValues(r.name(), "ok").Inc()
			itemsTotal.Add(float64(len(a.Docs)))
		}
	})
}
