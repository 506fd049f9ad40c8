package engine

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// topUps is how often a page that lost items to deletion is filled up again. A
// page of which nothing is left goes on to the end of the session.
const topUps = 2

// undoTimeout bounds giving a page back when its request has ended already.
const undoTimeout = 2 * time.Second

// hydrated is a page's content and what it stands for.
type hydrated struct {
	docs   []feed.Doc
	refs   []feed.Ref // of the docs
	first  []feed.Doc // of the docs, those that no other call was answered with
	gone   []feed.Ref // deleted, muted or changed meanwhile
	lost   []feed.Ref // content that cannot be read at the moment
	shown  []feed.Ref // handed out without the session store, which still had them
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
	h.refs = append(h.refs, more.refs...)
	h.first = append(h.first, more.first...)
	h.gone = append(h.gone, more.gone...)
	h.lost = append(h.lost, more.lost...)
	h.shown = append(h.shown, more.shown...)
	h.unsure = h.unsure || more.unsure
}

// short is how many refs of the page came to nothing.
func (h *hydrated) short() int { return len(h.gone) + len(h.shown) }

// deliver turns a page into an answer: hydrate, top up, record. Where nothing of
// the page is left and the session is at its end, it refreshes once more.
func (e *Engine) deliver(ctx context.Context, c *call, p page) (Answer, error) {
	got, err := e.fill(ctx, c, &p)
	if err == nil && len(got.docs) == 0 && got.short() > 0 && !p.HasMore {
		if p, err = e.freshPage(ctx, c); err == nil {
			got, err = e.fill(ctx, c, &p)
		}
	}
	if err != nil {
		return Answer{}, err
	}
	e.record(ctx, c, p, got)
	lacks := p.lacks | got.lacks()
	countDegraded(lacks)
	return Answer{Docs: got.docs, HasMore: p.HasMore, Degraded: lacks.names()}, nil
}

// fill reads a page's content, fills up what has gone of it, and gives back what
// cannot be delivered.
func (e *Engine) fill(ctx context.Context, c *call, p *page) (hydrated, error) {
	got, err := e.read(ctx, c, *p)
	if err != nil {
		e.restore(ctx, c, *p, p.Refs)
		return hydrated{}, err
	}
	if p.loose {
		return got, nil
	}
	e.topUp(ctx, c, p, &got)
	e.discard(ctx, c, got.gone)
	if len(got.shown) > 0 && c.RequestID != "" {
		if err := e.stores.Sessions.Omit(ctx, c.Agent, got.shown, c.next()); err != nil {
			slog.WarnContext(ctx, "a retry may be answered with items that were shown before", "agent", c.Agent, "items", len(got.shown), "error", err)
		}
	}
	if len(got.lost) > 0 {
		e.restore(ctx, c, *p, got.lost)
		p.HasMore = true
	}
	return got, nil
}

// record remembers what is being answered. What is answered again is recorded
// again, which changes nothing, because the answer before may have been lost
// with its server; it is not counted again.
func (e *Engine) record(ctx context.Context, c *call, p page, got hydrated) {
	if p.loose && p.Replayed {
		return
	}
	keys := feed.Keys(got.refs)
	if e.served != nil && !p.loose {
		e.served.add(c.Agent, keys, false, e.cfg.Clock())
	}
	switch {
	case p.loose: // to be made pending, if it is no impression yet
		e.keep(ctx, c.Agent, keys)
	case e.cfg.RecordServed:
		e.stores.Recorder.Deliver(c.Agent, keys)
	}
	e.loose.note(c, p, got.refs, e.cfg.Clock())
	e.tally(c.Agent, got.first)
}

// read hydrates a page. What this process handed out is left out, and stays
// pending: a session that outlived a fault may still hold it. A step that was
// made before is not asked that: a retry on this server may have been answered
// with it.
func (e *Engine) read(ctx context.Context, c *call, p page) (hydrated, error) {
	if p.Replayed {
		got, err := e.hydrate(ctx, c.Agent, p.Refs)
		most := min(len(got.docs), c.Limit) // two equal calls at once may have filled it up together
		got.docs, got.refs = got.docs[:most], got.refs[:most]
		got.unsure = e.stores.Recovery != nil && e.stores.Recovery.Recovering()
		return got, err
	}
	refs, unsure := p.Refs, false
	if e.served != nil && !p.loose && !p.Again {
		refs = e.served.unknown(c.Agent, refs, e.cfg.RecordServed, e.cfg.Clock())
		refs, unsure = e.unseen(ctx, c.Agent, refs)
	}
	got, err := e.hydrate(ctx, c.Agent, refs)
	got.first, got.unsure = got.docs, unsure
	got.shown = slices.DeleteFunc(slices.Clone(p.Refs), func(r feed.Ref) bool { return slices.Contains(refs, r) })
	return got, err
}

// topUp fills a page that has lost items up from the session. What is there
// already is worth an answer, whatever happens; where nothing is, the session
// counts as ended after an error, so that the caller refreshes.
func (e *Engine) topUp(ctx context.Context, c *call, p *page, got *hydrated) {
	// Another call with the same request id may have filled it up already.
	missing := min(got.short(), c.Limit-len(got.docs))
	for try := 0; missing > 0 && p.HasMore && (try < topUps || len(got.docs) == 0); try++ {
		more, err := e.pop(ctx, c, missing)
		if err != nil {
			p.HasMore = len(got.docs) > 0
			return
		}
		fill, err := e.read(ctx, c, more)
		if err != nil {
			e.restore(ctx, c, more, more.Refs)
			return
		}
		got.add(fill)
		p.HasMore = more.HasMore
		missing -= len(fill.docs)
	}
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

// content reads the content of refs. What has been deleted, is muted by the
// profile as it is now, or does not fit its ref is left out as gone. While the
// catalog is down, what is cached is worth an answer, and the rest is lost for
// the moment; it is an error where nothing is cached.
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
	got := hydrated{docs: make([]feed.Doc, 0, len(refs)), refs: make([]feed.Ref, 0, len(refs))}
	selective := profile.Selective()
	for i, doc := range docs {
		ref := refs[i]
		switch {
		case doc.Missing() && err != nil:
			got.lost = append(got.lost, ref)
		case doc.Missing() || profile.Hides(ref) || selective && refused(profile, doc) || !fits(ref, doc):
			got.gone = append(got.gone, ref)
		default:
			got.docs = append(got.docs, doc)
			got.refs = append(got.refs, ref)
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
func (e *Engine) restore(ctx context.Context, c *call, p page, refs []feed.Ref) {
	if p.Replayed || len(refs) == 0 {
		return
	}
	if p.loose {
		if e.served != nil {
			e.served.remove(c.Agent, feed.Keys(refs), e.cfg.Clock())
		}
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	if err := e.stores.Sessions.Restore(ctx, c.Agent, refs, c.next()); err != nil {
		c.kept = true
		slog.WarnContext(ctx, "items that could not be delivered could not be given back to the session",
			"agent", c.Agent, "items", len(refs), "error", err)
	}
}

// discard takes what was not delivered out of the pending set, so that it is
// not recorded as an impression.
func (e *Engine) discard(ctx context.Context, c *call, refs []feed.Ref) {
	if len(refs) == 0 {
		return
	}
	goneTotal.Add(float64(len(refs)))
	if err := e.stores.Sessions.Discard(ctx, c.Agent, refs, c.next()); err != nil {
		slog.WarnContext(ctx, "items that are gone could not be released; they count as shown",
			"agent", c.Agent, "items", len(refs), "error", err)
	}
}
