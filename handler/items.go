package handler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/feed/words"
	"github.com/freshet/freshet/internal/gunzip"
)

// postItems answers POST /v1/items.
func (s *server) postItems(c *call) error {
	var in struct {
		IfNewer string `json:"if_newer"`
	}
	if err := c.decodeQuery(&in); err != nil {
		return err
	}
	switch in.IfNewer {
	case "true":
		return s.upload(c, s.deps.Ingest.ReadNewer)
	case "", "false":
		return s.upload(c, s.deps.Ingest.Read)
	}
	return fmt.Errorf("%w: if_newer must be true or false, not %.40q", feed.ErrInvalid, in.IfNewer)
}

// postCounts answers POST /v1/items/counts.
func (s *server) postCounts(c *call) error { return s.upload(c, s.deps.Ingest.Counts) }

// postGraphEvents answers POST /v1/graph/events.
func (s *server) postGraphEvents(c *call) error { return s.upload(c, s.deps.Social.Graph.Read) }

// upload reads a body, compressed or not, with read, which stores entries as they arrive. If the
// upload ends early, the answer reports what was stored before.
func (s *server) upload(c *call, read func(ctx context.Context, body io.Reader) (api.Upload, error)) error {
	if err := c.noQuery(); err != nil {
		return err
	}
	r := c.gin.Request
	if err := mayBeJSON(r); err != nil {
		return err
	}
	enc := contentEncoding(r)
	if enc != "" && enc != "gzip" {
		return fmt.Errorf("%w: Content-Encoding %q is not supported; send gzip or an uncompressed body", feed.ErrInvalid, enc)
	}
	if r.ContentLength > MaxItemsBody {
		return tooLarge("the body", MaxItemsBody)
	}
	ctx, err := c.slowly(s.loads, s.cfg.UploadTimeout)
	if err != nil {
		return err
	}
	defer c.done()
	sent := &bounded{r: r.Body, left: MaxItemsBody}
	body := &bounded{r: sent, left: MaxItemsBody}
	if enc == "gzip" {
		unzip, err := gunzip.NewReader(sent)
		if err != nil {
			return c.uploadError(ctx, err, sent, &bounded{err: err}, api.Upload{Errors: []api.Rejection{}})
		}
		body.r = unzip
	}
	report, err := read(ctx, body)
	if report.Errors == nil {
		report.Errors = []api.Rejection{}
	}
	if err != nil || sent.err != nil || body.err != nil {
		return c.uploadError(ctx, err, sent, body, report)
	}
	return c.succeed(report)
}

// slowly begins long work inside a gate, and extends the connection's deadlines.
func (c *call) slowly(g gate, limit time.Duration) (context.Context, error) {
	ctx, err := c.begin(g, limit)
	if err == nil {
		extendDeadlines(c.gin.Writer, c.gin.Request, limit)
	}
	return ctx, err
}

// extendDeadlines extends the read and write deadlines for a long call. The write deadline is set
// only if the server has one, because only then does the next request on the connection reset it.
func extendDeadlines(w http.ResponseWriter, r *http.Request, timeout time.Duration) {
	control := http.NewResponseController(w)
	until := time.Now().Add(timeout)
	// An error means that the connection has no deadlines to extend.
	_ = control.SetReadDeadline(until)
	if srv, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && srv.WriteTimeout > 0 {
		_ = control.SetWriteDeadline(until.Add(srv.WriteTimeout))
	}
}

// uploadError returns why an upload ended early, with its report. The errors of the streams take
// precedence over err, which the reader derived from them.
func (c *call) uploadError(ctx context.Context, err error, sent, body *bounded, report api.Upload) error {
	switch {
	case errors.Is(sent.err, feed.ErrTooLarge):
		err = tooLarge("the body", MaxItemsBody)
	case errors.Is(body.err, feed.ErrTooLarge):
		err = tooLarge("the decompressed body", MaxItemsBody)
	case sent.err != nil:
		err = c.unreadable(sent.err)
	case ctx.Err() != nil:
		err = ctx.Err()
	case body.err != nil:
		err = fmt.Errorf("%w: the gzip body is corrupt or truncated", feed.ErrInvalid)
	}
	return partial{error: err, data: report}
}

// itemID returns the item id in the path. The wildcard's value starts with a slash.
func itemID(c *call) (string, error) {
	id := strings.TrimPrefix(c.gin.Param("id"), "/")
	return id, feed.CheckItemID(id)
}

// getItem answers GET /v1/items/{id} with the stored item.
func (s *server) getItem(ctx context.Context, _ *call, id string) (any, error) {
	docs, err := s.deps.Items.Docs(ctx, []string{id})
	if err == nil && (len(docs) == 0 || docs[0].Missing()) {
		err = feed.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return stored(docs[0].JSON), nil
}

// stored is an answer with stored JSON.
type stored json.RawMessage

func (d stored) send(c *call) error {
	return c.sendRaw(http.StatusOK, append(append(append(c.out[:0], successHead...), d...), '}'))
}

// patchItem answers PATCH /v1/items/{id} with the stored item.
func (s *server) patchItem(ctx context.Context, _ *call, id string, patch *[]byte) (any, error) {
	return s.deps.Ingest.Patch(ctx, id, *patch)
}

const (
	// MaxItems is the largest limit of a list of items, which may be large.
	MaxItems     = 200
	defaultItems = 100
	maxWords     = 10 // of titles, to find items by
)

// itemsQuery are the parameters of GET /v1/items.
type itemsQuery struct {
	Author queryText `json:"author"`
	Tag    queryText `json:"tag"`
	Words  queryText `json:"words"`
	Since  int64     `json:"since"`
	Cursor queryText `json:"cursor"`
	Limit  int       `json:"limit"`
}

func (q *itemsQuery) check() error {
	if q.Since < 0 || q.Since > feed.MaxItemTime {
		return fmt.Errorf("%w: since must be Unix seconds from 0 to %d, not %d", feed.ErrInvalid, int64(feed.MaxItemTime), q.Since)
	}
	n := len(words.Of(string(q.Words)))
	if n > maxWords || n == 0 && q.Words != "" {
		return fmt.Errorf("%w: words must have 1 to %d words of titles, not %d", feed.ErrInvalid, maxWords, n)
	}
	return feed.CheckLimit(q.Limit, MaxItems)
}

// itemList is the data of GET /v1/items.
type itemList struct {
	Items []json.RawMessage `json:"items"`
	Next  *string           `json:"next_cursor"` // null on the last page
}

// getItems answers GET /v1/items with a page of the stored items.
func (s *server) getItems(ctx context.Context, _ *call, _ string, q *itemsQuery) (any, error) {
	page, err := s.deps.List.List(ctx, catalog.Selection{
		Author: string(q.Author), Tag: string(q.Tag), Words: words.Of(string(q.Words)), Since: q.Since, Cursor: string(q.Cursor), Limit: q.Limit,
	})
	data := itemList{Items: make([]json.RawMessage, len(page.Items))}
	for i, doc := range page.Items {
		data.Items[i] = doc.JSON
	}
	if page.Next != "" {
		data.Next = &page.Next
	}
	return data, err
}

// Graph applies the events of other systems. The method is that of [graph.Applier].
type Graph interface {
	Read(ctx context.Context, r io.Reader) (api.Upload, error)
}

func (s *server) graphRoutes(route router) {
	route(http.MethodPost, "/v1/graph/events", s.admin(s.postGraphEvents))
}
