package memory

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

var _ recall.Explainer = (*Source)(nil)

// gainer is an interest or a keyword with what it takes to say what it adds to
// an item.
type gainer struct {
	name  string
	tag   bool
	terms []weighted
}

// Explain implements [recall.Explainer]. Its only error is that of ctx.
func (s *Source) Explain(ctx context.Context, q feed.Query, ids []string) ([]recall.Factors, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("explain from memory: %w", err)
	}
	var x explanation
	views := x.take(s, &q)
	out := make([]recall.Factors, len(ids))
	for i, id := range ids {
		for v := range views {
			if item, ok := views[v].find(id); ok && !views[v].isDead(item) {
				out[i] = x.factors(views[v].segment, item)
				out[i].Finish(&q, x.curve)
				break
			}
		}
	}
	return out, nil
}

// explanation is a query split into the terms that are reported.
type explanation struct {
	curve   *feed.DecayFunc
	gainers []gainer
	lengths [fieldCount]lengthTable
}

// take takes the state to work on and looks the interests and keywords up in
// it, each on its own.
func (x *explanation) take(s *Source, q *feed.Query) []view {
	x.curve = q.Ranking.Decay.Func()
	words := make([][]keyword, len(q.Profile.Keywords))
	for i, text := range q.Profile.Keywords {
		words[i] = keywords(&feed.Profile{Keywords: []string{text}})
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	var p plan
	for _, tag := range slices.Sorted(maps.Keys(q.Profile.Interests)) {
		if weight := q.Profile.Interests[tag]; weight > 0 {
			p.terms = nil
			p.addTag(s, tag, weight)
			x.add(tag, true, p.terms)
		}
	}
	for i, text := range q.Profile.Keywords {
		p.terms = nil
		for _, w := range words[i] {
			p.addWord(s, w)
		}
		x.add(text, false, p.terms)
	}
	for _, f := range []int{titleField, summaryField} {
		x.lengths[f].fill(s.statistics.having[f], s.statistics.lengths[f])
	}
	return s.views
}

// add leaves out what no item has.
func (x *explanation) add(name string, tag bool, terms []weighted) {
	if len(terms) > 0 {
		x.gainers = append(x.gainers, gainer{name: name, tag: tag, terms: terms})
	}
}

func (x *explanation) factors(s *segment, item uint32) recall.Factors {
	f := recall.Factors{
		Known: true, Group: s.group(item), UpdateTime: s.times[item],
		Popularity: math.Round(math.Pow(10, s.popularity[item]) - 1),
	}
	for _, g := range x.gainers {
		score := 0.0
		for _, t := range g.terms {
			score += x.gain(s, item, t)
		}
		switch {
		case score == 0:
		case g.tag:
			f.Tags = append(f.Tags, recall.Gain{Name: g.name, Score: score})
		default:
			f.Keywords = append(f.Keywords, recall.Gain{Name: g.name, Score: score})
		}
	}
	f.Tags, f.Keywords = recall.SortGains(f.Tags), recall.SortGains(f.Keywords)
	return f
}

// gain is what one term adds to an item.
func (x *explanation) gain(s *segment, item uint32, t weighted) float64 {
	field := &s.fields[t.field]
	place, has := slices.BinarySearch(field.of(item), t.term)
	if !has {
		return 0
	}
	if t.field == tagField {
		return t.weight
	}
	freq := float64(field.frequency(field.itemFreqs[field.itemStarts[item]+uint32(place)], item, t.term))
	return t.weight * freq / (freq + x.lengths[t.field][s.norms[t.field][item]])
}
