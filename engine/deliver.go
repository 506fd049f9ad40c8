package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
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
	gone   []string   // groups of items that were deleted, muted or changed meanwhile
	lost   []feed.Ref // content that cannot be read at the moment
	shown  int        // handed out without the session store, which still had them
	unsure bool       // the stores may lack more of what was handed out
}

func (h hydrated) lacks() (p parts) {
	if len(h.lost) > 0 {
		p |= lacksCatalog
	}
	if h.unsure {
		p |= lacksDedup
	}
	return p
}

func (h *hydrated) add(more hydrated) {
	h.docs = append(h.docs, more.docs...)
	h.groups = append(h.groups, more.groups...)
	h.gone = append(h.gone, more.gone...)
	h.lost = append(h.lost, more.lost...)
	h.shown += more.shown
	h.unsure = h.unsure || more.unsure
}

// short is how many refs of the page came to nothing.
func (h *hydrated) short() int { return len(h.gone) + h.shown }

// deliver turns a page into an answer: hydrate, top up, record. last says
// that there is no further attempt when everything on the page is gone.
func (e *Engine) deliver(ctx context.Context, r Request, p page, last bool) (Answer, error) {
	got, err := e.read(ctx, r, p)
	if err != nil {
		e.restore(ctx, r, p, p.Refs)
		return Answer{}, err
	}
	if p.Replayed { // answered before: everything after this point has been done then
		return Answer{Docs: got.docs, HasMore: p.HasMore, Degraded: got.lacks().names()}, nil
	}
	if !p.loose {
		e.topUp(ctx, r, &p, &got)
		e.release(ctx, r.Agent, got.gone)
	}
	if len(got.lost) > 0 {
		e.restore(ctx, r, p, got.lost)
		p.HasMore = true
	}
	if len(got.docs) == 0 && got.short() > 0 && !p.HasMore && !last {
		return e.refreshAgain(ctx, r)
	}
	if e.stores.Fallback != nil && !p.loose {
		e.served.add(r.Agent, got.groups, false, e.cfg.Clock())
	}
	switch {
	case p.loose: // to be made pending, if it is no impression yet
		e.keep(ctx, r.Agent, got.groups)
	case e.cfg.RecordServed:
		e.stores.Recorder.Deliver(r.Agent, got.groups)
	}
	e.tally(r.Agent, got.docs)
	lacks := p.lacks | got.lacks()
	countDegraded(lacks)
	return Answer{Docs: got.docs, HasMore: p.HasMore, Degraded: lacks.names()}, nil
}

// read hydrates a page as what it is: one that is answered again, or one that
// is shown for the first time. A session that outlived a fault may hold what
// was handed out without it meanwhile; that is left out, and stays pending.
func (e *Engine) read(ctx context.Context, r Request, p page) (hydrated, error) {
	if p.Replayed {
		return e.hydrateAgain(ctx, r.Agent, p.Refs)
	}
	refs, unsure := p.Refs, false
	if e.stores.Fallback != nil && !p.loose {
		refs = e.served.unknown(r.Agent, refs, e.cfg.Clock())
		refs, unsure = e.unseen(ctx, r.Agent, refs)
	}
	got, err := e.hydrate(ctx, r.Agent, refs)
	got.shown, got.unsure = len(p.Refs)-len(refs), unsure
	return got, err
}

// topUp fills a page that has lost items up from the session.
func (e *Engine) topUp(ctx context.Context, r Request, p *page, got *hydrated) {
	missing := got.short()
	retry := r.retry()
	retry.Extend = true
	for try := 0; try < topUps && missing > 0 && p.HasMore; try++ {
		more, err := e.pop(ctx, r, missing, retry)
		if err != nil {
			return // what is there already is worth an answer
		}
		fill, err := e.read(ctx, r, more)
		if err != nil {
			e.restore(ctx, r, more, more.Refs)
			return
		}
		got.add(fill)
		p.HasMore = more.HasMore
		missing -= len(fill.docs)
	}
}

// refreshAgain is the silent extra refresh of a page of which nothing was
// left.
func (e *Engine) refreshAgain(ctx context.Context, r Request) (Answer, error) {
	retry := r.retry()
	retry.Extend = true
	p, err := e.refresh(ctx, r, retry)
	if err != nil {
		return Answer{}, err
	}
	return e.deliver(ctx, r, p, true)
}

// hydrate reads the content of refs that are to be shown for the first time.
// What is not to be shown as it is now is left out as gone: it is in another
// group than the one it was checked and claimed for, or dated in the future. It
// will be chosen anew for what it is. See content for the rest.
func (e *Engine) hydrate(ctx context.Context, agent string, refs []feed.Ref) (hydrated, error) {
	now := e.cfg.Clock().Unix()
	return e.content(ctx, agent, refs, func(ref feed.Ref, doc feed.Doc) bool {
		group, at, err := doc.Head()
		return err == nil && group == ref.Group && at <= now
	})
}

// hydrateAgain reads the content of a page that is answered again. What the
// first answer left out and released is in no filter and not pending; it may
// be back by now, but the first answer did not have it.
func (e *Engine) hydrateAgain(ctx context.Context, agent string, refs []feed.Ref) (hydrated, error) {
	checked, err := e.check(ctx, agent, feed.Groups(refs))
	if err == nil && len(checked.Verdicts) == len(refs) {
		given := make([]feed.Ref, 0, len(refs))
		for i, ref := range refs {
			if checked.Verdicts[i] != dedup.Unseen {
				given = append(given, ref)
			}
		}
		refs = given
	}
	return e.content(ctx, agent, refs, func(feed.Ref, feed.Doc) bool { return true })
}

// content reads the content of refs. What has been deleted, is muted by the
// profile as it is now, or does not fit its ref is left out as gone. While the catalog is down,
// what is cached is worth an answer, and the rest is lost for the moment; it
// is an error where nothing is cached.
func (e *Engine) content(ctx context.Context, agent string, refs []feed.Ref, fits func(feed.Ref, feed.Doc) bool) (hydrated, error) {
	if len(refs) == 0 {
		return hydrated{docs: []feed.Doc{}}, nil
	}
	ctx, end := e.enter(ctx, hydrateStage)
	defer end()
	docs, profile, err := catalog.Hydrate(ctx, e.stores.Catalog, agent, feed.IDs(refs))
	if err != nil && (len(docs) != len(refs) || !down(ctx, err)) {
		return hydrated{}, err
	}
	got := hydrated{docs: make([]feed.Doc, 0, len(refs)), groups: make([]string, 0, len(refs))}
	selective := profile.Selective()
	for i, doc := range docs {
		switch {
		case doc.Missing() && err != nil:
			got.lost = append(got.lost, refs[i])
		case doc.Missing() || profile.Hides(refs[i].Group) || selective && refused(profile, doc) || !fits(refs[i], doc):
			got.gone = append(got.gone, refs[i].Group)
		default:
			got.docs = append(got.docs, doc)
			got.groups = append(got.groups, refs[i].Group)
		}
	}
	if len(got.lost) == len(refs) {
		return hydrated{}, err
	}
	return got, nil
}

func refused(p feed.Profile, doc feed.Doc) bool {
	it, err := doc.Item()
	return err != nil || p.Refuses(&it)
}

// restore gives back what of a page could not be delivered, so that nothing is
// lost. The request may have run out of time already.
func (e *Engine) restore(ctx context.Context, r Request, p page, refs []feed.Ref) {
	if p.Replayed || len(refs) == 0 {
		return
	}
	if p.loose {
		e.served.remove(r.Agent, feed.Groups(refs))
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	if err := e.stores.Sessions.Restore(ctx, r.Agent, refs, r.retry()); err != nil {
		slog.WarnContext(ctx, "items that could not be delivered could not be given back to the session; they count as shown",
			"agent", r.Agent, "items", len(refs), "error", err)
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
