package feed

import (
	"strings"
	"time"
)

// Query is one round of recall for one agent.
type Query struct {
	// Agent is whom it is for; "" where the answer is shared among agents with the
	// same profile, and of an explanation for a profile alone.
	Agent   string
	Profile Profile   // what the agent likes and refuses
	Ranking Ranking   // decay, popularity weight, base
	Origin  time.Time // the now of the decay; items dated after it are not recalled
	Since   time.Time // only items dated after it; zero: no bound
	N       int       // how many candidates to return
	After   string    // cursor of the round before; "" for the first round
}

// Candidate is an item recall proposes, before anything is chosen. Its texts may
// be parts of one text that holds those of the whole answer.
type Candidate struct {
	ID         string
	Group      string // what is shown only once; never empty
	Source     string // name of the recall source it came from
	UpdateTime int64  // Unix seconds
	Score      float32
	Traits
}

// Traits are the properties that a page is varied by; "" where an item has none, or the recall
// source does not know it.
type Traits struct {
	Author    string
	Coauthors string // further authors, each behind a NUL; pages are varied by the first one
	Site      string // see [Site]
	Tag       string // the first one, folded
	Story     string // see [Sketch]
}

// By reports whether an agent is one of the authors, as far as they are known.
func (t Traits) By(agent string) bool {
	if agent == "" || t.Author == agent {
		return agent != ""
	}
	for author := range strings.SplitSeq(t.Coauthors, "\x00") {
		if author == agent {
			return true
		}
	}
	return false
}

// Detached copies the texts, for callers that keep them longer than the answer they
// come from.
func (t Traits) Detached() Traits {
	return Traits{
		Author: strings.Clone(t.Author), Coauthors: strings.Clone(t.Coauthors), Site: strings.Clone(t.Site), Tag: strings.Clone(t.Tag), Story: strings.Clone(t.Story),
	}
}

// Keys returns what each ref is remembered by, in order: its group and, where it
// differs, its id. So an item stays known when its group changes.
func Keys(refs []Ref) []string { return AppendKeys(make([]string, 0, len(refs)), refs) }

// AppendKeys appends the keys of refs, as [Keys] lists them.
func AppendKeys(keys []string, refs []Ref) []string {
	for _, r := range refs {
		keys = append(keys, r.Group)
		if r.ID != r.Group {
			keys = append(keys, r.ID)
		}
	}
	return keys
}

// IDs returns the item id of each ref, in order.
func IDs(refs []Ref) []string {
	ids := make([]string, len(refs))
	for i, r := range refs {
		ids[i] = r.ID
	}
	return ids
}
