package social

// Reason is why a post is in a reader's timeline.
type Reason string

// The reasons, in the order in which the first that holds is told.
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
	Reader        string // "": a call without an agent
	Follows       bool   // the reader follows the author
	FollowsServer bool   // the reader follows [Server]
	Member        bool   // is in a circle of the author's that the post addresses
	Mentioned     bool
	Granted       bool // the post's grants name the reader
	Blocked       bool // one of reader and author blocks the other
	Pulled        bool // the author's posts are not pushed into the lists of followers
	// Root is what the reader may do with the post that a reply stands under. The zero
	// Decision hides the reply.
	Root Decision
}

// Decision is the result of applying the rules to a post and a relation.
type Decision struct {
	Visible  bool   // the reader may see the post
	Reason   Reason // why it is in their timeline; it may be visible without
	Listed   bool   // it belongs into the list kept for them
	CanReply bool
	CanReact bool
}

// Decide applies the rules. Stores answer what it answers.
//
// A reply is seen by who sees the post that it stands under, and is in no timeline. Listed is
// narrower than having a reason: what comes by [Server], and from authors that are pulled, is
// added when a page is read.
func Decide(p *Post, rel Relation) Decision {
	if p.Deleted || rel.Blocked {
		return Decision{}
	}
	if rel.Reader == "" {
		rel = Relation{Root: rel.Root}
	}
	self := rel.Reader != "" && rel.Reader == p.Author && !p.Remote()
	if p.IsReply() {
		if !rel.Root.Visible {
			return Decision{}
		}
		return Decision{Visible: true, CanReply: rel.Root.CanReply, CanReact: allows(p, p.React, rel, self)}
	}
	member := rel.Member && !p.Remote()
	follow := rel.Follows && p.Audience.Reach() >= ToFollowers
	d := Decision{
		Reason: reason(self, follow, p.Audience.Public && rel.FollowsServer, member, rel.Mentioned),
		Listed: self || follow && !rel.Pulled || member || rel.Mentioned,
	}
	d.Visible = p.Audience.Public || d.Reason != NoReason
	if d.Visible {
		d.CanReply, d.CanReact = allows(p, p.Reply, rel, self), allows(p, p.React, rel, self)
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

// allows answers a right for a reader who sees the post. Whomever a right is given to, its author
// has it, too. Circles of a remote post are never resolved: its grants stand in for them.
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
