package social

// Reason is why a post is in a reader's timeline.
type Reason string

// The reasons; the first that applies is used.
const (
	NoReason Reason = ""         // it is not in their timeline
	Self     Reason = "self"     // their own
	Follow   Reason = "follow"   // they follow its author
	Domain   Reason = "domain"   // it is public and they follow [Server]
	Member   Reason = "audience" // they are in a circle it addresses
	Mention  Reason = "mention"  // it mentions them
)

// Relation is the relation between a reader and a post. The zero Relation is a stranger.
type Relation struct {
	Reader        string // "" for a call without an agent
	Follows       bool   // the reader follows the author
	FollowsServer bool   // the reader follows [Server]
	Member        bool   // is in a circle, or a group, that the post addresses
	Muted         bool   // has muted all of these groups
	Returns       bool   // one of the mutes ends
	Mentioned     bool
	Granted       bool // the post's grants name the reader
	Blocked       bool // one of reader and author blocks the other
	Pulled        bool // the author's posts are not pushed into the lists of followers
	OwnCircle     bool // the post addresses a plain circle that the reader, its author, owns or owned

	RootExists bool     // of a reply: its root post was not deleted since
	Root       Decision // of a reply: the decision about its root post
}

// Decision is the result of applying the rules to a post and a relation.
type Decision struct {
	Visible bool   // the reader may see the post
	Replies bool   // the reader is in the post's audience, and may see the replies of others to it
	Reason  Reason // why it is in their timeline; a visible post may have none
	Listed  bool   // it belongs in the list stored for them
	// Subscribed reports that it is in their timeline by their own choice: it is theirs, they follow its
	// author, or they are in a circle that it addresses. Following [Server] is no choice of an author.
	Subscribed bool
	CanReply   bool
	CanReact   bool
}

// Decide applies the rules. Every store must return the same decisions.
//
// A reply is in no timeline. Its author sees it as long as its root post exists, and others if they
// are in the audience of the root post now. That is not the same as seeing the root post: see
// [inAudience]. Not every post with a reason is Listed: posts that the reader gets through [Server]
// or from pulled authors are added when a page is read. A group that the reader has muted is no
// reason, but its posts are visible, and stay listed if the mute ends.
func Decide(p *Post, rel Relation) Decision {
	if p.Deleted || rel.Blocked {
		return Decision{}
	}
	if rel.Reader == "" {
		rel = Relation{RootExists: rel.RootExists, Root: rel.Root}
	}
	self := rel.Reader != "" && rel.Reader == p.Author && !p.Remote()
	if p.IsReply() && !rel.RootExists {
		return Decision{}
	}
	if p.Removed {
		return removed(p, self)
	}
	if p.IsReply() {
		return decideReply(p, rel, self)
	}
	member := rel.Member && !p.Remote()
	heard := member && !rel.Muted
	follow := rel.Follows && p.Audience.Reach() >= ToFollowers
	pushed := follow && !rel.Pulled
	addressed := heard || member && rel.Returns || rel.Mentioned
	d := Decision{
		Reason: reason(self, follow, p.Audience.Public && rel.FollowsServer, heard, rel.Mentioned),
		Listed: self || pushed || addressed, Subscribed: self || follow || heard,
	}
	d.Visible = p.Audience.Public || member || d.Reason != NoReason
	if d.Visible {
		d.Replies = follow || member || inAudience(p, rel, self)
		d.CanReply, d.CanReact = d.Replies && allows(p, p.Reply, rel, self), allows(p, p.React, rel, self)
	}
	return d
}

// decideReply decides about a reply. Who is not in the audience of its root post sees their own
// replies, and makes no more.
func decideReply(p *Post, rel Relation, self bool) Decision {
	if !self && !rel.Root.Replies {
		return Decision{}
	}
	return Decision{Visible: true, CanReply: rel.Root.CanReply, CanReact: allows(p, p.React, rel, self)}
}

// inAudience reports whether a reader who sees a post, neither as a follower nor as a member of a
// circle, is in its audience. The author of a post that only groups get is not, unless they are a
// member; nor is an agent whom a post to circles or groups mentions. Of a remote post, the agents
// with a grant are the members.
func inAudience(p *Post, rel Relation, self bool) bool {
	switch {
	case p.Audience.Public, p.Remote() && rel.Granted, !p.circled():
		return true
	}
	return self && (p.Audience.Followers || rel.OwnCircle)
}

// removed is the decision about a post that was removed from everywhere: its author keeps it, and
// nobody replies or reacts.
func removed(p *Post, self bool) Decision {
	d := Decision{Visible: self, Listed: self && !p.IsReply()}
	if d.Listed {
		d.Reason, d.Subscribed = Self, true
	}
	return d
}

func reason(self, follow, domain, member, mentioned bool) Reason {
	switch {
	case self:
		return Self
	case follow:
		return Follow
	case domain:
		return Domain
	case member:
		return Member
	case mentioned:
		return Mention
	}
	return NoReason
}

// allows reports whether a reader who sees the post has a right. A right that anybody has, the
// author has, too. Circles of a remote post are never resolved: its grants are used instead.
func allows(p *Post, right Right, rel Relation, self bool) bool {
	switch right {
	case RightPublic:
		return true
	case RightFollowers:
		return self || rel.Follows
	case RightAudience:
		if p.Remote() {
			return rel.Granted
		}
		return self || rel.Member
	}
	return false
}
