package events_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

// tracking is a buffer of each of two servers, which share a store, during an experiment.
type tracking struct {
	t       *testing.T
	store   *flaky
	servers [2]*events.Buffer
	now     time.Time
	feed    feed.Name // of pages
}

func track(t *testing.T) *tracking {
	tr := &tracking{t: t, store: newFlaky(), now: noon}
	for i := range tr.servers {
		tr.servers[i] = start(t, tr.store, events.BufferConfig{})
		t.Cleanup(func() { tr.servers[i].Close(t.Context()) })
	}
	return tr
}

// page gives a page of the groups from … to−1.
func (tr *tracking) page(server int, run string, ofSession bool, from, to int) {
	d := events.Delivery{Agent: "u_1", Run: run, Tracked: true, OfSession: ofSession, Feed: tr.feed, Limit: 10, Docs: page(to-from, time.Hour)}
	for i := from; i < to; i++ {
		d.Refs = append(d.Refs, feed.Ref{ID: fmt.Sprint(i), Group: fmt.Sprint(i)})
	}
	tr.servers[server].CountPage(d, tr.now)
}

func (tr *tracking) click(server int, run string, groups ...int) {
	a := events.Acts{Agent: "u_1", Run: run, Tracked: true}
	for _, g := range groups {
		a.Acts = append(a.Acts, events.GroupAct{Kind: events.Click, Group: fmt.Sprint(g)})
	}
	require.True(tr.t, tr.servers[server].CountActs(a, tr.now))
}

// pass lets time pass.
func (tr *tracking) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	tr.now = tr.now.Add(d)
}

// counts returns the impressions and clicks of a run.
func (tr *tracking) counts(run string) [2]int64 {
	got := tr.store.at(run + " 20260306").Counts
	tr.store.mu.Lock()
	defer tr.store.mu.Unlock()
	cells := tr.store.cells[run]
	assert.Equal(tr.t, []int64{got["impressions"], got["click"]}, []int64{cells[events.CellOf("u_1", events.Shown)], cells[events.CellOf("u_1", events.Clicked)]})
	return [2]int64{got["impressions"], got["click"]}
}

// TestClicksCountForWhatShowed: a click counts for the run that showed the item, at the item's position
// in its session, and for none if that run has ended or is unknown.
func TestClicksCountForWhatShowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := track(t)
		tr.click(0, "slow@2", 200, 201)      // shown before the experiment
		tr.page(1, "slow@2", true, 100, 110) // of a session from before
		tr.pass(time.Millisecond)
		tr.page(0, "slow@2", false, 0, 10)       // a refresh
		tr.pass(600 * time.Millisecond)          // and right away
		tr.page(1, "slow@2", true, 10, 17)       // the next page, on the other server
		tr.click(1, "slow@2", 0, 3, 12, 16, 105) // with clicks
		tr.click(0, "slow@2", 12)                // again, on the other server
		tr.pass(4 * time.Second)
		assert.Equal(t, [2]int64{17, 4}, tr.counts("slow@2"))
		got := tr.store.at("slow@2 20260306").Counts
		assert.Equal(t, []int64{1, 1, 1, 2, 5, 7, 0, 0}, positions(got, "position:"))
		assert.Equal(t, []int64{1, 0, 0, 1, 0, 2, 0, 0}, positions(got, "position_click:"))
		cells := tr.store.cells["slow@2"]
		assert.Equal(t, []int64{2, 1}, []int64{cells[events.CellOf("u_1", events.Pages)], cells[events.CellOf("u_1", events.Short)]})

		tr.click(0, "slow@5", 1, 2) // another run is in force by now
		tr.page(0, "slow@5", true, 20, 30)
		tr.click(0, "slow@5", 20)
		tr.pass(4 * time.Second)
		assert.Equal(t, [2]int64{17, 4}, tr.counts("slow@2"), "an ended run does not change")
		assert.Equal(t, [2]int64{}, tr.counts("slow@5"), "its session is of the other one")

		tr.page(1, "slow@5", false, 40, 45)
		tr.pass(events.PagesFor)
		tr.click(0, "slow@5", 40)
		tr.pass(time.Second)
		tr.click(0, "slow@5", 41)
		tr.pass(4 * time.Second)
		assert.Equal(t, [2]int64{5, 1}, tr.counts("slow@5"), "the page is remembered for a day")
	})
}

// positions returns the counts of all ranges of positions.
func positions(counts map[string]int64, field string) (all []int64) {
	for i := range events.PositionRanges {
		all = append(all, counts[field+fmt.Sprint(i)])
	}
	return all
}

// TestClocksOfServersDiffer: a page of a server whose clock runs ahead is known to the others at once.
func TestClocksOfServersDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := track(t)
		ahead := func(ahead time.Duration) { tr.now = tr.now.Add(ahead) }
		ahead(time.Minute)
		tr.page(0, "slow@2", false, 0, 10)
		ahead(-time.Minute)
		tr.pass(600 * time.Millisecond)
		tr.page(1, "slow@2", true, 10, 20)
		tr.click(1, "slow@2", 3, 12)
		tr.pass(4 * time.Second)
		assert.Equal(t, [2]int64{20, 2}, tr.counts("slow@2"))
	})
}

// TestClickBeforeItsPage: if the clock of the server that gave a page is a little ahead, an act on it at
// another one comes before it.
func TestClickBeforeItsPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := track(t)
		tr.page(0, "slow@2", false, 0, 10)
		tr.now = tr.now.Add(-800 * time.Millisecond)
		tr.click(1, "slow@2", 3)
		tr.pass(4 * time.Second)
		assert.Equal(t, [2]int64{10, 1}, tr.counts("slow@2"))
	})
}

// TestRefreshesInASecond: a page of a session continues the session's last page, however fast readers are,
// and whether they name the feed or not.
func TestRefreshesInASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := track(t)
		for first := range 3 { // 6 pages in 0.6 s
			tr.page(0, "slow@2", false, 20*first, 20*first+10)
			tr.pass(100 * time.Millisecond)
			tr.feed = feed.ForYou
			tr.page(0, "slow@2", true, 20*first+10, 20*first+15)
			tr.feed = ""
			tr.pass(100 * time.Millisecond)
		}
		tr.click(0, "slow@2", 10, 30, 50)
		tr.pass(4 * time.Second)
		assert.Equal(t, [2]int64{45, 3}, tr.counts("slow@2"))
		got := tr.store.at("slow@2 20260306").Counts
		assert.Equal(t, []int64{3, 3, 3, 6, 15, 15, 0, 0}, positions(got, "position:"))
		assert.Equal(t, []int64{0, 0, 0, 0, 0, 3, 0, 0}, positions(got, "position_click:"))
	})
}

// TestRepeatedAfterMidnight: an act and a report count once, also if the repetition comes on the next day.
func TestRepeatedAfterMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := track(t)
		tr.now = time.Date(2026, 3, 6, 23, 59, 50, 0, time.UTC)
		d := events.Delivery{Agent: "u_1", Run: "slow@2", Tracked: true, Unseen: true, Limit: 3, Docs: page(3, time.Hour)}
		for i := range 3 {
			d.Refs = append(d.Refs, feed.Ref{Group: fmt.Sprint(i)})
		}
		tr.servers[0].CountPage(d, tr.now)
		for range 3 {
			tr.servers[0].CountReport(events.Report{Agent: "u_1", Run: "slow@2", Groups: []string{"0", "1"}, Docs: page(2, time.Hour)}, tr.now)
			tr.click(1, "slow@2", 1)
			tr.pass(6 * time.Second)
		}
		assert.Equal(t, [2]int64{2, 1}, tr.counts("slow@2"))
		assert.Empty(t, tr.store.at("slow@2 20260307").Counts["click"])
	})
}

// TestTimesBelowAMillisecond: the mean time of pages that take less than a millisecond is right, so that a
// limit of it holds in embedded mode, and a clock that was set back takes nothing away.
func TestTimesBelowAMillisecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := track(t)
		for range 4000 {
			tr.servers[0].CountPage(events.Delivery{Agent: "u_1", Run: "slow@2", Tracked: true, Took: 700 * time.Microsecond}, tr.now)
			tr.servers[0].CountPage(events.Delivery{Agent: "u_1", Run: "fast@2", Tracked: true, Took: -time.Hour}, tr.now)
		}
		tr.pass(4 * time.Second)
		millis := func(run string) int64 { return tr.store.cells[run][events.CellOf("u_1", events.Millis)] }
		assert.InDelta(t, 2800, millis("slow@2"), 200)
		assert.Zero(t, millis("fast@2"))
	})
}

// TestEmptyPagesHaveReaders: a reader who gets only empty pages is one of the experiment's.
func TestEmptyPagesHaveReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := track(t)
		tr.page(0, "slow@2", false, 0, 0)
		tr.pass(4 * time.Second)
		assert.Len(t, tr.store.agents, 1)
		assert.Equal(t, int64(1), tr.store.cells["slow@2"][events.CellOf("u_1", events.Short)])
	})
}

// TestReportsCountWhatWasSeen: with impressions.on: seen an item counts once it is reported.
func TestReportsCountWhatWasSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := track(t)
		d := events.Delivery{Agent: "u_1", Run: "control@3", Tracked: true, Unseen: true, Feed: feed.HomeFeed, Limit: 3, Docs: page(3, time.Hour)}
		for i, source := range []feed.Source{feed.SourceExplore, feed.SourceTrending, feed.SourceScore} {
			d.Refs = append(d.Refs, feed.Ref{Group: fmt.Sprint(i), Source: source})
		}
		tr.servers[0].CountPage(d, noon)
		tr.pass(2 * time.Second)
		assert.Empty(t, tr.store.at("control@3 20260306").Counts)
		for range 2 {
			tr.servers[1].CountReport(events.Report{Agent: "u_1", Run: "control@3", Groups: []string{"0", "1", "7"}, Docs: page(3, time.Hour)}, tr.now)
		}
		tr.click(1, "control@3", 1)
		tr.pass(4 * time.Second)
		assert.Equal(t, [2]int64{2, 1}, tr.counts("control@3"))
		got := tr.store.at("control@3 20260306")
		assert.Equal(t, map[string]int64{"impressions": 2, "click": 1, "explored": 1, "explored_clicks": 1, "position:0": 1, "position:1": 1, "position_click:1": 1}, got.Counts)
	})
}

// TestTrackedStoreDown: while the store is down, pages and acts wait, in bounded memory.
func TestTrackedStoreDown(t *testing.T) {
	for _, lost := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			tr := track(t)
			tr.store.fail(events.ErrUnavailable, lost)
			tr.page(0, "slow@2", false, 0, 10)
			tr.pass(time.Second)
			tr.page(0, "slow@2", true, 10, 20)
			tr.click(0, "slow@2", 3, 13)
			tr.pass(20 * time.Second)
			tr.store.fail(nil, false)
			tr.pass(20 * time.Second)
			assert.Equal(t, [2]int64{20, 2}, tr.counts("slow@2"), "reply lost: %v", lost)
		})
	}
}
