package ranking

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
)

// chunk is how many neighbouring buckets a variant takes at a time: few enough
// that experiments spread over each other's agents, many enough that the parts
// of a variant stay a short list.
const chunk = 100

// Assign gives each wanted variant its share of the agents. The Parts of current,
// which must be valid, say who has which agents now; those of wanted do not
// matter.
//
//   - No agent leaves a variant that is wanted again with the same share or more,
//     and none enters one whose share does not grow.
//   - A variant grows by agents of the control group and shrinks by giving some
//     back to it. Only where the control group has too few do agents that another
//     variant gives up in the same step go over at once.
//   - Which agents a variant takes, and returns first, is decided by a hash of
//     its name. So experiments that follow one another spread over each other's
//     agents, and one that ends and comes back gets its own again.
//
// Shares are rounded down to a whole number of [feed.Buckets]; those of the answer
// are exact. Names must be unique, rankings valid, and the shares may sum to 1
// at most. Errors wrap [feed.ErrInvalid].
func Assign(current, wanted []feed.Variant) ([]feed.Variant, error) {
	if err := feed.CheckVariants(wanted); err != nil {
		return nil, err
	}
	owner, had := owned(current, wanted)
	// Variants that shrink come first, so that the others find enough.
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

// Owners of buckets that are no index of a wanted variant.
const (
	control = -1 // the control group
	given   = -2 // the control group as well, but only since this step
)

// owned is whose each bucket is now, and how many each wanted variant has.
func owned(current, wanted []feed.Variant) (owner [feed.Buckets]int, had []int) {
	for b := range owner {
		owner[b] = control
	}
	had = make([]int, len(wanted))
	for _, v := range current {
		i := slices.IndexFunc(wanted, func(w feed.Variant) bool { return w.Name == v.Name })
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

// walk is the order in which a variant takes buckets: chunks in the order of a
// hash of its name and theirs.
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

// move gives n buckets, the first in order, from one owner to another, and
// answers how many it did not find.
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

// parts are the runs of buckets an owner has.
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
