package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/esindex"
)

// Profile implements [catalog.Profiles].
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
	if d.Broken {
		return feed.Profile{}, fmt.Errorf("the profile of %s is damaged, put it again: Elasticsearch cannot write it as JSON", agent)
	}
	return catalog.ParseProfile(agent, d.Source)
}

// ProfilesOf implements [catalog.Profiles].
func (c *Catalog) ProfilesOf(ctx context.Context, agents []string) ([]feed.Profile, error) {
	ids := convert.Each(agents, func(agent string) esindex.DocID { return esindex.DocID{Index: c.agents, ID: agent} })
	found, err := c.get(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]feed.Profile, len(agents))
	var down error
	for i, agent := range agents {
		switch p, err := c.profile(found[i], agent); {
		case err == nil:
			out[i] = p
		case errors.Is(err, catalog.ErrUnavailable):
			down = err
		case !errors.Is(err, feed.ErrNotFound):
			return nil, err
		}
	}
	return out, down
}

// changeRecord reads, changes and writes a record, and retries if another writer changed it in
// the meantime; of concurrent writers one always succeeds.
func (c *Catalog) changeRecord(ctx context.Context, _, agent string, change catalog.RecordChange) error {
	for {
		found, err := c.get(ctx, []esindex.DocID{{Index: c.agents, ID: agent}})
		if err != nil {
			return err
		}
		if err := c.failure(found[0], c.agents); err != nil {
			return err
		}
		var r catalog.Record
		exists := found[0].Broken || len(found[0].Source) > 0
		if exists {
			// A damaged record is reported when it is read; storing another repairs it.
			r, _ = catalog.ParseRecord(found[0].Source)
		}
		changed, err := change(&r, exists)
		if err != nil || !changed {
			return err
		}
		conflict, err := c.writeRecord(ctx, agent, &found[0], &r)
		if !conflict {
			return err
		}
	}
}

// writeRecord replaces the document that was read with a record, or deletes it if the record is
// empty. conflict reports that another writer changed it in the meantime.
func (c *Catalog) writeRecord(ctx context.Context, agent string, before *esindex.Document, r *catalog.Record) (conflict bool, err error) {
	var b bulk
	stored, at := len(before.Source) > 0 || before.Broken, &esindex.Document{ID: agent, SeqNo: before.SeqNo, Term: before.Term}
	switch {
	case !r.Empty():
		doc, err := json.Marshal(r)
		if err != nil {
			return false, feed.Errorf(feed.ErrInvalid, "bad profile: %w", err)
		}
		action := "create"
		if stored {
			action = "index"
		}
		b.add(action, at, doc, 0)
	case !stored:
		return false, nil
	default:
		b.add("delete", at, nil, 0)
	}
	answer, err := c.bulk(ctx, c.agents, "", &b)
	if err != nil {
		return false, err
	}
	if answer[0].Status == http.StatusConflict {
		return true, nil
	}
	return false, answer[0].err(feed.ErrInvalid, "bad profile")
}

// Agents draws n of the agents with a profile, as defined by offline.Source, using
// Elasticsearch's random_score. A new profile can be drawn after a refresh of its index.
func (c *Catalog) Agents(ctx context.Context, n int, seed int64) ([]string, error) {
	// The draw uses each document's _seq_no: _id would need fielddata, which clusters may
	// forbid, and no other field is indexed.
	random := map[string]any{"seed": seed, "field": "_seq_no"}
	hits, err := esindex.Search[esindex.Document](ctx, c.client, c.agents, "", map[string]any{
		"size": n, "_source": []string{"learned.alone", "learned.features.kind"}, "track_total_hits": false,
		"query": map[string]any{"function_score": map[string]any{"random_score": random, "boost_mode": "replace"}},
	})
	if esindex.Missing(err) {
		return []string{}, nil
	}
	if err != nil {
		return nil, c.contractError(err)
	}
	ids := make([]string, 0, len(hits))
	for _, hit := range hits {
		// An unknown agent was erased.
		if r, err := catalog.ParseRecord(hit.Source); err != nil || r.Known() {
			ids = append(ids, hit.ID)
		}
	}
	slices.Sort(ids)
	return ids, nil
}
