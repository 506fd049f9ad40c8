package sqlstore

import (
	"context"

	"github.com/freshet/freshet/feed/personal"
)

// kind is one kind of data about an agent: how it is erased, and how it is exported.
type kind struct {
	name, what string
	tables     []string // from whose rows the erasure removes the agent
	// now are statements of the transaction that erases the agent $1. step removes some of what it leaves,
	// in the job; with names the kind that removes it besides.
	now  []string
	step func(*eraser, *Tx) int
	with string
	// author says that the step also runs if only the agent's card and posts are erased, leaves that
	// [eraser.leaving] comes before it.
	author, leaves bool
	export         exporter
	without        string // what an export lacks, and why
}

// endExport makes the export of the agent $1 one of nobody.
const endExport = `UPDATE exports SET agent = '', state = 'ended' WHERE agent = $1 AND agent <> ''`

// kinds has everything that the store knows about an agent, in the order in which it is erased. The job takes the
// locks of each step apart from those of the others.
var kinds = []kind{
	{
		name: "exports", what: "exports as this one", tables: []string{"exports", "export_parts"},
		now: []string{endExport}, without: "an export does not contain itself",
	},
	{
		name: "card", what: "your card; until when you are suspended, and why, if you are or were", tables: []string{"authors"},
		now:    []string{`UPDATE authors SET suspended_for = '' WHERE id = $1 AND suspended_for <> ''`},
		export: exportCard,
	},
	{
		name: "blocks", what: "an agent that you block", tables: []string{"blocks"},
		now:     []string{`DELETE FROM blocks WHERE agent = $1`},
		export:  rows(`SELECT other, at / 1000000 FROM blocks WHERE agent = $1 AND other > $2 ORDER BY other LIMIT $3`, "agent", "at#"),
		without: "who blocks you: that is theirs, and an erasure leaves it",
	},
	{
		name: "mutes", what: "a muted group, inviter or kind of notifications; until 0 has no end", tables: []string{"mutes"},
		now: []string{`DELETE FROM mutes WHERE agent = $1`},
		export: rows(`SELECT kind COLLATE "C" || ' ' || id, kind, id, until / 1000000 FROM mutes
			WHERE agent = $1 AND kind COLLATE "C" || ' ' || id > $2 ORDER BY 1 LIMIT $3`, "", "kind", "id", "until#"),
	},
	{
		name: "removals", what: "a post that you have removed from a group, or a reply from a thread, with your reason", tables: []string{"removals"},
		now: []string{`UPDATE removals SET agent = '', reason = '' WHERE agent = $1 AND agent <> ''`},
		export: rows(`SELECT post || ' ' || circle, post, circle, reason, at / 1000000 FROM removals
			WHERE agent = $1 AND agent <> '' AND post || ' ' || circle > $2 ORDER BY 1 LIMIT $3`, "", "post", "circle", "reason", "at#"),
	},
	{
		name: "audit", what: "what moderators have done about you", tables: []string{"audit"},
		now:     []string{`UPDATE audit SET object = '', reason = '' WHERE kind = 'author' AND object = $1`},
		without: "it is the log of the moderators; card, posts and replies have what was decided, with the reason",
	},
	{
		name: "posts", what: "a post of yours, as the API answers it to you, also if it is held or removed",
		tables: []string{"posts", "post_counts", "public_authors", "post_circles", "removals", "moderated", "moderated_circles", "promotions"},
		step:   (*eraser).posts, author: true, export: exportPosts(false),
	},
	{name: "images", what: "an image of a post of yours or, without post, of your card; its file is in images/", tables: []string{"files"}, with: "posts", export: exportImages},
	{
		name: "followers", what: "an agent that follows you", tables: []string{"follows", "authors"},
		step: (*eraser).followers, author: true, leaves: true, export: exportFollowers,
	},
	{
		name: "replies", what: "a reply of yours, as the API answers it to you", tables: []string{"posts", "removals"},
		step: (*eraser).comments, author: true, export: exportPosts(true),
	},
	{
		name: "replies_to_you", what: "replies of others under your posts", tables: []string{"posts", "revived"},
		step: (*eraser).replies, author: true, without: "others have written them; they end with your posts",
	},
	{
		name: "following", what: "an author that you follow", tables: []string{"follows", "authors"},
		step: (*eraser).following, export: exportFollowing,
	},
	{
		name: "circles", what: "a circle, group or event of yours", tables: []string{"circles", "post_circles", "invitations"},
		step: (*eraser).circles, export: exportCircles,
	},
	{name: "circle_members", what: "a member of a circle, group or event of yours", tables: []string{"members"}, with: "circles", export: exportMembers},
	{name: "circle_invitations", what: "an agent that is invited to a group or event of yours", tables: []string{"invitations"}, with: "circles", export: exportInvited},
	{
		name: "groups", what: "a group or event of another agent that you are in", tables: []string{"members", "circles"},
		step: (*eraser).memberships, export: exportGroups,
		without: "circles of others that you are in: only their owners know of them",
	},
	{
		name: "invitations", what: "a group or event that you are invited to", tables: []string{"invitations"},
		step: (*eraser).invitations,
		export: rows(`SELECT i.circle, c.name, c.owner, i.at / 1000000 FROM invitations i JOIN circles c ON c.id = i.circle
			WHERE i.agent = $1 AND i.circle > $2 AND `+circleThere+` AND`+invited+` ORDER BY i.circle LIMIT $3`, "circle", "name", "owner", "at#"),
	},
	{
		name: "refusals", what: "an owner whose invitation you have declined, or a group that you have left, within 30 days", tables: []string{"refusals"},
		step: (*eraser).refusals,
		export: rows(`SELECT owner || ' ' || circle, owner, circle, at / 1000000 FROM refusals
			WHERE agent = $1 AND owner || ' ' || circle > $2 AND at > `+erasedAgent("$1")+` ORDER BY 1 LIMIT $3`, "", "owner", "circle", "at#"),
		without: "who has declined your invitations: that is theirs",
	},
	{
		name: "likes", what: "a post that you like", tables: []string{"likes", "posts"},
		step: (*eraser).likes, export: exportLikes,
		without: "who likes your posts: that is theirs; posts and replies have the numbers",
	},
	{
		name: "mentions", what: "a post of another agent that mentions you, and that you may see", tables: []string{"post_mentions", "reply_mentions", "posts"},
		step: (*eraser).mentions, export: exportMentions,
		without: "posts that you may not see (any more), and what they say: that is their authors'",
	},
	{
		name: "idempotency_keys", what: "a key that a program of yours has sent with a post, within 24 hours", tables: []string{"post_keys"},
		step: (*eraser).keys,
		export: rows(`SELECT key, post, at / 1000000 FROM post_keys WHERE author = $1 AND key > $2 AND at > `+erasedAgent("$1")+` ORDER BY key LIMIT $3`,
			"key", "post", "at#"),
	},
	{
		name: "suggestions", what: "whom you may want to follow, computed within the last day", tables: []string{"suggestions"},
		now: []string{`DELETE FROM suggestions WHERE agent = $1`}, step: (*eraser).suggestions,
		without: "it is computed from the follows of others, who may not want you to have their numbers; GET /v1/agents/{id}/suggestions answers the list",
	},
	{
		name: "reports", what: "what you have reported to the moderators", tables: []string{"reports", "reported"},
		step: (*eraser).reports,
		export: rows(`SELECT kind || ' ' || object, kind, object, reason, details, at / 1000000 FROM reports
			WHERE agent = $1 AND kind || ' ' || object > $2 AND at > `+erasedAgent("$1")+` ORDER BY 1 LIMIT $3`, "", "kind", "id", "reason", "details", "at#"),
		without: "reports about you: who reports is not told",
	},
	{
		name: "changes", what: "copies of what you have done lately, for other systems", tables: []string{"changes"},
		step: (*eraser).changes, author: true, without: "the other files have what they are about",
	},
	{
		name: "notifications", what: "a notification about what another agent did that still stands", tables: []string{"notifications", "inboxes"},
		step: (*eraser).notifications, author: true, export: exportNotifications,
		without: "notifications of others about what you did; what was undone, or what you may not see any more",
	},
}

// PersonalParts implements [social.Personal].
func (s *Store) PersonalParts() []personal.Part {
	list := make([]personal.Part, len(kinds))
	for i, k := range kinds {
		list[i] = personal.Part{Name: k.name, What: k.what, Without: k.without}
		for _, table := range k.tables {
			list[i].Places = append(list[i].Places, "social "+table)
		}
		if k.export != nil {
			list[i].Export = func(ctx context.Context, agent string, put func(line any) error) error {
				return k.export(ctx, s, agent, put)
			}
		}
	}
	return list
}
