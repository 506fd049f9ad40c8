package fanout

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
)

// deliver pushes posts into the lists they belong in, or removes them from them.
func (f *Fanout) deliver(ctx context.Context, list []jobs.Job) []error {
	err := f.deliverAll(ctx, list)
	if err != nil {
		return failed(ctx, list, err, f.deliver)
	}
	return make([]error, len(list))
}

// deliverAll delivers posts together, and those again whose version has changed meanwhile. They share
// the round trips.
func (f *Fanout) deliverAll(ctx context.Context, list []jobs.Job) error {
	due, left := map[string]time.Time{}, []social.ReceiverPage{} // due is in this server's clock
	for _, j := range list {
		due[j.Key] = f.d.Clock().Add(-j.Waited)
		left = append(left, social.ReceiverPage{Post: j.Key})
	}
	for len(left) > 0 {
		posts, err := f.d.Store.Receivers(ctx, left, page)
		if err != nil {
			return err
		}
		posts = slices.DeleteFunc(posts, func(r social.Receivers) bool { return r.Post.ID == "" })
		var alive []social.Receivers
		for _, r := range posts {
			if err := f.removeCard(ctx, &r.Post); err != nil {
				return err
			}
			if !r.Post.Deleted {
				alive = append(alive, r)
			} else if err := f.withdraw(ctx, r, due[r.Post.ID]); err != nil {
				return err
			}
		}
		if len(alive) > 0 {
			err = f.spread(ctx, alive)
		}
		if err != nil || len(posts) == 0 {
			return err
		}
		left, err = f.changed(ctx, posts)
		if err != nil {
			return err
		}
	}
	return nil
}

// changed returns the posts whose version is another now.
func (f *Fanout) changed(ctx context.Context, posts []social.Receivers) (list []social.ReceiverPage, err error) {
	now, err := f.d.Store.PostStates(ctx, convert.Each(posts, func(r social.Receivers) string { return r.Post.ID }))
	if err != nil {
		return nil, err
	}
	for i := range now {
		if now[i].Version != posts[i].Post.Version {
			list = append(list, social.ReceiverPage{Post: posts[i].Post.ID})
		}
	}
	return list, nil
}

// withdraw removes a deleted post from the lists of all agents that it was delivered to. These
// include followers, whatever the author's delivery is now.
func (f *Fanout) withdraw(ctx context.Context, r social.Receivers, deleted time.Time) error {
	lists, p, ids := 0, &r.Post, []string{r.Post.ID}
	for some, err := range f.pages(ctx, receiverPage{Receivers: r}) {
		if err != nil {
			return err
		}
		lists += len(some.List)
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

// spread pushes posts: the first pages of their receivers together. The deliveries of the authors
// are as of the same moment as the posts: if an outbox was built without a post, its author's
// delivery uses the outbox.
func (f *Fanout) spread(ctx context.Context, posts []social.Receivers) error {
	var first, outboxes []target
	var wake timeline.Wake
	for i := range posts {
		r := receiverPage{Receivers: posts[i]}
		first = append(first, r.target())
		if r.Post.Audience.Public && !slices.Contains(wake.Authors, social.Server) {
			wake.Authors = append(wake.Authors, social.Server)
		}
		if r.Delivery != social.Push && r.Post.Audience.Reach() >= social.ToFollowers {
			outboxes = append(outboxes, target{post: &r.Post, lists: []string{r.Post.Author}})
			wake.Authors = append(wake.Authors, r.Post.Author)
		}
	}
	if err := f.pushAndWake(ctx, first...); err != nil {
		return err
	}
	for i := range posts {
		for p, err := range f.pages(ctx, receiverPage{Receivers: posts[i]}) {
			if err == nil && p.after != "" {
				err = f.pushAndWake(ctx, p.target())
			}
			if err != nil {
				return err
			}
		}
	}
	if _, err := f.push(ctx, f.d.Outboxes, outboxes, f.dueInOutboxes); err != nil {
		return err
	}
	f.d.Wake(wake)
	return nil
}

// pushAndWake pushes into lists of agents, and wakes those who watch them.
func (f *Fanout) pushAndWake(ctx context.Context, targets ...target) error {
	pushed, err := f.push(ctx, f.d.Lists, targets, f.due)
	f.d.Wake(timeline.Wake{Agents: pushed})
	return err
}

// receiverPage is the page of a post's receivers after an agent.
type receiverPage struct {
	after string
	social.Receivers
}

func (p *receiverPage) target() target {
	return target{post: &p.Post, after: p.after, lists: p.agents()}
}

func (p *receiverPage) agents() []string {
	return convert.Each(p.List, func(r social.Receiver) string { return r.Agent })
}

// pages yields a page of a post's receivers and those after it. An error is the last value.
func (f *Fanout) pages(ctx context.Context, p receiverPage) iter.Seq2[receiverPage, error] {
	return func(yield func(receiverPage, error) bool) {
		for yield(p, nil) && len(p.List) == page {
			p.after = p.List[page-1].Agent
			list, err := f.d.Store.Receivers(ctx, []social.ReceiverPage{{Post: p.Post.ID, After: p.after}}, page)
			if err != nil {
				yield(receiverPage{}, err)
				return
			}
			p.Receivers = list[0]
		}
	}
}

// pushOwn pushes a new post into its author's own list, if it belongs there.
func (f *Fanout) pushOwn(ctx context.Context, p *social.Post) error {
	ctx, cancel := f.brief(ctx)
	defer cancel()
	_, err := f.push(ctx, f.d.Lists, []target{{post: p, lists: []string{p.Author}}}, func(ctx context.Context, _ []target) (reasons, error) {
		statuses, err := f.d.Store.ListStatuses(ctx, p.Author, []string{p.ID})
		if err != nil || !statuses[0].Listed {
			return nil, err
		}
		return reasons{p.ID: {p.Author: social.Self}}, nil
	})
	return err
}
