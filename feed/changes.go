package feed

import (
	"slices"
	"strconv"
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

// String lists all parameters, in the form that [Ranking.With] reads.
func (r Ranking) String() string {
	return strings.Join(slices.DeleteFunc(r.All(), func(one string) bool {
		name, _, _ := strings.Cut(one, "=")
		return r.Diversity == (Diversity{}) && slices.Contains(diversityNames[:], name) ||
			r.Explore == (Explore{}) && name == "explore.share" ||
			r.Learned == (LearnedWeights{}) && strings.HasPrefix(name, "learned.") ||
			r.Home == (Home{}) && strings.HasPrefix(name, "home.")
	}), ",")
}

// All lists all parameters, each in the form that [Ranking.With] reads.
func (r Ranking) All() []string {
	return slices.Concat(
		r.factors(), r.Diversity.list(), []string{"explore.share=" + strconv.FormatFloat(r.Explore.Share, 'g', -1, 64)}, r.Learned.list(), r.Home.list(),
	)
}

func (r Ranking) factors() []string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	var list []string
	if r.Decay.Curves.Len() > 0 {
		list = append(list, "curves="+r.Decay.Curves.String())
	} else {
		list = append(list, "scale="+DurationText(r.Decay.Scale), "offset="+DurationText(r.Decay.Offset), "decay="+number(r.Decay.Decay))
	}
	return append(list, "floor="+number(r.Decay.Floor), "weight="+number(r.PopularityWeight), "weight_2h="+number(r.Popularity2h), "weight_2d="+number(r.Popularity2d), "base="+number(r.Base),
		"summary="+number(r.KeywordsSummary))
}

func (d Diversity) list() []string {
	d = d.written()
	var list []string
	for i, value := range d.numbers() {
		list = append(list, diversityNames[i]+"="+strconv.FormatFloat(*value, 'g', -1, 64))
	}
	return list
}
