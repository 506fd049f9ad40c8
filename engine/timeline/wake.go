package timeline

import (
	"context"
	"time"

	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/social"
	lists "github.com/freshet/freshet/social/timeline"
)

const (
	// collectFor is how long wakes are collected before a check, as one post has several.
	collectFor = 20 * time.Millisecond
	// restFor is how long no wake causes a check after one that a wake has caused, as a multiple of
	// its duration. With many posts, checks are fewer and larger then, and take a quarter of the time.
	restFor = 3
	// turnFor is the time within which wakes cause one check of an agent's timelines at most: a reader
	// of many posts gets few events, and those of others wait less.
	turnFor = 250 * time.Millisecond
)

// woken collects whom wakes concern. It holds only names that a watch has, so a wake of other names
// costs nothing more, and the number of names is limited.
type woken struct {
	began chan struct{} // a watch began
	ready chan struct{} // there is something to check

	// The fields below are guarded by Watcher.mu.
	agents  map[string]bool // whose lists were pushed to
	authors map[string]bool // whose outboxes
	checked map[string]bool // agents who had their check of this turn
	pulled  map[string]bool // authors that a watch pulls, and [social.Server]
	inboxes map[string]bool // agents of whose notifications some may not stand any more
}

func newWoken() woken {
	return woken{
		began: make(chan struct{}, 1), ready: make(chan struct{}, 1),
		agents: map[string]bool{}, authors: map[string]bool{}, checked: map[string]bool{}, pulled: map[string]bool{}, inboxes: map[string]bool{},
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // the previous signal was not received yet
	}
}

// Run checks until ctx ends. It receives wakes while there are watches.
func (w *Watcher) Run(ctx context.Context) {
	look := time.NewTicker(w.cfg.Every)
	defer look.Stop()
	var end func() // of receiving; nil while wakes are not received
	defer func() {
		if end != nil {
			end()
		}
	}()
	var due, turn <-chan time.Time // the next check because of wakes; the end of this turn
	var rested time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			w.Poll(ctx)
			if end != nil && w.count() == 0 {
				end()
				end = nil
			}
		case <-w.woken.began:
			if end == nil {
				end = w.receive(ctx)
			}
		case <-w.woken.ready:
			if due == nil {
				due = time.After(min(max(collectFor, rested.Sub(w.cfg.Clock())), PollEvery))
			}
		case <-due:
			due = nil
			began := w.cfg.Clock()
			w.pollWoken(ctx)
			ended := w.cfg.Clock()
			rested = ended.Add(restFor * ended.Sub(began))
			if turn == nil {
				turn = time.After(turnFor)
			}
		case <-turn:
			turn = nil
			w.nextTurn()
		}
	}
}

// receive receives wakes until the returned function is called.
func (w *Watcher) receive(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if w.stores.Wakes != nil {
			safego.Log(w.cfg.Log, "the wakes of streams", func() { w.stores.Wakes.Receive(ctx, w.wake) })
		}
	}()
	return func() { cancel(); <-ended }
}

// wake collects whom a wake concerns.
func (w *Watcher) wake(wake lists.Wake) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, agent := range wake.Agents {
		w.wakeAgent(agent)
	}
	for _, agent := range wake.Inboxes {
		if w.wakeAgent(agent) {
			w.woken.inboxes[agent] = true
		}
	}
	for _, author := range wake.Authors {
		if w.woken.pulled[author] {
			w.woken.authors[author] = true
			signal(w.woken.ready)
		}
	}
}

// wakeAgent notes that the timelines of an agent are to be checked, and reports whether there are any. The caller holds
// w.mu.
func (w *Watcher) wakeAgent(agent string) bool {
	if len(w.watches[agent]) == 0 {
		return false
	}
	w.woken.agents[agent] = true
	if !w.woken.checked[agent] {
		signal(w.woken.ready)
	}
	return true
}

// rereadInboxes makes the next check of some watches read their notifications, where these have changed without a
// new one: the state of an inbox does not tell that. The caller holds w.mu, and w.checking.
func (w *Watcher) rereadInboxes(list []*Watch) {
	for _, watch := range list {
		if w.woken.inboxes[watch.agent] {
			watch.inbox.state = unknownInbox
		}
	}
	for _, watch := range list {
		delete(w.woken.inboxes, watch.agent)
	}
}

// nextTurn lets wakes cause checks of all agents again.
func (w *Watcher) nextTurn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.woken.checked)
	if len(w.woken.agents) > 0 {
		signal(w.woken.ready)
	}
}

// pollWoken checks the timelines that wakes concern. Late posts are left to [Watcher.Poll], which
// reads them a second after their arrival at the earliest. So is everything while stores are down.
func (w *Watcher) pollWoken(ctx context.Context) {
	w.checking.Lock()
	defer w.checking.Unlock()
	if w.failed {
		return
	}
	watches := w.concerned()
	if len(watches) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(w.cfg.Begin(ctx), checkTimeout)
	defer cancel()
	wakesTotal.Inc()
	w.lateMu.Lock()
	r := w.round(watches, w.late)
	w.lateMu.Unlock()
	_ = w.check(ctx, r.heads, r.news, r.inboxes) // check logs an error
}

// concerned returns the watches that wakes concern. Agents who had their check of this turn remain for
// the next one.
func (w *Watcher) concerned() []*Watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.woken.authors) > 0 {
		for agent, of := range w.watches {
			if of[0].pulls(w.woken.authors) {
				w.woken.agents[agent] = true
			}
		}
		clear(w.woken.authors)
	}
	var list []*Watch
	for agent := range w.woken.agents {
		if !w.woken.checked[agent] {
			list = append(list, w.watches[agent]...)
			w.woken.checked[agent] = true
			delete(w.woken.agents, agent)
		}
	}
	w.rereadInboxes(list)
	return list
}

// pulls reports whether a timeline has one of these authors' outboxes as a source.
func (w *Watch) pulls(authors map[string]bool) bool {
	if w.pulled.Server && authors[social.Server] {
		return true
	}
	for _, author := range w.pulled.Authors {
		if authors[author] {
			return true
		}
	}
	return false
}

// all returns all watches, and forgets the wakes.
func (w *Watcher) all() []*Watch {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.woken.agents)
	clear(w.woken.authors)
	var list []*Watch
	for _, of := range w.watches {
		list = append(list, of...)
	}
	w.rereadInboxes(list)
	clear(w.woken.inboxes)
	return list
}

// count returns the number of watches, including those being started.
func (w *Watcher) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open
}

// addPulled adds the authors whom watches pull.
func (w *Watcher) addPulled(of []social.Pulled) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range of {
		for _, author := range p.Authors {
			w.woken.pulled[author] = true
		}
		if p.Server {
			w.woken.pulled[social.Server] = true
		}
	}
}

// resetPulled removes the authors whom no watch pulls any more, after a check of all. A watch that
// began meanwhile may miss wakes of its authors until the next check.
func (w *Watcher) resetPulled(r *round) {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.woken.pulled)
	for _, author := range r.authors {
		w.woken.pulled[author] = true
	}
	if r.pullsServer() {
		w.woken.pulled[social.Server] = true
	}
}
