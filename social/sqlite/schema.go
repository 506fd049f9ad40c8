package sqlite

import (
	"github.com/freshet/freshet/internal/sqlitefile"
)

// Schema is the schema of the file. Its id is the letters "frss".
//
// Stamps are Unix microseconds. gone is 0 for a row that exists, else the time when this store
// learned that it does not, or not yet; the row stays for a while as a tombstone.
var Schema = sqlitefile.Schema{What: "social store", ID: 0x66727373, Oldest: 1, Migrations: []string{
	`CREATE TABLE posts (
		seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
		author TEXT NOT NULL, -- '': told of before it was created
		created_at INTEGER NOT NULL, reach INTEGER NOT NULL, origin TEXT NOT NULL,
		reply TEXT NOT NULL, react TEXT NOT NULL,
		version INTEGER NOT NULL,
		likes_here INTEGER NOT NULL, likes_reported INTEGER NOT NULL, comments_reported INTEGER NOT NULL,
		created INTEGER NOT NULL, deleted INTEGER NOT NULL,
		caption_at INTEGER NOT NULL, tags_at INTEGER NOT NULL, alts_at INTEGER NOT NULL, counted INTEGER NOT NULL,
		gone INTEGER NOT NULL,
		tags TEXT NOT NULL, grants TEXT NOT NULL, -- JSON, '' for none
		content BLOB NOT NULL);
	 CREATE INDEX posts_by_author ON posts (author, created_at DESC, id DESC, reach) WHERE gone = 0;
	 CREATE INDEX posts_public ON posts (created_at DESC, id DESC, author) WHERE gone = 0 AND reach = 2;
	 CREATE INDEX posts_gone ON posts (gone) WHERE gone > 0;
	 CREATE TABLE post_circles (post TEXT NOT NULL, circle TEXT NOT NULL, author TEXT NOT NULL, created_at INTEGER NOT NULL,
		PRIMARY KEY (post, circle)) WITHOUT ROWID;
	 CREATE INDEX post_circles_by_circle ON post_circles (circle, created_at DESC, post DESC, author);
	 CREATE TABLE post_mentions (post TEXT NOT NULL, agent TEXT NOT NULL, author TEXT NOT NULL, created_at INTEGER NOT NULL,
		PRIMARY KEY (post, agent)) WITHOUT ROWID;
	 CREATE INDEX post_mentions_by_agent ON post_mentions (agent, created_at DESC, post DESC, author);
	 CREATE TABLE post_keys (author TEXT NOT NULL, key TEXT NOT NULL, post TEXT NOT NULL, print TEXT NOT NULL, at INTEGER NOT NULL,
		PRIMARY KEY (author, key)) WITHOUT ROWID;
	 CREATE INDEX post_keys_by_time ON post_keys (at);

	 CREATE TABLE authors (id TEXT NOT NULL PRIMARY KEY,
		name TEXT NOT NULL DEFAULT '', image_url TEXT NOT NULL DEFAULT '', bio TEXT NOT NULL DEFAULT '',
		card_at INTEGER NOT NULL DEFAULT 0, has_card INTEGER NOT NULL DEFAULT 0,
		followers INTEGER NOT NULL DEFAULT 0, following INTEGER NOT NULL DEFAULT 0,
		delivery TEXT NOT NULL DEFAULT 'push', delivery_at INTEGER NOT NULL DEFAULT 0,
		erased INTEGER NOT NULL DEFAULT 0, -- card, posts and followers up to this stamp
		erased_agent INTEGER NOT NULL DEFAULT 0, -- everything else
		erasing INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
	 CREATE INDEX authors_erased ON authors (erased) WHERE erased > 0;
	 CREATE TABLE follows (agent TEXT NOT NULL, author TEXT NOT NULL, at INTEGER NOT NULL, gone INTEGER NOT NULL,
		PRIMARY KEY (agent, author)) WITHOUT ROWID;
	 CREATE INDEX follows_by_author ON follows (author, agent) WHERE gone = 0;
	 CREATE INDEX follows_gone ON follows (gone) WHERE gone > 0;
	 CREATE TABLE blocks (agent TEXT NOT NULL, other TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (agent, other)) WITHOUT ROWID;
	 CREATE TABLE circles (id TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL,
		put INTEGER NOT NULL, dropped INTEGER NOT NULL,
		replaced INTEGER NOT NULL, -- members who were not named then are none, as of this stamp
		size INTEGER NOT NULL, gone INTEGER NOT NULL) WITHOUT ROWID;
	 CREATE INDEX circles_by_owner ON circles (owner) WHERE gone = 0;
	 CREATE INDEX circles_gone ON circles (gone) WHERE gone > 0;
	 CREATE TABLE members (circle TEXT NOT NULL, agent TEXT NOT NULL, at INTEGER NOT NULL, gone INTEGER NOT NULL,
		PRIMARY KEY (circle, agent)) WITHOUT ROWID;
	 CREATE INDEX members_by_agent ON members (agent, circle) WHERE gone = 0;
	 CREATE INDEX members_gone ON members (gone) WHERE gone > 0;
	 CREATE TABLE likes (post TEXT NOT NULL, agent TEXT NOT NULL, author TEXT NOT NULL, at INTEGER NOT NULL,
		PRIMARY KEY (post, agent)) WITHOUT ROWID;
	 CREATE INDEX likes_by_agent ON likes (agent, author, at);

	 CREATE TABLE jobs (id INTEGER PRIMARY KEY AUTOINCREMENT, -- an id that is used again could end another's lease
		kind TEXT NOT NULL, key TEXT NOT NULL, generation INTEGER NOT NULL, priority INTEGER NOT NULL,
		state TEXT NOT NULL, due INTEGER NOT NULL, run_at INTEGER NOT NULL, attempts INTEGER NOT NULL, error TEXT NOT NULL,
		lease INTEGER NOT NULL, leased_generation INTEGER NOT NULL, leased_till INTEGER NOT NULL, finished INTEGER NOT NULL,
		UNIQUE (kind, key));
	 CREATE INDEX jobs_by_priority ON jobs (priority, due, run_at, kind) WHERE state IN ('pending', 'failed');
	 CREATE INDEX jobs_by_due ON jobs (due, run_at, kind) WHERE state IN ('pending', 'failed');
	 CREATE INDEX jobs_leased ON jobs (leased_till) WHERE state = 'running';
	 CREATE INDEX jobs_finished ON jobs (finished) WHERE state = 'completed';
	 CREATE INDEX jobs_by_state ON jobs (state, kind);

	 CREATE TABLE promotions (id TEXT NOT NULL PRIMARY KEY, item TEXT NOT NULL,
		starts INTEGER NOT NULL, ends INTEGER NOT NULL, weight REAL NOT NULL, -- Unix seconds
		tags TEXT NOT NULL, langs TEXT NOT NULL -- JSON
		) WITHOUT ROWID;
	 CREATE INDEX promotions_by_end ON promotions (ends);

	 CREATE TABLE files (key TEXT NOT NULL PRIMARY KEY, post TEXT NOT NULL,
		state INTEGER NOT NULL -- reserved, used, unused: social.FileReserved and so on
		) WITHOUT ROWID;
	 CREATE INDEX files_by_post ON files (post);`,

	`ALTER TABLE jobs ADD COLUMN changed INTEGER NOT NULL DEFAULT 0; -- when the row was changed last, by the queue's clock
	 ALTER TABLE jobs ADD COLUMN worker TEXT NOT NULL DEFAULT ''; -- whom it is leased to`,

	// The number of an author's posts by who may see them, so that reading a card counts no rows:
	// public; to followers; made here and not public. Triggers maintain it, so that no change of a
	// post is missed. Posts from before an erasure stop counting when the erasure commits.
	//
	// Posts of an author are read by who may see them, without scanning those that a reader may not
	// see. Posts that mention an agent are also found by author.
	`CREATE TABLE post_counts (author TEXT NOT NULL PRIMARY KEY,
		public INTEGER NOT NULL, followers INTEGER NOT NULL, own INTEGER NOT NULL) WITHOUT ROWID;
	 INSERT INTO post_counts SELECT p.author, sum(p.reach = 2), sum(p.reach = 1), sum(p.reach < 2 AND p.origin = '')
		FROM posts p LEFT JOIN authors a ON a.id = p.author
		WHERE p.gone = 0 AND p.created > ifnull(a.erased, 0) GROUP BY p.author;
	 CREATE TRIGGER posts_counted AFTER INSERT ON posts WHEN ` + countsOf("NEW") + ` BEGIN ` + counted + ` END;
	 CREATE TRIGGER posts_uncounted AFTER DELETE ON posts WHEN ` + countsOf("OLD") + ` BEGIN ` + uncounted + ` END;
	 CREATE TRIGGER posts_uncounted_before AFTER UPDATE OF author, reach, origin, created, gone ON posts
		WHEN ` + recounts + ` AND ` + countsOf("OLD") + ` BEGIN ` + uncounted + ` END;
	 CREATE TRIGGER posts_counted_after AFTER UPDATE OF author, reach, origin, created, gone ON posts
		WHEN ` + recounts + ` AND ` + countsOf("NEW") + ` BEGIN ` + counted + ` END;
	 CREATE TRIGGER authors_made_erased AFTER INSERT ON authors WHEN NEW.erased > 0
		BEGIN DELETE FROM post_counts WHERE author = NEW.id; END;
	 CREATE TRIGGER authors_erased_counts AFTER UPDATE OF erased ON authors WHEN OLD.erased <> NEW.erased
		BEGIN DELETE FROM post_counts WHERE author = NEW.id; END;
	 DROP INDEX posts_by_author;
	 CREATE INDEX posts_by_author ON posts (author, reach, created_at DESC, id DESC) WHERE gone = 0;
	 CREATE INDEX post_mentions_by_author ON post_mentions (agent, author, created_at DESC, post DESC);`,

	// Likes, memberships and the circles of a post end with the post or the circle, even if its id
	// is used again. An incarnation is the stamp at which the life of the target began: it is valid
	// while later than the stamp of the target's last removal. 1 means from before there were
	// incarnations.
	//
	// The erasure of an agent is stored forever: it ends what still refers to the id.
	`ALTER TABLE likes ADD COLUMN incarnation INTEGER NOT NULL DEFAULT 1;
	 ALTER TABLE post_circles ADD COLUMN incarnation INTEGER NOT NULL DEFAULT 1;
	 ALTER TABLE members ADD COLUMN incarnation INTEGER NOT NULL DEFAULT 1;
	 UPDATE likes SET incarnation = p.created FROM posts p WHERE p.id = likes.post AND p.deleted > 0 AND p.gone = 0;
	 UPDATE post_circles SET incarnation = p.created FROM posts p, circles c
		WHERE p.id = post_circles.post AND c.id = post_circles.circle AND c.dropped > 0 AND c.gone = 0;
	 ALTER TABLE posts ADD COLUMN here INTEGER NOT NULL DEFAULT 0; -- see social.Times
	 CREATE TABLE revived (post TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID; -- likes of before are still to be removed
	 CREATE INDEX promotions_by_item ON promotions (item);
	 DROP INDEX authors_erased;
	 CREATE INDEX authors_erased ON authors (erased) WHERE erased > 0 AND erased_agent = 0;`,

	// Groups and events are circles that their members know of: see social.CircleTerms. Members see
	// posts created after since, which is always 0 in circles and never in groups.
	//
	// An incarnation of 1 becomes that of the current life, or for a post's unknown circle 0, so
	// that an earlier removal that is reported late has no effect on the current life.
	`ALTER TABLE circles ADD COLUMN kind TEXT NOT NULL DEFAULT 'circle';
	 ALTER TABLE circles ADD COLUMN post TEXT NOT NULL DEFAULT '';
	 ALTER TABLE circles ADD COLUMN history TEXT NOT NULL DEFAULT '';
	 ALTER TABLE circles ADD COLUMN members_visible_to TEXT NOT NULL DEFAULT '';
	 ALTER TABLE circles ADD COLUMN until INTEGER NOT NULL DEFAULT 0; -- Unix seconds
	 ALTER TABLE members ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
	 CREATE INDEX members_joined ON members (agent, circle) WHERE gone = 0 AND since > 0;
	 CREATE INDEX post_circles_by_author ON post_circles (author, circle, created_at DESC, post DESC);
	 CREATE TABLE invitations (circle TEXT NOT NULL, agent TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (circle, agent)) WITHOUT ROWID;
	 CREATE INDEX invitations_by_agent ON invitations (agent, circle);
	 UPDATE likes SET incarnation = p.created FROM posts p WHERE p.id = likes.post AND p.gone = 0 AND likes.incarnation = 1;
	 UPDATE members SET incarnation = c.put FROM circles c WHERE c.id = members.circle AND c.gone = 0 AND members.incarnation = 1;
	 UPDATE post_circles SET incarnation = p.created FROM posts p, circles c
		WHERE p.id = post_circles.post AND c.id = post_circles.circle AND c.gone = 0 AND post_circles.incarnation = 1;
	 UPDATE post_circles SET incarnation = 0 WHERE incarnation = 1 AND NOT EXISTS (SELECT 1 FROM circles c WHERE c.id = post_circles.circle);`,

	// A reply is a post with a root post. It is visible to those who may see the root, as long as
	// root_life, the stamp at which the life of the root began, is later than the stamp of the
	// root's last removal. The reach of a reply is 3 under a public post, else 4: no list of posts
	// has these. The mentions of replies grant nothing; they are stored for the agents' erasure.
	`ALTER TABLE posts ADD COLUMN root TEXT NOT NULL DEFAULT '';
	 ALTER TABLE posts ADD COLUMN root_life INTEGER NOT NULL DEFAULT 0;
	 ALTER TABLE posts ADD COLUMN comments_here INTEGER NOT NULL DEFAULT 0; -- undeleted replies
	 ALTER TABLE posts ADD COLUMN repliers INTEGER NOT NULL DEFAULT 0; -- who wrote them
	 CREATE INDEX posts_by_root ON posts (root, created_at, id) WHERE root <> '' AND gone = 0;
	 CREATE INDEX posts_by_replier ON posts (root, author) WHERE root <> '' AND gone = 0;
	 CREATE TABLE reply_mentions (reply TEXT NOT NULL, agent TEXT NOT NULL, PRIMARY KEY (reply, agent)) WITHOUT ROWID;
	 CREATE INDEX reply_mentions_by_agent ON reply_mentions (agent);
	 ALTER TABLE revived ADD COLUMN author TEXT NOT NULL DEFAULT ''; -- of posts that were deleted, too: their replies are still to be removed
	 CREATE INDEX revived_by_author ON revived (author);`,

	// Whether an event created the circle: members' posts that events report only reach such
	// groups.
	`ALTER TABLE circles ADD COLUMN told INTEGER NOT NULL DEFAULT 0;`,
	// Authors whom an agent may want to follow, as of a stamp: see social.Suggestions.
	`CREATE TABLE suggestions (agent TEXT NOT NULL PRIMARY KEY, at INTEGER NOT NULL, content TEXT NOT NULL) WITHOUT ROWID; -- JSON
	 CREATE INDEX suggestions_by_time ON suggestions (at);`,

	// Whether an agent's follows may be a reason for suggestions: 1 yes, -1 no, 0 depends on the
	// agent's posts. Suggestions made by the earlier rule are dropped.
	//
	// Authors who have public posts; since is the time of the first of these, in Unix seconds.
	// Triggers maintain them, as with post_counts.
	`ALTER TABLE authors ADD COLUMN suggest_from_follows INTEGER NOT NULL DEFAULT 0;
	 DELETE FROM suggestions;
	 CREATE TABLE public_authors (author TEXT NOT NULL PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;
	 CREATE INDEX public_authors_by_time ON public_authors (since DESC, author);
	 INSERT INTO public_authors SELECT c.author, ifnull(min(p.created_at), 0)
		FROM post_counts c LEFT JOIN authors a ON a.id = c.author
		LEFT JOIN posts p ON p.author = c.author AND p.reach = 2 AND p.gone = 0 AND p.created > ifnull(a.erased, 0)
		WHERE c.public > 0 GROUP BY c.author;
	 CREATE TRIGGER authors_public_first AFTER INSERT ON post_counts WHEN NEW.public > 0 BEGIN ` + nowPublic + ` END;
	 CREATE TRIGGER authors_public AFTER UPDATE OF public ON post_counts WHEN NEW.public > 0 AND OLD.public <= 0 BEGIN ` + nowPublic + ` END;
	 CREATE TRIGGER authors_not_public AFTER UPDATE OF public ON post_counts WHEN NEW.public <= 0 AND OLD.public > 0
		BEGIN DELETE FROM public_authors WHERE author = NEW.author; END;
	 CREATE TRIGGER authors_uncounted AFTER DELETE ON post_counts WHEN OLD.public > 0
		BEGIN DELETE FROM public_authors WHERE author = OLD.author; END;`,
	// An author's replies under one post, also newest or oldest first.
	`CREATE INDEX posts_of_replier ON posts (root, author, created_at, id) WHERE root <> '' AND gone = 0;
	 DROP INDEX posts_by_replier;`,
	// Posts that were removed from groups, and replies that were removed from threads, by others than
	// their authors: see social.Posts. removed is 0 for no removal, 1 for one from some groups, and 2
	// if only its author sees it.
	`ALTER TABLE posts ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
	 ALTER TABLE posts ADD COLUMN reply_at INTEGER NOT NULL DEFAULT 0; -- stamp of the last edit of reply
	 CREATE TABLE removals (post TEXT NOT NULL, circle TEXT NOT NULL, -- '': a reply from its thread
		removed_by TEXT NOT NULL, agent TEXT NOT NULL, reason TEXT NOT NULL, at INTEGER NOT NULL,
		incarnation INTEGER NOT NULL, PRIMARY KEY (post, circle)) WITHOUT ROWID; -- incarnation: the circle's put
	 CREATE INDEX removals_by_agent ON removals (agent) WHERE agent <> '';`,
	// Joinings and posts of a group have places in one order, so that no clock decides what members
	// see. joined is the latest since of a member; posted the latest at of a post made here; reported
	// the latest time of a post that an event reported; lag the most seconds by which the at of a post
	// is later than its created_at. Members see posts with a later at than their since.
	//
	// life tells apart the agents who have had an id: the erased_agent of the id at that time, or -1
	// if the mention counts for nobody.
	`ALTER TABLE circles ADD COLUMN joined INTEGER NOT NULL DEFAULT 0;
	 ALTER TABLE circles ADD COLUMN posted INTEGER NOT NULL DEFAULT 0;
	 ALTER TABLE circles ADD COLUMN reported INTEGER NOT NULL DEFAULT 0;
	 ALTER TABLE circles ADD COLUMN lag INTEGER NOT NULL DEFAULT 0; -- seconds
	 ALTER TABLE post_circles ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
	 ALTER TABLE post_mentions ADD COLUMN life INTEGER NOT NULL DEFAULT 0;
	 ALTER TABLE reply_mentions ADD COLUMN life INTEGER NOT NULL DEFAULT 0;
	 UPDATE post_circles SET at = min(p.created, p.created_at * 1000000 + 999999) FROM posts p, circles c
		WHERE p.id = post_circles.post AND c.id = post_circles.circle AND c.kind <> 'circle';
	 UPDATE circles SET joined = ifnull((SELECT max(since) FROM members m WHERE m.circle = circles.id), 0),
		posted = ifnull((SELECT max(at) FROM post_circles pc WHERE pc.circle = circles.id), 0),
		reported = ifnull((SELECT max(at) FROM post_circles pc WHERE pc.circle = circles.id), 0)
		WHERE kind <> 'circle' AND history <> 'all';
	 UPDATE post_mentions SET life = a.erased_agent FROM authors a, posts p
		WHERE a.id = post_mentions.agent AND a.erased_agent > 0 AND p.id = post_mentions.post AND p.created > a.erased_agent;
	 UPDATE reply_mentions SET life = a.erased_agent FROM authors a, posts p
		WHERE a.id = reply_mentions.agent AND a.erased_agent > 0 AND p.id = reply_mentions.reply AND p.created > a.erased_agent;`,
	// An agent is not invited again for a while by an owner whom they refused: to any group if the
	// circle is '', else to one that they left. A mute is of a group, or of an owner's invitations:
	// see social.MuteKind. joined is when a membership began, if it is known: the member who has been
	// in a group longest inherits it.
	`ALTER TABLE members ADD COLUMN joined INTEGER NOT NULL DEFAULT 0;
	 CREATE TABLE refusals (agent TEXT NOT NULL, owner TEXT NOT NULL, circle TEXT NOT NULL, at INTEGER NOT NULL,
		PRIMARY KEY (agent, owner, circle)) WITHOUT ROWID;
	 CREATE INDEX refusals_by_owner ON refusals (owner);
	 CREATE INDEX refusals_by_time ON refusals (at);
	 CREATE TABLE mutes (agent TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (agent, kind, id)) WITHOUT ROWID;`,
	// own is 1 if the circle is a plain circle of the post's author. The id of a circle may belong to
	// somebody else later.
	`ALTER TABLE post_circles ADD COLUMN own INTEGER NOT NULL DEFAULT 0;
	 UPDATE post_circles SET own = 1 FROM circles c
		WHERE c.id = post_circles.circle AND c.owner = post_circles.author AND c.kind = 'circle' AND (c.gone > 0 OR c.dropped < post_circles.incarnation);`,
	// When a post arrived, by the clock of the queue; 0 for posts of before. See social.LatePost.
	`ALTER TABLE posts ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0;
	 CREATE INDEX posts_late ON posts (arrived) WHERE gone = 0 AND root = ''
		AND created_at < arrived / 1000000 - 60 AND created_at >= arrived / 1000000 - 86400;`,
	// The outbox: a row for each change, written in its transaction. epoch is '' while changes are not
	// kept; rows up to trimmed may have been removed because of their age.
	`CREATE TABLE changes (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, type TEXT NOT NULL, agent TEXT NOT NULL,
		other TEXT NOT NULL, object TEXT NOT NULL, parent TEXT NOT NULL);
	 CREATE INDEX changes_by_agent ON changes (agent, at);
	 CREATE INDEX changes_by_other ON changes (other, at) WHERE other <> '';
	 CREATE TABLE changes_state (one INTEGER NOT NULL PRIMARY KEY, epoch TEXT NOT NULL, trimmed INTEGER NOT NULL);
	 INSERT INTO changes_state VALUES (1, lower(hex(randomblob(4))), 0);`,
	// When a mute of a circle ends, a stamp; 0 for never.
	`ALTER TABLE mutes ADD COLUMN until INTEGER NOT NULL DEFAULT 0;`,
	// Notifications: a row for each act that concerns another agent, written in its transaction; object
	// is the post or the group, post a reply to it. number is that of the agent's inbox after the write,
	// seen the marker that the agent's devices share.
	`CREATE TABLE notifications (agent TEXT NOT NULL, kind TEXT NOT NULL, object TEXT NOT NULL, actor TEXT NOT NULL, post TEXT NOT NULL,
		number INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (agent, kind, object, actor, post)) WITHOUT ROWID;
	 CREATE INDEX notifications_by_number ON notifications (agent, number);
	 CREATE INDEX notifications_by_actor ON notifications (actor, at);
	 CREATE INDEX notifications_by_time ON notifications (at);
	 CREATE TABLE inboxes (agent TEXT NOT NULL PRIMARY KEY, number INTEGER NOT NULL, seen INTEGER NOT NULL) WITHOUT ROWID;`,
	// Moderation. Until when an agent is suspended, a stamp, and why. Posts that moderators hold (1) or have
	// removed (2), and what restores them: the columns removed and reach of before, and the circles that the
	// post addressed. What agents report, and what was decided about each object. The log of what moderators
	// have done and read is kept for ever.
	`ALTER TABLE authors ADD COLUMN suspended_until INTEGER NOT NULL DEFAULT 0;
	 ALTER TABLE authors ADD COLUMN suspended_for TEXT NOT NULL DEFAULT '';
	 CREATE TABLE moderated (post TEXT NOT NULL PRIMARY KEY, state INTEGER NOT NULL, removed INTEGER NOT NULL, reach INTEGER NOT NULL) WITHOUT ROWID;
	 CREATE TABLE moderated_circles (post TEXT NOT NULL, circle TEXT NOT NULL, author TEXT NOT NULL, created_at INTEGER NOT NULL,
		incarnation INTEGER NOT NULL, at INTEGER NOT NULL, own INTEGER NOT NULL, PRIMARY KEY (post, circle)) WITHOUT ROWID;
	 CREATE INDEX moderated_circles_by_circle ON moderated_circles (circle);
	 CREATE TABLE reports (kind TEXT NOT NULL, object TEXT NOT NULL, agent TEXT NOT NULL, reason TEXT NOT NULL, details TEXT NOT NULL,
		at INTEGER NOT NULL, PRIMARY KEY (kind, object, agent)) WITHOUT ROWID;
	 CREATE INDEX reports_by_agent ON reports (agent, at);
	 CREATE TABLE reported (kind TEXT NOT NULL, object TEXT NOT NULL, open INTEGER NOT NULL, latest INTEGER NOT NULL,
		decision TEXT NOT NULL, decided INTEGER NOT NULL, PRIMARY KEY (kind, object)) WITHOUT ROWID;
	 CREATE INDEX reported_by_latest ON reported (open, latest, kind, object);
	 CREATE TABLE audit (seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, who TEXT NOT NULL, action TEXT NOT NULL,
		kind TEXT NOT NULL, object TEXT NOT NULL, reason TEXT NOT NULL);
	 CREATE INDEX audit_by_object ON audit (kind, object);`,
	// What an agent has liked is listed by the time of the like.
	`CREATE INDEX likes_by_time ON likes (agent, at DESC, post DESC);`,
	// Whether an author does not want to be recommended to strangers.
	`ALTER TABLE authors ADD COLUMN not_recommended INTEGER NOT NULL DEFAULT 0;`,
	// Exports: what each agent has asked for; the agent is '' once the file is to be removed. parts is how many
	// parts of the file may be stored; they are in export_parts if there is no other place for them.
	`CREATE TABLE exports (name TEXT NOT NULL PRIMARY KEY, agent TEXT NOT NULL, state TEXT NOT NULL, parts INTEGER NOT NULL,
		bytes INTEGER NOT NULL, sent INTEGER NOT NULL, asked INTEGER NOT NULL, until INTEGER NOT NULL, reason TEXT NOT NULL) WITHOUT ROWID;
	 CREATE UNIQUE INDEX exports_by_agent ON exports (agent) WHERE agent <> '';
	 CREATE TABLE export_parts (name TEXT NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL, PRIMARY KEY (name, part)) WITHOUT ROWID;`,
	// The server reads who was erased lately, so that it refuses tokens from before that.
	`CREATE INDEX authors_erased_agents ON authors (erased_agent, id) WHERE erased_agent > 0;`,
}}

// nowPublic is the statement of the triggers that adds an author to public_authors.
const nowPublic = `INSERT INTO public_authors (author, since)
	SELECT NEW.author, ifnull(max(created_at), 0) FROM posts WHERE author = NEW.author AND reach = 2 AND gone = 0
	ON CONFLICT (author) DO NOTHING;`

// Parts of the triggers that maintain post_counts.
const (
	recounts = `(OLD.author, OLD.reach, OLD.origin, OLD.created, OLD.gone) IS NOT (NEW.author, NEW.reach, NEW.origin, NEW.created, NEW.gone)`
	counted  = `INSERT INTO post_counts (author, public, followers, own)
		VALUES (NEW.author, NEW.reach = 2, NEW.reach = 1, NEW.reach < 2 AND NEW.origin = '')
		ON CONFLICT (author) DO UPDATE SET public = public + excluded.public, followers = followers + excluded.followers, own = own + excluded.own;`
	uncounted = `UPDATE post_counts SET public = public - (OLD.reach = 2), followers = followers - (OLD.reach = 1),
		own = own - (OLD.reach < 2 AND OLD.origin = '') WHERE author = OLD.author;`
)

// countsOf is true if a row of posts is counted.
func countsOf(row string) string {
	return row + `.gone = 0 AND ` + row + `.created > ifnull((SELECT erased FROM authors WHERE id = ` + row + `.author), 0)`
}
