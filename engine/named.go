package engine

import (
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// namedFeed returns which items a named feed has, and the ranking that it is ranked by: the live one
// with the feed's parameters, for all agents, and without exploration, which draws from all items.
// If reader is not nil, that agent must be allowed to read it. The error wraps [feed.ErrNotFound],
// also for one who is not.
func (c *Config) namedFeed(name feed.Name, reader *string) (*feed.Filter, feed.Ranking, error) {
	store, _ := c.Rankings.(NamedFeeds)
	var ranking feed.Ranking
	if store != nil {
		ranking = store.Base()
	} else {
		_, ranking = c.Rankings.For("")
	}
	ranking.Explore = feed.Explore{}
	if filter, ok := name.Conditions(); ok {
		return &filter, ranking, nil
	}
	var stored feed.StoredFeed
	ok := false
	if store != nil {
		stored, ok = store.Feed(name)
	}
	if !ok || reader != nil && !stored.ReadBy(*reader) {
		return nil, feed.Ranking{}, feed.Errorf(feed.ErrNotFound, "there is no feed %s", name)
	}
	ranking, err := stored.Ranked(ranking)
	if err != nil { // of a version that another server has stored
		return nil, feed.Ranking{}, err
	}
	ranking.Explore = feed.Explore{}
	return &stored.Filter, ranking, nil
}

// selected returns a function that reports whether a feed may still select an item, by its content as read now. It
// is true for every item of for-you and home, of a feed that was deleted meanwhile, which the next call refuses, and
// if only the index knows what the conditions are about.
func (s *stages) selected(name feed.Name) func(doc feed.Doc) bool {
	every := func(feed.Doc) bool { return true }
	if !name.Named() {
		return every
	}
	filter, _, err := s.cfg.namedFeed(name, nil)
	if err != nil {
		return every
	}
	asked := filter.AsMutes()
	decides := s.cfg.ContentDecides == nil || s.cfg.ContentDecides(&asked)
	return func(doc feed.Doc) bool {
		if !decides && !feed.IsPost(doc.ID) {
			return true
		}
		it, err := doc.Item()
		return err == nil && !filter.Rejects(&it)
	}
}

// scopedKeys returns the keys that a portion is checked for: of a named feed also those by which it
// knows what it has shown itself.
func (r *rounds) scopedKeys() []string {
	if !r.feed.Named() {
		return r.keys
	}
	scope := r.feed.Scope()
	for _, key := range r.keys {
		r.keys = append(r.keys, feed.ScopedKey(scope, key))
	}
	return r.keys
}

// ofFeed returns the verdict on each ref of a portion. For a named feed it is whether this feed has
// shown it; the survivors that others have shown are noted.
func (r *rounds) ofFeed(all []dedup.Verdict) []dedup.Verdict {
	if !r.feed.Named() {
		return byRef(r.refs, all, latest)
	}
	elsewhere, here := byRef(r.refs, all[:len(all)/2], latest), byRef(r.refs, all[len(all)/2:], latest)
	if r.again == nil {
		r.again = map[string]bool{}
	}
	for i, ref := range r.refs {
		if elsewhere[i] != dedup.Unseen && here[i] == dedup.Unseen {
			r.again[ref.ID] = true
		}
	}
	return here
}

// markNamed completes the refs of a named feed.
func (r *rounds) markNamed(list []feed.Ref) {
	scope := r.feed.Scope()
	for i := range list {
		list[i].Scope, list[i].ShownBefore = scope, r.again[list[i].ID]
	}
}
