package feed

import "github.com/cespare/xxhash/v2"

// Control names the agents that are in no variant: they get the live ranking
// itself.
const Control = "control"

// Buckets is how many equal parts the agents are divided into by a hash; the
// share of a variant is a whole number of them.
const Buckets = 10_000

// Bucket is the part of the agents an agent belongs to, 0 to Buckets−1: the
// same on every server and for ever.
func Bucket(agent string) int {
	return int(xxhash.Sum64String("variant:"+agent) % Buckets)
}

// Variant is a named alternative to the live ranking, for a share of the
// agents.
type Variant struct {
	Name    string  `json:"name"`
	Share   float64 `json:"share"` // of all agents, 0 to 1
	Ranking Ranking `json:"ranking"`
	Parts   []Part  `json:"parts"` // the buckets that make up the share
}

// Part is a run of buckets, both ends included.
type Part [2]int

// Live is the ranking in force: the parameters of most agents, and variants for
// shares of them. No bucket is in two variants.
type Live struct {
	Ranking  Ranking   `json:"ranking"`
	Variants []Variant `json:"experiments"`
}

// For returns the parameters an agent's refreshes are ranked by, and the name
// of the variant they come from.
func (l *Live) For(agent string) (variant string, r Ranking) {
	if len(l.Variants) == 0 {
		return Control, l.Ranking
	}
	b := Bucket(agent)
	for i := range l.Variants {
		for _, p := range l.Variants[i].Parts {
			if p[0] <= b && b <= p[1] {
				return l.Variants[i].Name, l.Variants[i].Ranking
			}
		}
	}
	return Control, l.Ranking
}
