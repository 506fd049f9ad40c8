package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/learning"
	"github.com/freshet/freshet/social"
)

// Tally counts what readers are shown and what they do, per variant of the
// ranking. [events.Buffer] is one.
type Tally interface {
	// Delivered counts what an agent of the variant is answered for the first
	// time, once for each page. It must not block, and where it has no room it
	// leaves the page uncounted. The refs of docs tell which source gave each. It keeps
	// both lists, which are not changed any more.
	Delivered(variant, agent string, docs []feed.Doc, refs []feed.Ref, now time.Time)
	// Acted counts acts, each once a day however often it comes. It must not
	// block: it answers false, and has taken none of them, where it has no room
	// at the moment; asking again is harmless.
	Acted(variant string, acts []events.Act, now time.Time) bool
	// Promoted counts what promotions have shown, and acts on what they may have
	// shown, each once a day. It must not block: it answers false, and has taken
	// neither, where it has no room at the moment. It keeps both lists.
	Promoted(variant string, shown []events.Promoted, acts []events.PromotedAct, now time.Time) bool
}

// Popularity raises the live popularity of items by what readers click and like.
// [popularity.Buffer] is one.
type Popularity interface {
	// Acted counts an agent's acts on items, by their ids, each agent and item once
	// however often it comes. It must not block: it answers false, and has taken none
	// of them, where it has no room at the moment; asking again is harmless.
	Acted(agent string, items []string, now time.Time) bool
	// Forget forgets what the agent has acted on. What it has added to counts stays.
	Forget(ctx context.Context, agent string) error
}

// Act is something an agent did with an item.
type Act struct {
	Kind events.Kind
	ID   string
}

// tally counts a page that is being answered for the first time, for the variant
// that ranked it. A page of a session counts for the one the agent is in now: a
// session outlives a change of the ranking for its last pages.
func (e *Engine) tally(c *call, got hydrated) {
	countShown(got.firstRefs)
	if e.stores.Tally == nil || len(got.first) == 0 {
		return
	}
	variant := c.variant
	if variant == "" {
		variant, _ = e.cfg.Rankings.For(c.Agent)
	}
	now := e.cfg.Clock()
	e.stores.Tally.Delivered(variant, c.Agent, got.first, got.firstRefs, now)
	e.tallyPromoted(variant, c.Agent, got, now)
}

// React takes what the agent did. What it hid is muted for good before it
// returns, whether Freshet has shown it or not. Acts are accepted where the agent has
// been shown the item, or has reported so: clicks alone shall not move anything. Clicks
// and likes that are accepted raise the item's live popularity, unless it is the agent's own,
// and the agent is learned from all that are. They also count for the agent's variant, but on a post only where
// a feed gave it out, and not where only timelines showed it, which no variant ranks.
// While the dedup store is down and the engine fails open, neither can be told, and all
// of them count.
//
// Doing the same again is harmless. An id that is unknown stands for its own
// group, so that an act on an item that has been deleted meanwhile is still
// accepted. An act on a post that the agent may not see, or not any more, is not,
// and is answered as one on what was not shown. Errors wrap [feed.ErrBadID], [feed.ErrInvalid], or a store's
// ErrUnavailable; then doing all of it again is safe.
func (e *Engine) React(ctx context.Context, agent string, acts []Act) (api.EventsTaken, error) {
	ctx = e.begin(ctx)
	if err := checkActs(agent, acts); err != nil {
		return api.EventsTaken{}, err
	}
	ids := make([]string, len(acts))
	for i, a := range acts {
		ids[i] = a.ID
	}
	refs, docs, err := e.refsAndDocs(ctx, ids)
	if err != nil {
		return api.EventsTaken{}, err
	}
	if err := e.hide(ctx, agent, acts, refs); err != nil {
		return api.EventsTaken{}, err
	}
	shown, err := e.wasShown(ctx, agent, refs)
	if err != nil {
		return api.EventsTaken{}, err
	}
	hidden, own, err := e.hiddenPosts(ctx, agent, ids)
	if err != nil {
		return api.EventsTaken{}, err
	}
	var taken api.EventsTaken
	counted := make([]events.Act, 0, len(acts))
	var raised []string
	var promoted []events.PromotedAct
	var lesson []learning.Act
	for i, a := range acts {
		if !shown[i].shown || hidden[a.ID] {
			taken.NotShown++
			continue
		}
		taken.Accepted++
		if shown[i].given {
			counted = append(counted, counting(a.Kind, agent, refs[i].Group, shown[i].source))
		}
		promoted = append(promoted, e.promotedActs(a, agent, refs[i].Group)...)
		if !docs[i].Missing() {
			lesson = append(lesson, learning.Act{Kind: lessons[a.Kind], Group: refs[i].Group, Doc: docs[i]})
		}
		if (a.Kind == events.Click || a.Kind == events.Like) && !own[a.ID] && !isBy(docs[i], agent) {
			raised = append(raised, a.ID)
		}
	}
	// The counts of reports come last: they know an act again on the same day only,
	// and in the same variant, the others for 90 days. So an act that is refused and
	// sent again counts once everywhere, whichever had no room.
	if !e.learn(agent, lesson) || !e.raise(agent, raised) || !e.countPromoted(agent, promoted) || !e.count(agent, counted) {
		return api.EventsTaken{}, fmt.Errorf("%w: too many events are waiting to be counted", events.ErrUnavailable)
	}
	countClicks(acts, shown, hidden)
	return taken, nil
}

// counting is an act as it is counted. Whether a click is on what exploration has
// shown, the store knows: it is told what it would have remembered. The source of home that
// has shown it is known here.
func counting(kind events.Kind, agent, group string, source feed.Source) events.Act {
	act := events.Act{Kind: kind, Hash: events.ActHash(kind, agent, group)}
	if kind == events.Click {
		act.Explored = events.ExploredHash(agent, group)
		if source != feed.SourceExplore {
			act.Source = source
		}
	}
	return act
}

// raise hands over the items whose live popularity an agent raises; false: there is
// no room for it at the moment.
func (e *Engine) raise(agent string, items []string) bool {
	return e.stores.Popularity == nil || len(items) == 0 || e.stores.Popularity.Acted(agent, items, e.cfg.Clock())
}

// count hands over what counts for the agent's variant; false: there is no room for
// it at the moment.
func (e *Engine) count(agent string, acts []events.Act) bool {
	if e.stores.Tally == nil || len(acts) == 0 {
		return true
	}
	variant, _ := e.cfg.Rankings.For(agent)
	return e.stores.Tally.Acted(variant, acts, e.cfg.Clock())
}

// hiddenPosts are those of the ids that name a post which the agent may not see, and own
// those that name one of theirs.
func (e *Engine) hiddenPosts(ctx context.Context, agent string, ids []string) (hidden, own map[string]bool, err error) {
	if e.stores.Posts == nil {
		return nil, nil, nil
	}
	var posts []social.Known
	for _, id := range ids {
		if feed.IsPost(id) {
			posts = append(posts, social.Known{ID: id})
		}
	}
	if len(posts) == 0 {
		return nil, nil, nil
	}
	cards, err := e.stores.Posts.Cards(ctx, agent, posts)
	if err != nil {
		return nil, nil, err
	}
	hidden, own = map[string]bool{}, map[string]bool{}
	for _, c := range cards {
		hidden[c.ID], own[c.ID] = !c.Visible, c.Author.ID == agent
	}
	return hidden, own, nil
}

// isBy reports whether an item is an agent's own.
func isBy(doc feed.Doc, agent string) bool {
	if doc.Missing() {
		return false
	}
	it, err := doc.Item()
	return err == nil && it.By(agent)
}

func checkActs(agent string, acts []Act) error {
	if err := feed.CheckAgentID(agent); err != nil {
		return err
	}
	for _, a := range acts {
		if _, err := events.ParseKind(string(a.Kind)); err != nil {
			return err
		}
		if err := feed.CheckItemID(a.ID); err != nil {
			return err
		}
	}
	return nil
}

// hide mutes what was hidden. The session is left as it is: its pages are read
// with the profile as it is then, and leave out what that one hides. Where items come
// again, what is disliked is muted too: nothing else keeps it from it.
func (e *Engine) hide(ctx context.Context, agent string, acts []Act, refs []feed.Ref) error {
	var hidden []feed.Ref
	for i, a := range acts {
		if a.Kind == events.Hide || a.Kind == events.Dislike && e.cfg.ShowAgain {
			hidden = append(hidden, refs[i])
		}
	}
	if len(hidden) == 0 {
		return nil
	}
	edit, err := e.edit(ctx, agent)
	if err != nil {
		return err
	}
	defer edit.leave()
	return e.stores.Catalog.MuteItems(ctx, agent, feed.Keys(hidden))
}

// wasShown describes an item that an agent has acted on.
type wasShown struct {
	shown  bool        // to the agent, in the window
	given  bool        // by a feed. It is told of posts, which timelines show too; all else that was shown counts as given
	source feed.Source // of home, or exploration; [feed.SourceScore]: neither, or nobody knows
}

// wasShown tells what is known of each ref, be it under its group or its id.
func (e *Engine) wasShown(ctx context.Context, agent string, refs []feed.Ref) ([]wasShown, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	keys := feed.Keys(refs)
	of := len(keys)
	for _, r := range refs {
		for _, r.Source = range r.GivenBy() {
			keys = append(keys, r.GivenKey())
		}
	}
	checked, err := e.check(ctx, agent, keys)
	if e.failOpen.allows(ctx, err) {
		return slices.Repeat([]wasShown{{shown: true, given: true}}, len(refs)), nil
	}
	if err != nil {
		return nil, err
	}
	e.failOpen.mark(agent, keys, checked.Verdicts, false) // what only this process knows, because Redis was down
	given := checked.Verdicts[of:]
	all := make([]wasShown, len(refs))
	for i, v := range byRef(refs, checked.Verdicts[:of], latest) {
		all[i] = wasShown{shown: v != dedup.Unseen, given: v != dedup.Unseen && !feed.IsPost(refs[i].ID)}
		for _, source := range refs[i].GivenBy() {
			if given[0] != dedup.Unseen && !(all[i].given && all[i].source != feed.SourceScore) {
				all[i].given, all[i].source = true, source
			}
			given = given[1:]
		}
	}
	return all, nil
}
