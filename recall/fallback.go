package recall

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
)

// docsAtOnce is the number of documents read in one call.
const docsAtOnce = 1000

// ContentDecides reports whether item content is enough to decide which items a reader with this
// profile refuses. If it is not, only the source that indexes them can decide, and no other source
// may propose items to the reader. Nil means it always is.
type ContentDecides func(p *feed.Profile) bool

// Refused returns a function that reports whether an item must not be proposed to a reader,
// because their profile refuses it or its content is not enough to decide. A post's content
// always is.
func (t ContentDecides) Refused(p *feed.Profile) func(it *feed.Item) bool {
	refusals, decides := p.Refusals(), t == nil || t(p)
	return func(it *feed.Item) bool { return !decides && !feed.IsPost(it.ID) || refusals.Item(it) }
}

// fallbackList is the list that is served while the source is down.
type fallbackList struct {
	mu             sync.RWMutex
	list           []string // ids, best first
	items          map[string]fallbackItem
	contentDecides ContentDecides // for the contents in items
	at             time.Time
	renewed        map[string]struct{} // ids written or deleted during a renewal; nil outside of one
}

// fallbackItem is an item of the list.
type fallbackItem struct {
	feed.Candidate
	doc  feed.Doc
	head feed.Item // only the fields that a profile can refuse it by
}

// fallbackList returns the part of the list that this query may see. ok is false if there is no list
// or the reader refuses all of it: other items for them are not known.
func (f *Shared) fallbackList(q *feed.Query) (candidates []feed.Candidate, ok bool) {
	f.fallback.mu.RLock()
	defer f.fallback.mu.RUnlock()
	if len(f.fallback.items) == 0 || f.fallbackLeft() <= 0 {
		return nil, false
	}
	refused := f.fallback.contentDecides.Refused(&q.Profile)
	candidates = make([]feed.Candidate, 0, min(q.N, len(f.fallback.items)))
	for _, id := range f.fallback.list {
		it, kept := f.fallback.items[id]
		isPast := kept && it.UpdateTime <= q.Origin.Unix()
		if isPast && len(candidates) < q.N && !refused(&it.head) {
			candidates = append(candidates, it.Candidate)
		}
	}
	return candidates, len(candidates) > 0
}

// FallbackLeft returns how long the list may still be served; 0 if there is none or it is too old.
func (f *Shared) FallbackLeft() time.Duration {
	f.fallback.mu.RLock()
	defer f.fallback.mu.RUnlock()
	if len(f.fallback.items) == 0 {
		return 0
	}
	return max(0, f.fallbackLeft())
}

// fallbackLeft is negative for a list from the future: if the clock was set back, the list must not
// stay valid indefinitely.
func (f *Shared) fallbackLeft() time.Duration {
	age := f.clock().Sub(f.fallback.at)
	if age < 0 {
		return -1
	}
	return f.cfg.Fallback - age
}

// FallbackDoc returns the content of an item of the list. ok is false if the item is not in it or the
// list is too old.
func (f *Shared) FallbackDoc(id string) (doc feed.Doc, ok bool) {
	f.fallback.mu.RLock()
	defer f.fallback.mu.RUnlock()
	it, ok := f.fallback.items[id]
	return it.doc, ok && f.fallbackLeft() > 0
}

// RenewFallback recalls a new list with q, which should be a query for a reader without a profile, and
// reads the contents with docs, the Docs of a [catalog.Reader]. decides applies to these
// contents. It queries the source directly and bypasses cached answers. After an error the
// previous list stays. Renewals must not overlap.
func (f *Shared) RenewFallback(ctx context.Context, q feed.Query, docs func(ctx context.Context, ids []string) ([]feed.Doc, error), decides ContentDecides) error {
	f.fallback.mu.Lock()
	f.fallback.renewed = map[string]struct{}{}
	f.fallback.mu.Unlock()
	at := f.clock()
	list, items, err := f.readFallback(ctx, q, docs)
	f.fallback.mu.Lock()
	defer f.fallback.mu.Unlock()
	if err == nil {
		for id := range f.fallback.renewed { // they may have been read before the write
			delete(items, id)
		}
		f.fallback.list, f.fallback.items, f.fallback.contentDecides, f.fallback.at = list, items, decides, at
	}
	f.fallback.renewed = nil
	return err
}

// readFallback recalls the list and reads contents up to the size limit.
func (f *Shared) readFallback(ctx context.Context, q feed.Query, docs func(context.Context, []string) ([]feed.Doc, error)) ([]string, map[string]fallbackItem, error) {
	result, err := f.source.Recall(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	list, items, size := make([]string, 0, len(result.Candidates)), make(map[string]fallbackItem, len(result.Candidates)), 0
	for part := range slices.Chunk(result.Candidates, docsAtOnce) {
		ids := convert.Each(part, func(c feed.Candidate) string { return c.ID })
		found, err := docs(ctx, ids)
		if err != nil {
			return nil, nil, fmt.Errorf("read the items of the fallback list: %w", err)
		}
		for i, c := range part {
			size += len(found[i].JSON)
			if size > maxFallbackBytes {
				return list, items, nil
			}
			it, err := found[i].Item()
			if err == nil && it.Group() == c.Group { // else it was changed or deleted since the index was refreshed
				list, items[c.ID] = append(list, c.ID), fallbackItemOf(c, found[i], &it)
			}
		}
	}
	return list, items, nil
}

func fallbackItemOf(c feed.Candidate, doc feed.Doc, it *feed.Item) fallbackItem {
	c.UpdateTime = it.UpdateTime
	return fallbackItem{c, doc, feed.Item{ID: it.ID, GroupID: it.GroupID, AuthorID: it.AuthorID, AuthorIDs: it.AuthorIDs, Lang: it.Lang, Langs: it.Langs, Tags: it.Tags}}
}

// Upsert updates the items of the list that were written. An item that changed its group is
// removed from the list.
func (f *Shared) Upsert(items []feed.Item) {
	f.fallback.mu.Lock()
	defer f.fallback.mu.Unlock()
	for i := range items {
		it := &items[i]
		f.noteWrite(it.ID)
		before, ok := f.fallback.items[it.ID]
		if !ok {
			continue
		}
		text, err := it.MarshalJSON()
		if err != nil || it.Group() != before.Group {
			delete(f.fallback.items, it.ID)
			continue
		}
		f.fallback.items[it.ID] = fallbackItemOf(before.Candidate, feed.Doc{ID: it.ID, JSON: text}, it)
	}
}

// Delete removes an item from the list.
func (f *Shared) Delete(id string) {
	f.fallback.mu.Lock()
	defer f.fallback.mu.Unlock()
	f.noteWrite(id)
	delete(f.fallback.items, id)
}

// noteWrite prevents a renewal in progress from restoring an older version of the item; fallback.mu
// is held.
func (f *Shared) noteWrite(id string) {
	if f.fallback.renewed != nil {
		f.fallback.renewed[id] = struct{}{}
	}
}
