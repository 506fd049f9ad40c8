package esindex

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/freshet/freshet/feed"
)

// Agents returns the name of the index of profiles that belongs to an index of items.
func Agents(index string) string { return index + "-agents" }

// Rankings returns the name of the index of ranking versions that belongs to an index of items.
func Rankings(index string) string { return index + "-ranking" }

// tokensAnalyzer splits at spaces: the token fields contain tokens already.
const tokensAnalyzer = "whitespace"

type object = map[string]any

// foldedField is the definition of [FoldedTags] and [LangKeys], which are only searched.
var foldedField = object{"type": "keyword", "doc_values": false}

// sumField is the definition of a sum or a count of live popularity.
var sumField = object{"type": "double", "index": false}

// items returns the mapping of an index of items.
func items(f Fields) (object, error) {
	f = f.WithDefaults()
	if err := f.Validate(); err != nil {
		return nil, err
	}
	keyword, text := object{"type": "keyword"}, object{"type": "text", "analyzer": "standard"}
	tokens := object{"type": "text", "analyzer": tokensAnalyzer, "norms": false} // only matches count, not the length of the field
	stored, count := object{"type": "keyword", "index": false, "doc_values": false}, object{"type": "long"}
	varied := object{"type": "keyword", "index": false} // read from doc values only
	compared := foldedField
	// Sums are only used in computations. Epochs are only compared, and a keyword's postings are
	// read lazily, while a number's matches are collected before the query begins.
	sum, epoch := sumField, object{"type": "keyword"}
	properties := object{
		f.GroupID: keyword, f.AuthorID: keyword, f.Lang: keyword, f.Tags: keyword,
		f.Title: text, f.Summary: text, f.URL: stored, f.ImageURL: stored,
		f.UpdateTime: object{"type": "date", "format": "epoch_second"},
		f.Popularity: count, f.Likes: count, f.Comments: count,
		f.TitleTokens: tokens, f.SummaryTokens: tokens,
		f.Site: varied, FirstTag: varied, Story: varied,
		FoldedTags: compared, LangKeys: compared,
		f.Sum2h: sum, f.Epoch2h: epoch, f.Sum2d: sum, f.Epoch2d: epoch,
		f.LastAct: count, f.Count2h: sum, f.Count2d: sum,
	}
	delete(properties, None)
	if f.ID != MetaID {
		properties[f.ID] = keyword
	}
	// dynamic false: business fields are stored in the document and never become fields of the
	// index, whatever their names and types.
	return object{"dynamic": false, "properties": properties}, nil
}

// Ensure creates the item index, with these fields, and its indices of profiles and of ranking
// versions, if they do not exist, and returns the names of the created ones. They have one shard,
// so that scores equal those of the memory backend. An existing index gets its [WriteAlias] and is
// otherwise left unchanged. Several servers may call it concurrently.
func Ensure(ctx context.Context, client Client, index string, f Fields) (created []string, err error) {
	if index == "" || strings.ContainsAny(index, `*,/\?"<>| #:`) {
		return nil, fmt.Errorf("elasticsearch.index: %q cannot be the name of a new index", index)
	}
	mappings, err := items(f)
	if err != nil {
		return nil, err
	}
	made, err := ensureOne(ctx, client, index, mappings)
	if err != nil {
		return nil, err
	}
	beside, err := EnsureBeside(ctx, client, index)
	return append(made, beside...), err
}

// EnsureBeside creates the indices of [Ensure] except the item index, for one that exists. Their
// documents are not indexed, since they are only read by id.
func EnsureBeside(ctx context.Context, client Client, index string) (created []string, err error) {
	for _, name := range []string{Agents(index), Rankings(index)} {
		made, err := ensureOne(ctx, client, name, object{"enabled": false})
		if err != nil {
			return created, err
		}
		created = append(created, made...)
	}
	return created, nil
}

// AddFields adds the fields of folded tags, of languages and of the latest act to an index that an
// older version of Freshet created without them, and those of the half-lives of a set.
func AddFields(ctx context.Context, client Client, index string, f Fields, keep feed.HalfLives) error {
	f = f.WithDefaults()
	properties := object{
		FoldedTags: foldedField, LangKeys: foldedField,
		f.LastAct: object{"type": "long"}, f.Count2h: sumField, f.Count2d: sumField,
	}
	delete(properties, None)
	for h := range keep.All() {
		more := MoreFieldsOf(h)
		properties[more.Sum], properties[more.Epoch], properties[more.Count] = sumField, object{"type": "keyword"}, sumField
	}
	return Ask(ctx, client, http.MethodPut, "/"+index+"/_mapping", "", object{"properties": properties}, nil)
}

// ensureOne creates an index if it does not exist, and then returns its name.
func ensureOne(ctx context.Context, client Client, index string, mappings object) (created []string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("index %s: %w", index, err)
		}
	}()
	// The check comes first so that a server without the right to create indices works, and so that
	// an alias of this name counts as an index.
	err = Do(ctx, client, http.MethodHead, "/"+index, "", nil, nil)
	if err == nil {
		return nil, addWriteAlias(ctx, client, index)
	}
	var e *Error
	if !errors.As(err, &e) || e.Status != http.StatusNotFound {
		return nil, err
	}
	err = Ask(ctx, client, http.MethodPut, "/"+index, Patience(ctx), object{
		"aliases": object{WriteAlias(index): object{}}, "settings": object{"number_of_shards": 1}, "mappings": mappings,
	}, nil)
	if err == nil {
		return []string{index}, nil
	}
	if !IsType(err, "resource_already_exists_exception") {
		return nil, err
	}
	// Another server created it first. The index may have no started shard yet, and searches would
	// fail until it has.
	return nil, Do(ctx, client, http.MethodGet, "/_cluster/health/"+index, "wait_for_status=yellow&timeout=10s", nil, nil)
}
