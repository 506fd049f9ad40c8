package engine

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

// sessionlessMost is the maximum number of sessionless pages stored for retries.
const sessionlessMost = 10_000

// sessionlessPages stores pages by request id, for as long as the session store would. A page
// handed out without the store answers retries on this server, even after the store is back;
// other servers do not know of it. A page that the store knows answers them only while the store
// is down.
type sessionlessPages struct {
	mu    sync.Mutex
	pages *simplelru.LRU[sessionlessKey, sessionlessEntry]
}

type sessionlessKey struct{ agent, requestID string }

type sessionlessEntry struct {
	asked asked
	page  page
	ends  time.Time
}

// asked is what a retry must ask for again.
type asked struct {
	feed  feed.Name
	name  string // of the action
	limit int
}

func askedBy(r Request) asked { return asked{cmp.Or(r.Feed, feed.ForYou), r.name(), r.Limit} }

func newSessionlessPages() *sessionlessPages {
	pages, _ := simplelru.NewLRU[sessionlessKey, sessionlessEntry](sessionlessMost, nil) // fails only for a size that is not positive
	return &sessionlessPages{pages: pages}
}

// get returns the page stored under the call's request id, as a replayed one. If that was a
// different call, it returns [cache.ErrConflict] with the page.
func (l *sessionlessPages) get(c *call, now time.Time) (page, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.find(c, now)
}

func (l *sessionlessPages) find(c *call, now time.Time) (page, error) {
	e, ok := l.pages.Peek(sessionlessKey{c.Agent, c.RequestID})
	if !ok || !now.Before(e.ends) {
		return page{}, nil
	}
	e.page.Replayed = true
	asked := askedBy(c.Request)
	if e.asked != asked {
		return e.page, fmt.Errorf("%w (it was %v, this is %v)", cache.ErrConflict, e.asked, asked)
	}
	return e.page, nil
}

// note stores a page of the session store, for retries while that is down, and for equal calls.
func (l *sessionlessPages) note(c *call, p page, refs []feed.Ref, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(c, page{Page: cache.Page{Refs: refs, HasMore: p.HasMore}, missing: p.missing}, now)
}

// put stores a page under the call's request id. If an equal concurrent call has stored one
// already, it returns that one.
func (l *sessionlessPages) put(c *call, p page, now time.Time) (page, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, err := l.find(c, now); before.Replayed {
		before.missing, before.from = before.missing|p.missing, sessionless
		return before, err
	}
	l.keep(c, p, now)
	return p, nil
}

// keep stores a page of a call with a request id, and evicts expired ones. mu is held.
func (l *sessionlessPages) keep(c *call, p page, now time.Time) {
	if c.RequestID == "" {
		return
	}
	for _, e, ok := l.pages.GetOldest(); ok && !now.Before(e.ends); _, e, ok = l.pages.GetOldest() {
		l.pages.RemoveOldest()
	}
	p.Refs = feed.Detached(p.Refs) // the ids may be substrings of a whole recall's answer
	l.pages.Add(sessionlessKey{c.Agent, c.RequestID}, sessionlessEntry{askedBy(c.Request), p, now.Add(cache.RetryTTL)})
}
