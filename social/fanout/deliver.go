package fanout

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
)

// deliver pushes a post into the lists it belongs in, or removes it from them, and repeats
// that if the post's version has changed meanwhile.
func (f *Fanout) deliver(ctx context.Context, j jobs.Job) error {
	due := f.d.Clock().Add(-j.Waited) // in this server's clock
	for {
		p, err := f.post(ctx, j.Key)
		if err != nil || p.ID == "" {
			return err
		}
		err = f.removeCard(ctx, &p)
		switch {
		case err != nil:
		case p.Deleted:
			err = f.withdraw(ctx, &p, due)
		default:
			err = f.spread(ctx, &p)
		}
		if err != nil {
			return err
		}
		now, err := f.post(ctx, j.Key)
		if err != nil || now.Version == p.Version {
			return err
		}
	}
}

// withdraw removes a deleted post from the lists of all agents that it was delivered to. These
// include followers, whatever the author's delivery is now.
func (f *Fanout) withdraw(ctx context.Context, p *social.Post, deleted time.Time) error {
	lists, ids := 0, []string{p.ID}
	for some, err := range f.receivers(ctx, p.ID, true) {
		if err != nil {
			return err
		}
		lists += len(some.list)
		if err := f.d.Lists.Remove(ctx, some.agents(), ids); err != nil {
			return err
		}
	}
	if err := f.d.Outboxes.Remove(ctx, []string{p.Author}, ids); err != nil {
		return err
	}
	took := f.d.Clock().Sub(deleted)
	removalSeconds.Observe(took.Seconds())
	f.d.Log.InfoContext(ctx, "a deleted post was removed from all lists", "post", p.ID, "lists", lists, "took", took)
	return nil
}

// spread pushes a post. It reads the author's delivery after the post: if an outbox was built
// without the post, that read returns a delivery that uses the outbox.
func (f *Fanout) spread(ctx context.Context, p *social.Post) error {
	c, err := f.d.Store.Celebrity(ctx, p.Author)
	if err != nil {
		return err
	}
	followers := c.Delivery != social.Pull
	for some, err := range f.receivers(ctx, p.ID, followers) {
		if err != nil {
			return err
		}
		pushed, err := f.push(ctx, f.d.Lists, p, some.agents(), func(lists []string) (map[string]social.Reason, error) {
			return f.due(ctx, p.ID, followers, some.after, lists)
		})
		f.d.Wake(timeline.Wake{Agents: pushed})
		if err != nil {
			return err
		}
	}
	var wake timeline.Wake
	if p.Audience.Public {
		wake.Authors = []string{social.Server}
	}
	if c.Delivery != social.Push && p.Audience.Reach() >= social.ToFollowers {
		_, err := f.push(ctx, f.d.Outboxes, p, []string{p.Author}, func([]string) (map[string]social.Reason, error) {
			now, err := f.post(ctx, p.ID)
			if err != nil || now.ID == "" || now.Deleted {
				return nil, err
			}
			return map[string]social.Reason{p.Author: "outbox"}, nil
		})
		if err != nil {
			return err
		}
		wake.Authors = append(wake.Authors, p.Author)
	}
	f.d.Wake(wake)
	return nil
}

// pushOwn pushes a new post into its author's own list, if it belongs there.
func (f *Fanout) pushOwn(ctx context.Context, p *social.Post) error {
	ctx, cancel := f.brief(ctx)
	defer cancel()
	_, err := f.push(ctx, f.d.Lists, p, []string{p.Author}, func(lists []string) (map[string]social.Reason, error) {
		statuses, err := f.d.Store.ListStatuses(ctx, lists[0], []string{p.ID})
		if err != nil || !statuses[0].Listed {
			return nil, err
		}
		return map[string]social.Reason{lists[0]: social.Self}, nil
	})
	return err
}

// receiverPage is a page of the agents that a post is delivered to. It begins after the agent named
// after.
type receiverPage struct {
	after string
	list  []social.Receiver
}

func (p receiverPage) agents() []string {
	return convert.Each(p.list, func(r social.Receiver) string { return r.Agent })
}

// receivers yields the pages of the agents that a post is delivered to. An error is the last value.
func (f *Fanout) receivers(ctx context.Context, post string, followers bool) iter.Seq2[receiverPage, error] {
	return func(yield func(receiverPage, error) bool) {
		after := ""
		for {
			list, err := f.d.Store.Receivers(ctx, post, followers, after, page)
			if err == nil && len(list) == 0 {
				return
			}
			if !yield(receiverPage{after, list}, err) || len(list) < page {
				return
			}
			after = list[len(list)-1].Agent
		}
	}
}

// due queries the store again for the agents that receive a post, and for what reason. lists holds
// the agents to check, in order; they come after the agent named after.
func (f *Fanout) due(ctx context.Context, post string, followers bool, after string, lists []string) (map[string]social.Reason, error) {
	now, err := f.post(ctx, post)
	if err != nil || now.ID == "" || now.Deleted {
		return nil, err
	}
	reasons, last := make(map[string]social.Reason, len(lists)), lists[len(lists)-1]
	for {
		some, err := f.d.Store.Receivers(ctx, post, followers, after, page)
		if err != nil {
			return nil, err
		}
		for _, r := range some {
			reasons[r.Agent], after = r.Reason, r.Agent
		}
		if len(some) < page || after >= last {
			return reasons, nil
		}
	}
}

// push adds a post to the lists that exist and that due returns a reason for. It calls due after
// it has read the versions of the lists, and again for lists whose version has changed. It returns
// those that hold the post, without the author's own.
func (f *Fanout) push(ctx context.Context, to timeline.Lists, p *social.Post, names []string,
	due func(lists []string) (map[string]social.Reason, error),
) (pushed []string, err error) {
	if p.Version > 1 {
		// It may have been deleted before: concurrent removals have to check it again.
		if err := to.ClearToken(ctx, names); err != nil {
			return nil, err
		}
	}
	missed := map[string]string{} // the version at which a push missed each list
	for len(names) > 0 {
		heads, err := to.Heads(ctx, names)
		if err != nil {
			return pushed, err
		}
		lists, versions := make([]string, 0, len(names)), make([]string, 0, len(names))
		for i, h := range heads {
			// If the version is unchanged, the post is below the floor.
			if h.State != timeline.None && h.Version != missed[names[i]] {
				lists, versions = append(lists, names[i]), append(versions, h.Version)
			}
		}
		if len(lists) == 0 {
			return pushed, nil
		}
		reasons, err := due(lists)
		if err != nil {
			return pushed, err
		}
		n := 0
		for i, list := range lists {
			if reasons[list] != "" {
				lists[n], versions[n] = list, versions[i]
				n++
			}
		}
		lists, versions = lists[:n], versions[:n]
		held, err := to.Push(ctx, lists, versions, []timeline.Position{p.Position()})
		if err != nil {
			return pushed, err
		}
		names = nil
		for i, n := range held {
			if n == 0 {
				names, missed[lists[i]] = append(names, lists[i]), versions[i]
				continue
			}
			if reasons[lists[i]] != social.Self {
				pushed = append(pushed, lists[i])
			}
			entries.WithLabelValues(string(reasons[lists[i]])).Inc()
			if f.d.Log.Enabled(ctx, slog.LevelDebug) {
				f.d.Log.DebugContext(ctx, "a post is delivered", "post", p.ID, "list", lists[i], "reason", reasons[lists[i]])
			}
		}
	}
	return pushed, nil
}
