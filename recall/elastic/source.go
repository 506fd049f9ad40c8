// Package elastic recalls candidates with one function_score query of
// Elasticsearch, over the index the elastic catalog keeps its items in or
// over an existing one.
package elastic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

// Name is the source of this package's candidates.
const Name = "elastic"

// keepAlive is how long a point in time outlives the round that used it last.
const keepAlive = "30s"

var illegalHits = promauto.NewCounter(prometheus.CounterOpts{
	Name: "freshet_recall_elastic_illegal_total",
	Help: "Hits left out because their id or group has characters an id cannot have.",
})

// Config says which index is searched.
type Config struct {
	Index  string              // name, alias or pattern; required
	Schema *esindex.LateSchema // what esindex.Inspect finds; nil: an index made by esindex.Ensure with default names
	Logger *slog.Logger        // nil: nothing is logged
}

// Source is a [recall.Source] over one Elasticsearch index. An item can be
// recalled once the index has been refreshed after it was put. While the schema
// is not known nothing can be: [recall.ErrUnavailable].
type Source struct {
	client  esindex.Client
	index   string
	schema  *esindex.LateSchema
	log     *slog.Logger
	illegal sync.Once
}

var _ recall.Source = (*Source)(nil)

// New returns a source; it asks Elasticsearch nothing yet.
func New(client esindex.Client, cfg Config) *Source {
	return &Source{client: client, index: cfg.Index, schema: cfg.Schema.OrOwn(), log: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))}
}

// Name is "elastic".
func (s *Source) Name() string { return Name }

// Recall implements [recall.Source]. At most 10,000 candidates come in one
// round, whatever q.N. Where the id is the document's _id, ties are not
// broken by id, and a cursor expires 30 seconds after its round.
func (s *Source) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	if q.N <= 0 {
		return recall.Result{}, nil
	}
	schema, err := s.schema.Get()
	if err != nil {
		return recall.Result{}, s.contractError(err)
	}
	at, err := parseCursor(q.After, schema)
	if err != nil {
		return recall.Result{}, err
	}
	if schema.MetaID() && at.point == "" {
		if at.point, err = s.openPoint(ctx); err != nil {
			return recall.Result{}, s.contractError(err)
		}
	}
	result, point, err := s.search(ctx, schema, &q, at)
	if err != nil {
		return recall.Result{}, s.contractError(err)
	}
	if result.Next == "" && point != "" {
		s.closePoint(ctx, point)
	}
	return result, nil
}

func (s *Source) search(ctx context.Context, schema *esindex.Schema, q *feed.Query, at cursor) (result recall.Result, point string, err error) {
	request, err := body(q, schema, at)
	if err != nil {
		return result, "", err
	}
	// A shard that does not answer must be an error: a page made of the other
	// shards would look whole. What the answer is stripped of saves a third
	// of its bytes.
	path := "/" + s.index + "/_search"
	params := "allow_partial_search_results=false&filter_path=error,status,hits.hits.sort,hits.hits.fields"
	if schema.MetaID() {
		path = "/_search" // the point in time names the index
		params += ",hits.hits._id,pit_id"
	}
	size := min(q.N, maxSize)
	err = esindex.Do(ctx, s.client, http.MethodPost, path, params, request, func(data []byte) error {
		got, err := decode(data, size, schema)
		if err != nil {
			return err
		}
		s.countIllegal(ctx, got.illegal)
		point = got.point
		result.Candidates = got.candidates
		if got.hits >= size {
			result.Next = cursor{point: point, after: got.last}.String()
		}
		return nil
	})
	return result, point, err
}

func (s *Source) countIllegal(ctx context.Context, n int) {
	if n == 0 {
		return
	}
	illegalHits.Add(float64(n))
	s.illegal.Do(func() {
		s.log.WarnContext(ctx, "items are left out of recall because their id or group_id is not valid", "index", s.index, "items", n)
	})
}

func (s *Source) openPoint(ctx context.Context) (string, error) {
	var opened struct {
		ID string `json:"id"`
	}
	err := esindex.Do(ctx, s.client, http.MethodPost, "/"+s.index+"/_pit", "keep_alive="+keepAlive, nil,
		func(data []byte) error { return json.Unmarshal(data, &opened) })
	return opened.ID, err
}

// closePoint frees a point in time that is not used any more. It would expire by
// itself, so a failure does not matter.
func (s *Source) closePoint(ctx context.Context, point string) {
	request, err := json.Marshal(map[string]string{"id": point})
	if err == nil {
		_ = esindex.Do(ctx, s.client, http.MethodDelete, "/_pit", "", request, nil)
	}
}

// contractError turns an error of the request into one of the contract.
func (s *Source) contractError(err error) error {
	switch {
	case esindex.IsType(err, "search_context_missing_exception"):
		return fmt.Errorf("%w: it has expired: %w", recall.ErrBadCursor, err)
	case errors.Is(err, esindex.ErrUnavailable):
		return fmt.Errorf("%w: %w", recall.ErrUnavailable, err)
	case esindex.IsType(err, "index_not_found_exception"):
		return fmt.Errorf("searching %s: %w; create it with freshet doctor --fix", s.index, err)
	}
	return fmt.Errorf("searching %s: %w", s.index, err)
}

// cursor is where a round ended: the last hit's sort values, and the point in
// time they belong to where there is one.
type cursor struct {
	point string
	after json.RawMessage
}

// String writes the cursor as point|values; base64, which the point is
// written in, has no bar.
func (c cursor) String() string { return c.point + "|" + string(c.after) }

func parseCursor(text string, schema *esindex.Schema) (cursor, error) {
	if text == "" {
		return cursor{}, nil
	}
	point, after, ok := strings.Cut(text, "|")
	var values []any // decoded, since Elasticsearch refuses a number that no float holds
	if !ok || (point != "") != schema.MetaID() || json.Unmarshal([]byte(after), &values) != nil {
		return cursor{}, fmt.Errorf("%w: %q", recall.ErrBadCursor, text)
	}
	v, err := parseSort([]byte(after), schema)
	if err == nil && (!isNumber(v.score) || !isNumber(v.time)) {
		err = errSort
	}
	if err != nil {
		return cursor{}, fmt.Errorf("%w: %q: %w", recall.ErrBadCursor, text, err)
	}
	return cursor{point: point, after: json.RawMessage(after)}, nil
}

func isNumber(v []byte) bool {
	var n json.Number
	return len(v) > 0 && v[0] != '"' && json.Unmarshal(v, &n) == nil && n != ""
}
