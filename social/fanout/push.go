package fanout

import (
	"context"
	"log/slog"
	"slices"

	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/timeline"
)

// target is a post and lists that it may belong in. The lists are in the order of their names, which
// come after the agent named after.
type target struct {
	post  *social.Post
	after string
	lists []string
}

// reasons are why posts belong in lists, by post and list; they belong in no others.
type reasons map[string]map[string]social.Reason

// dueFunc queries the store for why the posts of targets belong in their lists.
type dueFunc func(context.Context, []target) (reasons, error)

// push adds posts to those of their lists that exist and that due has a reason for. It calls due after
// it has read the versions of the lists, and again for lists whose version has changed. It returns
// those that hold a post now, without those of the posts' own authors.
func (f *Fanout) push(ctx context.Context, to timeline.Lists, targets []target, due dueFunc) (pushed []string, err error) {
	if err := clearTokens(ctx, to, targets); err != nil {
		return nil, err
	}
	missed := map[string]string{} // the version at which a push missed each list
	for {
		versions, err := versionsOf(ctx, to, targets)
		if err != nil {
			return pushed, err
		}
		targets = within(targets, func(_, list string) bool {
			// If the version is unchanged, the post is below the floor.
			return versions[list] != "" && versions[list] != missed[list]
		})
		if len(targets) == 0 {
			return pushed, nil
		}
		why, err := due(ctx, targets)
		if err != nil {
			return pushed, err
		}
		targets = within(targets, func(post, list string) bool { return why[post][list] != "" })
		additions := additionsOf(targets, versions)
		held, err := to.Push(ctx, additions)
		if err != nil {
			return pushed, err
		}
		missed = map[string]string{}
		for i, a := range additions {
			if held[i] == 0 {
				missed[a.List] = a.Version
			} else if f.delivered(ctx, a.List, a.Entries[:held[i]], why) {
				pushed = append(pushed, a.List)
			}
		}
		targets = within(targets, func(_, list string) bool { return missed[list] != "" })
	}
}

// clearTokens prepares lists for posts that were changed. Such a post may have been deleted before:
// concurrent removals have to check it again.
func clearTokens(ctx context.Context, to timeline.Lists, targets []target) error {
	var lists []string
	for _, t := range targets {
		if t.post.Version > 1 {
			lists = append(lists, t.lists...)
		}
	}
	if len(lists) == 0 {
		return nil
	}
	return to.ClearToken(ctx, distinct(lists))
}

// versionsOf returns the versions of all lists, "" for those that do not exist.
func versionsOf(ctx context.Context, to timeline.Lists, targets []target) (map[string]string, error) {
	var lists []string
	for _, t := range targets {
		lists = append(lists, t.lists...)
	}
	lists = distinct(lists)
	if len(lists) == 0 {
		return nil, nil
	}
	list, err := to.Versions(ctx, lists)
	if err != nil {
		return nil, err
	}
	versions := make(map[string]string, len(lists))
	for i, version := range list {
		versions[lists[i]] = version
	}
	return versions, nil
}

func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// within returns targets with the lists for which keep returns true, without those that have none.
func within(targets []target, keep func(post, list string) bool) (rest []target) {
	for _, t := range targets {
		var lists []string
		for _, list := range t.lists {
			if keep(t.post.ID, list) {
				lists = append(lists, list)
			}
		}
		if len(lists) > 0 {
			rest = append(rest, target{t.post, t.after, lists})
		}
	}
	return rest
}

// additionsOf returns one addition for each list, with its posts newest first.
func additionsOf(targets []target, versions map[string]string) (list []timeline.Addition) {
	slices.SortFunc(targets, func(a, b target) int { return b.post.Position().Compare(a.post.Position()) })
	index := map[string]int{}
	for _, t := range targets {
		for _, name := range t.lists {
			i, ok := index[name]
			if !ok {
				i, index[name] = len(list), len(list)
				list = append(list, timeline.Addition{List: name, Version: versions[name]})
			}
			list[i].Entries = append(list[i].Entries, t.post.Position())
		}
	}
	return list
}

// delivered counts posts that a list holds now, and reports whether another agent than their author
// has one for it.
func (f *Fanout) delivered(ctx context.Context, list string, posts []timeline.Position, why reasons) (others bool) {
	for _, p := range posts {
		reason := why[p.ID][list]
		others = others || reason != social.Self
		entries.WithLabelValues(string(reason)).Inc()
		if f.d.Log.Enabled(ctx, slog.LevelDebug) {
			f.d.Log.DebugContext(ctx, "a post is delivered", "post", p.ID, "list", list, "reason", reason)
		}
	}
	return others
}

// due queries the store again for the receivers of posts.
func (f *Fanout) due(ctx context.Context, targets []target) (reasons, error) {
	pages := convert.Each(targets, func(t target) social.ReceiverPage { return social.ReceiverPage{Post: t.post.ID, After: t.after} })
	now, err := f.d.Store.Receivers(ctx, pages, page)
	if err != nil {
		return nil, err
	}
	why := make(reasons, len(targets))
	for i, t := range targets {
		post, last := t.post.ID, t.lists[len(t.lists)-1]
		if now[i].Post.Deleted {
			continue
		}
		why[post] = make(map[string]social.Reason, len(t.lists))
		for p, err := range f.pages(ctx, receiverPage{after: t.after, Receivers: now[i]}) {
			if err != nil {
				return nil, err
			}
			for _, r := range p.List {
				why[post][r.Agent] = r.Reason
			}
			if len(p.List) > 0 && p.List[len(p.List)-1].Agent >= last {
				break
			}
		}
	}
	return why, nil
}

// dueInOutboxes queries the store for which posts exist, to be pushed into their authors' outboxes.
func (f *Fanout) dueInOutboxes(ctx context.Context, targets []target) (reasons, error) {
	now, err := f.d.Store.PostsByID(ctx, convert.Each(targets, func(t target) string { return t.post.ID }))
	if err != nil {
		return nil, err
	}
	why := make(reasons, len(targets))
	for _, p := range now {
		if p.ID != "" && !p.Deleted {
			why[p.ID] = map[string]social.Reason{p.Author: "outbox"}
		}
	}
	return why, nil
}
