package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
)

// TestServerCrashBeforeRecording checks that items which a server delivered but never recorded are
// filtered and recorded by its successor.
func TestServerCrashBeforeRecording(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			clock := at(noon)
			cfg := m.config(t)
			held := WithRecorder(dedup.RecorderConfig{Linger: time.Hour}) // longer than the test
			a := open(t, cfg, WithClock(clock.Now), held)
			put(t, a, madeItems(30)...)
			given := ids(ask(t, a, refresh("u_1", 10)))
			require.Len(t, given, 10)
			require.Zero(t, a.Totals().Recorded, "the recorder was to be held up")

			b := open(t, successor(t, cfg), WithClock(clock.Now))
			next := ids(ask(t, b, refresh("u_1", 10)))
			require.Len(t, next, 10)
			assert.Empty(t, intersection(given, next), "an answer right after")
			waitRecorded(t, b)
			require.Equal(t, uint64(10), b.Totals().Recorded, "young impressions may still be recorded by the server that served them")

			clock.Advance(dedup.StaleAfter + time.Second)
			last := ids(ask(t, b, refresh("u_1", 20)))
			assert.Len(t, last, 10)
			assert.Empty(t, intersection(append(given, next...), last), "an answer a minute later")
			waitRecorded(t, b)
			for _, group := range slices.Concat(given, next, last) { // the grace period is over
				require.NoError(t, b.stores.dedup.ClearPending(t.Context(), []dedup.Impression{{Agent: "u_1", Group: group}}))
			}
			checked, err := b.stores.dedup.Check(t.Context(), "u_1", given, clock.Now())
			require.NoError(t, err)
			for i, v := range checked.Verdicts {
				assert.Equal(t, dedup.SeenDaysAgo(0), v, "%s is in today's filter", given[i])
			}
			clock.Advance((feed.DayOf(noon) + 7).Start().Add(-time.Second).Sub(clock.Now()))
			assert.Empty(t, ids(ask(t, b, refresh("u_1", 30))), "the last second of the window")
			clock.Advance(time.Second)
			assert.Len(t, ids(ask(t, b, refresh("u_1", 30))), 30, "the day after")
		})
	}
}

// successor returns the configuration of the server that takes over: it shares the services, or
// uses a copy of the dead server's disk.
func successor(t *testing.T, cfg configs.Config) configs.Config {
	t.Helper()
	from := cfg.DataDir
	cfg.DataDir = filepath.Join(t.TempDir(), "copy")
	if !cfg.UsesRedis() {
		require.NoError(t, os.CopyFS(cfg.DataDir, os.DirFS(from)))
	}
	return cfg
}

// TestServerCrashDuringRedisScript kills a server at each script of a step, before and after Redis
// has run it, and the reader continues on another server. A retry with a request id must get the
// page that was due. Without a request id the page is lost to the reader: either it was not handed
// out, or it counts as shown.
func TestServerCrashDuringRedisScript(t *testing.T) {
	testenv.Full(t, "cuts")
	t.Parallel()
	steps := []struct {
		name    string
		before  func(t *testing.T, l *cutServer, r *cutReader, requestID string)
		request func(agent string, limit int) engine.Request
	}{
		{"refresh", cutBegin, refresh},
		{"load_more", cutBegin, loadMore},
		{"load_more without a session", cutEndSession, loadMore},
	}
	for _, place := range cutPlaces[1:] { // those with a separate catalog per server
		t.Run(place.name, func(t *testing.T) {
			cfg := place.config(t)
			other := newCutServer(t, place, cfg, "heir", false)
			for _, s := range steps {
				for _, requestID := range []string{"", "with-id"} {
					dying := func(t *testing.T) (*cutServer, *cutReader, engine.Request) {
						r := other.reader()
						s.before(t, other, r, requestID)
						waitRecorded(t, other.App)
						request := s.request(r.agent, cutPage)
						request.RequestID = requestID
						return newCutServer(t, place, cfg, fmt.Sprint("dying", other.agents), false), r, request
					}
					l, scout, request := dying(t)
					scripts := l.scripts(t, scout, request)
					for slices.ContainsFunc(scripts, sendsScript) {
						l, scout, request = dying(t)
						scripts = l.scripts(t, scout, request)
					}
					require.NotEmpty(t, scripts)
					for _, c := range crashPoints(scripts) {
						t.Run(strings.Join([]string{s.name, requestID, c.String()}, " "), func(t *testing.T) {
							l, r, request := dying(t)
							l.crash(t, r, request, c)
							r.continueOn(t, other, request)
							l.proxy.Up() // lets the server close sooner
						})
					}
				}
			}
		})
	}
}

// scripts returns the scripts that a call runs for its reader.
func (l *cutServer) scripts(t *testing.T, r *cutReader, request engine.Request) (labels []string) {
	t.Helper()
	commands := l.proxy.Record(func() { ask(t, l.App, request) })
	l.loadScripts(t, commands)
	for _, cmd := range commands {
		if label := l.label(cmd); cmd.Mentions(r.agent) && strings.HasPrefix(label, "eval") {
			labels = append(labels, label)
		}
	}
	return labels
}

// crashPoints returns the points at which the server dies: before and after each script.
func crashPoints(scripts []string) (all []cutCase) {
	seen := map[string]int{}
	for _, label := range scripts {
		seen[label]++
		for _, kind := range []faultproxy.Kind{faultproxy.Before, faultproxy.After} {
			all = append(all, cutCase{command: label, nth: seen[label], kind: kind})
		}
	}
	return all
}

// crash makes a call during which the server loses Redis for good. The answer reaches no client.
func (l *cutServer) crash(t *testing.T, r *cutReader, request engine.Request, c cutCase) {
	t.Helper()
	fault := l.proxy.Arm(faultproxy.Fault{
		Kind: c.kind, Nth: c.nth, Refuse: time.Hour,
		Match: func(cmd faultproxy.Command) bool { return cmd.Mentions(r.agent) && l.label(cmd) == c.command },
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = l.Engine.Feed(ctx, request)
	}()
	select {
	case <-fault.Over():
	case <-ended:
		t.Error("the call made no such command")
	}
	cancel()
	<-ended
}

// continueOn continues on the remaining server.
func (r *cutReader) continueOn(t *testing.T, l *cutServer, request engine.Request) {
	t.Helper()
	page := slices.Clone(r.due[:cutPage])
	checked, err := l.stores.dedup.Check(t.Context(), r.agent, page, l.clock.Now())
	require.NoError(t, err)
	var lost []string // handed out by the dead server
	for i, v := range checked.Verdicts {
		if v == dedup.Pending {
			lost = append(lost, page[i])
		}
	}
	assert.Contains(t, []int{0, cutPage}, len(lost), "a page is handed out whole or not at all")
	if request.RequestID != "" {
		answer := ask(t, l.App, request)
		assert.Equal(t, page, ids(answer), "the page of the request id")
		assert.True(t, answer.HasMore)
		r.take(t, "the retry", answer)
		lost = nil
	}
	r.readOn(t, l)
	assert.Equal(t, lost, append([]string(nil), r.due...), "never given")

	// Impressions that no server recorded are recorded by the next server that finds them a minute
	// later.
	l.clock.Advance(dedup.StaleAfter + time.Second)
	assert.Empty(t, ids(ask(t, l.App, refresh(r.agent, cutPage))), "after the end")
	r.settle(t, l, slices.Concat(r.given, lost))
}
