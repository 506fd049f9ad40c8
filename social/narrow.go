package social

import "slices"

// circled reports whether the post addresses, or once addressed, more than those it mentions, its
// author's followers or everybody: circles, groups, or agents with a grant.
func (p *Post) circled() bool {
	return p.Closed || len(p.Audience.Circles) > 0 || len(p.Grants) > 0
}

// Narrow takes from p, which is to replace a post that has replies, whatever would show these
// replies to somebody who is not in the audience of the stored post. Parts of an audience are
// everybody, the followers, and each circle, grant and mention. Those that the stored post lacks
// are left out, and those that p lacks end. The stored audience stays if p has a wider reach and
// shares no part with it, and if p has another origin. The time stays, too: members of groups see
// the posts since they joined.
//
// Who replies knows the audience of that moment. A producer that wants a wider one deletes the
// post, which ends its replies, and creates it again.
func (p *Post) Narrow(stored *Post) {
	before, after := stored.Audience, p.Audience
	if before.Public {
		return
	}
	p.CreatedAt = stored.CreatedAt
	both := Audience{Followers: before.Followers && after.Followers, Circles: Common(before.Circles, after.Circles)}
	wider := after.Reach() > before.Reach() && both.Reach() == Addressed && len(both.Circles) == 0
	if after.Public || wider || p.Origin != stored.Origin {
		p.Audience, p.Mentions, p.Grants, p.Closed, p.Origin = before, stored.Mentions, stored.Grants, stored.Closed, stored.Origin
		return
	}
	p.Audience = both
	if !stored.circled() { // those it mentions are in the audience
		p.Mentions = Common(stored.Mentions, p.Mentions)
		return
	}
	p.Grants = Common(stored.Grants, p.Grants)
	p.Closed = len(both.Circles)+len(p.Grants) == 0
}

// Common returns the elements of a list that are also in another, nil if there are none.
func Common(list, other []string) []string {
	var both []string
	for _, s := range list {
		if slices.Contains(other, s) {
			both = append(both, s)
		}
	}
	return both
}
