package events_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// flaky is a store that can be made to fail, before or after it has counted.
type flaky struct {
	mu     sync.Mutex
	err    error
	lost   bool // the batch is counted, but the answer is lost
	counts map[string]*events.Totals
	acts   map[string]bool
	seqs   map[string]uint64
	agents map[uint64]bool
	tries  int
}

func newFlaky() *flaky {
	return &flaky{counts: map[string]*events.Totals{}, acts: map[string]bool{}, seqs: map[string]uint64{}, agents: map[uint64]bool{}}
}

func (f *flaky) fail(err error, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.lost = err, lost
}

func (f *flaky) Add(_ context.Context, b *events.Batch) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries++
	if f.err != nil && !f.lost {
		return f.err
	}
	key := b.Variant + " " + b.Day.String()
	if f.seqs[key] >= b.Seq {
		return f.err
	}
	f.seqs[key] = b.Seq
	t := f.counts[key]
	if t == nil {
		t = &events.Totals{}
		f.counts[key] = t
	}
	for field, n := range b.Counts() {
		t.Add(field, n)
	}
	t.Authors += int64(len(b.Authors))
	for _, a := range b.Agents {
		f.agents[a] = true
	}
	for _, e := range b.Events {
		if id := fmt.Sprint(key, e.Hash); !f.acts[id] {
			f.acts[id] = true
			t.Add(e.Field, 1)
		}
	}
	return f.err
}

func (f *flaky) Read(context.Context, feed.Day, feed.Day) ([]events.Totals, error) { return nil, nil }

func (f *flaky) at(key string) events.Totals {
	f.mu.Lock()
	defer f.mu.Unlock()
	var now events.Totals
	if t := f.counts[key]; t != nil {
		now = *t
		now.Counts = maps.Clone(t.Counts)
	}
	return now
}

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

func page(n int, age time.Duration) []feed.Doc {
	docs := make([]feed.Doc, n)
	for i := range docs {
		id := fmt.Sprint("doc_", i)
		docs[i] = feed.Doc{ID: id, JSON: json.RawMessage(fmt.Sprintf(
			`{"id":%q,"title":"t","update_time":%d,"author_id":"author_%d"}`, id, noon.Add(-age).Unix(), i%3))}
	}
	return docs
}

func start(t *testing.T, store events.Store, cfg events.BufferConfig) *events.Buffer {
	t.Helper()
	cfg.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	return events.NewBuffer(t.Context(), store, cfg)
}

func flush(t *testing.T, b *events.Buffer) {
	t.Helper()
	require.NoError(t, b.Flush(t.Context()))
}

// dropped returns the metric's value for what.
func dropped(t *testing.T, what string) float64 {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() != "freshet_signals_dropped_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			if m.GetLabel()[0].GetValue() == what {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

func TestBufferCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		b := start(t, f, events.BufferConfig{Every: time.Hour})
		b.Delivered("control", "u_1", page(20, time.Hour), []feed.Ref{
			{Group: "doc_1", Source: feed.SourceExplore},
			{Group: "doc_2", Source: feed.SourceExplore},
			{Group: "doc_3"},
			{Group: "doc_4", Source: feed.SourceFollowing},
			{Group: "doc_5", Source: feed.SourceFollowing},
			{Group: "doc_6", Source: feed.SourcePromoted},
		}, []events.Event{events.Promoted("p", "u_1", "doc_6")}, noon)
		b.Delivered("control", "u_2", page(10, time.Hour), nil, nil, noon)
		b.Delivered("slow", "u_3", page(5, 0), nil, nil, noon.Add(12*time.Hour)) // the next day
		b.Delivered("control", "u_4", nil, nil, nil, noon)
		acts := []events.Event{{Hash: 1, Field: "click"}, {Hash: 2, Field: "like"}, events.PromotedAct(events.Click, "p", "u_1", "doc_6")}
		require.True(t, b.Acted("control", acts, noon))
		require.True(t, b.Acted("control", acts, noon))
		flush(t, b)
		got := f.at("control 20260306")
		assert.EqualValues(t, 30, got.Counts["impressions"])
		assert.EqualValues(t, 30, got.Ages[events.AgeBucket(3600)])
		assert.EqualValues(t, 3, got.Authors)
		assert.EqualValues(t, 2, got.Counts["explored"])
		assert.Equal(t, []int64{2, 1}, []int64{got.Counts["source:following"], got.Counts["source:promoted"]})
		assert.Equal(t, []int64{1, 1}, []int64{got.Counts["promoted:p"], got.Counts["promoted_click:p"]})
		assert.EqualValues(t, 1, got.Counts["click"])
		assert.EqualValues(t, 1, got.Counts["like"])
		assert.EqualValues(t, 5, f.at("slow 20260307").Counts["impressions"])
		assert.Len(t, f.agents, 3)
		tries := f.tries
		flush(t, b)
		assert.Equal(t, tries, f.tries, "nothing new, nothing written")
		b.Delivered("control", "u_1", page(1, 0), nil, nil, noon)
		b.Close(t.Context())
		assert.EqualValues(t, 31, f.at("control 20260306").Counts["impressions"], "what was left is written at the end")
	})
}

// TestBufferTicks checks that impressions are written at the next tick and acts one tick
// later.
func TestBufferTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		b := start(t, f, events.BufferConfig{})
		defer b.Close(t.Context())
		written := func(after time.Duration) [2]int64 {
			time.Sleep(after)
			synctest.Wait()
			got := f.at("control 20260306")
			return [2]int64{got.Counts["impressions"], got.Counts["click"]}
		}
		for i := range int64(5) {
			b.Delivered("control", "u_1", page(2, 0), nil, nil, noon)
			require.True(t, b.Acted("control", []events.Event{{Hash: uint64(i), Field: "click"}}, noon))
			assert.Equal(t, [2]int64{2 * i, i}, written(time.Second-1))
			assert.Equal(t, [2]int64{2*i + 2, i}, written(1))
			assert.Equal(t, [2]int64{2*i + 2, i}, written(time.Second-1))
			assert.Equal(t, [2]int64{2*i + 2, i + 1}, written(1))
		}
		tries := f.tries
		written(time.Hour)
		assert.Equal(t, tries, f.tries, "nothing new, nothing written")
	})
}
