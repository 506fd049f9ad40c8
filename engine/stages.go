package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/freshet/freshet/engine/arrange"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/social"
)

// stages runs recall, dedup and hydration for one kind of request. Requests of readers share
// recalls and are measured; an explanation queries the source directly, as of its own time, and
// measures itself.
type stages struct {
	cfg      *Config
	stores   *Stores
	failOpen *failOpen
	direct   recall.Source // the recall source without the front that readers share
	young    *youngItems

	at      feed.Clock // determines the dedup window, and which items are in the future
	recall  recall.Source
	enter   func(context.Context, stage) (context.Context, running)
	counted bool                       // in metrics
	scores  map[homeProposal]homeScore // of home, for explanations; nil otherwise
}

// chosen is the deduplicated, ranked list of one refresh.
type chosen struct {
	ranked    []feed.Ref
	repeats   []feed.Ref // shown before, to follow ranked; only if recall has no more
	earlier   int        // how many of those were shown before today
	stale     []string   // groups pending for so long that they must be recorded again
	checkedAt int64      // the dedup store's clock at the first check
	missing   degraded.Parts
	fallback  bool // the candidates are from a list for all readers
}

// session returns the refs that a refresh puts into the session.
func (c *chosen) session() []feed.Ref {
	if len(c.repeats) == 0 {
		return c.ranked
	}
	return slices.Concat(c.ranked, c.repeats)
}

// choose runs rounds until as many candidates as wanted can be placed, or no more are available.
func (s *stages) choose(ctx context.Context, w wanted) (chosen, error) {
	r := s.rounds(w)
	defer r.release()
	for r.next(ctx) {
	}
	return r.chosen()
}

// profile returns the agent's profile; without one it returns the empty profile.
func (s *stages) profile(ctx context.Context, agent string) (feed.Profile, error) {
	p, err := s.stores.Catalog.Profile(ctx, agent)
	if errors.Is(err, feed.ErrNotFound) {
		return feed.Profile{}, nil
	}
	return p, err
}

// query returns the recall query of an agent's feed, and the variant of its ranking; named feeds are
// in no variant. Errors wrap [feed.ErrNotFound] if there is no such feed for the agent.
func (s *stages) query(agent string, name feed.Name, p feed.Profile) (q feed.Query, variant string, err error) {
	q = feed.Query{Agent: agent, Profile: p, Origin: s.cfg.origin(s.cfg.Clock()), N: s.cfg.N}
	if name.Named() {
		q.Filter, q.Ranking, err = s.cfg.namedFeed(name, nil)
		return q, "", err
	}
	variant, q.Ranking = s.cfg.Rankings.For(agent)
	return q, variant, nil
}

// factors returns the score components of each id, by the profile, ranking and origin of q.
func (s *stages) factors(ctx context.Context, q feed.Query, ids []string) ([]recall.Factors, error) {
	explainer, ok := s.direct.(recall.Explainer)
	if !ok {
		return nil, fmt.Errorf("%s: this recall source cannot explain its scores", s.direct.Name())
	}
	factors, err := explainer.Explain(ctx, q, ids)
	if err != nil {
		return nil, fmt.Errorf("explain from %s: %w", s.direct.Name(), err)
	}
	return factors, nil
}

// hydrate reads the content of refs to be shown for the first time. While the catalog is
// down it returns the cached items, and the others as lost; if nothing is cached it also returns
// the error. Items dated after latest, in Unix seconds, are not to be shown yet. Those that a named feed does not
// select any more, since they or the feed have changed, are gone.
func (s *stages) hydrate(ctx context.Context, agent string, name feed.Name, refs []feed.Ref, latest int64) (hydrated, error) {
	if len(refs) == 0 {
		return hydrated{docs: []feed.Doc{}}, nil
	}
	ctx, timed := s.enter(ctx, hydrateStage)
	defer timed.end()
	docs, profile, err := s.stores.Catalog.Hydrate(ctx, agent, feed.IDs(refs))
	if err != nil && (len(docs) != len(refs) || !down(ctx, err)) {
		return hydrated{missing: degraded.Catalog}, err
	}
	got := hydrated{profile: &profile, docs: make([]feed.Doc, 0, len(refs)), refs: make([]feed.Ref, 0, len(refs))}
	if errors.Is(err, social.ErrUnavailable) {
		got.missing = degraded.Social // set even if cached posts were returned
	}
	refused, indexErr := s.refused(ctx, &profile, refs)
	if indexErr != nil && !down(ctx, indexErr) {
		return hydrated{missing: degraded.Catalog}, indexErr
	}
	err = cmp.Or(err, indexErr)
	refusals, selected := profile.Refusals(), s.selected(name)
	for i, doc := range docs {
		ref := refs[i]
		undecided := indexErr != nil && !feed.IsPost(ref.ID) // the index would say whether the profile refuses it
		if err != nil && (doc.Missing() || undecided) {
			got.lost = append(got.lost, ref)
			got.missing |= unread(ref.ID, err)
			continue
		}
		outcome := classify(refusals, agent, ref, doc, latest, got.missing)
		if outcome == api.OutcomePaged && refused[ref.ID] {
			outcome = api.OutcomeMuted
		}
		if outcome == api.OutcomePaged && !selected(doc) {
			outcome = api.OutcomeGone
		}
		switch outcome {
		case api.OutcomeGone, api.OutcomeOwn:
			got.gone = append(got.gone, ref)
		case api.OutcomeMuted:
			got.muted = append(got.muted, ref)
		default:
			got.docs = append(got.docs, doc)
			got.refs = append(got.refs, ref)
		}
	}
	if len(got.lost) == len(refs) {
		return got, err
	}
	return got, nil
}

// refused returns the items that the profile refuses for reasons that only the index knows.
func (s *stages) refused(ctx context.Context, p *feed.Profile, refs []feed.Ref) (map[string]bool, error) {
	asked, ok := s.direct.(recall.Refuser)
	if !ok || !p.HasMutes() {
		return nil, nil
	}
	return asked.Refused(ctx, p, feed.IDs(refs))
}

// unread returns the part that an answer lacks if the content of an item could not be read.
func unread(id string, err error) degraded.Parts {
	if feed.IsPost(id) && errors.Is(err, social.ErrUnavailable) {
		return degraded.Social
	}
	return degraded.Catalog
}

// classify returns the outcome of a ref with that content. OutcomeGone means that the item was
// deleted; that it is no longer as checked and claimed, since it changed its group or is dated in
// the future, and will be chosen again as it is now; or that the reader has unfollowed its
// author, if unread says that this is known; or that the author does not want to be recommended to
// this reader. OutcomeOwn means that only the content names the
// agent as an author. OutcomeMuted means that the profile refuses it; OutcomePaged, that it can
// be shown.
func classify(r *feed.Refusals, agent string, ref feed.Ref, doc feed.Doc, now int64, unread degraded.Parts) api.Outcome {
	if doc.Missing() {
		return api.OutcomeGone
	}
	group, at, err := doc.Head()
	if err != nil || group != ref.Group || at > now {
		return api.OutcomeGone
	}
	if mayBeBy(doc, agent) && isBy(doc, agent) {
		return api.OutcomeOwn
	}
	if r.Ref(ref) || r.Selective() && refused(r, doc) {
		return api.OutcomeMuted
	}
	if ref.Source == feed.SourceFollowing && !doc.Listed && unread&degraded.Social == 0 {
		return api.OutcomeGone
	}
	if doc.NotRecommended && !(ofHome(ref.Source) && doc.Listed) {
		return api.OutcomeGone
	}
	return api.OutcomePaged
}

// ofHome reports whether a source is one of home.
func ofHome(s feed.Source) bool { return slices.Contains(arrange.HomeSources[:], s) }

// mayBeBy reports whether a document can name the agent among several authors, without parsing it.
func mayBeBy(doc feed.Doc, agent string) bool {
	return agent != "" && bytes.Contains(doc.JSON, []byte(agent)) && bytes.Contains(doc.JSON, []byte(`"freshet_author_ids"`))
}

func refused(r *feed.Refusals, doc feed.Doc) bool {
	it, err := doc.Item()
	return err != nil || r.Item(&it)
}
