package timeline

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
)

// noticeActors is the maximum number of actors that a [social.Notice] names.
const noticeActors = 3

// notice is a [social.Notice] in the making.
type notice struct {
	social.Notice
	key         string // distinguishes the notices of an agent
	post, reply string
	counted     map[string]bool // actors
}

// compare orders notices, the newest first.
func (n *notice) compare(o *notice) int {
	return cmp.Or(cmp.Compare(o.Marker, n.Marker), strings.Compare(n.key, o.key))
}

// NoticesRequest asks for a page of an agent's notifications.
type NoticesRequest struct {
	Agent string
	After string // the cursor of an earlier page, "" for the newest
	Limit int    // 1 to [MaxLimit]
}

// Notifications reads a page. All of an agent's notifications are read, which are bounded, and grouped. What
// stands, and what the agent may know of, the store decides at each read. Authors, threads, tags and words
// that the agent's profile mutes are left out. Errors wrap [feed.ErrBadID], [feed.ErrBadLimit], [feed.ErrInvalid],
// [feed.ErrForbidden] or [social.ErrUnavailable].
func (t *Timelines) Notifications(ctx context.Context, r NoticesRequest) (page social.NoticePage, err error) {
	after, err := parseNoticeCursor(r.After)
	if err := cmp.Or(feed.CheckLimit(r.Limit, MaxLimit), social.CheckAgent(r.Agent), err); err != nil {
		return page, err
	}
	read := &pageRead{t: t, agent: r.Agent}
	ctx = t.cfg.Begin(ctx)
	box, err := t.stores.Notifications.Notifications(ctx, r.Agent)
	if err == nil {
		err = read.readProfile(ctx)
	}
	if err == nil {
		box.List, err = withoutMutedContent(box.List, read.profile, func(ids []string) ([]social.Card, error) {
			return t.stores.Posts.Cards(ctx, r.Agent, convert.Each(ids, func(id string) social.PostVersion { return social.PostVersion{ID: id} }))
		})
	}
	if err != nil {
		return page, err
	}
	all := noticesOf(box, read.profile)
	page = social.NoticePage{Unread: unreadOf(all), Marker: box.Last, Degraded: read.missing.Names()}
	read.missing.Count()
	if after != nil {
		all = slices.DeleteFunc(all, func(n *notice) bool { return n.compare(after) <= 0 })
	}
	if len(all) > r.Limit {
		all = all[:r.Limit]
		next := noticeCursor(all[r.Limit-1])
		page.NextCursor = &next
	}
	page.Notices, err = read.withPosts(ctx, all)
	return page, err
}

// withPosts adds the posts. A notice about one that the agent has ceased to see meanwhile is left out.
func (r *pageRead) withPosts(ctx context.Context, all []*notice) ([]social.Notice, error) {
	var ids []string
	for _, n := range all {
		ids = append(ids, n.post, n.reply)
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == "" })
	cards, err := r.t.stores.Posts.Cards(ctx, r.agent, convert.Each(ids, func(id string) social.PostVersion { return social.PostVersion{ID: id} }))
	if err != nil {
		return nil, err
	}
	seen := map[string]*social.GridCard{}
	for i := range cards {
		grid, err := cards[i].Grid()
		if cards[i].Readable() && err == nil {
			seen[grid.ID] = &grid
		}
	}
	list := []social.Notice{}
	for _, n := range all {
		n.Post, n.Reply = seen[n.post], seen[n.reply]
		if (n.post == "" || n.Post != nil) && (n.reply == "" || n.Reply != nil) {
			list = append(list, n.Notice)
		}
	}
	return list, nil
}

// withoutMutedContent leaves out notifications about posts of others with a tag or a word that the profile mutes.
// read returns the cards of posts, in order.
func withoutMutedContent(list []social.Notification, p feed.Profile, read func(ids []string) ([]social.Card, error)) ([]social.Notification, error) {
	if len(p.MutedWords)+len(p.MutedTags) == 0 {
		return list, nil
	}
	var ids []string
	for i := range list {
		id := theirPost(&list[i])
		if id != "" {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return list, nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	cards, err := read(ids)
	if err != nil {
		return nil, err
	}
	refusals, muted := p.Refusals(), map[string]bool{}
	for i := range cards {
		title, caption, tags := cards[i].Texts()
		_, tagged := refusals.Tag(tags)
		_, worded := refusals.Word(title, caption, tags)
		muted[ids[i]] = tagged || worded
	}
	return slices.DeleteFunc(list, func(n social.Notification) bool { return muted[theirPost(&n)] }), nil
}

// theirPost returns the post by the actor that a notification is about; "" if there is none.
func theirPost(n *social.Notification) string {
	switch n.Kind {
	case social.NotifyReply:
		return n.Reply
	case social.NotifyMention:
		return n.Post
	}
	return ""
}

// noticesOf groups notifications, the newest first, without those of authors and threads that the profile mutes.
func noticesOf(box social.Inbox, p feed.Profile) (list []*notice) {
	refusals := p.Refusals()
	groups := map[string]*notice{}
	for _, n := range box.List {
		if refusals.Author(n.Actor.ID) || mutesThread(refusals, n.Post, n.Root, n.Reply) {
			continue
		}
		key := noticeKey(&n)
		g := groups[key]
		if g == nil { // the first is the newest
			g = &notice{key: key, post: n.Post, reply: n.Reply, counted: map[string]bool{}}
			g.Kind, g.At, g.Marker, g.Unread = n.Kind, n.At/int64(time.Second/time.Microsecond), n.Number, n.Number > box.Seen
			if n.Circle.ID != "" {
				g.Circle = &n.Circle
			}
			groups[key], list = g, append(list, g)
		}
		if !g.counted[n.Actor.ID] {
			g.counted[n.Actor.ID] = true
			g.Count++
			if len(g.Actors) < noticeActors {
				g.Actors = append(g.Actors, api.PostAuthor{ID: n.Actor.ID, Name: n.Actor.Name, ImageURL: n.Actor.ImageURL})
			}
		}
	}
	slices.SortFunc(list, (*notice).compare)
	return list
}

func mutesThread(r *feed.Refusals, ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return id != "" && r.Ref(feed.Ref{ID: id, Group: id}) })
}

// noticeKey returns what notifications of one group have in common.
func noticeKey(n *social.Notification) string {
	key := string(n.Kind) + "." + n.Post + n.Circle.ID
	if n.Kind == social.NotifyFollow || n.Kind == social.NotifyJoined {
		key += "." + time.UnixMicro(n.At).UTC().Format(time.DateOnly)
	}
	return key
}

// unreadOf counts the notices with something unread, up to [MostNew].
func unreadOf(all []*notice) (n int) {
	for _, one := range all {
		if one.Unread {
			n++
		}
	}
	return min(n, MostNew)
}

func noticeCursor(n *notice) string { return strconv.FormatInt(n.Marker, 10) + "." + n.key }

// parseNoticeCursor returns the notice after which a page begins; nil for "".
func parseNoticeCursor(text string) (*notice, error) {
	if text == "" {
		return nil, nil
	}
	number, key, _ := strings.Cut(text, ".")
	kind, _, ok := strings.Cut(key, ".")
	marker, err := strconv.ParseInt(number, 10, 64)
	if err != nil || !ok || marker < 1 || social.NotificationKind(kind).Check() != nil {
		return nil, feed.Errorf(feed.ErrInvalid, "cursor must be the next_cursor of an earlier answer with notifications, not %.80q", text)
	}
	return &notice{Notice: social.Notice{Marker: marker}, key: key}, nil
}
