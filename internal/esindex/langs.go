package esindex

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// maxLangs is how many languages of an index are told apart. One that has more keeps
// something else in the field.
const maxLangs = 1000

// ReadLangs reads the values of the field of languages, so that a search can name those that a
// reader takes. It does not ask by a pattern: a cluster may refuse patterns
// (search.allow_expensive_queries), and many languages make one that is too long. Without doc
// values, and where Elasticsearch refuses the question, they stay unknown.
func (s *Schema) ReadLangs(ctx context.Context, client Client, index string) error {
	field := s.Fields.Lang
	if s.Langs = ""; field == None || !s.Loaded.Lang || s.Folds() {
		return nil
	}
	ask, err := json.Marshal(object{
		"size": 0, "track_total_hits": false,
		"aggs": object{"langs": object{"terms": object{"field": field, "size": maxLangs}}},
	})
	if err != nil {
		return err
	}
	var got struct {
		Aggregations struct {
			Langs struct {
				Others  int `json:"sum_other_doc_count"`
				Buckets []struct {
					Key string `json:"key"`
				} `json:"buckets"`
			} `json:"langs"`
		} `json:"aggregations"`
	}
	err = Do(ctx, client, http.MethodPost, "/"+index+"/_search", "allow_partial_search_results=false", ask, readJSON(&got))
	if Refused(err) || IsType(err, "too_many_buckets_exception") || got.Aggregations.Langs.Others > 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the languages of %s: %w", index, err)
	}
	var langs []string
	for _, value := range got.Aggregations.Langs.Buckets {
		langs = append(langs, value.Key)
	}
	s.Langs = strings.Join(langs, "\n")
	return nil
}
