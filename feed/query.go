package feed

import (
	"strings"
	"time"
)

// Query is one round of recall for one agent.
type Query struct {
	// Agent is the agent to recall for; "" if the answer is shared by agents with the same
	// profile, and when explaining for a profile without an agent.
	Agent   string
	Profile Profile   // interests, mutes and languages of the agent
	Ranking Ranking   // decay, popularity weight, base
	Origin  time.Time // time at which the decay is evaluated; items dated later are not recalled
	Since   time.Time // only items dated after it; zero means no bound
	Filter  *Filter   // only items that it selects; nil selects all
	N       int       // number of candidates to return
	After   string    // cursor from the previous round; "" for the first round
	// Buffer is memory that the answer may use for its candidates. Its owner must not use it before
	// the answer is no longer needed. Nil means that each answer has memory of its own.
	Buffer []Candidate
}

// Candidate is an item that recall proposes, before selection. Its strings may share the memory
// of the whole answer.
type Candidate struct {
	ID         string
	Group      string // dedup key of the item; never empty
	Source     string // name of the recall source it came from
	UpdateTime int64  // Unix seconds
	Score      float32
	CoRead     float32 // the factor of co-readers in Score; 0 if they do not count
	Traits
}

// Traits are the properties used to vary pages; "" if an item has none, or if the recall source
// does not know them.
type Traits struct {
	Author    string
	Coauthors string // further authors, each after a NUL; pages are varied by the first author only
	Site      string // see [Site]
	Tag       string // the first tag, folded
	Story     string // see [Sketch]
}

// By reports whether the agent is one of the known authors.
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

// Detached copies the strings, for callers that store them longer than the answer.
func (t Traits) Detached() Traits {
	return Traits{
		Author: strings.Clone(t.Author), Coauthors: strings.Clone(t.Coauthors), Site: strings.Clone(t.Site), Tag: strings.Clone(t.Tag), Story: strings.Clone(t.Story),
	}
}

// Keys returns the dedup keys of the refs, in order: the group of each and, if different, its id.
// So an item stays known when its group changes.
func Keys(refs []Ref) []string { return AppendKeys(make([]string, 0, len(refs)), refs) }

// AppendKeys appends the keys of refs in the order of [Keys].
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
