package elastic

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// Profile implements [catalog.Profiles]. Reads by id are in real time: they
// see a write before any refresh.
func (c *Catalog) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	found, err := c.get(ctx, []docID{{c.agents, agent}})
	if err != nil {
		return feed.Profile{}, err
	}
	return c.profile(found[0], agent)
}

func (c *Catalog) profile(d document, agent string) (feed.Profile, error) {
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
	doc, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("%w: %w", feed.ErrBadProfile, err)
	}
	if err := c.ensureBeside(ctx); err != nil {
		return err
	}
	var b bulk
	b.add("index", agent, doc, 0)
	answer, err := c.bulk(ctx, c.agents, "", &b)
	if err != nil {
		return err
	}
	return answer[0].err(feed.ErrBadProfile)
}

// ensureBeside makes the indices of profiles and of the ranking before the
// first document is written to one of them. Elasticsearch would make it by
// itself then, with a field for every tag, and refuse the profile of somebody
// who likes both "a.b" and "a.b.c".
func (c *Catalog) ensureBeside(ctx context.Context) error {
	if c.besideMade.Load() {
		return nil
	}
	if _, err := esindex.EnsureBeside(ctx, c.client, c.items, esindex.Definition{}); err != nil {
		return c.explain(err)
	}
	c.besideMade.Store(true)
	return nil
}

// RemoveProfile implements [catalog.Profiles].
func (c *Catalog) RemoveProfile(ctx context.Context, agent string) error {
	return c.delete(ctx, c.agents, agent, "")
}
