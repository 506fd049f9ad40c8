package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/signals/coread"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/learning"
	"github.com/freshet/freshet/signals/popularity"
	"github.com/freshet/freshet/social"
)

// Act is something an agent did with an item.
type Act struct {
	Kind events.Kind
	ID   string
}

// React processes the acts of an agent. It mutes hidden items for good before it returns, whether
// Freshet has shown them or not. It accepts an act if the agent has been shown the item, or has
// reported so: clicks alone must not move anything. Acts on the agent's own items have no other
// effect. Accepted clicks and likes raise the item's live popularity and count for co-readers, and the agent's preferences are
// learned from all accepted acts, but on a post only if it is the same for everybody. Accepted acts
// also count for the agent's variant, but on a post only if a feed gave it out: no variant ranks the
// timelines.
// While the dedup store is down and the engine fails open, neither can be checked, and all acts
// count.
//
// An unlike takes back what a like did to live popularity and to the preferences; without a like it
// changes nothing.
//
// Repeating an act is harmless. An unknown id counts as its own group, so that an act on an item
// that was deleted meanwhile is still accepted. An act on a post that the agent may not see, or
// no longer, is rejected like one on an item that was not shown. Errors wrap [feed.ErrBadID],
// [feed.ErrInvalid], or a store's ErrUnavailable; then repeating the whole call is safe.
func (e *Engine) React(ctx context.Context, agent string, acts []Act) (api.EventsTaken, error) {
	return e.react(ctx, agent, acts, nil)
}

// Liked processes a like of a post as [Engine.React] does. It does not read the post: card is the
// agent's, as the store has returned it with the like.
func (e *Engine) Liked(ctx context.Context, agent string, card social.Card) (api.EventsTaken, error) {
	return e.react(ctx, agent, []Act{{events.Like, card.ID}}, []social.Card{card})
}

// react processes acts. cards are those of the posts among them, or nil, and then they are read.
func (e *Engine) react(ctx context.Context, agent string, acts []Act, cards []social.Card) (api.EventsTaken, error) {
	ctx = e.cfg.Begin(ctx)
	if err := checkActs(agent, acts); err != nil {
		return api.EventsTaken{}, err
	}
	ids := convert.Each(acts, func(a Act) string { return a.ID })
	refs, docs, err := e.refs(ctx, ids)
	if err != nil {
		return api.EventsTaken{}, err
	}
	hidden, own, err := e.posts(ctx, agent, docs, cards)
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
	var taken api.EventsTaken
	counted := make([]events.GroupAct, 0, len(acts))
	var promoted []events.Event
	var raised []popularity.Act
	var read []coread.Act
	var lesson []learning.Act
	for i, a := range acts {
		if !shown[i].shown || hidden[a.ID] {
			taken.NotShown++
			continue
		}
		taken.Accepted++
		if own[a.ID] || isBy(docs[i], agent) {
			shown[i].shown = false // it does not count as a click either
			continue
		}
		undo := a.Kind == events.Unlike
		if shown[i].given && !undo {
			counted = append(counted, events.GroupAct{Kind: a.Kind, Group: refs[i].Group, Source: shown[i].source})
		}
		promoted = append(promoted, e.promotedActs(a, agent, refs[i].Group)...)
		if undo || !docs[i].Missing() {
			lesson = append(lesson, learning.Act{Kind: lessons[a.Kind], Group: refs[i].Group, Doc: docs[i], Undo: undo})
		}
		if kind, raises := raising[a.Kind]; raises {
			raised = append(raised, popularity.Act{Item: a.ID, Kind: kind})
			if !undo && !docs[i].Missing() {
				read = appendRead(read, docs[i])
			}
		}
	}
	if !e.handOver(agent, lesson, raised, read, counted, promoted) {
		return api.EventsTaken{}, fmt.Errorf("%w: too many events are waiting to be counted", events.ErrUnavailable)
	}
	countAccepted(acts, shown, hidden)
	return taken, nil
}

// lessons maps kinds of events to the kinds of acts that are learned from.
var lessons = map[events.Kind]feed.ActKind{
	events.Click: feed.Clicked, events.Like: feed.Liked, events.Dislike: feed.Disliked, events.Hide: feed.Hidden,
	events.Unlike: feed.Liked, // taken back
}

// raising maps the kinds of events that change live popularity to its kinds of acts.
var raising = map[events.Kind]popularity.Kind{
	events.Click: popularity.Click, events.Like: popularity.Like, events.Unlike: popularity.Unlike,
}

// handOver submits acts to everything that counts them. It returns false if one of these has no
// room at the moment. Acts are learned even if the ranking ignores them, so that a ranking that
// uses them finds some. The counts of reports come last: they recognize a repeated act only on
// the same day and in the same variant, the others for 90 days. So an act that is refused and
// sent again counts once everywhere, whichever had no room.
func (e *Engine) handOver(agent string, lesson []learning.Act, raised []popularity.Act, read []coread.Act, counted []events.GroupAct, promoted []events.Event) bool {
	variant, ranking := e.cfg.Rankings.For(agent)
	s, now := &e.stores, e.cfg.Clock()
	if s.Learner != nil && len(lesson) > 0 && !s.Learner.Acted(agent, ranking.Learned.HalfLife, lesson, now) {
		return false
	}
	if s.Popularity != nil && len(raised) > 0 && !s.Popularity.Acted(agent, raised, now) {
		return false
	}
	if s.CoReaders != nil && len(read) > 0 && e.countsCoReads(&ranking) && !s.CoReaders.Acted(agent, read, now) {
		return false
	}
	return e.countActs(agent, variant, counted, promoted, now)
}

// countsCoReads reports whether acts are counted for co-readers.
func (e *Engine) countsCoReads(r *feed.Ranking) bool {
	if e.cfg.CoReads != nil {
		return e.cfg.CoReads()
	}
	return r.CoRead.On()
}

// appendRead appends the reading of an item.
func appendRead(read []coread.Act, doc feed.Doc) []coread.Act {
	_, at, err := doc.Head()
	if err != nil {
		return read
	}
	return append(read, coread.Act{Item: doc.ID, Dated: at})
}

// posts reads the posts among docs, unless their cards are given, and fills in those that are the
// same for everybody: only these are learned from. It returns the posts that the agent may not see,
// and the agent's own.
func (e *Engine) posts(ctx context.Context, agent string, docs []feed.Doc, cards []social.Card) (hidden, own map[string]bool, err error) {
	var known []social.PostVersion
	var at []int // of each post in docs
	for i, d := range docs {
		if e.isPost(d.ID) {
			known, at = append(known, social.PostVersion{ID: d.ID}), append(at, i)
		}
	}
	if len(known) == 0 {
		return nil, nil, nil
	}
	if cards == nil {
		cards, err = e.stores.Posts.Cards(ctx, agent, known)
	}
	if err != nil {
		return nil, nil, err
	}
	hidden, own = map[string]bool{}, map[string]bool{}
	for i, c := range cards {
		hidden[c.ID], own[c.ID] = !c.Visible, c.Author.ID == agent
		if c.Public { // so neither hidden nor a reply, which is no item
			docs[at[i]].JSON = c.AppendEntry(nil, "", social.FromDiscovery)
		}
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

// hide mutes hidden items. It does not change the session: its pages are read with the profile of
// that time, which leaves them out. If items may be repeated, it also mutes disliked ones:
// nothing else prevents their repetition.
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
	shown  bool        // to the agent, within the window
	given  bool        // by a feed. Recorded for posts, which timelines show too; any other item that was shown counts as given
	source feed.Source // of home, or exploration; [feed.SourceScore] if neither, or unknown
}

// wasShown returns how each ref was shown, whether under its group or its id.
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
	for _, r := range refs {
		keys = append(keys, feed.NamedKey(r.Group))
	}
	inside, timed := e.cfg.enter(ctx, dedupStage)
	checked, err := e.stores.Seen.Check(inside, agent, keys, e.cfg.Clock())
	timed.end()
	if e.failOpen.allows(ctx, err) {
		return slices.Repeat([]wasShown{{shown: true, given: true}}, len(refs)), nil
	}
	if err != nil {
		return nil, err
	}
	// add items that only this process knows of, because Redis was down
	e.failOpen.served.mark(agent, keys, checked.Verdicts, e.cfg.RecordServed, e.cfg.Clock())
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
	for i, v := range given {
		if v != dedup.Unseen && all[i].source == feed.SourceScore { // no variant ranks named feeds
			all[i].given = false
		}
	}
	return all, nil
}
