package events_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
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
	cells  map[string]events.Cells
	pages  map[uint64][]events.Page
	tries  int
}

func newFlaky() *flaky {
	return &flaky{counts: map[string]*events.Totals{}, acts: map[string]bool{}, seqs: map[string]uint64{}, agents: map[uint64]bool{}, cells: map[string]events.Cells{}, pages: map[uint64][]events.Page{}}
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
	of := key + " of " + b.Sender
	if f.seqs[of] >= b.Seq {
		return f.err
	}
	f.seqs[of] = b.Seq
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
	if f.cells[b.Variant] == nil {
		f.cells[b.Variant] = events.Cells{}
	}
	f.cells[b.Variant].Merge(b.Cells)
	for _, e := range b.Events {
		if id := fmt.Sprint(key, e.Hash); !f.acts[id] {
			f.acts[id] = true
			t.Add(e.Field, 1)
			if e.Place != "" {
				t.Add(e.Place, 1)
			}
			if e.Cell != 0 {
				f.cells[b.Variant][e.Cell]++
			}
		}
	}
	return f.err
}

func (f *flaky) Remember(_ context.Context, pages []events.PageOf) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries++
	if f.err == nil || f.lost {
		for _, p := range pages {
			f.pages[p.Agent] = append(f.pages[p.Agent], p.Page)
		}
	}
	return f.err
}

func (f *flaky) PagesOf(_ context.Context, agents []uint64) ([][]events.Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries++
	all := make([][]events.Page, len(agents))
	for i, a := range agents {
		all[i] = slices.Clone(f.pages[a])
	}
	return all, f.err
}

func (f *flaky) Forget(_ context.Context, agent uint64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.pages, agent)
	return f.err
}

func (f *flaky) Read(context.Context, feed.Day, feed.Day) ([]events.Totals, error) { return nil, nil }

func (f *flaky) Cells(context.Context, []string, []events.Column, feed.Day, feed.Day) ([]events.DayCells, error) {
	return nil, nil
}

func (f *flaky) Readers(context.Context, []string) ([]int64, float64, error) { return nil, 1, nil }

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
		b.CountPage(events.Delivery{Run: "control", Agent: "u_1", Docs: page(20, time.Hour), Refs: []feed.Ref{
			{Group: "doc_1", Source: feed.SourceExplore},
			{Group: "doc_2", Source: feed.SourceExplore},
			{Group: "doc_3"},
			{Group: "doc_4", Source: feed.SourceFollowing},
			{Group: "doc_5", Source: feed.SourceFollowing},
			{Group: "doc_6", Source: feed.SourcePromoted},
		}, Promoted: []events.Event{events.Promoted("p", "u_1", "doc_6")}}, noon)
		b.CountPage(events.Delivery{Run: "control", Agent: "u_2", Docs: page(10, time.Hour)}, noon)
		b.CountPage(events.Delivery{Run: "slow", Agent: "u_3", Docs: page(5, 0)}, noon.Add(12*time.Hour)) // the next day
		b.CountPage(events.Delivery{Run: "control", Agent: "u_4", Docs: nil}, noon)
		acts := []events.Event{{Hash: 1, Field: "click"}, {Hash: 2, Field: "like"}, events.PromotedAct(events.Click, "p", "u_1", "doc_6")}
		require.True(t, b.CountActs(events.Acts{Run: "control", Other: acts}, noon))
		require.True(t, b.CountActs(events.Acts{Run: "control", Other: acts}, noon))
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
		b.CountPage(events.Delivery{Run: "control", Agent: "u_1", Docs: page(1, 0)}, noon)
		b.Close(t.Context())
		assert.EqualValues(t, 31, f.at("control 20260306").Counts["impressions"], "what was left is written at the end")
	})
}

// TestBufferTicks checks that impressions are written at the next tick and acts one tick
// later.
func TestBufferTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		b := start(t, f, events.BufferConfig{Every: time.Second})
		defer b.Close(t.Context())
		written := func(after time.Duration) [2]int64 {
			time.Sleep(after)
			synctest.Wait()
			got := f.at("control 20260306")
			return [2]int64{got.Counts["impressions"], got.Counts["click"]}
		}
		for i := range int64(5) {
			b.CountPage(events.Delivery{Run: "control", Agent: "u_1", Docs: page(2, 0)}, noon)
			require.True(t, b.CountActs(events.Acts{Run: "control", Other: []events.Event{{Hash: uint64(i), Field: "click"}}}, noon))
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
