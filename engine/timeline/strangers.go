package timeline

import (
	"slices"

	"github.com/freshet/freshet/social"
)

const (
	// strangersShare is the divisor of a page for the number of its posts that are there only because
	// they mention the reader: anybody who wants to be read could fill it otherwise.
	strangersShare = 4
	// strangersApart is how many other posts are between two of them.
	strangersApart = strangersShare - 1
	// watchPage is the number of posts among which a watch counts as many of them as a page of that
	// size has.
	watchPage = 20
)

// byStranger reports whether a post is in the reader's timeline only because it mentions them.
func byStranger(c *social.Card) bool { return c.Reason == social.Mention }

// strangers spaces the mentions by strangers on one page. Half of them at most are by one author. The
// others fill a page that would be short.
type strangers struct {
	most  int // on the page
	since int // posts since the last one
	shown int
	by    map[string]int
	held  []social.Card // have a place on the page
	extra []social.Card // have none unless the page would be short
}

func newStrangers(limit int) *strangers {
	return &strangers{most: max(1, limit/strangersShare), since: strangersApart, by: map[string]int{}}
}

// add adds a post to the page, or holds it until enough others were added.
func (s *strangers) add(p *Page, c social.Card) {
	switch {
	case !byStranger(&c):
		p.Posts = append(p.Posts, c)
		s.since++
	case s.shown+len(s.held) == s.most || s.by[c.Author.ID] == max(1, s.most/2):
		s.extra = append(s.extra, c)
	default:
		s.by[c.Author.ID]++
		s.held = append(s.held, c)
	}
	if len(s.held) > 0 && s.since >= strangersApart {
		p.Posts = append(p.Posts, s.held[0])
		s.held, s.since, s.shown = s.held[1:], 0, s.shown+1
	}
}

// finish adds what is held. A page that would be short gets all in order, up to its limit; if
// strangers' posts remain below it, the next page begins with them.
func (s *strangers) finish(p *Page, limit int) {
	p.Posts = append(p.Posts, s.held...)
	room := limit - len(p.Posts)
	if room <= 0 {
		return
	}
	more := s.extra[:min(room, len(s.extra))]
	p.Posts = append(p.Posts, more...)
	slices.SortFunc(p.Posts, func(a, b social.Card) int { return positionOf(&b).Compare(positionOf(&a)) })
	if len(more) == len(s.extra) {
		return
	}
	last := positionOf(&p.Posts[len(p.Posts)-1])
	if positionOf(&s.extra[len(s.extra)-1]).Below(last) {
		p.Next, p.HasMore = last, true
	}
}

func positionOf(c *social.Card) social.Position { return social.Position{At: c.CreatedAt, ID: c.ID} }

// counted bounds the mentions by strangers that a watch counts: it must not announce what a timeline
// leaves out.
type counted struct {
	posts     int        // how many posts were counted
	strangers []stranger // those by strangers among the last [watchPage]
}

type stranger struct {
	by string
	at int // how many posts were counted before
}

// add reports whether a new post counts.
func (n *counted) add(c *social.Card) bool {
	if byStranger(c) {
		n.strangers = slices.DeleteFunc(n.strangers, func(s stranger) bool { return s.at <= n.posts-watchPage })
		const most = watchPage / strangersShare
		same := 0
		for _, s := range n.strangers {
			if s.by == c.Author.ID {
				same++
			}
		}
		if len(n.strangers) == most || same == most/2 {
			return false
		}
		n.strangers = append(n.strangers, stranger{c.Author.ID, n.posts})
	}
	n.posts++
	return true
}
