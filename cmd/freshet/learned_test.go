package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// Number of readers in [TestLearningSurvivesKill], and of items that each acts on: few enough that
// all tags are among the features that a profile shows.
const (
	learners    = 6
	learnerActs = 40
)

// TestLearningSurvivesKill kills and stops a server while readers act. After a stop every
// acknowledged act must be learned, after a kill every act that a profile has shown; none may count
// twice. Repeating all acts restores the lost ones and changes nothing else.
func TestLearningSurvivesKill(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"embedded", "services"} {
		t.Run(mode, func(t *testing.T) {
			s := settings(t, mode)
			w := &school{T: t, p: start(t, s)}
			w.open()
			for _, how := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
				w.acts(3) // of each reader, one after the other
				shown := w.await(w.acknowledged())

				done := make(chan struct{})
				go func() { defer close(done); w.acts(learnerActs / 4) }()
				testenv.WaitFor(t, func() bool { return w.count(w.acknowledged()) >= w.count(shown)+learners }, "acts that are acknowledged")
				w.p.signal(how)
				<-w.p.exited
				<-done
				kept := shown
				if how == syscall.SIGTERM {
					kept = w.acknowledged()
				}
				w.p = start(t, s)
				got := w.profiles()
				for agent, tags := range kept {
					for tag := range tags {
						assert.Equal(t, 1, got[agent][tag], "%s after %s: %s", agent, how, tag)
					}
				}
				for agent, tags := range got {
					for tag, clicks := range tags {
						assert.Equal(t, 1, clicks, "%s after %s: %s", agent, how, tag)
					}
				}
				t.Logf("%s: %d acts acknowledged, %d learned", how, w.count(w.acknowledged()), w.count(got))
				w.acked = got // lost acts are repeated at the end
			}
			w.again()
			whole := map[string]map[string]int{}
			for i := range learners {
				whole[learner(i)] = map[string]int{}
				for n := range learnerActs {
					whole[learner(i)][taught(i, n)] = 1
				}
			}
			require.Equal(t, whole, w.await(whole))
		})
	}
}

func learner(i int) string { return fmt.Sprint("learner_", i) }

// taught returns the tag of a reader's n-th item.
func taught(i, n int) string { return fmt.Sprintf("tag-%d-%d", i, n) }

// school is a server with the acts of its readers.
type school struct {
	*testing.T
	p     *process
	mu    sync.Mutex
	next  [learners]int // next item to act on
	acked map[string]map[string]int
}

// open ingests the items and reports each reader's items as seen.
func (w *school) open() {
	w.acked = map[string]map[string]int{}
	var body strings.Builder
	now := time.Now().Unix()
	for i := range learners {
		for n := range learnerActs {
			fmt.Fprintf(&body, `{"id":"doc_%d_%d","title":"%d","tags":["%s"],"update_time":%d}`+"\n", i, n, n, taught(i, n), now-60)
		}
	}
	var report struct{ Accepted int }
	require.NoError(w, w.p.post(w.Context(), http.DefaultClient, "/v1/items", "", body.String(), &report))
	require.Equal(w, learners*learnerActs, report.Accepted)
	w.seen()
}

func (w *school) seen() {
	for i := range learners {
		var ids []string
		for n := range learnerActs {
			ids = append(ids, fmt.Sprintf("doc_%d_%d", i, n))
		}
		body, err := json.Marshal(map[string][]string{"ids": ids})
		require.NoError(w, err)
		var done struct{}
		require.NoError(w, w.p.post(w.Context(), http.DefaultClient, "/v1/impressions", learner(i), string(body), &done))
	}
}

// acts makes all readers concurrently click on their next items, until the server stops answering.
// Unacknowledged acts are not retried.
func (w *school) acts(most int) {
	var all sync.WaitGroup
	for i := range learners {
		all.Go(func() {
			for range most {
				w.mu.Lock()
				n := w.next[i]
				w.next[i]++
				w.mu.Unlock()
				if n >= learnerActs || w.click(i, n) != nil {
					return
				}
				w.mu.Lock()
				if w.acked[learner(i)] == nil {
					w.acked[learner(i)] = map[string]int{}
				}
				w.acked[learner(i)][taught(i, n)] = 1
				w.mu.Unlock()
			}
		})
	}
	all.Wait()
}

func (w *school) click(i, n int) error {
	var taken struct{ Accepted int }
	err := w.p.post(w.Context(), http.DefaultClient, "/v1/events", learner(i), fmt.Sprintf(`{"type":"click","id":"doc_%d_%d"}`, i, n), &taken)
	if err == nil && taken.Accepted != 1 {
		return fmt.Errorf("%d were accepted", taken.Accepted)
	}
	return err
}

// again repeats all acts.
func (w *school) again() {
	w.seen()
	for i := range learners {
		for n := range learnerActs {
			require.NoError(w, w.click(i, n))
		}
	}
}

func (w *school) acknowledged() map[string]map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := map[string]map[string]int{}
	for agent, tags := range w.acked {
		all[agent] = map[string]int{}
		for tag := range tags {
			all[agent][tag] = 1
		}
	}
	return all
}

func (w *school) count(of map[string]map[string]int) (n int) {
	for _, tags := range of {
		n += len(tags)
	}
	return n
}

// await waits until the profiles show as many clicks as want, and returns them.
func (w *school) await(want map[string]map[string]int) (got map[string]map[string]int) {
	w.Helper()
	testenv.WaitFor(w, func() bool { got = w.profiles(); return w.count(got) >= w.count(want) }, "what is learned to be shown")
	return got
}

// profiles returns the clicks on each tag in the readers' profiles.
func (w *school) profiles() map[string]map[string]int {
	all := map[string]map[string]int{}
	for i := range learners {
		req, err := http.NewRequestWithContext(context.WithoutCancel(w.Context()), http.MethodGet, w.p.url+"/v1/agents/"+learner(i)+"/profile", nil)
		require.NoError(w, err)
		req.Header.Set("X-Agent-ID", learner(i))
		res, err := http.DefaultClient.Do(req)
		require.NoError(w, err)
		var answer struct {
			Data struct {
				Learned []struct {
					Kind, Value string
					Clicks      int
				}
			}
		}
		err = json.NewDecoder(res.Body).Decode(&answer)
		_ = res.Body.Close()
		require.NoError(w, err)
		for _, l := range answer.Data.Learned {
			if l.Kind == "tag" {
				if all[learner(i)] == nil {
					all[learner(i)] = map[string]int{}
				}
				all[learner(i)][l.Value] = l.Clicks
			}
		}
	}
	return all
}
