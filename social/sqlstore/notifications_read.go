package sqlstore

import (
	"context"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// Notifications implements [social.Notifications]. A row says only that there was an act. Whether it stands is
// read from where it is stored, and what the agent sees is decided as for every answer, as of one moment.
func (s *Store) Notifications(ctx context.Context, agent string) (box social.Inbox, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return box, err
	}
	if s.opts.KeepNotifications <= 0 {
		return box, feed.Errorf(feed.ErrForbidden, "no notifications are kept: notifications.retention is 0")
	}
	now := s.opts.Clock()
	err = s.snapshot(ctx, func(q *Query) {
		box = social.Inbox{}
		q.row(into(&box.Last, &box.Seen), `SELECT number, seen FROM inboxes WHERE agent = $1`, agent)
		if box.Last == 0 {
			return
		}
		q.each(func(scan Scan) error {
			n, err := scanNotification(scan)
			box.List = append(box.List, n)
			return err
		}, standingText, agent, social.Stamp(now.Add(-s.opts.KeepNotifications)), 3*s.opts.MostNotifications, now.Unix(), social.Stamp(now))
		box.List = q.tellable(agent, keptOf(box.List, s.opts.MostNotifications))
	})
	if err != nil {
		return social.Inbox{}, s.failed(ctx, "read notifications", err)
	}
	return box, nil
}

// keptOf returns those of an agent's notifications, the newest first, that [trimText] keeps. Some more are stored
// until it runs.
func keptOf(list []social.Notification, most int) []social.Notification {
	ofKind, ofActor := shares(most)
	kinds, actors := map[social.NotificationKind]int{}, map[string]int{}
	if len(list) <= most {
		return list
	}
	kept, newest := list[:0], 0
	for _, n := range list {
		actors[n.Actor.ID]++
		if actors[n.Actor.ID] > ofActor {
			continue
		}
		newest++
		kinds[n.Kind]++
		if newest <= most || kinds[n.Kind] <= ofKind {
			kept = append(kept, n)
		}
	}
	return kept
}

func scanNotification(scan Scan) (n social.Notification, err error) {
	var object, circle string
	err = scan(&n.Kind, &object, &n.Actor.ID, &n.Reply, &n.Number, &n.At, &n.Actor.Name, &n.Actor.ImageURL, &circle)
	switch n.Kind {
	case social.NotifyInvitation, social.NotifyJoined:
		n.Circle = social.CircleRef{ID: object, Name: circle}
	default:
		n.Post = object
	}
	return n, err
}

// standingText selects the newest $3 notifications n of the agent $1 since $2 whose acts stand now, $4 in Unix
// seconds and $5 as a stamp. Posts are still to be decided about.
var standingText = `SELECT n.kind, n.object, n.actor, n.post, n.number, n.at, coalesce(a.name, ''), coalesce(a.image_url, ''), coalesce(c.name, '')
	FROM notifications n LEFT JOIN authors a ON a.id = n.actor LEFT JOIN circles c ON c.id = n.object AND n.kind IN ('invitation', 'joined')
	WHERE n.agent = $1 AND n.at > $2 AND n.at > coalesce(a.erased, 0)
	AND n.at > coalesce((SELECT e.erased FROM authors e WHERE e.id = $1), 0)` + notBlocked(`$1`, `n.actor`) + `
	AND NOT ` + mutes("$1", social.MuteNotification, "n.kind") + `
	AND CASE n.kind
	WHEN 'follow' THEN EXISTS (SELECT 1 FROM follows f WHERE f.agent = n.actor AND f.author = $1 AND f.gone = 0 AND f.at > coalesce(a.erased_agent, 0)
		AND f.at > coalesce((SELECT e.erased FROM authors e WHERE e.id = $1), 0) OFFSET 0)
	WHEN 'like' THEN EXISTS (SELECT 1 FROM likes l JOIN posts p ON p.id = l.post WHERE l.post = n.object AND l.agent = n.actor
		AND l.incarnation > p.deleted AND l.at > coalesce(a.erased_agent, 0) AND ` + ownPost + ` OFFSET 0)
	WHEN 'reply' THEN EXISTS (SELECT 1 FROM posts r JOIN posts p ON p.id = n.object WHERE r.id = n.post AND r.author = n.actor AND ` + ownPost + `
		AND r.root = CASE WHEN p.root = '' THEN p.id ELSE p.root END OFFSET 0)
	WHEN 'mention' THEN EXISTS (SELECT 1 FROM post_mentions m WHERE m.post = n.object AND m.agent = $1 AND m.life = ` + erasedReader + ` OFFSET 0)
		OR EXISTS (SELECT 1 FROM reply_mentions m WHERE m.reply = n.object AND m.agent = $1 AND m.life = ` + erasedReader + ` OFFSET 0)
	WHEN 'invitation' THEN c.owner = n.actor AND ` + circleThere + ` AND ` + hearsInviter("$1") + `
		AND EXISTS (SELECT 1 FROM invitations i WHERE i.circle = n.object AND i.agent = $1 AND` + openInvitation("$4") + ` OFFSET 0)
	WHEN 'joined' THEN c.owner = $1 AND c.kind <> 'circle' AND ` + circleThere + ` AND NOT ` + mutesAt("$1", social.MuteCircle, "n.object", "$5") + `
		AND EXISTS (SELECT 1 FROM members m WHERE m.circle = n.object AND m.agent = n.actor AND m.gone = 0 AND m.at > coalesce(a.erased_agent, 0) OFFSET 0)
	ELSE false END
	ORDER BY n.number DESC, n.kind, n.object, n.actor, n.post LIMIT $3`

// ownPost is the condition that a post p was made here by the agent $1.
const ownPost = `p.author = $1 AND p.origin = ''`

// tellable returns those notifications all of whose posts the agent sees, and not through muted groups alone.
func (q *Query) tellable(agent string, list []social.Notification) []social.Notification {
	var ids []string
	for _, n := range list {
		ids = append(ids, n.Post, n.Reply)
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == "" })
	roots := q.heardPosts(agent, ids)
	kept := list[:0]
	for _, n := range list {
		root, heard := roots[n.Post]
		_, replyHeard := roots[n.Reply]
		if (n.Post == "" || heard) && (n.Reply == "" || replyHeard) {
			n.Root = root
			kept = append(kept, n)
		}
	}
	return kept
}

// heardPosts decides about posts, and returns the roots of those that the reader sees, "" for those that are
// no replies.
func (q *Query) heardPosts(reader string, ids []string) map[string]string {
	heard, under := map[string]string{}, map[string][]*facts{}
	names := map[*facts]string{}
	if len(ids) == 0 {
		return heard
	}
	q.read(q.statuses(reader, ids, func(f *facts, i int, _ int64) {
		names[f] = ids[i]
		if f.post.IsReply() {
			under[f.post.Root] = append(under[f.post.Root], f)
		} else if f.decide().Visible && f.hears(nil) {
			heard[ids[i]] = ""
		}
	}))
	if len(under) == 0 {
		return heard
	}
	roots := make([]string, 0, len(under))
	for root := range under {
		roots = append(roots, root)
	}
	slices.Sort(roots)
	q.read(q.statuses(reader, roots, func(root *facts, i int, _ int64) {
		for _, f := range under[roots[i]] {
			f.under(root)
			if f.decide().Visible && root.hears(f.removals) {
				heard[names[f]] = roots[i]
			}
		}
	}))
	return heard
}

// hears reports whether the reader of a visible post, which a removal may have taken from groups, has not muted
// all that they see it through.
func (f *facts) hears(removals []social.Removal) bool {
	_, muted, _ := f.memberBut(removals)
	follows := f.rel.Follows || f.post.Author == f.rel.Reader
	return !muted || f.post.Audience.Public || follows && f.post.Audience.Reach() >= social.ToFollowers
}
