package sqlstore

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

const (
	// notifyAgainAfter is how long an act that is undone and repeated keeps its notification: nobody can
	// notify an agent again and again with one like.
	notifyAgainAfter = 24 * time.Hour
	// trimEvery is after how many writes that notify an agent the oldest notifications are removed.
	trimEvery = 32
)

// notice is a notification to be written.
type notice struct {
	agent  string
	kind   social.NotificationKind
	object string // the post or the circle; "" for none
	actor  string
	post   string // the reply; "" for none
}

func (n notice) compare(o notice) int {
	return cmp.Or(cmp.Compare(n.agent, o.agent), cmp.Compare(n.kind, o.kind), cmp.Compare(n.object, o.object),
		cmp.Compare(n.actor, o.actor), cmp.Compare(n.post, o.post))
}

// tell notes a notification, which is written with the commit. One's own acts, erasures, and imports of old
// changes notify nobody.
func (t *Tx) tell(n notice) {
	off := t.opts.KeepNotifications <= 0 || t.erasing != "" || t.class > 0
	if off || n.agent == n.actor || n.agent == "" || n.agent == social.Server {
		return
	}
	t.notices = append(t.notices, n)
}

// tellPost notifies of a new post: the author of the post that it answers, and the others whom it mentions.
func (t *Tx) tellPost(p *social.Post, answered string, mentioned []string) {
	if answered != "" {
		t.tell(notice{answered, social.NotifyReply, p.ReplyTo, p.Author, p.ID})
	}
	for _, agent := range mentioned {
		if agent != answered {
			t.tell(notice{agent, social.NotifyMention, p.ID, p.Author, ""})
		}
	}
}

// untell notes that notifications of agents may not stand any more.
func (t *Tx) untell(agents ...string) {
	if t.opts.KeepNotifications <= 0 {
		return
	}
	if t.undone == nil {
		t.undone = map[string]bool{}
	}
	for _, agent := range agents {
		if agent != "" && agent != social.Server {
			t.undone[agent] = true
		}
	}
}

// untellPost is untell for those whom a post that ends or is hidden has notified, or whose likes and replies have
// notified its author.
func (t *Tx) untellPost(p *social.Post) {
	t.untell(append([]string{p.Author}, p.Mentions...)...)
	if p.IsReply() && t.opts.KeepNotifications > 0 && t.erasing == "" {
		t.untell(t.texts(`SELECT author FROM posts WHERE id = ANY ($1)`, []string{p.ReplyTo, p.Root})...)
	}
}

// told returns the agents whom the transaction notifies, sorted.
func (t *Tx) told() (agents []string) {
	for _, n := range t.notices {
		agents = append(agents, n.agent)
	}
	slices.Sort(agents)
	return slices.Compact(agents)
}

// writeNotices writes the notifications of the transaction. It locks the inboxes of the agents after all
// else but the rows of the queue, in the order of their names.
func (t *Tx) writeNotices() {
	if len(t.notices) == 0 {
		return
	}
	slices.SortFunc(t.notices, notice.compare)
	var agents, kinds, objects, actors, posts []string
	for _, n := range slices.Compact(slices.Clone(t.notices)) {
		agents, kinds, objects = append(agents, n.agent), append(kinds, string(n.kind)), append(objects, n.object)
		actors, posts = append(actors, n.actor), append(posts, n.post)
	}
	told := t.told()
	t.later(openInboxes, told)
	again := min(notifyAgainAfter, t.opts.KeepNotifications)
	t.later(notifyText, social.Stamp(t.now), social.Stamp(t.now.Add(-again)), Table{agents, kinds, objects, actors, posts})
	ofKind, ofActor := shares(t.opts.MostNotifications)
	t.later(trimText, told, t.opts.MostNotifications, trimEvery, ofKind, ofActor)
}

const openInboxes = `INSERT INTO inboxes AS i (agent, number, seen) SELECT d.agent, 1, 0 FROM unnest($1::text[]) d (agent) WHERE true ORDER BY d.agent
	ON CONFLICT (agent) DO UPDATE SET number = i.number + 1`

// notifyText writes notifications as of $1, each later than the erasures of both agents so far, whatever the
// clocks. One that was repeated since $2 stays as it is.
const notifyText = `INSERT INTO notifications AS n (agent, kind, object, actor, post, number, at)
	SELECT d.agent, d.kind, d.object, d.actor, d.post, (SELECT i.number FROM inboxes i WHERE i.agent = d.agent), greatest($1::bigint, coalesce((SELECT max(a.erased) + 1 FROM authors a WHERE a.id IN (d.agent, d.actor)), 0))
	FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) d (agent, kind, object, actor, post) WHERE true
	ON CONFLICT (agent, kind, object, actor, post) DO UPDATE SET number = excluded.number, at = excluded.at
	WHERE n.at <= $2 OR n.at <= (SELECT max(e.erased) FROM authors e WHERE e.id IN (n.agent, n.actor))`

const notificationKey = `agent, kind, object, actor, post`

// trimText removes notifications of agents who have more than $2, those of $1, after each $3 writes to an inbox:
// of one actor all but the newest $5, so that nobody fills an inbox alone, also not with acts that are undone; then
// of all but the newest those that are not among the newest $4 of their kind, so that a crowd of likes removes no
// replies. See [keptOf].
var trimText = deleting(notificationKey, `notifications x JOIN (SELECT r.*,
		row_number() OVER (PARTITION BY r.agent, r.much ORDER BY r.number DESC) AS newest,
		row_number() OVER (PARTITION BY r.agent, r.kind, r.much ORDER BY r.number DESC) AS of_kind
		FROM (SELECT n.agent, n.kind, n.object, n.actor, n.post, n.number, count(*) OVER (PARTITION BY n.agent) AS kept,
			row_number() OVER (PARTITION BY n.agent, n.actor ORDER BY n.number DESC) > $5 AS much
			FROM notifications n JOIN inboxes i ON i.agent = n.agent WHERE i.agent = ANY ($1) AND i.number % $3 = 0) r) o
	ON o.agent = x.agent AND o.kind = x.kind AND o.object = x.object AND o.actor = x.actor AND o.post = x.post
	AND o.kept > $2 AND (o.much OR o.newest > $2 AND o.of_kind > $4)`)

// shares returns how many of an agent's notifications are kept of each kind whatever there is of others, and how
// many of one actor if there are more than most in all.
func shares(most int) (ofKind, ofActor int) { return most / 6, most / 10 }

// purgeNotifications removes at most n notifications that are older than they are kept.
func (t *Tx) purgeNotifications(n int) int {
	return int(t.exec(deleting(notificationKey, `notifications x WHERE at <= $1 ORDER BY at LIMIT $2`), social.Stamp(t.now.Add(-t.opts.KeepNotifications)), n))
}

// notifications removes what names the agent. An act on a post of theirs that was in progress when they were
// erased may be later than the erasure; the post is gone.
func (e *eraser) notifications(t *Tx) int {
	n := t.exec(deleting(notificationKey, `notifications x WHERE x.actor = $1 AND x.at <= $2 LIMIT $3`), e.agent, e.at.card, e.budget)
	n += t.exec(deleting(notificationKey, `notifications x WHERE x.agent = $1 AND (x.at <= $2 OR x.kind IN ('like', 'reply')
		AND EXISTS (SELECT 1 FROM posts p WHERE p.id = x.object AND p.gone > 0 OFFSET 0)) LIMIT $3`), e.agent, e.at.card, e.budget)
	t.exec(`DELETE FROM inboxes WHERE agent = $1 AND NOT EXISTS (SELECT 1 FROM notifications n WHERE n.agent = $1)`, e.agent)
	return int(n)
}

// SeeNotifications implements [social.Notifications].
func (s *Store) SeeNotifications(ctx context.Context, agent string, upTo int64) (moved bool, err error) {
	if err := social.CheckAgent(agent); err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *Tx) {
		var last, seen int64
		t.row(into(&last, &seen), `SELECT number, seen FROM inboxes WHERE agent = $1 FOR UPDATE`, agent)
		if upTo < 0 || upTo > last {
			t.fail(feed.Errorf(feed.ErrInvalid, "bad marker: the newest notification of %s has %d; send the marker of a notification, or of an answer with notifications, as it was received", agent, last))
			return
		}
		moved = upTo > seen
		if moved {
			t.exec(`UPDATE inboxes SET seen = $2 WHERE agent = $1`, agent, upTo)
		}
	})
	if err == nil && moved {
		s.opts.Notified([]string{agent})
	}
	return moved && err == nil, s.failed(ctx, "mark notifications as seen", err)
}

// InboxStates implements [social.Notifications].
func (s *Store) InboxStates(ctx context.Context, agents []string) ([]social.InboxState, error) {
	list := make([]social.InboxState, len(agents))
	err := s.read(ctx, func(q *Query) {
		q.each(func(scan Scan) error {
			var i int
			var state social.InboxState
			err := scan(&i, &state.Last, &state.Seen)
			list[i] = state
			return err
		}, `SELECT d.i - 1, b.number, b.seen FROM unnest((SELECT $1::text[])) WITH ORDINALITY d (agent, i) JOIN inboxes b ON b.agent = d.agent`, agents)
	})
	if err != nil {
		return nil, s.failed(ctx, "read inboxes", err)
	}
	return list, nil
}
