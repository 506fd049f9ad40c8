package feed

import (
	"slices"
	"strings"
)

// Changes lists the parameters that differ from others, in the form that
// [Ranking.With] reads: from.With(r.Changes(from)) is r. It is "" where none
// differs. A Gaussian that replaces curves is listed whole.
func (r Ranking) Changes(from Ranking) string {
	was := from.All()
	changed := slices.DeleteFunc(r.All(), func(one string) bool { return slices.Contains(was, one) })
	return strings.Join(changed, ",")
}

// String lists all parameters, in the form that [Ranking.With] reads, but for those that
// there were not when the ranking was made.
func (r Ranking) String() string { return strings.Join(r.list(r.lacks), ",") }

// All lists all parameters, each in the form that [Ranking.With] reads.
func (r Ranking) All() []string { return r.list(func(*Parameter) bool { return false }) }

// list lists the parameters that are not left out. Curves are in the place of those that
// they replace.
func (r Ranking) list(leftOut func(*Parameter) bool) []string {
	var list []string
	if r.Decay.Curves != (Curves{}) {
		list = append(list, curvesName+"="+r.Decay.Curves.String())
	}
	all := r.written()
	for i := range Parameters {
		if p := &Parameters[i]; !p.curved(&r) && !leftOut(p) {
			list = append(list, p.Name+"="+p.write(&all))
		}
	}
	return list
}
