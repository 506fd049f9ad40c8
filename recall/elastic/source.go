// Package elastic recalls candidates with one function_score query of Elasticsearch, over the
// index of the elastic catalog or over an existing one.
package elastic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
)

// Name is the source name of this package's candidates.
const Name = "elastic"

// Config configures a [Source].
type Config struct {
	Index  string              // name, alias or pattern; required
	Schema *esindex.LateSchema // from esindex.Inspect; required
	Logger *slog.Logger        // nil disables logging
}

// Source is a [recall.Source] over one Elasticsearch index. An item can be recalled once the
// index has been refreshed after the item was put. Until the schema is known, recalls fail with
// [recall.ErrUnavailable].
type Source struct {
	client esindex.Client
	index  string
	schema *esindex.LateSchema
	log    *slog.Logger
	left   sync.Once // logs only the first search that leaves hits out

	refused rate.Sometimes // limits the log to one refusal per minute
}

var _ recall.Source = (*Source)(nil)

// New returns a source. It makes no request.
func New(client esindex.Client, cfg Config) *Source {
	return &Source{client: client, index: cfg.Index, schema: cfg.Schema, log: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)), refused: rate.Sometimes{Interval: time.Minute}}
}

// Name returns "elastic".
func (s *Source) Name() string { return Name }

// Recall implements [recall.Source]. Whatever q.N, a round has at most as many candidates as
// the index allows hits per search: index.max_result_window, by default 10,000. If the id is
// the document's _id, ties are not broken by id.
func (s *Source) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	if q.N <= 0 {
		return recall.Result{}, nil
	}
	schema, err := s.schema.Get()
	if err != nil {
		return recall.Result{}, s.contractError(err)
	}
	got, err := s.round(ctx, schema, &q)
	if !misfit(&q, &got, err) || !s.schema.Recheck(ctx, schema, err) {
		return s.result(ctx, &got, err)
	}
	// The index or its mapping has changed.
	if schema, err = s.schema.Get(); err == nil && q.After != "" {
		err = fmt.Errorf("%w: the index changed between two rounds", esindex.ErrUnavailable)
	}
	if err == nil {
		got, err = s.round(ctx, schema, &q)
	}
	return s.result(ctx, &got, err)
}

// misfit reports whether the answer may come from an index whose mapping differs from the
// schema. An empty first round often means that the items' times are stored in another format.
func misfit(q *feed.Query, got *answer, err error) bool {
	if err != nil {
		return esindex.Refused(err)
	}
	isFirst := q.After == "" && q.Since.IsZero()
	return got.foreign || isFirst && len(got.candidates) == 0
}

// round runs one search from the position of the query's cursor.
func (s *Source) round(ctx context.Context, schema *esindex.Schema, q *feed.Query) (answer, error) {
	at, err := parseCursor(q.After, schema)
	if err != nil {
		return answer{}, err
	}
	return s.search(ctx, schema, q, at)
}

// result completes a recall.
func (s *Source) result(ctx context.Context, got *answer, err error) (recall.Result, error) {
	if err == nil && got.foreign {
		err = errForeign
	}
	if esindex.Refused(err) && !esindex.Gone(err) {
		// The mapping or this profile's query causes the refusal. Readers still have their
		// sessions and the fallback list.
		s.refused.Do(func() {
			s.log.ErrorContext(ctx, "Elasticsearch rejects a search; its results are missing in the feeds of some or all readers; freshet doctor may show the cause", "index", s.index, "error", err)
		})
	}
	if err != nil {
		return recall.Result{}, s.contractError(err)
	}
	s.warnOfLeft(ctx, &got.left)
	return got.result(), nil
}

// Try is a recall that also returns how many hits were left out, by reason; "" if none.
func (s *Source) Try(ctx context.Context, q feed.Query) (recall.Result, string, error) {
	schema, err := s.schema.Get()
	if err != nil {
		return recall.Result{}, "", s.contractError(err)
	}
	got, err := s.search(ctx, schema, &q, cursor{})
	if err != nil {
		return recall.Result{}, "", s.contractError(err)
	}
	return got.result(), got.left.String(), nil
}

// result returns the recalled candidates.
func (a *answer) result() recall.Result {
	r := recall.Result{Candidates: a.candidates}
	if len(a.next.after) > 0 {
		r.Next = a.next.String()
	}
	return r
}

// errForeign is returned because a field that readers mute by may have another name in those
// indices.
var errForeign = fmt.Errorf("%w: the indices behind the name have changed", esindex.ErrUnavailable)

func (s *Source) search(ctx context.Context, schema *esindex.Schema, q *feed.Query, at cursor) (got answer, err error) {
	request, err := body(q, schema, at)
	if err != nil {
		return got, err
	}
	// A shard that does not answer must be an error: a page made from the other shards would
	// look complete. The filter_path saves a third of the response's bytes.
	params := "allow_partial_search_results=false&filter_path=error,status,hits.hits.sort,hits.hits.fields"
	if schema.MetaID() {
		params += ",hits.hits._id"
	}
	if schema.Indices != "" {
		params += ",hits.hits._index"
	}
	size := min(q.N, schema.MaxHits())
	err = esindex.Do(ctx, s.client, http.MethodPost, "/"+s.index+"/_search", params, request, func(data []byte) (err error) {
		got, err = decode(data, size, schema, q.Origin.Unix())
		return err
	})
	if err == nil && got.hits >= size {
		got.next = cursor{after: got.last, tied: got.tied}
		if bytes.Equal(got.last, at.after) { // the same sort values as before
			got.next.tied = append(got.next.tied, at.tied...)
		}
	}
	if err == nil && len(schema.Asked(schema.Unloaded, &q.Profile)) > 0 { // see mapped
		same, uuidErr := schema.Same(ctx, s.client, s.index)
		got.foreign, err = got.foreign || !same, uuidErr
	}
	return got, err
}

// contractError converts a request error (or nil) into one of the contract.
func (s *Source) contractError(err error) error {
	switch {
	case err == nil, errors.Is(err, recall.ErrBadCursor):
		return err
	case esindex.Missing(err):
		return fmt.Errorf("%w: searching %s: %w; create it with freshet doctor --fix, or restore it", recall.ErrUnavailable, s.index, err)
	case errors.Is(err, esindex.ErrUnavailable), esindex.Refused(err):
		return fmt.Errorf("%w: searching %s: %w", recall.ErrUnavailable, s.index, err)
	}
	return fmt.Errorf("searching %s: %w", s.index, err)
}

// cursor is the end of a round: the last hit's sort values. If the id is the document's _id,
// they end in the document's number in its shard, which another shard may also use; tied are
// the ids of the documents already returned with these values.
type cursor struct {
	after json.RawMessage
	tied  []string
}

// String encodes the cursor as |values or as |values followed by the tied ids.
func (c cursor) String() string {
	text := "|" + string(c.after)
	if len(c.tied) > 0 {
		ids, _ := json.Marshal(c.tied) // strings can always be encoded
		text += string(ids)
	}
	return text
}

// searchAfter returns the sort values after which a search continues. If there are tied ids,
// documents with the last number are searched again, so that none of another shard is skipped;
// the query excludes those of tied.
func (c cursor) searchAfter() json.RawMessage {
	if len(c.tied) == 0 {
		return c.after
	}
	at := bytes.LastIndexByte(c.after, ',') + 1
	number, _ := strconv.ParseInt(string(bytes.TrimRight(c.after[at:], "]")), 10, 64) // validated by parseCursor
	return fmt.Appendf(nil, "%s%d]", c.after[:at], number-1)
}

func parseCursor(text string, schema *esindex.Schema) (c cursor, err error) {
	if text == "" {
		return c, nil
	}
	c, ok := decodeCursor(text, schema)
	if !ok || c.String() != text {
		return cursor{}, fmt.Errorf("%w: %q", recall.ErrBadCursor, text)
	}
	return c, nil
}

// decodeCursor is parseCursor for a text that is not empty; it also accepts other spellings.
func decodeCursor(text string, schema *esindex.Schema) (c cursor, ok bool) {
	rest, ok := strings.CutPrefix(text, "|")
	if !ok {
		return c, false
	}
	parts := json.NewDecoder(strings.NewReader(rest))
	if err := parts.Decode(&c.after); err != nil {
		return c, false
	}
	var values []any // decoded, because Elasticsearch rejects a number that does not fit a float
	if err := json.Unmarshal(c.after, &values); err != nil || !goesOn(values, schema) {
		return c, false
	}
	if schema.MetaID() {
		if err := parts.Decode(&c.tied); err != nil || len(c.tied) == 0 {
			return c, false
		}
	}
	return c, true
}

// goesOn reports whether a search can continue after these values: two numbers, then the id and
// the group, each a string or null; or without an id field, the group and a whole number.
func goesOn(values []any, schema *esindex.Schema) bool {
	if len(values) != 4 {
		return false
	}
	numbers, texts := values[:2], values[2:]
	if schema.MetaID() {
		number, ok := values[3].(float64)
		inRange := number >= 0 && number < 1<<53
		if !ok || !inRange || number != math.Trunc(number) {
			return false
		}
		texts = values[2:3]
	}
	notNumber := func(v any) bool { _, is := v.(float64); return !is }
	notText := func(v any) bool { _, is := v.(string); return !is && v != nil }
	return !slices.ContainsFunc(numbers, notNumber) && !slices.ContainsFunc(texts, notText)
}
