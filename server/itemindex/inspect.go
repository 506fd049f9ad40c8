package itemindex

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
)

// Inspect reads the mapping and the languages of the items. An index that Freshet manages must have
// the token fields: without them keywords would be matched by another analyzer, to which C++ is C,
// and stored items would never get them.
func Inspect(ctx context.Context, client esindex.Client, cfg configs.Config) (esindex.Report, error) {
	report, err := inspect(ctx, client, cfg)
	if err == nil && report.Err() == nil {
		err = report.Schema.ReadLangs(ctx, client, cfg.Elasticsearch.Index)
	}
	return report, err
}

// inspect does the same without the languages.
func inspect(ctx context.Context, client esindex.Client, cfg configs.Config) (esindex.Report, error) {
	report, err := esindex.Inspect(ctx, client, cfg.Elasticsearch.Index, Fields(cfg))
	if err == nil && cfg.Elasticsearch.ManageIndex && !report.Schema.Tokens {
		report.Problems = append(report.Problems, esindex.Problem{Field: NoTokens, Name: esindex.DefaultTitleTokens, Fatal: true, Message: makeAnew})
	}
	if err == nil {
		checkName(cfg.Elasticsearch.Index, &report)
		err = checkStored(ctx, client, cfg, &report)
	}
	report.Schema.Others = !cfg.Elasticsearch.ManageIndex
	return report, err
}

// Written returns the indices that Freshet writes to: into an item index that is not its own it need not
// write.
func Written(cfg configs.Config) []string {
	index := cfg.Elasticsearch.Index
	all := []string{esindex.Agents(index), esindex.Rankings(index)}
	if cfg.Elasticsearch.ManageIndex {
		all = append(all, index)
	}
	return all
}

// checkStored rejects indices managed by Freshet whose documents cannot be read back: items would
// be accepted but not shown, and profiles with readers' mutes would be lost. It also rejects indices for
// profiles and rankings that have the items of another deployment.
func checkStored(ctx context.Context, client esindex.Client, cfg configs.Config, report *esindex.Report) error {
	own, index := Written(cfg), cfg.Elasticsearch.Index
	stored, err := esindex.StoredIn(ctx, client, own)
	if esindex.Forbidden(err) {
		report.Problems = append(report.Problems, esindex.Problem{Message: fmt.Sprintf(
			"whether the documents of %s can be read back could not be checked, because the user may not read the mappings: "+
				"give it the privilege view_index_metadata for these indices: %v", strings.Join(own, ", "), err)})
		return nil
	}
	fatal := func(text string, args ...any) {
		report.Problems = append(report.Problems, esindex.Problem{Fatal: true, Message: fmt.Sprintf(text, args...)})
	}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		if !stored[name].Whole {
			fatal("%s has _source disabled or filtered, maybe by an index template that matches its name: its documents cannot be read back; "+
				"exclude it from the template, delete the index, and start freshet, which recreates it", name)
		}
		beside := name == esindex.Agents(index) || name == esindex.Rankings(index)
		if beside && stored[name].Items {
			fatal("profiles or rankings would be stored in %s, which has the items of another deployment: name another index in elasticsearch.index", name)
		}
	}
	return err
}

// checkName rejects a name of the index that is the alias by which another deployment writes.
func checkName(index string, report *esindex.Report) {
	of := report.Schema.Indices
	if of != "" && esindex.WriteAlias(of) == index {
		report.Problems = append(report.Problems, esindex.Problem{Fatal: true, Message: fmt.Sprintf(
			"%s is the alias by which another deployment writes to its index %s: name another index in elasticsearch.index", index, of)})
	}
}

// NoTokens is the field of the problem that an index managed by Freshet lacks the token fields.
const NoTokens = "title_tokens"

const makeAnew = "the index lacks the token fields that Freshet creates; delete it or name another one in elasticsearch.index, start freshet, " +
	"which creates it, and upload the items again; if the index is not Freshet's, set elasticsearch.manage_index: false"

// Fields returns the configured field names for the index package. An empty name means that the
// index has no such field. Fields that Freshet defines have the same names in every index that has
// them.
func Fields(cfg configs.Config) esindex.Fields {
	f := cfg.Elasticsearch.Fields
	none := func(name string) string { return cmp.Or(name, esindex.None) }
	return esindex.Fields{
		ID: f.ID, Title: f.Title, UpdateTime: f.UpdateTime,
		GroupID: none(f.GroupID), Summary: none(f.Summary), URL: none(f.URL), ImageURL: none(f.ImageURL),
		AuthorID: none(f.AuthorID), Lang: none(f.Lang), Tags: none(f.Tags),
		Likes: none(f.Likes), Comments: none(f.Comments),
	}
}
