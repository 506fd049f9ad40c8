package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/signals/events"
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

// Each ask of a source of home counts once for what came of it, and what nobody waits for
// any more for nothing.
func TestSourcesAreCountedByResult(t *testing.T) {
	proposals := func(n int) func(context.Context, feed.Query) (proposed, error) {
		return func(context.Context, feed.Query) (proposed, error) {
			return proposed{Proposals: recall.Proposals{Proposals: make([]recall.Proposal, n)}}, nil
		}
	}
	hang := func(ctx context.Context, _ feed.Query) (proposed, error) {
		<-ctx.Done()
		return proposed{}, ctx.Err()
	}
	refuse := func(context.Context, feed.Query) (proposed, error) { return proposed{}, recall.ErrUnavailable }
	value := func(s feed.Source) []float64 {
		c := counterOf(s)
		return []float64{testutil.ToFloat64(c.ok), testutil.ToFloat64(c.late), testutil.ToFloat64(c.failed)}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx     context.Context
		source  feed.Source
		propose func(context.Context, feed.Query) (proposed, error)
		want    []float64 // ok, late, error
	}{
		{t.Context(), feed.SourceFollowing, proposals(7), []float64{1, 0, 0}},
		{t.Context(), feed.SourceTrending, hang, []float64{0, 1, 0}},
		{t.Context(), feed.SourcePromoted, refuse, []float64{0, 0, 1}},
		{cancelled, feed.SourceDiscovery, hang, []float64{0, 0, 0}},
	} {
		before := value(c.source)
		l := &sourceQueue{source: c.source, propose: c.propose}
		h := &homeSupply{home: &Home{SourceFor: time.Hour}, queues: []*sourceQueue{l}}
		synctest.Test(t, func(*testing.T) { h.round(c.ctx, l, feed.Query{}) }) // the hour is over at once
		h.count()
		for i, after := range value(c.source) {
			assert.Equal(t, before[i]+c.want[i], after, "%s, figure %d", c.source, i)
		}
	}
}

func TestShownAndClickedAreCountedBySource(t *testing.T) {
	following, explore := counterOf(feed.SourceFollowing), counterOf(feed.SourceExplore)
	value := func() []float64 {
		return []float64{
			testutil.ToFloat64(following.shown), testutil.ToFloat64(following.clicks), testutil.ToFloat64(explore.shown), testutil.ToFloat64(explore.clicks),
		}
	}
	before := value()
	countShown([]feed.Ref{{ID: "a", Source: feed.SourceFollowing}, {ID: "b"}, {ID: "c", Source: feed.SourceExplore}, {ID: "d", Source: feed.SourceFollowing}})
	byFollowing := wasShown{shown: true, source: feed.SourceFollowing}
	countClicks(
		[]Act{{events.Click, "a"}, {events.Like, "a"}, {events.Click, "hidden"}, {events.Click, "unshown"}, {events.Click, "c"}, {events.Click, "b"}},
		[]wasShown{byFollowing, byFollowing, byFollowing, {source: feed.SourceFollowing}, {shown: true, source: feed.SourceExplore}, {shown: true}},
		map[string]bool{"hidden": true},
	)
	for i, more := range []float64{2, 1, 1, 1} {
		assert.Equal(t, before[i]+more, value()[i], "figure %d", i)
	}
}

// BenchmarkCountAnswer measures the cost of counting an answer; the baseline looks
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
