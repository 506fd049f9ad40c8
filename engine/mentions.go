package engine

import (
	"github.com/freshet/freshet/feed"
)

const (
	// mentionsShare is the divisor of the posts of following that a refresh of home has for the number
	// of those that are there only because they mention the reader.
	mentionsShare = 4
	// mentionsLeast is how many of them a refresh may have in any case, and mentionsByOne how many of
	// one author.
	mentionsLeast = 5
	mentionsByOne = mentionsLeast / 2
)

// mentions bounds, in one refresh of home, the unseen posts that reach the reader only because they
// mention them: anybody who wants to be read could fill it otherwise. Later refreshes have those that
// are left out.
type mentions struct {
	only    map[string]bool // by id: those posts, and whether they are admitted or not decided yet
	by      map[string]int  // admitted ones by author
	shown   int             // admitted ones
	follows int             // other posts of following
}

func newMentions() mentions { return mentions{only: map[string]bool{}, by: map[string]int{}} }

// admits reports whether an unseen candidate may be placed.
func (m *mentions) admits(c *feed.Candidate) bool {
	if c.Source != followingName {
		return true
	}
	if _, only := m.only[c.ID]; !only {
		m.follows++
		return true
	}
	if m.shown == max(mentionsLeast, m.follows/(mentionsShare-1)) || m.by[c.Author] == mentionsByOne {
		m.only[c.ID] = false
		return false
	}
	m.shown++
	m.by[c.Author]++
	return true
}

// leftOut reports whether a candidate was not admitted.
func (m *mentions) leftOut(c *feed.Candidate) bool {
	admitted, only := m.only[c.ID]
	return c.Source == followingName && only && !admitted
}
