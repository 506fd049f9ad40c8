package memory

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

var _ recall.Explainer = (*Source)(nil)

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
				counts, _ := views[v].counted.of(item)
				out[i].Count2h, out[i].Count2d = counts.At(q.Origin.Unix())
				out[i].Finish(&q, x.curve)
				break
			}
		}
	}
	return out, nil
}

// explanation is a query with what it takes to say what each of its interests
// and keywords adds to an item.
type explanation struct {
	curve    *feed.DecayFunc
	tags     []explainedTag
	keywords []explainedKeyword
	learned  []explainedFeature
}

type explainedTag struct {
	name   string
	term   uint32
	weight float64
}

// explainedKeyword has what it adds by the field it stands in.
type explainedKeyword struct {
	name  string
	terms []uint32
	gains [fieldCount]float64
}

// explainedFeature is one that was learned.
type explainedFeature struct {
	gain  feed.LearnedGain
	field int
	terms []uint32
}

// take takes the state to work on and looks the interests and keywords up in
// it.
func (x *explanation) take(s *Source, q *feed.Query) []view {
	x.curve = q.Ranking.Decay.Func()
	interests, keywords, learned := recall.InterestsOf(&q.Profile), recall.Keywords(&q.Profile), recall.LearnedOf(q)
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, is := range interests {
		if term, ok := s.dictionaries[tagDictionary].numbers[is.Tag]; ok {
			x.tags = append(x.tags, explainedTag{is.Name, term, is.Weight})
		}
	}
	for _, k := range keywords {
		if terms, ok := s.words(k.Tokens); ok {
			gains := [fieldCount]float64{titleField: k.Weight, summaryField: k.Weight * q.Ranking.KeywordsSummary}
			x.keywords = append(x.keywords, explainedKeyword{k.Term, terms, gains})
		}
	}
	var p plan
	for i := range learned {
		l := &learned[i]
		if terms, ok := p.termsOf(s, l); ok {
			x.learned = append(x.learned, explainedFeature{recall.GainOf(&l.LearnedEffect), fieldOf(l.Kind), terms})
		}
	}
	return s.views
}

func (x *explanation) factors(s *segment, item uint32) recall.Factors {
	f := recall.Factors{
		Known: true, Group: s.group(item), UpdateTime: s.times[item],
		Popularity: math.Round(math.Pow(10, s.popularity[item]) - 1),
	}
	for _, t := range x.tags {
		if _, has := slices.BinarySearch(s.fields[tagField].of(item), t.term); has {
			f.Tags = append(f.Tags, feed.Gain{Name: t.name, Score: t.weight})
		}
	}
	for i := range x.keywords {
		k := &x.keywords[i]
		if field, ok := k.in(s, item); ok && k.gains[field] > 0 {
			f.Keywords = append(f.Keywords, feed.Gain{Name: k.name, Score: k.gains[field], In: fieldNames[field]})
		}
	}
	for i := range x.learned {
		if l := &x.learned[i]; s.fields[l.field].has(item, l.terms) {
			f.Learned = append(f.Learned, l.gain)
		}
	}
	recall.SortLearned(f.Learned)
	recall.SortGains(f.Tags)
	recall.SortGains(f.Keywords)
	return f
}

var fieldNames = [fieldCount]string{titleField: recall.InTitle, summaryField: recall.InSummary}

// in returns the field that an item has the keyword in, the title before the
// summary.
func (k *explainedKeyword) in(s *segment, item uint32) (field int, ok bool) {
	for _, f := range []int{titleField, summaryField} {
		if s.fields[f].has(item, k.terms) {
			return f, true
		}
	}
	return 0, false
}
