package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/signals/coread"
)

const (
	// relatedSpare is how many more items of the same tags are recalled than can be shown: some are
	// muted, deleted, or not for the reader.
	relatedSpare = 20
	// tagsAlone is the relevance of items without any of the tags, which are left out.
	tagsAlone = 1e-9
)

// Related holds the items related to another one.
type Related struct {
	Docs     []feed.Doc
	Why      []api.Reason // of each of Docs: [api.ReasonCoRead] or [api.ReasonSameTag]
	Degraded []string     // the missing parts, as in [Answer]
}

// Related returns up to limit items related to one that the agent may see: first those that its readers
// have read as well, if at least three people connect the two, most first; then those that share a tag,
// as a refresh would order them for a reader interested in these tags. Items shown before are included;
// the agent's own are not, nor those that it mutes or may not see. Nothing is recorded. Errors wrap
// [feed.ErrBadID], [feed.ErrBadLimit], [feed.ErrNotFound], or a store's ErrUnavailable.
func (e *Engine) Related(ctx context.Context, agent, item string, limit int) (Related, error) {
	if err := cmp.Or(feed.CheckAgentID(agent), feed.CheckItemID(item), feed.CheckLimit(limit, MaxLimit)); err != nil {
		return Related{}, err
	}
	ctx = e.cfg.Begin(ctx)
	r := relating{contentReader: contentReader{stages: &e.stages, agent: agent}, limit: limit, now: e.cfg.Clock().Unix(), met: map[string]bool{}}
	_, r.ranking = e.cfg.Rankings.For(agent)
	if err := r.together(ctx, item, r.readTogether(ctx, e, item)); err != nil {
		return Related{}, err
	}
	if err := r.sameTags(ctx); err != nil {
		return Related{}, err
	}
	r.missing.Count()
	r.out.Degraded = r.missing.Names()
	return r.out, nil
}

// relating holds the state of one answer.
type relating struct {
	contentReader
	limit   int
	now     int64
	ranking feed.Ranking
	profile feed.Profile
	tags    []string        // of the item
	met     map[string]bool // groups: those in the answer, and the item's
	out     Related
}

// readTogether returns the ids of items that at least three people have read who have read the item.
func (r *relating) readTogether(ctx context.Context, e *Engine, item string) []string {
	if e.stores.CoReaders == nil || !e.countsCoReads(&r.ranking) {
		return nil
	}
	entries, err := e.stores.CoReaders.Related(ctx, item, e.cfg.Clock())
	if err != nil {
		r.missing |= degraded.CoReaders
		return nil
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(one coread.Entry) bool { return one.People < coread.LeastPeople || one.Item == item })
	return convert.Each(entries, func(one coread.Entry) string { return one.Item })
}

// together reads the item, and adds those that were read together with it.
func (r *relating) together(ctx context.Context, item string, ids []string) error {
	docs, profile, err := r.read(ctx, append([]string{item}, ids...))
	if err != nil {
		return err
	}
	r.profile = profile
	about := docs[0]
	if about.Missing() {
		return cmp.Or(r.unreadable, feed.ErrNotFound)
	}
	it, err := about.Item()
	if err != nil || it.UpdateTime > r.now {
		return feed.ErrNotFound
	}
	r.tags, r.met[it.Group()] = it.Tags, true
	return r.add(ctx, ids, docs[1:], func(*feed.Item) (api.Reason, bool) { return api.Reason{Type: api.ReasonCoRead}, true })
}

// sameTags fills the answer with items that share a tag with the item.
func (r *relating) sameTags(ctx context.Context) error {
	if len(r.out.Docs) >= r.limit || len(r.tags) == 0 {
		return nil
	}
	found, err := recallFrom(ctx, r.stages.recall, r.query())
	if err != nil && !down(ctx, err) {
		return err
	}
	if err != nil || found.Stale {
		r.missing |= degraded.Recall
	}
	ids := convert.Each(found.Candidates, func(c feed.Candidate) string { return c.ID })
	if len(ids) == 0 {
		return r.unlessSome(err)
	}
	docs, _, err := r.read(ctx, ids)
	if err != nil {
		return r.unlessSome(err)
	}
	wanted := map[string]string{}
	for _, tag := range r.tags {
		wanted[terms.Fold(tag)] = tag
	}
	return r.add(ctx, ids, docs, func(it *feed.Item) (api.Reason, bool) {
		for _, tag := range it.Tags {
			same, ok := wanted[terms.Fold(tag)]
			if ok {
				return api.Reason{Type: api.ReasonSameTag, Value: same}, true
			}
		}
		return api.Reason{}, false
	})
}

// unlessSome returns an error unless there are items to answer.
func (r *relating) unlessSome(err error) error {
	if len(r.out.Docs) > 0 {
		return nil
	}
	return err
}

// query recalls items with the tags that the reader does not refuse.
func (r *relating) query() feed.Query {
	interests := map[string]float64{}
	for _, tag := range r.tags {
		interests[tag] = 1
	}
	profile := r.profile.Exclusions()
	profile.Interests = interests
	ranking := r.ranking.WithoutLearned()
	ranking.Base, ranking.Explore = tagsAlone, feed.Explore{}
	return feed.Query{
		Agent: r.agent, Ranking: ranking, Origin: r.stages.cfg.origin(r.stages.cfg.Clock()), N: r.limit + len(r.out.Docs) + relatedSpare,
		Profile: profile,
	}
}

// add adds the items that the reader may be shown and that have a reason, up to the limit.
func (r *relating) add(ctx context.Context, ids []string, docs []feed.Doc, reason func(*feed.Item) (api.Reason, bool)) error {
	refs := convert.Each(ids, func(id string) feed.Ref { return feed.Ref{ID: id} })
	refused, err := r.stages.refused(ctx, &r.profile, refs)
	if err != nil && !down(ctx, err) {
		return err
	}
	if err != nil { // the index would say what the profile refuses
		r.missing |= degraded.Catalog
		return nil
	}
	refusals := r.profile.Refusals()
	for i, doc := range docs {
		if len(r.out.Docs) == r.limit {
			return nil
		}
		if doc.Missing() || refused[ids[i]] {
			continue
		}
		it, err := doc.Item()
		if err != nil || r.met[it.Group()] {
			continue
		}
		ref := feed.Ref{ID: ids[i], Group: it.Group()}
		why, has := reason(&it)
		own := it.AuthorID == r.agent
		if has && !own && classify(refusals, r.agent, ref, doc, r.now, r.missing) == api.OutcomePaged {
			r.met[ref.Group] = true
			r.out.Docs, r.out.Why = append(r.out.Docs, doc), append(r.out.Why, why)
		}
	}
	return nil
}
