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
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/signals/events"
)

func TestMetricsAnswers(t *testing.T) {
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
		counter := answers[c.action+" "+c.result]
		before, items := testutil.ToFloat64(counter), testutil.ToFloat64(itemsTotal)
		countAnswer(c.r, c.a, c.err)
		assert.Equal(t, before+1, testutil.ToFloat64(counter), "%s %s", c.action, c.result)
		assert.Equal(t, items+c.items, testutil.ToFloat64(itemsTotal), "%s %s", c.action, c.result)
	}
}

func TestMetricsLoadMore(t *testing.T) {
	refs := []feed.Ref{{ID: "a", Group: "a"}}
	for from, count := range map[string]func(){
		"session": func() { countLoadMore(page{Page: cache.Page{Refs: refs}}, nil) },
		"refresh": func() { countLoadMore(page{}, nil) },
		"retry":   func() { countLoadMore(page{Page: cache.Page{Replayed: true}}, nil) },
		"error":   func() { countLoadMore(page{}, errors.New("x")) },
	} {
		counter := loadMores[from]
		before := testutil.ToFloat64(counter)
		count()
		assert.Equal(t, before+1, testutil.ToFloat64(counter), from)
	}
}

// Each query of a source of home counts once, by its result; a canceled one does not count.
func TestMetricsHomeSources(t *testing.T) {
	some := func(context.Context, feed.Query) (recall.Proposals, degraded.Parts, error) {
		return recall.Proposals{Proposals: make([]recall.Proposal, 7)}, 0, nil
	}
	hang := func(ctx context.Context, _ feed.Query) (recall.Proposals, degraded.Parts, error) {
		<-ctx.Done()
		return recall.Proposals{}, 0, ctx.Err()
	}
	refuse := func(context.Context, feed.Query) (recall.Proposals, degraded.Parts, error) {
		return recall.Proposals{}, 0, recall.ErrUnavailable
	}
	value := func(s feed.Source) (figures []float64) {
		for _, result := range []string{"ok", "late", "error"} {
			figures = append(figures, testutil.ToFloat64(sourceQueries[s.String()+" "+result]))
		}
		return figures
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx     context.Context
		source  feed.Source
		propose proposeFunc
		want    []float64 // figures for ok, late and error
	}{
		{t.Context(), feed.SourceFollowing, some, []float64{1, 0, 0}},
		{t.Context(), feed.SourceTrending, hang, []float64{0, 1, 0}},
		{t.Context(), feed.SourcePromoted, refuse, []float64{0, 0, 1}},
		{cancelled, feed.SourceDiscovery, hang, []float64{0, 0, 0}},
	} {
		before := value(c.source)
		l := &sourceQueue{source: c.source, propose: c.propose}
		h := &homeSupply{home: &Home{SourceFor: time.Hour}, stages: &stages{counted: true}, queues: []*sourceQueue{l}}
		synctest.Test(t, func(*testing.T) { h.round(c.ctx, l, feed.Query{}) }) // the bubble's hour passes at once
		for i, after := range value(c.source) {
			assert.Equal(t, before[i]+c.want[i], after, "%s, figure %d", c.source, i)
		}
	}
}

func TestMetricsShownAndClicked(t *testing.T) {
	value := func() []float64 {
		return []float64{
			testutil.ToFloat64(shownItems["following"]), testutil.ToFloat64(clicks["following"]),
			testutil.ToFloat64(shownItems["explore"]), testutil.ToFloat64(clicks["explore"]),
		}
	}
	before := value()
	countShown([]feed.Ref{{ID: "a", Source: feed.SourceFollowing}, {ID: "b"}, {ID: "c", Source: feed.SourceExplore}, {ID: "d", Source: feed.SourceFollowing}})
	byFollowing := wasShown{shown: true, source: feed.SourceFollowing}
	countAccepted(
		[]Act{{events.Click, "a"}, {events.Like, "a"}, {events.Click, "hidden"}, {events.Click, "unshown"}, {events.Click, "c"}, {events.Click, "b"}},
		[]wasShown{byFollowing, byFollowing, byFollowing, {source: feed.SourceFollowing}, {shown: true, source: feed.SourceExplore}, {shown: true}},
		map[string]bool{"hidden": true},
	)
	for i, more := range []float64{2, 1, 1, 1} {
		assert.Equal(t, before[i]+more, value()[i], "figure %d", i)
	}
}

func BenchmarkCountAnswer(b *testing.B) {
	r, a := Request{Action: ActionLoadMore}, Answer{Docs: make([]feed.Doc, 20)}
	b.ReportAllocs()
	for b.Loop() {
		countAnswer(r, a, nil)
	}
}
