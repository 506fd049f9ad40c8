package evaluation

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/cmd/freshet/fit"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/ndjson"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/server/history"
)

// Bounds of what a fit reads: about 500 bytes for each click and 1 KB for each item.
const (
	MostClicks = 1_000_000
	MostItems  = 500_000
)

// leastDays is the least number of days with clicks: a fit to earlier ones is judged by later ones.
const leastDays = 4

// Proposed is a proposal with what it rests on.
type Proposed struct {
	Clicks     int       `json:"clicks"` // used
	Readers    int       `json:"readers"`
	Items      int       `json:"items"`
	From       time.Time `json:"from"`
	Until      time.Time `json:"until"`
	Scored     int       `json:"scored"`     // clicks that the fit places, of the Clicks
	Candidates float64   `json:"candidates"` // mean number for such a click
	LeftOut    Unused    `json:"left_out"`
	fit.Proposal
	Skipped    map[string]int     `json:"skipped"` // events of other types
	Rejected   int                `json:"rejected"`
	Errors     []client.Rejection `json:"errors"`               // the first rejected lines
	Experiment string             `json:"experiment,omitempty"` // that was begun
	Version    int                `json:"version,omitempty"`    // of the ranking with it
}

// Unused counts clicks that are not used.
type Unused struct {
	Unknown int `json:"unknown_items"`
	Early   int `json:"before_their_items"` // before the date of the item
	Future  int `json:"in_the_future"`
}

// ReadClicks reads a file of events, as a replay does, in any order. A file without a line is
// [ErrNoEvents].
func (p *Proposed) ReadClicks(ctx context.Context, source io.Reader) (list []offline.Click, err error) {
	p.Skipped = map[string]int{}
	names := map[string]string{} // so that each id is in memory once
	once := func(name string) string {
		known, ok := names[name]
		if !ok {
			names[name], known = name, name
		}
		return known
	}
	in := &clicks{skipped: p.Skipped, handOn: func(_ context.Context, some []offline.Click) error {
		if len(list)+len(some) > MostClicks {
			return fmt.Errorf("there are more than %d clicks; give the newest ones", MostClicks)
		}
		for _, c := range some {
			list = append(list, offline.Click{Agent: once(c.Agent), ID: once(c.ID), At: c.At})
		}
		return nil
	}}
	p.Rejected, p.Errors, err = in.read(ctx, source, offline.MaxClicks)
	if err == nil && in.lines == 0 {
		err = ErrNoEvents
	}
	return list, err
}

// Community returns the items with the clicks on them, each in order of time. Clicks after now count as
// in the future.
func (p *Proposed) Community(items []feed.Item, clicks []offline.Click, now time.Time) (*history.Community, error) {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b feed.Item) int { return cmp.Compare(a.UpdateTime, b.UpdateTime) })
	at := make(map[string]int, len(items))
	for i := range items {
		items[i].Likes, items[i].Comments = 0, 0 // counted since then
		at[items[i].ID] = i
	}
	c := &history.Community{Items: items}
	readers, days := map[string]struct{}{}, map[feed.Day]struct{}{}
	for _, click := range clicks {
		i, known := at[click.ID]
		switch {
		case click.At.After(now):
			p.LeftOut.Future++
		case !known:
			p.LeftOut.Unknown++
		case click.At.Unix() < items[i].UpdateTime:
			p.LeftOut.Early++
		default:
			c.Clicks = append(c.Clicks, history.Click{At: click.At.Unix(), Reader: click.Agent, Item: i})
			readers[click.Agent], days[feed.DayOf(click.At.Time)] = struct{}{}, struct{}{}
		}
	}
	slices.SortStableFunc(c.Clicks, func(a, b history.Click) int { return cmp.Compare(a.At, b.At) })
	p.Clicks, p.Readers, p.Items = len(c.Clicks), len(readers), len(items)
	return c, p.check(c, len(days))
}

// check returns an error if there are too few clicks to fit anything to.
func (p *Proposed) check(c *history.Community, days int) error {
	u := p.LeftOut
	switch {
	case p.Clicks == 0:
		return fmt.Errorf("no click can be used: %d on items that are not known, %d before the date of their item, %d in the future", u.Unknown, u.Early, u.Future)
	case p.Readers < fit.Fewest:
		return fmt.Errorf("the number of readers with clicks is %d, but at least %d are needed", p.Readers, fit.Fewest)
	case days < leastDays:
		return fmt.Errorf("the number of days with clicks is %d, but at least %d are needed: a fit to earlier days is judged by later ones", days, leastDays)
	}
	p.From, p.Until = time.Unix(c.Clicks[0].At, 0).UTC(), time.Unix(c.Clicks[len(c.Clicks)-1].At, 0).UTC()
	return nil
}

// ReadItems reads items as freshet ingest does, one JSON object a line. Of two with the same id the
// later line counts. The error names the first line that is not an item.
func ReadItems(ctx context.Context, source io.Reader) ([]feed.Item, error) {
	in := &itemReader{at: map[string]int{}}
	report, err := ndjson.Read(ctx, source, ndjson.Kind{
		Entry: "item", Verb: "reading", Most: feed.MaxItemBytes, Array: true, Reason: error.Error, Unavailable: errStopped,
	}, ndjson.Config{Batch: 1000, MaxErrors: 1}, in)
	switch {
	case err != nil:
		return nil, err
	case len(report.Errors) > 0:
		return nil, fmt.Errorf("line %d: %s", report.Errors[0].Line, report.Errors[0].Reason)
	case len(in.items) == 0:
		return nil, errors.New("there are no items")
	}
	return in.items, nil
}

// itemReader is the [ndjson.Batch] of a file of items.
type itemReader struct {
	items []feed.Item
	at    map[string]int // by id
}

// Put implements [ndjson.Batch].
func (r *itemReader) Put(context.Context) ([]error, error) {
	if len(r.items) > MostItems {
		return nil, fmt.Errorf("there are more than %d items; give those since the first click", MostItems)
	}
	return nil, nil
}

// TooBig implements [ndjson.Batch].
func (r *itemReader) TooBig([]byte) (string, error) {
	return "", fmt.Errorf("it is longer than %d KiB", feed.MaxItemBytes>>10)
}

// Add implements [ndjson.Batch].
func (r *itemReader) Add(_ int, line []byte) (string, error) {
	it, err := feed.ParseItem(bytes.Clone(line))
	if err != nil {
		return "", err
	}
	i, again := r.at[it.ID]
	if again {
		r.items[i] = slim(it)
		return "", nil
	}
	r.at[it.ID] = len(r.items)
	r.items = append(r.items, slim(it))
	return "", nil
}

// slim returns an item without what no ranking reads.
func slim(it feed.Item) feed.Item {
	it.Business, it.ImageURL, it.URL = nil, "", ""
	return it
}

// StoredItems reads the items of a server that are dated since a moment. step is called with the number
// of items of each page.
func StoredItems(ctx context.Context, c *client.Client, since time.Time, step func(items int)) (items []feed.Item, err error) {
	filter := client.ItemFilter{Since: max(1, since.Unix()), Limit: 200}
	for {
		page, err := c.Items(ctx, filter)
		if err != nil {
			return nil, err
		}
		step(len(page.Items))
		for _, it := range page.Items {
			items = append(items, slim(it))
		}
		switch {
		case len(items) > MostItems:
			return nil, fmt.Errorf("the server has more than %d items since %s; give clicks of a shorter time, or --items", MostItems, since.UTC().Format(time.DateOnly))
		case page.NextCursor == nil:
			return items, nil
		}
		filter.Cursor = *page.NextCursor
	}
}

// profilesAtOnce is how many profiles are read concurrently: few, because readers are served at the same
// time.
const profilesAtOnce = 4

// StoredProfiles reads the profiles of the readers of some clicks from a server. Readers without one are
// left out.
func StoredProfiles(ctx context.Context, c *client.Client, of *history.Community, chosen []int) error {
	of.Profiles = map[string]feed.Profile{}
	asked := map[string]bool{}
	var mu sync.Mutex // protects the profiles
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(profilesAtOnce)
	for _, i := range chosen {
		reader := of.Clicks[i].Reader
		if asked[reader] {
			continue
		}
		asked[reader] = true
		group.Go(safego.Func(func() error {
			p, err := c.Profile(ctx, reader)
			if errors.Is(err, client.ErrNotFound) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("the profile of %s: %w", reader, err)
			}
			mu.Lock()
			defer mu.Unlock()
			of.Profiles[reader] = p.Profile
			return nil
		}))
	}
	return group.Wait()
}
