package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// topUps is how often a page that lost items to deletion is filled up again.
const topUps = 2

// undoTimeout bounds giving a page back when its request has ended already.
const undoTimeout = 2 * time.Second

// hydrated is a page's content and what it stands for.
type hydrated struct {
	docs   []feed.Doc
	groups []string
}

// deliver turns a page into an answer: hydrate, top up, record. last says
// that there is no further attempt when everything on the page is gone.
func (e *Engine) deliver(ctx context.Context, r Request, page cache.Page, last bool) (Answer, error) {
	got, gone, err := e.hydrate(ctx, r.Agent, page.Refs)
	if err != nil {
		e.restore(ctx, r, page)
		return Answer{}, err
	}
	if page.Replayed { // answered before: everything after this point has been done then
		return Answer{Docs: got.docs, HasMore: page.HasMore}, nil
	}
	hasMore := page.HasMore
	missing := len(gone)
	for try := 0; try < topUps && missing > 0 && hasMore; try++ {
		more, err := e.pop(ctx, r, missing)
		if err != nil {
			break // what is there already is worth an answer
		}
		fill, alsoGone, err := e.hydrate(ctx, r.Agent, more.Refs)
		if err != nil {
			e.restore(ctx, r, more)
			break
		}
		got.docs = append(got.docs, fill.docs...)
		got.groups = append(got.groups, fill.groups...)
		gone = append(gone, alsoGone...)
		hasMore = more.HasMore
		missing -= len(fill.docs)
	}
	e.release(ctx, r.Agent, gone)
	if len(got.docs) == 0 && len(gone) > 0 && !hasMore && !last {
		return e.refreshAgain(ctx, r)
	}
	if e.cfg.RecordServed {
		e.stores.Recorder.Deliver(r.Agent, got.groups)
	}
	return Answer{Docs: got.docs, HasMore: hasMore}, nil
}

// pop takes a few more of the session for a call that has its page already.
func (e *Engine) pop(ctx context.Context, r Request, limit int) (cache.Page, error) {
	retry := r.retry()
	retry.Extend = true
	return e.stores.Sessions.Pop(ctx, cache.Pop{Agent: r.Agent, Limit: limit, Now: e.cfg.Clock(), Retry: retry})
}

// refreshAgain is the silent extra refresh of a page of which nothing was
// left.
func (e *Engine) refreshAgain(ctx context.Context, r Request) (Answer, error) {
	retry := r.retry()
	retry.Extend = true
	profile, err := e.profile(ctx, r.Agent)
	if err != nil {
		return Answer{}, err
	}
	page, err := e.refresh(ctx, r, profile, retry)
	if err != nil {
		return Answer{}, err
	}
	return e.deliver(ctx, r, page, true)
}

// hydrate reads the content of refs. What has been deleted, or is muted by
// the profile as it is now, is left out and returned in gone.
func (e *Engine) hydrate(ctx context.Context, agent string, refs []feed.Ref) (got hydrated, gone []string, err error) {
	if len(refs) == 0 {
		return hydrated{docs: []feed.Doc{}}, nil, nil
	}
	defer stageTimer("hydrate")()
	docs, profile, err := catalog.Hydrate(ctx, e.stores.Catalog, agent, feed.IDs(refs))
	if err != nil {
		return hydrated{}, nil, err
	}
	got = hydrated{docs: make([]feed.Doc, 0, len(refs)), groups: make([]string, 0, len(refs))}
	mutes := profile.HasMutes()
	for i, doc := range docs {
		if doc.Missing() || mutes && refused(profile, doc) {
			gone = append(gone, refs[i].Group)
			continue
		}
		got.docs = append(got.docs, doc)
		got.groups = append(got.groups, refs[i].Group)
	}
	return got, gone, nil
}

func refused(p feed.Profile, doc feed.Doc) bool {
	it, err := doc.Item()
	return err != nil || p.Refuses(&it)
}

// restore gives a page back that could not be delivered, so that nothing is
// lost. The request may have run out of time already.
func (e *Engine) restore(ctx context.Context, r Request, page cache.Page) {
	if page.Replayed || len(page.Refs) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	if err := e.stores.Sessions.Restore(ctx, r.Agent, page.Refs, r.retry()); err != nil {
		slog.WarnContext(ctx, "a page that could not be delivered could not be given back to its session",
			"agent", r.Agent, "items", len(page.Refs), "error", err)
	}
}

// release takes what was not delivered out of the pending set, so that it is
// not recorded as an impression.
func (e *Engine) release(ctx context.Context, agent string, groups []string) {
	if len(groups) == 0 {
		return
	}
	goneTotal.Add(float64(len(groups)))
	if err := e.stores.Seen.Release(ctx, agent, groups); err != nil {
		slog.WarnContext(ctx, "items that are gone could not be released; they count as shown",
			"agent", agent, "items", len(groups), "error", err)
	}
}
