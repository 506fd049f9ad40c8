package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// Profile implements [catalog.Profiles]. Reads by id are in real time: they
// see a write before any refresh.
func (c *Catalog) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	found, err := c.get(ctx, []esindex.DocID{{Index: c.agents, ID: agent}})
	if err != nil {
		return feed.Profile{}, err
	}
	return c.profile(found[0], agent)
}

func (c *Catalog) profile(d esindex.Document, agent string) (feed.Profile, error) {
	if err := c.failure(d, c.agents); err != nil {
		return feed.Profile{}, err
	}
	if len(d.Source) == 0 {
		return feed.Profile{}, fmt.Errorf("profile of %s: %w", agent, catalog.ErrNotFound)
	}
	var p feed.Profile
	if err := json.Unmarshal(d.Source, &p); err != nil {
		return feed.Profile{}, fmt.Errorf("profile of %s: %w", agent, err)
	}
	return p, nil
}

// PutProfile implements [catalog.Profiles].
func (c *Catalog) PutProfile(ctx context.Context, agent string, p feed.Profile) error {
	return c.changeProfile(ctx, agent, func(stored *feed.Profile) bool {
		muted := stored.MutedItems
		if *stored = p; p.MutedItems == nil {
			stored.MutedItems = muted
		}
		return true
	})
}

// MuteItems implements [catalog.Profiles].
func (c *Catalog) MuteItems(ctx context.Context, agent string, groups []string) error {
	return c.changeProfile(ctx, agent, func(stored *feed.Profile) bool { return stored.Hide(groups) })
}

// changeProfile reads, changes and writes, and does so again where somebody
// else has written meanwhile; one of those who meet always gets through. Nothing
// is written where change answers false.
func (c *Catalog) changeProfile(ctx context.Context, agent string, change func(*feed.Profile) bool) error {
	for {
		found, err := c.get(ctx, []esindex.DocID{{Index: c.agents, ID: agent}})
		if err != nil {
			return err
		}
		p, err := c.profile(found[0], agent)
		if err != nil && !errors.Is(err, catalog.ErrNotFound) {
			return err
		}
		if !change(&p) {
			return nil
		}
		if err := c.ensureBeside(ctx); err != nil {
			return err
		}
		doc, err := json.Marshal(p)
		if err != nil {
			return fmt.Errorf("%w: %w", feed.ErrBadProfile, err)
		}
		var b bulk
		b.addOver(&found[0], agent, doc)
		answer, err := c.bulk(ctx, c.agents, "", &b)
		if err != nil {
			return err
		}
		if answer[0].Status != http.StatusConflict {
			return answer[0].err(feed.ErrBadProfile)
		}
	}
}

// addOver adds a document that takes the place of the one that was read, and
// of no later one.
func (b *bulk) addOver(before *esindex.Document, id string, doc []byte) {
	if len(before.Source) == 0 {
		b.add("create", id, doc, 0)
		return
	}
	b.replace(&esindex.Document{ID: id, SeqNo: before.SeqNo, Term: before.Term}, doc, 0)
}

// replace adds a document that takes the place of the one that was read, unless
// that one has changed meanwhile or is gone.
func (b *bulk) replace(before *esindex.Document, doc []byte, item int) {
	quoted, _ := json.Marshal(before.ID) // a string can always be encoded
	b.body = fmt.Appendf(b.body, `{"index":{"_id":%s,"if_seq_no":%d,"if_primary_term":%d}}`+"\n%s\n", quoted, before.SeqNo, before.Term, doc)
	b.of = append(b.of, item)
}

// ensureBeside makes the index of profiles before the first one is written.
// Elasticsearch would make it by itself then, with a field for every tag, and
// refuse the profile of somebody who likes both "a.b" and "a.b.c".
func (c *Catalog) ensureBeside(ctx context.Context) error {
	if c.besideMade.Load() {
		return nil
	}
	if _, err := esindex.EnsureBeside(ctx, c.client, c.items, esindex.Definition{}); err != nil {
		return c.contractError(err)
	}
	c.besideMade.Store(true)
	return nil
}

// RemoveProfile implements [catalog.Profiles].
func (c *Catalog) RemoveProfile(ctx context.Context, agent string) error {
	return c.delete(ctx, c.agents, agent, "")
}
