package feed

import (
	"strconv"
	"strings"
)

// Changes lists the parameters that differ from others, in the form that
// [Ranking.With] reads: from.With(r.Changes(from)) is r. It is "" where none
// differs.
func (r Ranking) Changes(from Ranking) string {
	now, was := r.list(), from.list()
	changed := make([]string, 0, len(now))
	for i := range now {
		if now[i] != was[i] {
			changed = append(changed, now[i])
		}
	}
	return strings.Join(changed, ",")
}

// String lists all parameters, in the form that [Ranking.With] reads.
func (r Ranking) String() string {
	all := r.list()
	return strings.Join(all[:], ",")
}

func (r Ranking) list() [9]string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	return [...]string{
		"scale=" + DurationText(r.Decay.Scale), "offset=" + DurationText(r.Decay.Offset),
		"decay=" + number(r.Decay.Decay), "floor=" + number(r.Decay.Floor),
		"weight=" + number(r.PopularityWeight), "weight_2h=" + number(r.Popularity2h), "weight_2d=" + number(r.Popularity2d), "base=" + number(r.Base),
		"summary=" + number(r.KeywordsSummary),
	}
}
