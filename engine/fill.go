package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
)

// topUps is how often a page that lost items to deletion is topped up. A page with nothing left
// is topped up until the end of the session.
const topUps = 2

// passOver is how many further pages are taken if no content of a page can be read.
const passOver = 8

// pageSource supplies the candidates of a page: the session of a [call], or an [explainedList].
type pageSource interface {
	// pop removes and returns the next refs, n at most.
	pop(ctx context.Context, n int) (page, error)
	// read hydrates a page and leaves out the items that cannot be shown.
	read(ctx context.Context, p page) (hydrated, error)
	// discard releases refs that will not be shown.
	discard(ctx context.Context, got hydrated)
	// restore returns refs of a page that cannot be shown at the moment.
	restore(ctx context.Context, p page, refs []feed.Ref)
}

// fillPage reads a page, tops it up to limit after deletions, and restores to the source the refs
// that cannot be delivered. Every page is made here.
func fillPage(ctx context.Context, d pageSource, limit int, p *page) (hydrated, error) {
	got, err := d.read(ctx, *p)
	if err != nil {
		if got, err = readOn(ctx, d, limit, p, got, err); err != nil {
			return hydrated{}, err
		}
	}
	if p.from == sessionless {
		return got, nil
	}
	topUp(ctx, d, limit, p, &got)
	got.cut(limit) // another call with the same request id may have filled it up with more
	d.discard(ctx, got)
	if len(got.lost) > 0 {
		p.HasMore = true
	}
	back := got.undelivered(p.Refs)
	if len(back) > 0 {
		p.Ahead = nil // they return to the head of the session
	}
	d.restore(ctx, *p, back)
	return got, nil
}

// undelivered returns the refs of all steps that are neither on the page nor discarded.
func (h *hydrated) undelivered(first []feed.Ref) []feed.Ref {
	if len(h.further) == 0 && len(h.refs) == len(first) {
		return nil
	}
	out := map[feed.Ref]bool{}
	for _, list := range [][]feed.Ref{h.refs, h.gone, h.muted, h.shown} {
		for _, ref := range list {
			out[ref] = true
		}
	}
	var back []feed.Ref
	for _, list := range [][]feed.Ref{first, h.further} {
		for _, ref := range list {
			if !out[ref] {
				back = append(back, ref)
			}
		}
	}
	return back
}

// readOn takes further pages after a page that could not be read: while the catalog is down,
// later items may have cached content. If none do, or the page could not be read for another
// reason, it restores all refs. It changes neither a replayed page nor one that an equal call was
// answered with meanwhile: that call may deliver it.
func readOn(ctx context.Context, d pageSource, limit int, p *page, got hydrated, err error) (hydrated, error) {
	taken := p.Refs
	own := p.from != sessionless && !p.Replayed
	for try := 0; own && try < passOver; try++ {
		readable := err == nil || len(got.lost) == 0
		if readable || !p.HasMore || ctx.Err() != nil {
			break
		}
		more, takeErr := d.pop(ctx, limit)
		if takeErr != nil || len(more.Refs) == 0 {
			break
		}
		taken, p.HasMore, p.Ahead = slices.Concat(taken, more.Refs), more.HasMore, more.Ahead
		if more.Shared {
			break
		}
		got.further = append(got.further, more.Refs...)
		var next hydrated
		next, err = d.read(ctx, more)
		if err != nil && len(next.lost) == 0 {
			break
		}
		got.add(next)
	}
	if err != nil {
		d.restore(ctx, *p, taken)
	}
	return got, err
}

// topUp refills a page that has lost items from its source. After an error the items already on
// the page are answered, with a note of the missing part; if there are none and the source
// failed, the session counts as ended, so the caller refreshes.
func topUp(ctx context.Context, d pageSource, limit int, p *page, got *hydrated) {
	// Another call with the same request id may have filled it up already.
	missing := min(got.short(), limit-len(got.docs))
	for try := 0; missing > 0 && p.HasMore; try++ {
		if try >= topUps && len(got.docs) > 0 {
			break
		}
		more, err := d.pop(ctx, missing)
		if err != nil {
			p.HasMore = len(got.docs) > 0
			if p.HasMore {
				p.missing |= degraded.Session
			}
			return
		}
		got.further = append(got.further, more.Refs...)
		fill, err := d.read(ctx, more)
		if err != nil {
			got.missing |= fill.missing
			return
		}
		got.add(fill)
		p.HasMore, p.Ahead = more.HasMore, more.Ahead
		missing -= len(fill.docs)
	}
}

// hydrated holds the content of a page and the outcome of its refs.
type hydrated struct {
	profile *feed.Profile // the agent's, read with the content; nil if nothing was read
	docs    []feed.Doc
	refs    []feed.Ref     // of the docs
	gone    []feed.Ref     // deleted or changed meanwhile
	muted   []feed.Ref     // refused by the profile as it is now
	lost    []feed.Ref     // content that cannot be read at the moment
	shown   []feed.Ref     // handed out without the session store, which still held them
	missing degraded.Parts // the parts whose content could not be read, and Dedup if other items may have been handed out

	first     []feed.Doc // the docs that no other call was answered with
	firstRefs []feed.Ref // of first
	further   []feed.Ref // handed out by the steps after the first
}

// unshown returns the gone and muted refs, except those whose group or id is also a key of the
// page: an item may exist in two documents, one of which is not shown.
func (h *hydrated) unshown() []feed.Ref {
	out := slices.Concat(h.gone, h.muted)
	if len(out) == 0 {
		return nil
	}
	held := map[string]bool{}
	for _, key := range feed.Keys(h.refs) {
		held[key] = true
	}
	return slices.DeleteFunc(out, func(r feed.Ref) bool { return held[r.Group] || held[r.ID] })
}

// deliver records that no other call was answered with the docs so far.
func (h *hydrated) deliver() {
	h.first, h.firstRefs = slices.Clip(h.docs), slices.Clip(h.refs) // clipped, because both lists grow separately
}

func (h *hydrated) add(more hydrated) {
	h.profile = cmp.Or(more.profile, h.profile)
	h.docs = append(h.docs, more.docs...)
	h.refs = append(h.refs, more.refs...)
	h.first = append(h.first, more.first...)
	h.firstRefs = append(h.firstRefs, more.firstRefs...)
	h.gone = append(h.gone, more.gone...)
	h.muted = append(h.muted, more.muted...)
	h.lost = append(h.lost, more.lost...)
	h.shown = append(h.shown, more.shown...)
	h.missing |= more.missing
}

// short returns how many refs of the page have nothing to show.
func (h *hydrated) short() int { return len(h.gone) + len(h.muted) + len(h.shown) }

// cut limits the page to most items.
func (h *hydrated) cut(most int) {
	h.docs, h.refs = h.docs[:min(len(h.docs), most)], h.refs[:min(len(h.refs), most)]
}
