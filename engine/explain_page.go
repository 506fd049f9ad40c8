package engine

import (
	"context"
	"errors"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

// explainedList is the [pageSource] of an explanation: the list that a refresh would make a
// session of. Nothing is returned to it, since nothing else takes from it.
type explainedList struct {
	*explaining
	rest []feed.Ref
}

func (d *explainedList) take(_ context.Context, n int) (page, error) {
	refs := d.rest[:min(n, len(d.rest))]
	d.rest = d.rest[len(refs):]
	return page{Page: cache.Page{Refs: refs, HasMore: len(d.rest) > 0}}, nil
}

func (d *explainedList) read(ctx context.Context, p page) (hydrated, error) {
	return d.stages.hydrate(ctx, d.r.Agent, p.Refs)
}

func (*explainedList) discard(context.Context, hydrated)         {}
func (*explainedList) restore(context.Context, page, []feed.Ref) {}

// page builds the page that a refresh would answer. What nothing holds back then
// waits in the session.
func (x *explaining) page(ctx context.Context) error {
	d := &explainedList{x, x.found.session()}
	p, err := d.take(ctx, x.r.Limit)
	if err != nil {
		return err
	}
	p.sessionless = x.lacks&lacksDedup != 0
	got, err := fillPage(ctx, d, x.r.Limit, &p)
	if err != nil {
		return err
	}
	x.lacks |= got.lacks()
	outcomes := make(map[string]api.Outcome, len(got.refs)+got.short())
	for outcome, refs := range map[api.Outcome][]feed.Ref{api.OutcomePaged: got.refs, api.OutcomeGone: got.gone, api.OutcomeMuted: got.muted} {
		for _, ref := range refs {
			outcomes[ref.ID] = outcome
		}
	}
	for i := range x.out.Candidates {
		if c := &x.out.Candidates[i]; c.Outcome == "" {
			c.Outcome = outcomes[c.ID]
		}
	}
	if err := x.contents(ctx); err != nil {
		return err
	}
	for i := range x.out.Candidates {
		if c := &x.out.Candidates[i]; c.Outcome == "" {
			c.Outcome = api.OutcomeKept
		}
	}
	return nil
}

// contents reads the content of all candidates, for their titles and for what is
// gone or muted behind the page. What cannot be read is taken for what it was.
func (x *explaining) contents(ctx context.Context) error {
	ctx, end := x.enter(ctx, hydrateStage)
	defer end()
	ids := make([]string, len(x.out.Candidates))
	for i := range x.out.Candidates {
		ids[i] = x.out.Candidates[i].ID
	}
	docs, _, err := x.e.stores.Catalog.Hydrate(ctx, x.r.Agent, ids)
	if err != nil && (len(docs) != len(ids) || !down(ctx, err)) {
		return err
	}
	var down parts
	if errors.Is(err, social.ErrUnavailable) {
		down = lacksSocial
	}
	refusals := x.query.Profile.Refusals()
	for i, doc := range docs {
		if doc.Missing() && err != nil {
			x.lacks |= unread(doc.ID, err)
			continue
		}
		c := &x.out.Candidates[i]
		if c.Outcome == "" {
			if outcome := becomes(refusals, x.r.Agent, feed.Ref{ID: c.ID, Group: c.Group}, doc, x.now.Unix()); outcome != api.OutcomePaged {
				c.Outcome = outcome
			} else if unfollowed(homeSource(c.Source), doc, down) {
				c.Outcome = api.OutcomeGone
			}
		}
		if it, err := doc.Item(); err == nil {
			c.Title = it.Title
		}
	}
	return nil
}
