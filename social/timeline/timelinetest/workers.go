package timelinetest

import (
	"slices"

	"github.com/freshet/freshet/social/timeline"
)

// work starts a worker that leases a job. The job is done only if its generation has not changed
// and its lease was not lost.
func (w *system) work() {
	free := slices.DeleteFunc(w.jobs(), func(j job) bool { return w.rows[j].lease != 0 })
	if len(free) == 0 {
		return
	}
	j := free[w.rnd.IntN(len(free))]
	r := w.rows[j]
	generation := r.generation
	body := w.deliver(j.post)
	if j.post == nil {
		body = w.pair(j.pair)
	}
	var number int
	number = w.start(j.name(), func(pause pause) {
		died := true
		body(func(format string, args ...any) bool {
			alive := pause(format, args...)
			died = !alive
			return alive
		})
		if died || w.rows[j] != r || r.lease != number {
			return
		}
		r.lease = 0
		if r.generation == generation {
			delete(w.rows, j)
		}
	})
	r.lease = number
}

// expire ends a lease. Its worker does not notice.
func (w *system) expire() {
	for _, j := range w.jobs() {
		r := w.rows[j]
		if r.lease != 0 && w.rnd.IntN(2) == 0 {
			w.note("%d loses its lease", r.lease)
			r.lease = 0
			return
		}
	}
}

// deliver pushes a post into its readers' lists, or removes it, and repeats that if the post has
// changed meanwhile.
func (w *system) deliver(p *post) func(pause pause) {
	return func(pause pause) {
		for {
			heads, err := w.lists().Heads(w.ctx, w.agents)
			w.must(err)
			if err != nil || !pause("heads %+v", heads) {
				return
			}
			version := p.deleted
			readers := slices.DeleteFunc(slices.Clone(w.agents), func(a string) bool { return !w.follows[pair{a, p.author}] })
			if !pause("reads %s: deleted %v, for %v", p.ID, version, readers) {
				return
			}
			if version {
				w.must(w.lists().Remove(w.ctx, w.agents, []string{p.ID}))
				if !pause("has removed it") {
					return
				}
			} else {
				if again, ok := w.push(p, readers, heads, pause); !ok {
					return
				} else if again {
					continue
				}
			}
			if p.deleted == version {
				return
			}
		}
	}
}

// push pushes a post to lists with the versions of heads. again reports whether any of them has
// another version now, and ok whether the process continues.
func (w *system) push(p *post, readers []string, heads []timeline.Head, pause pause) (again, ok bool) {
	for _, list := range readers {
		h := heads[slices.Index(w.agents, list)]
		if h.State == timeline.None {
			continue // if it exists by now, it was built from a store that has the post
		}
		held, err := w.lists().Push(w.ctx, []timeline.Addition{{List: list, Version: h.Version, Entries: []timeline.Position{p.Position}}})
		w.must(err)
		if !pause("has pushed it to %s: %v", list, held) {
			return false, false
		}
		if err != nil || held[0] > 0 {
			continue
		}
		now, err := w.lists().Heads(w.ctx, []string{list})
		w.must(err)
		again = again || err == nil && now[0].State != timeline.None && now[0].Version != h.Version
		if !pause("the head of %s is now %+v", list, now) {
			return false, false
		}
	}
	return again, true
}

// pair updates the author's entries in the agent's list from the store.
func (w *system) pair(of pair) func(pause pause) {
	return func(pause pause) {
		one := []string{of.agent}
		w.must(w.lists().ClearToken(w.ctx, one))
		if !pause("has cleared the token") {
			return
		}
		for {
			heads, err := w.lists().Heads(w.ctx, one)
			w.must(err)
			if err != nil {
				return
			}
			if !pause("head %+v", heads[0]) || heads[0].State == timeline.None {
				return
			}
			if heads[0].State == timeline.Building && w.rnd.IntN(2) == 0 {
				return // only a build that reads the store from now on can commit
			}
			c := w.changeOf(of, heads[0])
			if !pause("reads the store: %+v", c) {
				return
			}
			done, err := w.lists().Replace(w.ctx, of.agent, c)
			w.must(err)
			if !pause("replaces: %v", done) || done {
				return
			}
		}
	}
}

// changeOf returns the change for a pair's posts above the floor of the list, with at most as many
// additions as fit into a list.
func (w *system) changeOf(of pair, h timeline.Head) timeline.Change {
	c := timeline.Change{Version: h.Version}
	for _, p := range w.posts {
		switch {
		case p.author != of.author:
		case !w.due(of.agent, p):
			c.Remove = append(c.Remove, p.ID)
		case p.Above(h.Floor):
			c.Add = append(c.Add, p.Position)
		}
	}
	slices.SortFunc(c.Add, func(a, b timeline.Position) int { return b.Compare(a) })
	if len(c.Add) > w.most {
		c.Floor, c.Add = c.Add[w.most], c.Add[:w.most]
	}
	return c
}

// reader reads a list and builds it if it does not exist.
func (w *system) reader(agent string) func(pause pause) {
	return func(pause pause) {
		for range 3 {
			page, err := w.lists().Read(w.ctx, agent, none, 2)
			w.must(err)
			if !pause("reads %+v", page) || page.State == timeline.Ready {
				return
			}
			token, state, err := w.lists().Begin(w.ctx, agent)
			w.must(err)
			if !pause("begins: %q %v", token, state) || token == "" {
				return
			}
			c := timeline.Content{Entries: w.delivered(agent)}
			if len(c.Entries) > w.most {
				c.Floor, c.Entries = c.Entries[w.most], c.Entries[:w.most]
			}
			if !pause("reads the store: %+v", c) {
				return
			}
			if w.rnd.IntN(10) == 0 {
				w.must(w.lists().Abandon(w.ctx, agent, token))
				pause("abandons")
				return
			}
			done, err := w.lists().Commit(w.ctx, agent, token, c)
			w.must(err)
			if !pause("commits: %v", done) || done {
				return
			}
		}
	}
}
