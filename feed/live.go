package feed

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Control is the name of the agents in no variant: they get the live ranking.
const Control = "control"

// Buckets is the number of equal parts into which agents are divided by a hash; a variant's share
// is a whole number of buckets.
const Buckets = 10_000

// Bucket returns the agent's bucket, 0 to Buckets−1. It is the same on every server and never
// changes.
func Bucket(agent string) int {
	// Equivalent to Sum64String("variant:" + agent), which would allocate for long ids.
	var d xxhash.Digest
	d.Reset()
	_, _ = d.WriteString("variant:")
	_, _ = d.WriteString(agent)
	return int(d.Sum64() % Buckets)
}

// MaxVariants bounds how many experiments run at once.
const MaxVariants = 50

// maxVariantName is the longest name of a variant, in characters.
const maxVariantName = 32

// CheckVariantName checks that name can name a variant: 1–32 characters of a-z 0-9 _ -, and not
// "control". The error wraps [ErrInvalid].
func CheckVariantName(name string) error {
	if name == "" || len(name) > maxVariantName {
		return Errorf(ErrInvalid, "bad ranking parameters: the name of an experiment must have 1 to %d characters of a-z 0-9 _ -, this one has %d", maxVariantName, len(name))
	}
	for _, c := range []byte(name) {
		isLower, isSign := 'a' <= c && c <= 'z', c == '_' || c == '-'
		if !isLower && !isDigit(c) && !isSign {
			return Errorf(ErrInvalid, "bad ranking parameters: the name of an experiment may contain only a-z 0-9 _ -, not %q", name)
		}
	}
	if name == Control {
		return Errorf(ErrInvalid, "bad ranking parameters: an experiment cannot be named %s: agents with the live ranking are counted under this name", Control)
	}
	return nil
}

// Variant is a named alternative to the live ranking, for a share of the
// agents.
type Variant struct {
	Name    string  `json:"name"`
	Share   float64 `json:"share"` // of all agents, 0 to 1
	Ranking Ranking `json:"ranking"`
	Parts   []Part  `json:"parts"` // the buckets that make up the share, in order
	// Run identifies the impressions and acts recorded for the variant: its name and the version
	// from which on they count ([RunName]). "" means the name.
	Run string `json:"run,omitempty"`
	// Limits end the experiment if it breaks one.
	Limits Limits `json:"limits,omitzero"`
}

// RunName returns the run of a variant, or of [Control], that begins with a version of the ranking.
func RunName(variant string, version int) string { return variant + "@" + strconv.Itoa(version) }

// VariantOf returns the variant of a run and the version in which it began; 0 if the run is older
// than run names.
func VariantOf(run string) (variant string, version int) {
	variant, began, _ := strings.Cut(run, "@")
	version, _ = strconv.Atoi(began) // 0 if there is no number
	return variant, version
}

// Part is a range of buckets, both ends included.
type Part [2]int

// holds reports whether a bucket belongs to the variant.
func (v *Variant) holds(bucket int) bool {
	at := sort.Search(len(v.Parts), func(i int) bool { return bucket <= v.Parts[i][1] })
	return at < len(v.Parts) && v.Parts[at][0] <= bucket
}

// Live is the ranking in force: the parameters of most agents, and variants for shares of them.
// No bucket is in two variants. ranking.Assign creates the variants.
type Live struct {
	Ranking  Ranking   `json:"ranking"`
	Variants []Variant `json:"experiments"`
	// Run is that of the agents in no variant, as [Variant.Run]. "" means [Control].
	Run string `json:"run,omitempty"`
	// Feeds are the stored feeds, in the order of their names.
	Feeds []StoredFeed `json:"feeds,omitempty"`
}

// For returns the parameters for ranking an agent's refreshes and the run of the variant, or of
// [Control], that they come from.
func (l *Live) For(agent string) (run string, r Ranking) {
	if len(l.Variants) == 0 {
		return cmp.Or(l.Run, Control), l.Ranking
	}
	b := Bucket(agent)
	for i := range l.Variants {
		if l.Variants[i].holds(b) {
			return cmp.Or(l.Variants[i].Run, l.Variants[i].Name), l.Variants[i].Ranking
		}
	}
	return cmp.Or(l.Run, Control), l.Ranking
}

// Experiments reports whether there are variants.
func (l *Live) Experiments() bool { return len(l.Variants) > 0 }

// Begin begins new runs of all variants and of [Control] with a version. Only what was shown and
// done under the same rankings and shares can be compared: clicks differ from hour to hour, and so
// does what a share of the readers adds to each hour.
func (l *Live) Begin(version int) {
	l.Run = RunName(Control, version)
	l.Variants = slices.Clone(l.Variants)
	for i := range l.Variants {
		l.Variants[i].Run = RunName(l.Variants[i].Name, version)
	}
}

// Continue continues the runs of another ranking that is the same.
func (l *Live) Continue(other *Live) {
	l.Run = other.Run
	l.Variants = slices.Clone(l.Variants)
	for i := range l.Variants {
		same, _ := other.Variant(l.Variants[i].Name)
		l.Variants[i].Run = same.Run
	}
}

// Same reports whether each agent is ranked as by other.
func (l *Live) Same(other *Live) bool {
	if l.Ranking != other.Ranking || len(l.Variants) != len(other.Variants) {
		return false
	}
	for _, a := range l.Variants { // in any order
		b, known := other.Variant(a.Name)
		if !known || a.Ranking != b.Ranking || !slices.Equal(a.Parts, b.Parts) {
			return false
		}
	}
	return true
}

// Variant returns the variant with this name; ok is false if there is none.
func (l *Live) Variant(name string) (v Variant, ok bool) {
	for _, v := range l.Variants {
		if v.Name == name {
			return v, true
		}
	}
	return Variant{}, false
}

// Validate checks a ranking read from outside; the error wraps [ErrInvalid].
func (l *Live) Validate() error {
	if err := l.Ranking.Validate(); err != nil {
		return err
	}
	if err := cmp.Or(CheckVariants(l.Variants), l.validateFeeds()); err != nil {
		return err
	}
	of, _ := VariantOf(l.Run)
	if l.Run != "" && of != Control {
		return Errorf(ErrInvalid, "bad ranking parameters: the run of the other agents is named %.40q, not %s", l.Run, Control)
	}
	var taken [Buckets]bool
	for i := range l.Variants {
		v := &l.Variants[i]
		last := -1
		for _, p := range v.Parts {
			if p[0] <= last || p[1] < p[0] || p[1] >= Buckets {
				return Errorf(ErrInvalid, "bad ranking parameters: experiment %s: its bucket ranges are out of order or invalid", v.Name)
			}
			for last = p[0]; last <= p[1]; last++ {
				if taken[last] {
					return Errorf(ErrInvalid, "bad ranking parameters: experiment %s: bucket %d belongs to another experiment", v.Name, last)
				}
				taken[last] = true
			}
			last = p[1]
		}
	}
	return nil
}

// CheckVariants checks a list of variants, ignoring their buckets; the error wraps [ErrInvalid].
func CheckVariants(wanted []Variant) error {
	if len(wanted) > MaxVariants {
		return Errorf(ErrInvalid, "bad ranking parameters: at most %d experiments may run at once, not %d", MaxVariants, len(wanted))
	}
	sum := 0.0
	for i, w := range wanted {
		if err := CheckVariantName(w.Name); err != nil {
			return err
		}
		if slices.ContainsFunc(wanted[:i], func(v Variant) bool { return v.Name == w.Name }) {
			return Errorf(ErrInvalid, "bad ranking parameters: two experiments are named %s", w.Name)
		}
		of, _ := VariantOf(w.Run)
		if w.Run != "" && of != w.Name {
			return Errorf(ErrInvalid, "bad ranking parameters: experiment %s has a run that belongs to another experiment", w.Name)
		}
		if !(w.Share >= 0 && w.Share <= 1) {
			return Errorf(ErrInvalid, "bad ranking parameters: experiment %s: share must be 0 to 1, not %v", w.Name, w.Share)
		}
		if w.Share > 0 && w.Buckets() == 0 {
			return Errorf(ErrInvalid, "bad ranking parameters: experiment %s: share must be at least %v, or 0 for no agent, not %v", w.Name, 1.0/Buckets, w.Share)
		}
		if err := cmp.Or(w.Ranking.Validate(), w.Limits.Validate()); err != nil {
			return fmt.Errorf("experiment %s: %w", w.Name, err)
		}
		sum += w.Share
	}
	if sum > 1+slack {
		return Errorf(ErrInvalid, "bad ranking parameters: the sum of the experiments' shares must be at most 1, not %v", math.Round(sum*Buckets)/Buckets)
	}
	return nil
}

// slack bounds the rounding error of sums and products of decimal fractions.
const slack = 1e-9

// Buckets returns the number of buckets in the variant's share. It is rounded down, so that
// shares that sum to 1 never need more buckets than exist.
func (v *Variant) Buckets() int { return int(v.Share*Buckets + slack*Buckets) }
