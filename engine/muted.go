package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// MutedPage is a page of what an agent has hidden, what was hidden last first.
type MutedPage struct {
	Entries  []MutedEntry
	Next     string   // the cursor of the next page; "" on the last
	Degraded []string // the missing parts, as in [Answer]
}

// MutedEntry is an item, a post, or a group of items that an agent has hidden.
type MutedEntry struct {
	// Doc has no content if the id is that of a group or a reply, or of what does not exist any more or the agent
	// may not see.
	feed.Doc
	Until time.Time // when the mute ends; zero means never
}

// Muted returns a page of the items and groups in the agent's profile, [feed.Profile.MutedItems], with the
// content of those that the agent may see. A cursor stays valid when the agent hides more, or shows some again.
// Nothing is recorded. Errors wrap [feed.ErrBadID], [feed.ErrBadLimit], [feed.ErrInvalid] for a cursor, or a
// store's ErrUnavailable.
func (e *Engine) Muted(ctx context.Context, agent, cursor string, limit int) (page MutedPage, err error) {
	from, err := parseMutedCursor(cursor)
	if err := cmp.Or(feed.CheckAgentID(agent), feed.CheckLimit(limit, MaxLimit), err); err != nil {
		return page, err
	}
	ctx = e.cfg.Begin(ctx)
	profile, err := e.stages.profile(ctx, agent)
	if err != nil {
		return page, err
	}
	end := from.end(profile.MutedItems)
	begin := max(0, end-limit)
	ids := slices.Clone(profile.MutedItems[begin:end])
	if len(ids) == 0 {
		return page, nil
	}
	if begin > 0 {
		page.Next = mutedCursor{begin, ids[0]}.String()
	}
	slices.Reverse(ids)
	r := contentReader{stages: &e.stages, agent: agent}
	docs, _, err := r.read(ctx, ids)
	if err != nil {
		return MutedPage{}, err
	}
	page.Entries = make([]MutedEntry, len(ids))
	for i, id := range ids {
		docs[i].ID = id
		page.Entries[i] = MutedEntry{docs[i], profile.MutedUntil.Items[id]}
	}
	r.missing.Count()
	page.Degraded = r.missing.Names()
	return page, nil
}

// mutedCursor names the last entry of a page, and its index in the list, which begins with what was hidden first:
// the next page continues there if the entry is no longer in the list.
type mutedCursor struct {
	at  int
	key string // "" for the first page
}

func (c mutedCursor) String() string { return strconv.Itoa(c.at) + "." + c.key }

func parseMutedCursor(text string) (c mutedCursor, err error) {
	if text == "" {
		return c, nil
	}
	at, key, _ := strings.Cut(text, ".")
	c.key = key
	c.at, err = strconv.Atoi(at)
	if err != nil || c.at < 0 || key == "" {
		return c, feed.Errorf(feed.ErrInvalid, "bad cursor %.80q: send the next_cursor of an earlier page, or none", text)
	}
	return c, nil
}

// end returns the end of the part of a list that the page after the cursor takes entries from.
func (c mutedCursor) end(list []string) int {
	if c.key == "" {
		return len(list)
	}
	at := slices.Index(list, c.key)
	if at < 0 {
		at = c.at
	}
	return min(at, len(list))
}

// contentReader reads content for an agent who has asked for it by ids.
type contentReader struct {
	stages  *stages
	agent   string
	missing degraded.Parts

	unreadable error // why content is missing that may exist; nil if nothing was unreadable
}

// read reads content. While the catalog is down, it returns what is cached.
func (r *contentReader) read(ctx context.Context, ids []string) ([]feed.Doc, feed.Profile, error) {
	ctx, timed := r.stages.enter(ctx, hydrateStage)
	defer timed.end()
	docs, profile, err := r.stages.stores.Catalog.Hydrate(ctx, r.agent, ids)
	if err == nil {
		return docs, profile, nil
	}
	if len(docs) != len(ids) || !down(ctx, err) {
		return nil, profile, err
	}
	if errors.Is(err, social.ErrUnavailable) {
		r.missing |= degraded.Social
	}
	for i := range docs {
		if docs[i].Missing() {
			r.missing |= unread(ids[i], err)
			r.unreadable = err
		}
	}
	return docs, profile, nil
}
