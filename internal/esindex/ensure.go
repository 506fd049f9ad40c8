package esindex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Agents is the index of the profiles that belongs to an index of items.
func Agents(index string) string { return index + "-agents" }

// Rankings is the index of the ranking's versions that belongs to an index of
// items.
func Rankings(index string) string { return index + "-ranking" }

// Definition says how our own indices are made. The zero value is one shard,
// Elasticsearch's own number of replicas and its refresh interval.
type Definition struct {
	Fields          Fields
	Shards          int    // of the item index; the scores of one shard are those of the memory backend
	Replicas        *int   // nil: as the cluster does by default
	RefreshInterval string // "1s"; "" as the cluster does by default
}

// tokensAnalyzer cuts at spaces: what is written in the token fields are tokens.
const tokensAnalyzer = "whitespace"

type object = map[string]any

// Items is the body that creates the item index.
func (d Definition) Items() ([]byte, error) {
	f := d.Fields.WithDefaults()
	if err := f.Validate(); err != nil {
		return nil, err
	}
	keyword, text := object{"type": "keyword"}, object{"type": "text", "analyzer": "standard"}
	tokens := object{"type": "text", "analyzer": tokensAnalyzer, "norms": false} // nothing but whether they stand there counts
	stored, count := object{"type": "keyword", "index": false, "doc_values": false}, object{"type": "long"}
	properties := object{
		f.GroupID: keyword, f.AuthorID: keyword, f.Lang: keyword, f.Tags: keyword,
		f.Title: text, f.Summary: text, f.URL: stored, f.ImageURL: stored,
		f.UpdateTime: object{"type": "date", "format": "epoch_second"},
		f.Popularity: count, f.Likes: count, f.Comments: count,
		f.TitleTokens: tokens, f.SummaryTokens: tokens,
	}
	maps.Copy(properties, traitProperties(f))
	maps.Copy(properties, liveProperties(f))
	delete(properties, None)
	if f.ID != MetaID {
		properties[f.ID] = keyword
	}
	return json.Marshal(object{
		"settings": d.settings(max(1, d.Shards)),
		// dynamic false: business fields are kept in the document and never
		// become fields of the index, whatever their names and types.
		"mappings": object{"dynamic": false, "properties": properties},
	})
}

// traitProperties maps the fields of what a page is varied by that Freshet fills in.
func traitProperties(f Fields) object {
	read := object{"type": "keyword", "index": false} // from doc values alone
	return object{f.Site: read, FirstTag: read, Story: read}
}

// Extends reports whether [Extend] adds the field, named as in a [Problem].
func Extends(field string) bool {
	return slices.Contains([]string{"site", "sum_2h", "epoch_2h", "sum_2d", "epoch_2d"}, field)
}

// Extend adds to an index of ours what its mapping lacks because an older version
// made it: documents have the fields from when they are put again. It answers
// the names of the fields it added, which a schema read before does not have.
func Extend(ctx context.Context, client Client, index string, s Schema, d Definition) (added []string, err error) {
	names := d.Fields.WithDefaults()
	missing := object{}
	has := []string{s.Traits.Site, s.Traits.Tag, s.Traits.Story}
	lacking := traitProperties(names)
	if !s.Live {
		maps.Copy(lacking, liveProperties(names))
	}
	for name, property := range lacking {
		if name != None && !slices.Contains(has, name) {
			missing[name] = property
			added = append(added, name)
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	body, err := json.Marshal(object{"properties": missing})
	if err != nil {
		return nil, err
	}
	slices.Sort(added)
	if err := Do(ctx, client, http.MethodPut, "/"+index+"/_mapping", "", body, nil); err != nil {
		return nil, fmt.Errorf("index %s: adding %s to its mapping: %w", index, strings.Join(added, ", "), err)
	}
	return added, nil
}

// Profiles is the body that creates the index of profiles, and that of the
// ranking's versions: documents that are only ever read by their id, so nothing
// of them is indexed.
func (d Definition) Profiles() ([]byte, error) {
	return json.Marshal(object{"settings": d.settings(1), "mappings": object{"enabled": false}})
}

func (d Definition) settings(shards int) object {
	s := object{"number_of_shards": shards}
	if d.Replicas != nil {
		s["number_of_replicas"] = *d.Replicas
	}
	if d.RefreshInterval != "" {
		s["refresh_interval"] = d.RefreshInterval
	}
	return s
}

// Ensure creates the item index and the two that belong to it, of profiles and
// of the ranking, where they are missing and answers the names of those it
// made. What exists gets its [WriteAlias] and is otherwise left as it is. Several
// servers may call it at once.
func Ensure(ctx context.Context, client Client, index string, d Definition) (created []string, err error) {
	bodies, err := d.bodies(index)
	if err != nil {
		return nil, err
	}
	return ensureAll(ctx, client, bodies)
}

func ensureAll(ctx context.Context, client Client, bodies []indexBody) (created []string, err error) {
	for _, b := range bodies {
		made, err := ensureOne(ctx, client, b.index, b.body)
		if err != nil {
			return created, fmt.Errorf("index %s: %w", b.index, err)
		}
		if made {
			created = append(created, b.index)
		}
	}
	return created, nil
}

// EnsureBeside creates what [Ensure] does except for the item index, for one
// that exists.
func EnsureBeside(ctx context.Context, client Client, index string, d Definition) (created []string, err error) {
	bodies, err := d.beside(index)
	if err != nil {
		return nil, err
	}
	return ensureAll(ctx, client, bodies)
}

type indexBody struct {
	index string
	body  []byte
}

func (d Definition) bodies(index string) ([]indexBody, error) {
	if index == "" || strings.ContainsAny(index, `*,/\?"<>| #:`) {
		return nil, fmt.Errorf("elasticsearch.index: %q cannot be the name of a new index", index)
	}
	items, err := d.Items()
	if err != nil {
		return nil, err
	}
	beside, err := d.beside(index)
	return append([]indexBody{{index, withAlias(items, index)}}, beside...), err
}

// beside are the indices that belong to an index of items.
func (d Definition) beside(index string) ([]indexBody, error) {
	body, err := d.Profiles()
	agents, rankings := Agents(index), Rankings(index)
	return []indexBody{{agents, withAlias(body, agents)}, {rankings, withAlias(body, rankings)}}, err
}

// withAlias adds the write alias to the body that creates an index.
func withAlias(body []byte, index string) []byte {
	if len(body) == 0 {
		return nil // there was an error
	}
	return fmt.Appendf(nil, `{"aliases":{%q:{}},%s`, WriteAlias(index), body[1:])
}

func ensureOne(ctx context.Context, client Client, index string, body []byte) (bool, error) {
	// Asking first keeps a server that may not create indices working, and an
	// alias of this name is as good as an index.
	err := Do(ctx, client, http.MethodHead, "/"+index, "", nil, nil)
	if err == nil {
		return false, addWriteAlias(ctx, client, index)
	}
	var e *Error
	if !errors.As(err, &e) || e.Status != http.StatusNotFound {
		return false, err
	}
	err = Do(ctx, client, http.MethodPut, "/"+index, "", body, nil)
	if err == nil || !IsType(err, "resource_already_exists_exception") {
		return err == nil, err
	}
	// Another server was faster. Its index may have no started shard yet, and
	// a search would fail until it has.
	return false, Do(ctx, client, http.MethodGet, "/_cluster/health/"+index, "wait_for_status=yellow&timeout=10s", nil, nil)
}
