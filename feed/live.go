package feed

import (
	"fmt"
	"sort"

	"github.com/cespare/xxhash/v2"
)

// Control names the agents that are in no variant: they get the live ranking
// itself.
const Control = "control"

// Buckets is how many equal parts the agents are divided into by a hash; the
// share of a variant is a whole number of them.
const Buckets = 10_000

// Bucket is the part of the agents an agent belongs to, 0 to Buckets−1: the
// same on every server and for ever.
func Bucket(agent string) int {
	// As Sum64String("variant:" + agent), which would allocate for long ids.
	var d xxhash.Digest
	d.Reset()
	_, _ = d.WriteString("variant:")
	_, _ = d.WriteString(agent)
	return int(d.Sum64() % Buckets)
}

// Variant is a named alternative to the live ranking, for a share of the
// agents.
type Variant struct {
	Name    string  `json:"name"`
	Share   float64 `json:"share"` // of all agents, 0 to 1
	Ranking Ranking `json:"ranking"`
	Parts   []Part  `json:"parts"` // the buckets that make up the share, in order
}

// Part is a run of buckets, both ends included.
type Part [2]int

// holds reports whether a bucket is the variant's.
func (v *Variant) holds(bucket int) bool {
	at := sort.Search(len(v.Parts), func(i int) bool { return bucket <= v.Parts[i][1] })
	return at < len(v.Parts) && v.Parts[at][0] <= bucket
}

// Live is the ranking in force: the parameters of most agents, and variants for
// shares of them. No bucket is in two variants. [Assign] makes the variants.
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
		if l.Variants[i].holds(b) {
			return l.Variants[i].Name, l.Variants[i].Ranking
		}
	}
	return Control, l.Ranking
}

// Variant returns the variant of this name; ok is false where there is none.
func (l *Live) Variant(name string) (v Variant, ok bool) {
	for _, v := range l.Variants {
		if v.Name == name {
			return v, true
		}
	}
	return Variant{}, false
}

// Validate says what is wrong with a ranking that was read from somewhere; the
// error wraps [ErrBadRanking].
func (l *Live) Validate() error {
	if err := l.Ranking.Validate(); err != nil {
		return err
	}
	if err := checkVariants(l.Variants); err != nil {
		return err
	}
	var taken [Buckets]bool
	for i := range l.Variants {
		v := &l.Variants[i]
		last := -1
		for _, p := range v.Parts {
			if p[0] <= last || p[1] < p[0] || p[1] >= Buckets {
				return fmt.Errorf("%w: experiment %s: its parts are not in order", ErrBadRanking, v.Name)
			}
			for last = p[0]; last <= p[1]; last++ {
				if taken[last] {
					return fmt.Errorf("%w: experiment %s: bucket %d is another one's", ErrBadRanking, v.Name, last)
				}
				taken[last] = true
			}
			last = p[1]
		}
	}
	return nil
}
