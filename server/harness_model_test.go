package server

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
)

const (
	modelTimeout = 3 * time.Second        // of a request; a call to Redis may take a tenth of it
	modelStall   = 450 * time.Millisecond // longer than that
	modelRefused = 100 * time.Millisecond
)

// behind puts a lossy network between a server and Redis.
func (w *world) behind(t *testing.T, cfg *configs.Config) *faultproxy.Proxy {
	t.Helper()
	if w.mode.name != "services" {
		return nil
	}
	u, err := url.Parse(testenv.RedisURL(t))
	require.NoError(t, err)
	p := faultproxy.Start(t, u.Host)
	cfg.Redis.URL = testenv.RedisAt(p.Addrs)
	return p
}

// trouble occasionally arms one fault between a server and Redis for the next call, at most as
// severe as worst. The returned function ends it.
func (w *world) trouble(s *server, worst trouble) (over func()) {
	// A server that loses its deliveries has no disk as a fallback.
	if s.proxy == nil || s.lossy || w.rnd.IntN(5) > 0 {
		return func() {}
	}
	f := faultproxy.Fault{Nth: 1 + w.rnd.IntN(14), For: modelStall}
	f.Kind = []faultproxy.Kind{faultproxy.Before, faultproxy.After, faultproxy.Within}[w.rnd.IntN(3)]
	if w.rnd.IntN(2) == 0 { // pages are handed out by scripts
		f.Nth = 1 + w.rnd.IntN(3)
		f.Match = func(c faultproxy.Command) bool { return c.Name() == "evalsha" }
	}
	if worst == anyTrouble {
		switch w.rnd.IntN(8) {
		case 0:
			f.Kind = faultproxy.Late
		case 1:
			f.Kind = faultproxy.Stall
		case 2:
			if w.cfg.Dedup.OnFailure == configs.FailOpen { // otherwise the call may fail
				f.Refuse = modelRefused
			}
		}
	}
	armed := s.proxy.Arm(f)
	return func() {
		s.proxy.Disarm(armed)
		if armed.Fired() {
			w.say("  meanwhile on server %d: cut %s, the %d., refused %s", slices.Index(w.apps, s), f.Kind, f.Nth, f.Refuse)
			w.faults = append(w.faults, armed)
		}
	}
}

// trouble is the severity of a fault.
type trouble int

const (
	aCut       trouble = iota // and Redis is reachable again at once
	anyTrouble                // also delays and refused connections
)

// settleDown waits until no command is in transit, before the clock jumps: the model has no
// commands that are in transit for hours.
func (w *world) settleDown() {
	for _, f := range w.faults {
		<-f.Over()
	}
	w.faults = nil
}

// recover is called after an answer without Redis. The server retains the impressions until it can
// write them, and other servers do not know them until then.
func (w *world) recover(t *testing.T, s *server, agent string, answer engine.Answer) {
	t.Helper()
	w.say("  it was degraded: %v", answer.Degraded)
	if !sessionless(answer) { // the server only reports that it checks twice for a while
		return
	}
	for _, other := range w.apps {
		if !other.lossy {
			asksRedis(t, other.App)
		}
	}
	if w.cfg.Impressions.On != configs.OnServed {
		return
	}
	var groups []string
	for _, it := range items(t, answer) {
		groups = append(groups, it.Group())
	}
	testenv.WaitFor(t, func() bool {
		checked, err := s.stores.dedup.Check(t.Context(), agent, groups, w.clock.Now())
		return err == nil && !slices.Contains(checked.Verdicts, dedup.Unseen)
	}, "what was shown without Redis is recorded")
}

// asksRedis waits until a page is served with Redis again.
func asksRedis(t *testing.T, a *App) {
	t.Helper()
	testenv.WaitFor(t, func() bool {
		answer, err := a.Engine.Feed(t.Context(), refresh("u_probe", 1))
		return err == nil && !sessionless(answer)
	}, "the server asks Redis again")
}

// mayBlindly reports whether the item may be shown by a server that could not query the impressions
// of other servers: it knows only its own latest pages.
func (w *world) mayBlindly(s *server, r *reader, it feed.Item) bool {
	for _, key := range keys(it) {
		if at, was := r.shown[key].by[s]; was && w.clock.Now().Sub(at) < 12*time.Hour {
			return false
		}
	}
	return true
}

// sessionless reports whether a page was served without the session store.
func sessionless(answer engine.Answer) bool { return slices.Contains(answer.Degraded, "session") }
