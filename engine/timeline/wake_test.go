package timeline_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	lists "github.com/freshet/freshet/social/timeline"
)

const (
	collectFor = 20 * time.Millisecond
	never      = 1000 * time.Hour // it is not reached by the looks of a test
)

// woken runs a test with a watcher that looks every so often. Time passes only while all wait.
func woken(t *testing.T, every time.Duration, test func(w *watching)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatching(t, 0)
		w.watcher = timeline.NewWatcher(w.stores(), 0, timeline.Config{Clock: time.Now, Every: every})
		ctx, stop := context.WithCancel(t.Context())
		running := make(chan struct{})
		go func() { defer close(running); w.watcher.Run(ctx) }()
		defer func() { stop(); <-running }()
		test(w)
	})
}

// wake sends a wake, and returns when everything that follows within a time has happened.
func (w *watching) wake(within time.Duration, wake lists.Wake) {
	w.Helper()
	synctest.Wait() // who watches receives
	w.wakes.Send(wake)
	time.Sleep(within)
	synctest.Wait()
}

// TestWakeHastensCheck checks that a post is reported as soon as the wakes of a moment are collected,
// whatever the source of the timeline, and that wakes of others cause no check.
func TestWakeHastensCheck(t *testing.T) {
	t.Parallel()
	wakes := map[string]lists.Wake{
		"list": {Agents: []string{"r"}}, "outbox": {Authors: []string{"star"}}, "public": {Authors: []string{social.Server}},
	}
	for name, source := range sourcesOfPosts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			woken(t, never, func(w *watching) {
				author := source(w)
				watch, second, other := w.watch("r"), w.watch("r"), w.watch("other")
				before := w.lists.heads.Load()
				newest := w.publish(author, public)
				w.wake(time.Hour, lists.Wake{Agents: []string{"", "nobody"}, Authors: []string{"r", author + "x"}})
				for other, wake := range wakes {
					if other != name {
						wake.Agents = append(wake.Agents, "else")
						w.wake(time.Hour, lists.Wake{Agents: []string{"else"}, Authors: wake.Authors})
					}
				}
				require.Equal(w, before, w.lists.heads.Load())
				w.wake(collectFor-1, wakes[name])
				require.Zero(w, watch.Take())
				time.Sleep(time.Nanosecond)
				synctest.Wait()
				for _, watch := range []*timeline.Watch{watch, second} {
					<-watch.Ready()
					require.Equal(w, timeline.News{Count: 1, Head: newest.Position()}, taken(watch))
				}
				require.Zero(w, other.Take())
				require.Equal(w, before+1, w.lists.heads.Load())
				w.wake(time.Hour, wakes[name])
				require.Zero(w, watch.Take(), "it is reported once")
				w.silent(watch)

				// What arrived late is left to the next look, which reads it a second later.
				w.arrive(author, 5*time.Minute)
				w.wake(collectFor, wakes[name])
				w.Advance(2 * time.Second)
				w.wake(collectFor, wakes[name])
				require.Zero(w, watch.Take())
				w.told(watch, 1, newest)
				w.silent(watch)
			})
		})
	}
}

// TestWakeOfInvisiblePost checks that a wake reports nothing that a look would not report.
func TestWakeOfInvisiblePost(t *testing.T) {
	t.Parallel()
	woken(t, never, func(w *watching) {
		w.Follow("r", "a", "b")
		watch := w.watch("r")
		_, err := w.Store.Block(w.Context(), "b", "r")
		require.NoError(w, err)
		all := lists.Wake{Agents: []string{"r"}, Authors: []string{"a", "b", social.Server}}
		w.Push(w.lists, "r", w.publish("b", public))
		w.wake(time.Minute, all)
		w.Reader = feed.Profile{MutedAuthors: []string{"a"}}
		w.publish("a", public)
		w.wake(time.Minute, all)
		w.Reader = feed.Profile{}
		w.publish("r", public)
		w.wake(time.Minute, all)
		require.Zero(w, watch.Take())
		deleted := w.publish("a", public)
		require.NoError(w, w.Store.DeletePost(w.Context(), deleted.ID, "a", time.Time{}))
		newest := w.publish("a", public)
		w.wake(time.Minute, all)
		require.Equal(w, timeline.News{Count: 1, Head: newest.Position()}, taken(watch))
	})
}

// TestWakesCollected checks that wakes of a moment cause one check, and that the checks of many wakes
// take a quarter of the time.
func TestWakesCollected(t *testing.T) {
	t.Parallel()
	woken(t, never, func(w *watching) {
		var agents []string
		for i := range 30 {
			agents = append(agents, fmt.Sprint("r", i))
			w.Follow(agents[i], "a")
			w.watch(agents[i])
		}
		before := w.lists.heads.Load()
		for _, agent := range agents[1:] {
			w.wakes.Send(lists.Wake{Agents: []string{agent}})
		}
		w.wake(time.Second, lists.Wake{Agents: agents})
		require.Equal(w, int64(1), w.lists.heads.Load()-before)

		const took = 100 * time.Millisecond
		w.lists.slow.Store(int64(took))
		before = w.lists.heads.Load()
		for i := range 10_000 {
			w.wake(time.Millisecond, lists.Wake{Agents: []string{agents[i%len(agents)]}})
		}
		require.Equal(w, int64(10*time.Second/(4*took)), w.lists.heads.Load()-before)
	})
}

// TestWakesOfBusyReader checks that a reader of many posts gets four events a second at most, with all
// posts, and that nobody else waits for that.
func TestWakesOfBusyReader(t *testing.T) {
	t.Parallel()
	woken(t, never, func(w *watching) {
		w.Follow("busy", "a")
		w.Follow("r", "b")
		w.Follow("fan", "star")
		w.celebrity("star")
		busy, other, fan := w.watch("busy"), w.watch("r"), w.watch("fan")
		events, posts := 0, 0
		const made = 200
		for i := range made { // in four seconds
			w.Post("a", public)
			w.wake(collectFor, lists.Wake{Agents: []string{"busy"}, Authors: []string{"a"}})
			if i%50 == 25 {
				w.publish("b", public)
				w.publish("star", public)
				w.wake(2*collectFor, lists.Wake{Agents: []string{"r"}, Authors: []string{"star"}})
				require.Equal(w, 1, other.Take().Count)
				require.Equal(w, 1, fan.Take().Count)
			}
			news := busy.Take()
			if news.Count > 0 {
				events, posts = events+1, posts+news.Count
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		posts += busy.Take().Count
		require.Equal(w, made, posts)
		require.LessOrEqual(w, events, 18)
		require.GreaterOrEqual(w, events, 14)
	})
}

// TestWakesWhileStoresDown checks that wakes cause no checks while checks fail.
func TestWakesWhileStoresDown(t *testing.T) {
	t.Parallel()
	woken(t, timeline.PollEvery, func(w *watching) {
		w.Follow("r", "a")
		watch := w.watch("r")
		w.lists.down.Store(true)
		newest := w.publish("a", public)
		before := w.lists.heads.Load()
		for range 10 {
			w.wake(collectFor, lists.Wake{Agents: []string{"r"}})
		}
		require.Equal(w, int64(1), w.lists.heads.Load()-before)
		w.lists.down.Store(false)
		time.Sleep(timeline.PollEvery)
		synctest.Wait()
		require.Equal(w, timeline.News{Count: 1, Head: newest.Position()}, taken(watch))
		newest = w.publish("a", public)
		w.wake(collectFor, lists.Wake{Agents: []string{"r"}})
		require.Equal(w, timeline.News{Count: 1, Head: newest.Position()}, taken(watch))
	})
}

// countedWakes counts who receives.
type countedWakes struct {
	lists.Wakes
	receivers, began atomic.Int64
}

func (c *countedWakes) Receive(ctx context.Context, f func(lists.Wake)) {
	c.receivers.Add(1)
	c.began.Add(1)
	defer c.receivers.Add(-1)
	c.Wakes.Receive(ctx, f)
}

// TestWakesReceivedWhileWatched checks that a server without streams receives no wakes.
func TestWakesReceivedWhileWatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWatching(t, 0)
		counted := &countedWakes{Wakes: w.wakes}
		stores := w.stores()
		stores.Wakes = counted
		w.watcher = timeline.NewWatcher(stores, 0, timeline.Config{Clock: time.Now})
		ctx, stop := context.WithCancel(t.Context())
		running := make(chan struct{})
		go func() { defer close(running); w.watcher.Run(ctx) }()
		receive := func(want, began int64) {
			t.Helper()
			time.Sleep(2 * timeline.PollEvery)
			synctest.Wait()
			require.Equal(t, []int64{want, began}, []int64{counted.receivers.Load(), counted.began.Load()})
		}
		receive(0, 0)
		open := func() *timeline.Watch {
			watch, err := w.watcher.Watch(t.Context(), "r", nil)
			require.NoError(t, err)
			return watch
		}
		first, second := open(), open()
		receive(1, 1)
		first.Close()
		receive(1, 1)
		second.Close()
		receive(0, 1)
		third := open()
		receive(1, 2)
		stop()
		<-running
		require.Zero(t, counted.receivers.Load())
		third.Close()
	})
}
