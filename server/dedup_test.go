package server

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// madeItems returns n items, one per minute before noon.
func madeItems(n int) []feed.Item {
	out := make([]feed.Item, n)
	for i := range out {
		out[i] = feed.Item{
			ID: fmt.Sprintf("doc_%04d", i), Title: fmt.Sprintf("Item number %d", i),
			UpdateTime: noon.Add(-time.Duration(i+1) * time.Minute).Unix(), Tags: []string{fmt.Sprintf("tag-%d", i%7)},
		}
	}
	return out
}

// servers opens one embedded system, or two that share their services.
func servers(t *testing.T, m mode, change func(*configs.Config), options ...Option) []*App {
	t.Helper()
	cfg := m.config(t)
	if change != nil {
		change(&cfg)
	}
	options = append(options, WithClock(at(noon).Now))
	all := []*App{open(t, cfg, options...)}
	if m.name == "services" {
		other := cfg
		other.DataDir = t.TempDir()
		all = append(all, open(t, other, options...))
	}
	return all
}

func TestRaceOneAgent(t *testing.T) {
	t.Parallel()
	for _, coalesce := range []time.Duration{0, time.Second} {
		t.Run(fmt.Sprint("coalesce ", coalesce), func(t *testing.T) {
			a := open(t, embedded(t), WithClock(at(noon).Now), func(s *settings) { s.coalesce = coalesce })
			put(t, a, madeItems(800)...)
			seen := newOnce()
			var wg sync.WaitGroup
			for i := range 64 {
				r := refresh("u_1", 10)
				if i%3 != 0 {
					r = loadMore("u_1", 10)
				}
				wg.Go(func() {
					answer, err := a.Engine.Feed(t.Context(), r)
					if assert.NoError(t, err) {
						seen.add(t, fmt.Sprintf("call %d", i), ids(answer))
						assert.NotEmpty(t, answer.Docs)
					}
				})
			}
			wg.Wait()
			assert.GreaterOrEqual(t, seen.len(), 500)
		})
	}
}

// TestRefreshRightAfterRefresh delays the recorder, so that no impression reaches a filter: only
// the pending set keeps the answers disjoint.
func TestRefreshRightAfterRefresh(t *testing.T) {
	t.Parallel()
	a := open(t, embedded(t), WithClock(at(noon).Now), WithRecorder(dedup.RecorderConfig{Linger: time.Hour}))
	put(t, a, madeItems(200)...)
	seen := newOnce()
	for i := range 4 {
		answer := ask(t, a, refresh("u_1", 20))
		require.Len(t, answer.Docs, 20)
		seen.add(t, fmt.Sprintf("refresh %d", i), ids(answer))
	}
	assert.Zero(t, a.Totals().Recorded, "the recorder was to be held up")
}
