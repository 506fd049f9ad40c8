package timelinetest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/freshet/freshet/social/timeline"
)

// reference is the simplest implementation of the contract: one set of posts per list, sorted at
// each read.
type reference struct {
	most  int
	now   time.Time
	names int // tokens and versions so far
	lists map[string]*plain
}

type plain struct {
	state          timeline.State
	cleared        bool
	token, version string
	started, ends  time.Time
	posts          map[timeline.Position]bool
	gone           map[string]bool
	floor          timeline.Position
}

func newReference(most int) *reference {
	return &reference{most: most, now: Start, lists: map[string]*plain{}}
}

// of returns a list, or nil if it does not exist or has expired.
func (r *reference) of(list string) *plain {
	l := r.lists[list]
	if l != nil && r.now.Before(l.ends) {
		return l
	}
	delete(r.lists, list)
	return nil
}

func (r *reference) unique() string {
	r.names++
	return fmt.Sprint("ref", r.names)
}

func (l *plain) sorted() []timeline.Position {
	all := slices.Collect(maps.Keys(l.posts))
	slices.SortFunc(all, func(a, b timeline.Position) int { return b.Compare(a) })
	return all
}

func (l *plain) add(list []timeline.Position) {
	for _, p := range list {
		l.posts[p] = true
	}
}

func (l *plain) drop(names []string) {
	for _, id := range names {
		maps.DeleteFunc(l.posts, func(p timeline.Position, _ bool) bool { return p.ID == id })
		l.gone[id] = true // matters only to a commit
	}
}

// settle raises the floor to the given one and to the newest entry above the cap, and removes the
// entries at or below it.
func (l *plain) settle(most int, floor timeline.Position) {
	if !floor.Zero() && floor.Above(l.floor) {
		l.floor = floor
	}
	maps.DeleteFunc(l.posts, func(p timeline.Position, _ bool) bool { return !p.Above(l.floor) })
	all := l.sorted()
	if len(all) > most {
		l.floor = all[most]
		for _, p := range all[most:] {
			delete(l.posts, p)
		}
	}
}

func (r *reference) read(list string, below timeline.Position, n int) (page timeline.Page) {
	l := r.of(list)
	if l == nil {
		return page
	}
	page.State = l.state
	if l.state != timeline.Ready {
		return page
	}
	l.ends = r.now.Add(timeline.TTL)
	page.Floor = l.floor
	for _, p := range l.sorted() {
		if !below.Zero() && p.Compare(below) >= 0 {
			continue
		}
		page.More = len(page.Entries) == n
		if page.More {
			break
		}
		page.Entries = append(page.Entries, p)
	}
	return page
}

func (r *reference) head(list string) (h timeline.Head) {
	l := r.of(list)
	if l == nil {
		return h
	}
	h = timeline.Head{State: l.state, Floor: l.floor, Version: l.version}
	all := l.sorted()
	if len(all) > 0 && l.state == timeline.Ready {
		h.Newest, h.Size = all[0], len(all)
	}
	return h
}

func (r *reference) push(list, version string, entries []timeline.Position) (held int) {
	l := r.of(list)
	if l == nil || l.version != version {
		return 0
	}
	l.add(entries)
	l.settle(r.most, timeline.Position{})
	for _, p := range entries {
		if l.posts[p] {
			held++
		}
	}
	return held
}

func (r *reference) remove(list string, names []string) {
	l := r.of(list)
	if l != nil && len(names) > 0 {
		l.version = r.unique()
		l.drop(names)
	}
}

func (r *reference) replace(list string, c timeline.Change) bool {
	l := r.of(list)
	if l == nil || l.version != c.Version {
		return false
	}
	l.version = r.unique()
	l.drop(c.Remove)
	l.add(c.Add)
	l.settle(r.most, c.Floor)
	return true
}

func (r *reference) clear(list string) {
	l := r.of(list)
	if l != nil {
		l.version = r.unique()
		l.cleared = l.state == timeline.Building
	}
}

func (r *reference) begin(list string) (string, timeline.State) {
	l := r.of(list)
	if l != nil {
		if l.state == timeline.Ready || !l.cleared && r.now.Sub(l.started) < timeline.TakeOver {
			return "", l.state
		}
	}
	token := r.unique()
	r.lists[list] = &plain{
		state: timeline.Building, token: token, version: token, started: r.now, ends: r.now.Add(timeline.BuildTTL),
		posts: map[timeline.Position]bool{}, gone: map[string]bool{},
	}
	return token, timeline.Building
}

func (r *reference) commit(list, token string, c timeline.Content) bool {
	l := r.of(list)
	if l == nil || l.token != token || l.cleared {
		return false
	}
	if l.state == timeline.Ready {
		return true
	}
	for _, p := range c.Entries {
		if !l.gone[p.ID] {
			l.posts[p] = true
		}
	}
	l.state, l.ends = timeline.Ready, r.now.Add(timeline.TTL)
	l.settle(r.most, c.Floor)
	return true
}

func (r *reference) abandon(list, token string) {
	l := r.of(list)
	if l != nil && l.token == token && l.state != timeline.Ready {
		delete(r.lists, list)
	}
}
