package prove

import (
	"context"
	"slices"
	"sync"
	"time"
)

// memory is a feed in this process that keeps all promises, unless a flaw is set.
type memory struct {
	flaw string

	mu      sync.Mutex
	posts   []Post
	gone    map[string]bool
	follows map[pair]bool
	blocks  map[pair]bool
	shown   map[pair]bool // reader, key
	pages   map[pair][]string
	calls   int
}

func newMemory(flaw string) Adapter {
	return Adapter{Name: "memory", About: "a feed of the test", Start: func(context.Context, Place) (System, error) {
		return &memory{flaw: flaw, gone: map[string]bool{}, follows: map[pair]bool{}, blocks: map[pair]bool{}, shown: map[pair]bool{}, pages: map[pair][]string{}}, nil
	}}
}

func (m *memory) Servers() int     { return 2 }
func (m *memory) Processes() []int { return nil }

func (m *memory) visible(reader string, p Post) bool {
	if m.gone[p.Key] || m.blocks[pair{reader, p.Author}] || m.blocks[pair{p.Author, reader}] || p.Author == reader {
		return false
	}
	return m.follows[pair{reader, p.Author}] || !p.Followers
}

func (m *memory) Next(ctx context.Context, _ int, c Call) (Page, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	request := pair{c.Reader, c.RequestID}
	if m.flaw == "forgets request ids" {
		request[1] += time.Now().String()
	}
	if keys, ok := m.pages[request]; ok {
		return Page{Entries: slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
			return !slices.ContainsFunc(m.posts, func(p Post) bool { return p.Key == key && m.visible(c.Reader, p) })
		})}, nil
	}
	var keys []string
	for _, p := range m.posts {
		again := (m.flaw == "repeats" || m.flaw == "degraded") && m.calls%50 == 0
		leaks := (m.flaw == "leaks" || m.flaw == "degraded") && m.calls%50 == 0
		if len(keys) == c.Limit || m.shown[pair{c.Reader, p.Key}] && !again || !m.visible(c.Reader, p) && !leaks {
			continue
		}
		keys = append(keys, p.Key)
		m.shown[pair{c.Reader, p.Key}] = true
	}
	now := m.calls%50 == 0
	if now && (m.flaw == "ends early" || m.flaw == "ends early and says so") {
		for _, key := range keys {
			delete(m.shown, pair{c.Reader, key})
		}
		return Page{MayLack: m.flaw == "ends early and says so"}, ctx.Err()
	}
	m.pages[request] = keys
	degraded := m.flaw == "degraded" && now
	return Page{Entries: keys, MayRepeat: degraded, MayLeak: degraded}, ctx.Err()
}

func (m *memory) Publish(_ context.Context, _ int, p Post) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.ContainsFunc(m.posts, func(q Post) bool { return q.Key == p.Key }) {
		m.posts = append(m.posts, p)
	}
	return nil
}

func (m *memory) Follow(_ context.Context, _ int, reader, author string, on bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.follows[pair{reader, author}] = on
	return nil
}

func (m *memory) Block(_ context.Context, _ int, agent, other string, on bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blocks[pair{agent, other}] = on
	if on {
		delete(m.follows, pair{agent, other})
		delete(m.follows, pair{other, agent})
	}
	return nil
}

func (m *memory) Delete(_ context.Context, _ int, _, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone[key] = m.flaw != "shows the deleted"
	return nil
}

func (m *memory) Restart(context.Context, int, time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.flaw {
	case "loses at a restart": // as a feed whose fan-out was under way
		m.posts = m.posts[:max(0, len(m.posts)-3)]
	case "forgets at a restart":
		m.shown = map[pair]bool{}
	}
	return nil
}

func (m *memory) Close(context.Context) error { return nil }
