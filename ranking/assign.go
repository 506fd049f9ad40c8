package ranking

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
)

// chunk is how many neighbouring buckets a variant takes at a time: few enough to spread
// experiments over each other's agents, many enough to keep the list of a variant's parts short.
const chunk = 100

// Assign gives each wanted variant its share of the agents. The Parts of current, which must be
// valid, define the present assignment; those of wanted are ignored.
//
//   - No agent leaves a variant that is wanted again with the same share or more,
//     and none enters one whose share does not grow.
//   - A variant grows by agents of the control group and shrinks by returning some
//     to it. Only if the control group has too few does it take agents that another
//     variant gives up in the same step.
//   - A hash of its name determines the agents that a variant takes, and those it
//     returns first. So successive experiments spread over each other's agents, and
//     one that ends and returns gets its own again.
//
// Shares are rounded down to a whole number of [feed.Buckets]; the returned shares are exact.
// Names must be unique, rankings valid, and the shares may sum to 1 at most. Errors wrap
// [feed.ErrInvalid].
func Assign(current, wanted []feed.Variant) ([]feed.Variant, error) {
	if err := feed.CheckVariants(wanted); err != nil {
		return nil, err
	}
	owner, had := owned(current, wanted)
	// Shrinking variants come first, so that the others find enough buckets.
	for i, w := range wanted {
		move(&owner, reversed(walk(w.Name)), i, given, had[i]-w.Buckets())
	}
	assigned := slices.Clone(wanted)
	for i, w := range wanted {
		missing := w.Buckets() - had[i]
		missing = move(&owner, walk(w.Name), control, i, missing)
		move(&owner, walk(w.Name), given, i, missing)
		assigned[i].Share = float64(w.Buckets()) / feed.Buckets
		assigned[i].Parts = parts(&owner, i)
	}
	return assigned, nil
}

// Owners of buckets other than indices of wanted variants.
const (
	control = -1 // the control group
	given   = -2 // also the control group, but only since this step
)

// owned returns the present owner of each bucket, and the number of buckets of each wanted
// variant.
func owned(current, wanted []feed.Variant) (owner [feed.Buckets]int, had []int) {
	for b := range owner {
		owner[b] = control
	}
	had = make([]int, len(wanted))
	for _, v := range current {
		i := slices.IndexFunc(wanted, func(w feed.Variant) bool { return w.Name == v.Name })
		for _, p := range v.Parts {
			for b := p[0]; b <= p[1]; b++ {
				owner[b] = given
				if i >= 0 {
					owner[b] = i
					had[i]++
				}
			}
		}
	}
	return owner, had
}

// walk returns the order in which a variant takes buckets: chunks in the order of a hash of its
// name and their index.
func walk(name string) []int {
	type place struct {
		hash  uint64
		chunk int
	}
	places := make([]place, feed.Buckets/chunk)
	for i := range places {
		places[i] = place{xxhash.Sum64String("chunk:" + name + ":" + strconv.Itoa(i)), i}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.hash, b.hash), a.chunk-b.chunk) })
	order := make([]int, 0, feed.Buckets)
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

// move moves the first n buckets in order that belong to one owner to another, and returns how
// many were missing.
func move(owner *[feed.Buckets]int, order []int, from, to, n int) int {
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

// parts returns the runs of buckets of an owner.
func parts(owner *[feed.Buckets]int, of int) []feed.Part {
	runs := []feed.Part{}
	for b, o := range owner {
		switch last := len(runs) - 1; {
		case o != of:
		case last >= 0 && runs[last][1] == b-1:
			runs[last][1] = b
		default:
			runs = append(runs, feed.Part{b, b})
		}
	}
	return runs
}
