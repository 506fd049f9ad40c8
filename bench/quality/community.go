package quality

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/bench"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server"
)

// pageSize is the number of items on a page.
const pageSize = 20

// mostDays is the largest dedup.window_days.
const mostDays = 60

// neverByChance is a false positive rate of dedup so low that no unseen item is taken for seen.
const neverByChance = 1e-9

// community is Freshet in one process, with a clock set by the replay.
type community struct {
	app  *server.App
	data *Data
	now  atomic.Int64 // Unix seconds

	published int  // number of data.items in the catalog
	unflushed bool // acts may be pending
}

// open starts Freshet in a directory, at the time of the first event. cfg determines the ranking;
// its backends and addresses are ignored.
func open(ctx context.Context, cfg configs.Config, dir string, d *Data, window time.Duration) (*community, error) {
	cfg = bench.EmbeddedConfig(cfg, dir)
	// Items read within the window must not be shown again.
	cfg.Dedup.WindowDays = max(cfg.Dedup.WindowDays, daysOf(window))
	cfg.Popularity.HalfLives = feed.HalfLifeNames // for all rankings that are measured
	cfg.Dedup.FalsePositiveRate, cfg.Dedup.DailyCapacity = neverByChance, max(1000, d.busiestDay())
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &community{data: d}
	c.now.Store(d.events[0].at)
	var err error
	// Reports are recorded one by one: a batch would only wait until it is full.
	c.app, err = server.Open(ctx, cfg, server.WithClock(c.clock), server.WithRecallCache(0, 0), server.WithCoReads(), server.WithRecorder(dedup.RecorderConfig{Batch: 1}))
	return c, err
}

// daysOf returns the number of calendar days that a window touches, including the current one.
func daysOf(window time.Duration) int { return int((window+day-1)/day) + 1 }

const day = 24 * time.Hour

func (c *community) clock() time.Time { return time.Unix(c.now.Load(), 0).UTC() }

func (c *community) close(ctx context.Context) error { return c.app.Close(ctx) }

// advance sets the clock and flushes earlier acts, so that they count from then on; a server
// flushes once per second.
func (c *community) advance(ctx context.Context, at int64) error {
	c.now.Store(at)
	if !c.unflushed {
		return nil
	}
	c.unflushed = false
	return c.app.Flush(ctx)
}

// publish stores the items before an index.
func (c *community) publish(ctx context.Context, before int) error {
	if before <= c.published {
		return nil
	}
	batch := c.data.items[c.published:before]
	c.published = before
	errs, err := c.app.Catalog.Put(ctx, batch)
	return errors.Join(append(errs, err)...)
}

// rank returns, for each ranking, the page that the engine would give to a reader now: indices of
// items, best first.
func (c *community) rank(ctx context.Context, m *moment, window time.Duration, rankings []feed.Ranking) ([][]int, error) {
	if len(rankings) == 0 {
		return nil, nil
	}
	since := time.Unix(m.at, 0).Add(-window - time.Second) // items must be dated after it
	previews, err := c.app.Engine.Preview(ctx, m.reader, pageSize, since, rankings...)
	lists := make([][]int, len(previews))
	for i, refs := range previews {
		lists[i] = make([]int, len(refs))
		for k, ref := range refs {
			lists[i][k] = c.data.byID[ref.ID]
		}
	}
	return lists, err
}

// act reports that the reader was shown the item and acted on it.
func (c *community) act(ctx context.Context, e *event) error {
	id := c.data.items[e.item].ID
	if err := c.app.Engine.Seen(ctx, e.reader, []string{id}); err != nil {
		return err
	}
	taken, err := c.app.Engine.React(ctx, e.reader, []engine.Act{{Kind: e.kind, ID: id}})
	if err == nil && taken.Accepted != 1 {
		err = fmt.Errorf("the %s of reader %s on item %s does not count", e.kind, e.reader, id)
	}
	c.unflushed = true
	return err
}

// busiestDay returns the largest number of events on one day.
func (d *Data) busiestDay() int {
	most, n, of := 0, 0, feed.Day(0)
	for i := range d.events {
		day := feed.DayOf(time.Unix(d.events[i].at, 0))
		if day != of {
			n, of = 0, day
		}
		n++
		most = max(most, n)
	}
	return most
}
