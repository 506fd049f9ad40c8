package feed

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// MaxVariants bounds how many experiments run at once.
const MaxVariants = 50

// maxVariantName is the longest name of a variant, in characters.
const maxVariantName = 32

// chunk is how many neighbouring buckets a variant takes at a time: few enough
// that experiments spread over each other's agents, many enough that the parts
// of a variant stay a short list.
const chunk = 100

// CheckVariantName reports whether name can name a variant: 1–32 characters of
// a-z 0-9 _ -, and not "control". The error wraps [ErrBadRanking].
func CheckVariantName(name string) error {
	if name == "" || len(name) > maxVariantName {
		return fmt.Errorf("%w: the name of an experiment must have 1 to %d characters of a-z 0-9 _ -, this one has %d", ErrBadRanking, maxVariantName, len(name))
	}
	for _, c := range []byte(name) {
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-') {
			return fmt.Errorf("%w: the name of an experiment must be of a-z 0-9 _ -, not %q", ErrBadRanking, name)
		}
	}
	if name == Control {
		return fmt.Errorf("%w: an experiment cannot be called %s: that is who gets the live ranking", ErrBadRanking, Control)
	}
	return nil
}

// Assign gives each wanted variant its share of the agents. The Parts of current,
// which must be valid, say who has which agents now; those of wanted do not
// matter.
//
//   - No agent leaves a variant that is wanted again with the same share or more,
//     and none enters one whose share does not grow.
//   - A variant grows by agents of the control group and shrinks by giving some
//     back to it. Only where the control group has too few do agents that another
//     variant gives up in the same step go over at once.
//   - Which agents a variant takes, and gives back first, is decided by a hash of
//     its name. So experiments that follow one another spread over each other's
//     agents, and one that ends and comes back gets its own again.
//
// Shares are rounded down to a whole number of [Buckets]; those of the answer
// are exact. Names must be unique, rankings valid, and the shares may sum to 1
// at most. Errors wrap [ErrBadRanking].
func Assign(current, wanted []Variant) ([]Variant, error) {
	if err := checkVariants(wanted); err != nil {
		return nil, err
	}
	owner, had := owned(current, wanted)
	// First who gives back, so that the others find enough.
	for i, w := range wanted {
		move(&owner, reversed(walk(w.Name)), i, given, had[i]-buckets(w.Share))
	}
	assigned := slices.Clone(wanted)
	for i, w := range wanted {
		missing := buckets(w.Share) - had[i]
		missing = move(&owner, walk(w.Name), control, i, missing)
		move(&owner, walk(w.Name), given, i, missing)
		assigned[i].Share = float64(buckets(w.Share)) / Buckets
		assigned[i].Parts = parts(&owner, i)
	}
	return assigned, nil
}

// Owners of buckets that are no index of a wanted variant.
const (
	control = -1 // the control group
	given   = -2 // the control group as well, but only since this step
)

// owned is whose each bucket is now, and how many each wanted variant has.
func owned(current, wanted []Variant) (owner [Buckets]int, had []int) {
	for b := range owner {
		owner[b] = control
	}
	had = make([]int, len(wanted))
	for _, v := range current {
		i := slices.IndexFunc(wanted, func(w Variant) bool { return w.Name == v.Name })
		for _, p := range v.Parts {
			for b := p[0]; b <= p[1]; b++ {
				if owner[b] = given; i >= 0 {
					owner[b] = i
					had[i]++
				}
			}
		}
	}
	return owner, had
}

func checkVariants(wanted []Variant) error {
	if len(wanted) > MaxVariants {
		return fmt.Errorf("%w: at most %d experiments may run at once, not %d", ErrBadRanking, MaxVariants, len(wanted))
	}
	sum := 0.0
	for i, w := range wanted {
		if err := CheckVariantName(w.Name); err != nil {
			return err
		}
		if slices.ContainsFunc(wanted[:i], func(v Variant) bool { return v.Name == w.Name }) {
			return fmt.Errorf("%w: there are two experiments called %s", ErrBadRanking, w.Name)
		}
		if !(w.Share >= 0 && w.Share <= 1) {
			return fmt.Errorf("%w: experiment %s: share must be 0 to 1, not %v", ErrBadRanking, w.Name, w.Share)
		}
		if w.Share > 0 && buckets(w.Share) == 0 {
			return fmt.Errorf("%w: experiment %s: the least share is %v (0: nobody), not %v", ErrBadRanking, w.Name, 1.0/Buckets, w.Share)
		}
		if err := w.Ranking.Validate(); err != nil {
			return fmt.Errorf("experiment %s: %w", w.Name, err)
		}
		sum += w.Share
	}
	if sum > 1+slack {
		return fmt.Errorf("%w: the shares of the experiments must sum to 1 at most, not %v", ErrBadRanking, math.Round(sum*Buckets)/Buckets)
	}
	return nil
}

// slack is what sums and products of decimal fractions may be off by.
const slack = 1e-9

// buckets is how many of them a share is. It is rounded down, so that shares
// that sum to 1 never need more than there are.
func buckets(share float64) int { return int(share*Buckets + slack*Buckets) }

// walk is the order in which a variant takes buckets: chunks in the order of a
// hash of its name and theirs.
func walk(name string) []int {
	type place struct {
		hash  uint64
		chunk int
	}
	places := make([]place, Buckets/chunk)
	for i := range places {
		places[i] = place{xxhash.Sum64String("chunk:" + name + ":" + strconv.Itoa(i)), i}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.hash, b.hash), a.chunk-b.chunk) })
	order := make([]int, 0, Buckets)
	for _, p := range places {
		for b := range chunk {
			order = append(order, p.chunk*chunk+b)
		}
	}
	return order
}

func reversed(order []int) []int {
	slices.Reverse(order)
	return order
}

// move gives n buckets, the first in order, from one owner to another, and
// answers how many it did not find.
func move(owner *[Buckets]int, order []int, from, to, n int) int {
	for _, b := range order {
		if n <= 0 {
			break
		}
		if owner[b] == from {
			owner[b] = to
			n--
		}
	}
	return n
}

// parts are the runs of buckets an owner has.
func parts(owner *[Buckets]int, of int) []Part {
	runs := []Part{}
	for b, o := range owner {
		switch last := len(runs) - 1; {
		case o != of:
		case last >= 0 && runs[last][1] == b-1:
			runs[last][1] = b
		default:
			runs = append(runs, Part{b, b})
		}
	}
	return runs
}
