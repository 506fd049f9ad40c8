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
	"github.com/freshet/freshet/internal/app"
)

// pageSize is how many items a page of the readers has.
const pageSize = 20

// mostDays is the largest dedup.window_days.
const mostDays = 60

// neverByChance is a false positive rate of dedup at which nothing is taken for
// seen by mistake.
const neverByChance = 1e-9

// community is Freshet in one process, at the time that the replay sets.
type community struct {
	app  *app.App
	data *Data
	now  atomic.Int64 // Unix seconds

	published int  // how many of data.items are in the catalog
	unflushed bool // acts may wait to be counted
}

// open starts Freshet in a directory, at the time of the first event. cfg says how
// it ranks; its backends and addresses do not matter.
func open(ctx context.Context, cfg configs.Config, dir string, d *Data, window time.Duration) (*community, error) {
	cfg = bench.EmbeddedConfig(cfg, dir)
	// What was read within the window is not to come again.
	cfg.Dedup.WindowDays = max(cfg.Dedup.WindowDays, daysOf(window))
	cfg.Dedup.FalsePositiveRate, cfg.Dedup.DailyCapacity = neverByChance, max(1000, d.busiestDay())
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &community{data: d}
	c.now.Store(d.events[0].at)
	var err error
	// One report at a time is recorded: a batch would only wait to be filled.
	c.app, err = app.Open(ctx, cfg, app.WithClock(c.clock), app.WithRecallCache(0, 0), app.WithRecorder(dedup.RecorderConfig{Batch: 1}))
	return c, err
}

// daysOf is how many calendar days, the present one included, a window touches.
func daysOf(window time.Duration) int { return int((window+day-1)/day) + 1 }

const day = 24 * time.Hour

func (c *community) clock() time.Time { return time.Unix(c.now.Load(), 0).UTC() }

func (c *community) close(ctx context.Context) error { return c.app.Close(ctx) }

// advance goes on to a moment. What was done before counts from then on: a server
// counts once a second.
func (c *community) advance(ctx context.Context, at int64) error {
	c.now.Store(at)
	if !c.unflushed {
		return nil
	}
	c.unflushed = false
	return c.app.Flush(ctx)
}

// publish puts the items in that come before the index.
func (c *community) publish(ctx context.Context, before int) error {
	if before <= c.published {
		return nil
	}
	batch := c.data.items[c.published:before]
	c.published = before
	errs, err := c.app.Catalog.Put(ctx, batch)
	return errors.Join(append(errs, err)...)
}

// rank asks the engine what it would hand out to a reader now, by each of the
// rankings: indices of items, best first.
func (c *community) rank(ctx context.Context, m *moment, window time.Duration, rankings []feed.Ranking) ([][]int, error) {
	since := time.Unix(m.at, 0).Add(-window - time.Second) // dated after it
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

// act reports that the reader was shown the item, and what they did with it.
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

// busiestDay is the most events of a day.
func (d *Data) busiestDay() int {
	most, n, of := 0, 0, feed.Day(0)
	for i := range d.events {
		if day := feed.DayOf(time.Unix(d.events[i].at, 0)); day != of {
			n, of = 0, day
		}
		n++
		most = max(most, n)
	}
	return most
}
