package feed

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"time"
)

// Parameter is a parameter of a [Ranking]: a number or a duration. All code that names, bounds,
// reads or writes parameters uses the table [Parameters]. Only the curves of a decay, which
// replace its scale, offset and decay, are handled separately.
type Parameter struct {
	Name    string // in lists of changes and in the configuration: site.decay
	Path    string // in JSON: diversity.site.decay
	Help    string // its effect
	Default float64
	// Least and Most are the bounds, in seconds for a duration.
	Least, Most float64
	NotLeast    bool // Least itself is out of bounds
	NotMost     bool // Most itself is out of bounds
	// Ratios reports that equal ratios are equal changes: from 6 h to 12 h is as large a change
	// as from 3 days to 6. For other parameters, equal differences are.
	Ratios bool

	number   func(*Ranking) *float64       // nil for a duration
	duration func(*Ranking) *time.Duration // nil for a number
	unset    bool                          // 0 means the default, so it cannot be set
}

const (
	hour    = float64(time.Hour / time.Second)
	maxLife = 10 * 365 * 24 * hour
	// maxWeight bounds the factors of a score.
	maxWeight = 1000
)

// Parameters lists all parameters in the order in which they are written.
var Parameters = []Parameter{
	{
		Name: "scale", Path: "decay.scale", Help: "age beyond the offset at which the score has fallen to decay",
		Default: 24 * hour, Least: 1, Most: math.Inf(1), Ratios: true, duration: func(r *Ranking) *time.Duration { return &r.Decay.Scale },
	},
	{
		Name: "offset", Path: "decay.offset", Help: "age up to which the score does not decay",
		Default: hour, Most: math.Inf(1), duration: func(r *Ranking) *time.Duration { return &r.Decay.Offset },
	},
	{
		Name: "decay", Path: "decay.decay", Help: "factor at the age of offset + scale",
		Default: 0.5, Most: 1, NotLeast: true, NotMost: true, number: func(r *Ranking) *float64 { return &r.Decay.Decay },
	},
	{
		Name: "floor", Path: "decay.floor", Help: "minimum factor of the decay",
		Default: 1e-6, Most: 1, NotMost: true, Ratios: true, number: func(r *Ranking) *float64 { return &r.Decay.Floor },
	},
	{
		Name: "weight", Path: "popularity.weight", Help: "weight of uploaded popularity: likes + 2 x comments; 0: off",
		Most: maxWeight, number: func(r *Ranking) *float64 { return &r.PopularityWeight },
	},
	{
		Name: "weight_2h", Path: "popularity.weight_2h", Help: "weight of readers who clicked or liked in about the last 2 hours; 0: off",
		Default: 1.5, Most: maxWeight, number: func(r *Ranking) *float64 { return &r.Popularity2h },
	},
	{
		Name: "weight_2d", Path: "popularity.weight_2d", Help: "weight of readers who clicked or liked in about the last 2 days; 0: off",
		Default: 0.2, Most: maxWeight, number: func(r *Ranking) *float64 { return &r.Popularity2d },
	},
	halfLifeWeight("1h"),
	halfLifeWeight("6h"),
	halfLifeWeight("1d"),
	halfLifeWeight("7d"),
	{
		Name: "base", Path: "base", Help: "relevance before interests and keywords are added",
		Default: 0.1, Most: maxWeight, NotLeast: true, Ratios: true, number: func(r *Ranking) *float64 { return &r.Base },
	},
	{
		Name: "summary", Path: "keywords.summary", Help: "part of its weight that a keyword adds if it is only in the summary",
		Default: DefaultKeywordsSummary, Most: 1, number: func(r *Ranking) *float64 { return &r.KeywordsSummary },
	},
	{
		Name: "author.decay", Path: "diversity.author.decay", Help: "factor for each further item by one author on a page; 1: off",
		Default: 0.8, Most: 1, NotLeast: true, unset: true, number: func(r *Ranking) *float64 { return &r.Diversity.Author.Decay },
	},
	{
		Name: "author.floor", Path: "diversity.author.floor", Help: "minimum of that factor",
		Default: 0.3, Most: 1, number: func(r *Ranking) *float64 { return &r.Diversity.Author.Floor },
	},
	{
		Name: "site.decay", Path: "diversity.site.decay", Help: "factor for each further item of one site on a page; 1: off",
		Default: 0.6, Most: 1, NotLeast: true, unset: true, number: func(r *Ranking) *float64 { return &r.Diversity.Site.Decay },
	},
	{
		Name: "site.floor", Path: "diversity.site.floor", Help: "minimum of that factor",
		Default: 0.02, Most: 1, number: func(r *Ranking) *float64 { return &r.Diversity.Site.Floor },
	},
	{
		Name: "tag.decay", Path: "diversity.tag.decay", Help: "factor for each further item with the same first tag on a page; 1: off",
		Default: 0.95, Most: 1, NotLeast: true, unset: true, number: func(r *Ranking) *float64 { return &r.Diversity.Tag.Decay },
	},
	{
		Name: "tag.floor", Path: "diversity.tag.floor", Help: "minimum of that factor",
		Default: 0.5, Most: 1, number: func(r *Ranking) *float64 { return &r.Diversity.Tag.Floor },
	},
	{
		Name: "same_story", Path: "diversity.same_story", Help: "part of their words that two titles of one story share; 0 and 1: off",
		Default: 0.6, Most: 1, number: func(r *Ranking) *float64 { return &r.Diversity.SameStory },
	},
	{
		Name: "explore.share", Path: "explore.share", Help: "part of a page's positions after the fifth for young items drawn at random; 0: off",
		Default: DefaultExploreShare, Most: 1, number: func(r *Ranking) *float64 { return &r.Explore.Share },
	},
	{
		Name: "learned.tags", Path: "learned.tags", Help: "maximum that clicks and likes of an item's tags add, in bases; 0: off",
		Default: 0.5, Most: 100, number: func(r *Ranking) *float64 { return &r.Learned.Tags },
	},
	{
		Name: "learned.author", Path: "learned.author", Help: "maximum that clicks and likes of an item's author add, in bases; 0: off",
		Default: 0.5, Most: 100, number: func(r *Ranking) *float64 { return &r.Learned.Author },
	},
	{
		Name: "learned.lang", Path: "learned.lang", Help: "maximum that clicks and likes of an item's lang add, in bases; 0: off",
		Most: 100, number: func(r *Ranking) *float64 { return &r.Learned.Lang },
	},
	{
		Name: "learned.words", Path: "learned.words", Help: "maximum that clicks and likes of an item's words add, in bases; 0: off",
		Default: 0.5, Most: 100, number: func(r *Ranking) *float64 { return &r.Learned.Words },
	},
	{
		Name: "learned.negative", Path: "learned.negative", Help: "part of the relevance that dislikes and hides remove",
		Default: 0.3, Most: maxNegative, number: func(r *Ranking) *float64 { return &r.Learned.Negative },
	},
	{
		Name: "learned.half_life", Path: "learned.half_life", Help: "time after which an act counts half", unset: true,
		Default: DefaultLearnedHalfLife.Seconds(), Least: hour, Most: maxLife, Ratios: true, duration: func(r *Ranking) *time.Duration { return &r.Learned.HalfLife },
	},
	{
		Name: "co_read.weight", Path: "co_read.weight", Help: "weight of readers who have read the same as the reader; 0: off",
		Most: maxWeight, number: func(r *Ranking) *float64 { return &r.CoRead.Weight },
	},
	{
		Name: "co_read.scale", Path: "co_read.scale", Help: "nearness at which they count a third of their weight", unset: true,
		Default: defaultCoReadScale, Most: maxWeight, NotLeast: true, Ratios: true, number: func(r *Ranking) *float64 { return &r.CoRead.Scale },
	},
	{
		Name: "home.decay", Path: "home.decay", Help: "decay of home's sources except discovery, per hour of age",
		Default: 0.02, Most: 10, NotLeast: true, number: func(r *Ranking) *float64 { return &r.Home.Decay },
	},
	{
		Name: "home.following", Path: "home.following", Help: "base of posts by followed authors in home",
		Default: 1, Most: maxWeight, NotLeast: true, number: func(r *Ranking) *float64 { return &r.Home.Following },
	},
	{
		Name: "home.trending", Path: "home.trending", Help: "base of trending items in home",
		Default: 0.6, Most: maxWeight, NotLeast: true, number: func(r *Ranking) *float64 { return &r.Home.Trending },
	},
	{
		Name: "home.promoted", Path: "home.promoted", Help: "base of promoted items in home",
		Default: 0.8, Most: maxWeight, NotLeast: true, number: func(r *Ranking) *float64 { return &r.Home.Promoted },
	},
	{
		Name: "home.affinity", Path: "home.affinity", Help: "maximum that the affinity to an author, from likes, replies and clicks, adds in home; 0: off",
		Default: 0.5, Most: maxWeight, number: func(r *Ranking) *float64 { return &r.Home.Affinity },
	},
	{
		Name: "home.affinity_days", Path: "home.affinity_days", Help: "days for which a like or a reply counts for the affinity to an author", unset: true,
		Default: 30, Least: 1, Most: 365, Ratios: true, number: func(r *Ranking) *float64 { return &r.Home.AffinityDays },
	},
}

// ParameterOf returns the parameter with a name or a path.
func ParameterOf(name string) (*Parameter, bool) {
	for i := range Parameters {
		p := &Parameters[i]
		if p.Name == name || p.Path == name {
			return p, true
		}
	}
	return nil, false
}

// IsDuration reports whether the parameter is a duration.
func (p *Parameter) IsDuration() bool { return p.duration != nil }

// Of returns the parameter's value in a ranking, in seconds for a duration. It is NaN if curves
// replace the parameter.
func (p *Parameter) Of(r Ranking) float64 {
	if p.curved(&r) {
		return math.NaN()
	}
	r = r.written()
	return p.at(&r)
}

// at returns the value as stored in a ranking, in seconds for a duration.
func (p *Parameter) at(r *Ranking) float64 {
	if p.IsDuration() {
		return p.duration(r).Seconds()
	}
	return *p.number(r)
}

// Values yields the parameters with their values, like [Parameter.Of], but 0 for those that
// curves replace.
func (r Ranking) Values() iter.Seq2[*Parameter, float64] {
	return func(yield func(*Parameter, float64) bool) {
		all := r.written()
		for i := range Parameters {
			p := &Parameters[i]
			if !yield(p, p.at(&all)) {
				return
			}
		}
	}
}

// Text formats a value, in seconds for a duration, as in a list of changes.
func (p *Parameter) Text(value float64) string {
	if p.IsDuration() {
		return DurationText(time.Duration(math.Round(value * float64(time.Second))))
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}

// ofGaussian reports whether the parameter belongs to the one Gaussian that curves replace.
func (p *Parameter) ofGaussian() bool {
	return p.Name == "scale" || p.Name == "offset" || p.Name == "decay"
}

// curved reports whether the ranking has curves instead of the parameter.
func (p *Parameter) curved(r *Ranking) bool { return r.Decay.Curves != Curves{} && p.ofGaussian() }

// write formats the parameter's exact value as in a list of changes.
func (p *Parameter) write(r *Ranking) string {
	if p.IsDuration() {
		return DurationText(*p.duration(r))
	}
	return p.Text(*p.number(r))
}

// problem returns the problem of a value, "" if there is none; the text follows the name.
func (p *Parameter) problem(value float64) string {
	low := value > p.Least || !p.NotLeast && value == p.Least
	high := value < p.Most || !p.NotMost && value == p.Most
	if low && high {
		return ""
	}
	return "must be " + p.Bounds() + ", not " + p.Text(value)
}

// Bounds describes the allowed values.
func (p *Parameter) Bounds() string {
	least, most := p.Text(p.Least), p.Text(p.Most)
	switch {
	case math.IsInf(p.Most, 1):
		return "at least " + least
	case p.NotLeast && p.NotMost:
		return fmt.Sprintf("between %s and %s, both excluded", least, most)
	case p.NotLeast:
		return fmt.Sprintf("greater than %s and at most %s", least, most)
	case p.NotMost:
		return fmt.Sprintf("at least %s and less than %s", least, most)
	}
	return least + " to " + most
}

// written returns the ranking with defaults in place of zero values, except for the curves.
func (r Ranking) written() Ranking {
	r.Diversity, r.Home = r.Diversity.written(), r.Home.written()
	r.Learned.HalfLife = r.Learned.halfLife()
	r.CoRead = r.CoRead.written()
	return r
}
