package engine

import (
	"fmt"
	"sync"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

// sessionlessMost bounds how many sessionless pages are kept for retries.
const sessionlessMost = 10_000

// sessionlessPages keeps pages under their request ids, for as long as the session
// store would. A page that was handed out without the store is the answer to a
// retry on this server, also after the store is back; other servers do not know
// of it. One that the store knows is the answer only while the store is down.
type sessionlessPages struct {
	mu    sync.Mutex
	pages map[sessionlessKey]sessionlessEntry
	order []sessionlessKey // oldest first
}

type sessionlessKey struct {
	agent, requestID string
	feed             feed.Name
}

func sessionlessKeyOf(c *call) sessionlessKey { return sessionlessKey{c.Agent, c.RequestID, c.Feed} }

type sessionlessEntry struct {
	action Action
	limit  int
	page   page
	ends   time.Time
}

// get returns the sessionless page that was handed out under the call's request id.
// The error is [cache.ErrConflict] where that was another call.
func (l *sessionlessPages) get(c *call, now time.Time) (p page, ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.RequestID == "" || !l.pages[sessionlessKeyOf(c)].page.sessionless {
		return page{}, false, nil
	}
	return l.find(c, now)
}

// note keeps a page that the session store knows, for retries while that is
// down, and for equal calls at the same time.
func (l *sessionlessPages) note(c *call, p page, refs []feed.Ref, now time.Time) {
	if c.RequestID == "" || p.sessionless {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(c, page{Page: cache.Page{Refs: refs, HasMore: p.HasMore}, lacks: p.lacks}, now)
}

// noted is the page that was kept under the call's request id; nil: none was.
func (l *sessionlessPages) noted(c *call, now time.Time) []feed.Ref {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, _, _ := l.find(c, now) // the page of another action or limit is none
	return p.Refs
}

func (l *sessionlessPages) find(c *call, now time.Time) (p page, ok bool, err error) {
	e, ok := l.pages[sessionlessKeyOf(c)]
	if !ok || !now.Before(e.ends) {
		return page{}, false, nil
	}
	if e.action != c.Action || e.limit != c.Limit {
		return page{}, false, fmt.Errorf("%w (it was %s %d, this is %s %d)", cache.ErrConflict, e.action, e.limit, c.Action, c.Limit)
	}
	p = e.page
	p.Replayed = true
	return p, true, nil
}

// put keeps a page under the call's request id. Where one is kept already, of
// the same call sent at the same time, that one is the answer.
func (l *sessionlessPages) put(c *call, p page, now time.Time) (page, error) {
	if c.RequestID == "" {
		return p, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok, err := l.find(c, now); ok || err != nil {
		before.lacks, before.sessionless = before.lacks|p.lacks, true
		return before, err
	}
	l.keep(c, p, now)
	return p, nil
}

// keep adds a page, and forgets those that have had their time. mu is held.
func (l *sessionlessPages) keep(c *call, p page, now time.Time) {
	for len(l.order) > 0 && (len(l.order) >= sessionlessMost || !now.Before(l.pages[l.order[0]].ends)) {
		delete(l.pages, l.order[0])
		l.order = l.order[1:]
	}
	if l.pages == nil {
		l.pages = make(map[sessionlessKey]sessionlessEntry)
	}
	key := sessionlessKeyOf(c)
	if _, again := l.pages[key]; !again {
		l.order = append(l.order, key)
	}
	kept := p
	kept.Refs = feed.Detached(p.Refs) // the ids may be parts of a whole recall's answer
	l.pages[key] = sessionlessEntry{c.Action, c.Limit, kept, now.Add(cache.RetryTTL)}
}
