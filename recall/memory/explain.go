package memory

import (
	"context"
	"fmt"
	"math"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

var _ recall.Explainer = (*Source)(nil)

// Explain implements [recall.Explainer]. Its only error is that of ctx.
func (s *Source) Explain(ctx context.Context, q feed.Query, ids []string) ([]recall.Factors, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("explain from memory: %w", err)
	}
	var p plan
	views := p.take(s, &q)
	out := make([]recall.Factors, len(ids))
	for i, id := range ids {
		for v := range views {
			if item, ok := views[v].find(id); ok && !views[v].isDead(item) {
				out[i] = p.factors(views[v].segment, item)
				counts, _ := views[v].counted.of(item)
				out[i].Count2h, out[i].Count2d = counts.At(q.Origin.Unix())
				if p.more {
					out[i].CountMore = counts.MoreAt(q.Origin.Unix())
				}
				out[i].Finish(&q, p.curve)
				break
			}
		}
	}
	return out, nil
}

// factors returns the contribution of each interest, keyword and learned feature of the query
// to an item's score.
func (p *plan) factors(s *segment, item uint32) recall.Factors {
	f := recall.Factors{
		Known: true, Group: s.group(item), UpdateTime: s.times[item],
		Popularity: math.Round(math.Pow(10, s.popularity[item]) - 1),
	}
	for i := range p.gainers {
		g := &p.gainers[i]
		switch {
		case !g.in(&s.fields[g.field], item):
		case g.learned != nil:
			f.Learned = append(f.Learned, g.learned.LearnedGain)
		case g.keyword == 0:
			f.Tags = append(f.Tags, feed.Gain{Name: g.name, Score: g.weight})
		case g.field == titleField || !g.in(&s.fields[titleField], item):
			f.Keywords = append(f.Keywords, feed.Gain{Name: g.name, Score: g.weight, In: fieldNames[g.field]})
		}
	}
	for i := range p.lowerers {
		l := &p.lowerers[i]
		if s.fields[l.field].has(item, l.terms) {
			f.Learned = append(f.Learned, l.learned.LearnedGain)
		}
	}
	recall.SortLearned(f.Learned)
	recall.SortGains(f.Tags)
	recall.SortGains(f.Keywords)
	return f
}

var fieldNames = [fieldCount]string{titleField: recall.InTitle, summaryField: recall.InSummary}
