package promotion

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/social"
)

// Propose implements [recall.Proposer]. It returns the items whose promotions run at q.Origin
// and target the agent, drawn at random without replacement, each by the total weight of its
// promotions. The order depends only on the agent and the origin.
//
// The draw gives each item the key −ln(u)/w, with u uniform in (0, 1). Sorting by key is
// equivalent to drawing items one after the other in proportion to w (Efraimidis and Spirakis,
// "Weighted random sampling with a reservoir", 2006).
func (s *Source) Propose(ctx context.Context, q feed.Query) (recall.Proposals, error) {
	if err := ctx.Err(); err != nil {
		return recall.Proposals{}, err
	}
	after := 0
	if q.After != "" {
		var err error
		if after, err = strconv.Atoi(q.After); err != nil || after < 1 {
			return recall.Proposals{}, fmt.Errorf("%w: %.40q", recall.ErrBadCursor, q.After)
		}
	}
	r, refused := newReader(&q.Profile), s.cfg.ContentDecides.Refused(&q.Profile)
	seed := mix(hashOf(q.Agent) + mix(uint64(q.Origin.Unix())))
	drawn := s.known.Load().draw(seed, q.Origin, &r)
	return page(drawn, after, q.N, func(p *promoted) bool {
		return (q.Since.IsZero() || p.proposal.UpdateTime > q.Since.Unix()) && !refused(&p.item)
	}), nil
}

// Guests returns the proposer of the guest feed. It proposes the untargeted promotions, in an
// order that changes when drawn returns another time, so it is the same on every server with
// the same promotions and time.
func (s *Source) Guests(drawn func() time.Time) recall.Proposer { return guests{s, drawn} }

type guests struct {
	of    *Source
	drawn func() time.Time
}

// Propose implements [recall.Proposer]. It uses only Origin and N of q and never fails.
func (g guests) Propose(_ context.Context, q feed.Query) (recall.Proposals, error) {
	drawn := g.of.known.Load().draw(mix(uint64(g.drawn().Unix())), q.Origin, &reader{})
	out := page(drawn, 0, q.N, func(*promoted) bool { return true })
	out.Next = "" // no caller asks for a further round
	return out, nil
}

// page returns n of the items that may be shown, one per group, after skipping the first ones.
// If promotions change between two rounds, a group may be repeated or skipped.
func page(drawn []*promoted, after, n int, shown func(*promoted) bool) (out recall.Proposals) {
	groups := map[string]bool{}
	for _, p := range drawn {
		if groups[p.proposal.Group] || !shown(p) {
			continue
		}
		groups[p.proposal.Group] = true
		if len(groups) <= after {
			continue
		}
		if len(out.Proposals) == n {
			out.Next = strconv.Itoa(after + n)
			break
		}
		out.Proposals = append(out.Proposals, p.proposal)
	}
	return out
}

// draw orders the items that have a running promotion for the reader at a time.
func (k *known) draw(seed uint64, at time.Time, r *reader) []*promoted {
	type drawing struct {
		*promoted
		key float64
	}
	drawn := make([]drawing, 0, len(k.items))
	for _, list := range k.items {
		weight := 0.0
		for _, p := range list {
			isPast := p.item.ID != "" && p.proposal.UpdateTime <= at.Unix()
			if isPast && p.Runs(at) && r.isFor(p) {
				weight += p.Weight
			}
		}
		if weight > 0 {
			drawn = append(drawn, drawing{list[0], key(seed, list[0].itemHash, weight)})
		}
	}
	slices.SortFunc(drawn, func(a, b drawing) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.ItemID, b.ItemID)) })
	order := make([]*promoted, len(drawn))
	for i, d := range drawn {
		order[i] = d.promoted
	}
	return order
}

// Chosen returns the promotion that an item shown to an agent is attributed to. Of several that
// run at the time and target the agent, one is drawn by weight, the same each time. ok is false
// if none runs.
func (s *Source) Chosen(agent string, profile *feed.Profile, item string, at time.Time) (id string, ok bool) {
	r, seed := newReader(profile), mix(hashOf(agent))
	best, least, forReader := "", math.Inf(1), false
	for _, p := range s.known.Load().byItem[item] {
		// The reader may no longer match the promotion that the page was made with. Then it was
		// one of those that run.
		is := r.isFor(p)
		if !p.Runs(at) || forReader && !is {
			continue
		}
		if is && !forReader {
			forReader, least = true, math.Inf(1)
		}
		k := key(seed, p.ownHash, p.Weight)
		if k < least {
			best, least = p.ID, k
		}
	}
	return best, best != ""
}

// About lists the promotions of an item, including those that ended in the last days.
func (s *Source) About(item string) (ids []string) {
	for _, p := range s.known.Load().byItem[item] {
		ids = append(ids, p.ID)
	}
	return ids
}

// reader holds the properties of a reader that promotions can target.
type reader struct {
	tags  map[string]bool // folded: interests and learned tags
	langs []string        // of the profile
}

func newReader(p *feed.Profile) reader {
	r := reader{tags: make(map[string]bool, len(p.Interests)), langs: p.Langs}
	for tag, weight := range p.Interests {
		r.tags[terms.Fold(tag)] = r.tags[terms.Fold(tag)] || weight > 0
	}
	for i := range p.Learned.Features {
		f := &p.Learned.Features[i]
		if f.Kind == feed.FeatureTag && f.Evidence > 0 {
			r.tags[terms.Fold(f.Value)] = true
		}
	}
	return r
}

// isFor reports whether the promotion targets the reader.
func (r *reader) isFor(p *promoted) bool {
	interested := func(tag string) bool { return r.tags[tag] }
	reads := func(lang string) bool { return terms.LangKey(lang) != "" && p.langs.Take(lang) }
	if len(p.Tags) > 0 && !slices.ContainsFunc(p.tags, interested) {
		return false
	}
	return len(p.Langs) == 0 || slices.ContainsFunc(r.langs, reads)
}

// key returns an exponentially distributed number of rate weight.
func key(seed, hash uint64, weight float64) float64 {
	u := (float64(mix(seed^hash)>>11) + 0.5) / (1 << 53) // in (0, 1)
	return -math.Log(u) / weight
}

// mix spreads a number over all 64 bits (the finalizer of SplitMix64).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func hashOf(text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(text)) // writing to a hash does not fail
	return h.Sum64()
}

// States reports for each promotion whether it takes part in the draw at a time, and if not,
// why. It reads the promoted items; the errors are those of [Items.Docs].
func States(ctx context.Context, items Items, list []social.Promotion, at time.Time) ([]social.PromotionState, error) {
	states := make([]social.PromotionState, 0, len(list))
	for part := range slices.Chunk(list, itemBatch) {
		ids := convert.Each(part, func(p social.Promotion) string { return p.ItemID })
		docs, err := items.Docs(ctx, ids)
		if err != nil {
			return nil, err
		}
		for i, p := range part {
			why := whyNot(&p, docs[i], at)
			states = append(states, social.PromotionState{Promotion: p, Runs: why == "", Why: why})
		}
	}
	return states, nil
}

func whyNot(p *social.Promotion, doc feed.Doc, at time.Time) string {
	switch {
	case at.Unix() >= p.Until:
		return "it has ended"
	case doc.Missing() && feed.IsPost(p.ItemID):
		return "there is no public post with this id"
	case doc.Missing():
		return "there is no item with this id"
	case doc.NotRecommended:
		return "its author does not want to be recommended"
	case at.Unix() < p.From:
		return "it has not begun"
	}
	if _, dated, err := doc.Head(); err == nil && dated > at.Unix() {
		return "its item is dated in the future"
	}
	return ""
}
