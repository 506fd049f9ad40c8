package prove

import (
	"slices"
	"sync"
)

// pair is an ordered pair of agents.
type pair [2]string

// entry is a post in the model.
type entry struct {
	Post
	published span
	deleted   span   // begin is never if nobody has deleted it
	dated     moment // when it may be shown: the clock of its server may be ahead
}

// showing is an entry on a page.
type showing struct {
	request   string
	at        span
	mayRepeat bool // its answer says so
}

// clash returns the showing that one by another call repeats, if any, and whether an answer says that it
// may. Which of two answers to calls at the same time is the second is not defined, so each of them
// speaks for both.
func clash(all []showing, w showing) (before showing, marked, repeats bool) {
	for _, v := range all {
		if v.request == w.request {
			continue
		}
		if !w.mayRepeat && (!v.mayRepeat || v.at.end < w.at.begin) {
			return v, false, true
		}
		if !repeats {
			before, marked, repeats = v, true, true
		}
	}
	return before, marked, repeats
}

// model knows who may see what, what each reader was shown, and what is owed to them. It is exact
// but for changes whose calls overlap: within the time of a call, either state is allowed.
type model struct {
	mu      sync.Mutex
	follows map[pair]*relation
	blocks  map[pair]*relation
	entries map[string]*entry
	order   []string // keys, in the order of publishing
	shown   map[string]map[string][]showing
	public  bool // every public post is owed to everybody
}

func newModel(public bool) *model {
	return &model{
		follows: map[pair]*relation{}, blocks: map[pair]*relation{}, entries: map[string]*entry{},
		shown: map[string]map[string][]showing{}, public: public,
	}
}

// of returns the relation of a pair, which it creates.
func of(all map[pair]*relation, a, b string) *relation {
	p := pair{a, b}
	if all[p] == nil {
		all[p] = &relation{}
	}
	return all[p]
}

// may reports whether a reader may have been allowed to see an entry at some moment of a span.
func (m *model) may(reader string, e *entry, s span) bool {
	if e.published.begin > s.end || e.deleted.end < s.begin {
		return false
	}
	if e.Author == reader {
		return true
	}
	here, there := m.blocks[pair{reader, e.Author}], m.blocks[pair{e.Author, reader}]
	follow := m.follows[pair{reader, e.Author}]
	moments := follow.edges(there.edges(here.edges([]moment{s.begin, s.end}, s), s), s)
	return slices.ContainsFunc(moments, func(t moment) bool {
		_, free1 := here.at(t)
		_, free2 := there.at(t)
		follows, _ := follow.at(t)
		return free1 && free2 && (!e.Followers || follows)
	})
}

// owed reports whether an entry must reach a reader who asks to the end: without a doubt the reader
// might see it ever since it was published, and follows its author all that time.
func (m *model) owed(reader string, e *entry) bool {
	if e.Author == reader || e.published.end == never || e.deleted.begin != never {
		return false
	}
	from := e.published.begin
	if !m.blocks[pair{reader, e.Author}].since(from, false) || !m.blocks[pair{e.Author, reader}].since(from, false) {
		return false
	}
	return m.follows[pair{reader, e.Author}].since(from, true) || m.public && !e.Followers
}

// missing returns the keys of the entries that are owed to a reader, were published and visible
// before a moment, and have not been shown.
func (m *model) missing(reader string, before moment) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for _, key := range m.order {
		e := m.entries[key]
		if e.published.end < before && e.dated < before && len(m.shown[reader][key]) == 0 && m.owed(reader, e) {
			keys = append(keys, key)
		}
	}
	return keys
}

// verdict is the judgement of the model on an entry of a page.
type verdict struct {
	key    string
	leak   bool
	repeat bool
	before showing // of a repetition: where it was shown first
	// The answer says that it may.
	mayRepeat, mayLeak bool
}

// show notes a page and returns what is wrong with it. The span is that of the attempt whose answer
// has arrived: what was forbidden before it began must not be in it.
func (m *model) show(c Call, p Page, s span) []verdict {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.shown[c.Reader]
	if all == nil {
		all = map[string][]showing{}
		m.shown[c.Reader] = all
	}
	var wrong []verdict
	here := map[string]bool{}
	for _, key := range p.Entries {
		e := m.entries[key]
		now := showing{c.RequestID, s, p.MayRepeat}
		v := verdict{key: key, leak: e == nil || !m.may(c.Reader, e, s), mayLeak: p.MayLeak}
		v.before, v.mayRepeat, v.repeat = clash(all[key], now)
		if here[key] {
			v.before, v.mayRepeat, v.repeat = now, p.MayRepeat, true
		}
		here[key] = true
		all[key] = append(all[key], now)
		if v.leak || v.repeat {
			wrong = append(wrong, v)
		}
	}
	return wrong
}
