package handler

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
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
		return s.upload(c, s.deps.Intake.ReadNewer)
	case "", "false":
		return s.upload(c, s.deps.Intake.Read)
	}
	return fmt.Errorf("%w: if_newer must be true or false, not %.40q", feed.ErrInvalid, in.IfNewer)
}

// uploads answers POST /v1/items/counts.
func (s *server) uploads(read func(ctx context.Context, body io.Reader) (api.Upload, error)) func(*call) error {
	return func(c *call) error { return s.upload(c, read) }
}

// upload reads the body of an admin's call, packed or not, by read, which stores
// what is in it as it arrives. The answer to an upload that ends early has its
// report of what was stored before.
func (s *server) upload(c *call, read func(ctx context.Context, body io.Reader) (api.Upload, error)) error {
	r := c.gin.Request
	if err := mayBeJSON(r); err != nil {
		return err
	}
	enc := contentEncoding(r)
	if enc != "" && enc != "gzip" {
		return fmt.Errorf("%w: Content-Encoding %q is not supported; send gzip or the body as it is", feed.ErrInvalid, enc)
	}
	if r.ContentLength > MaxItemsBody {
		return tooLarge("the body", MaxItemsBody)
	}
	if err := s.loads.enter(); err != nil {
		return err
	}
	defer s.loads.leave()
	ctx, cancel := context.WithTimeout(r.Context(), s.cfg.UploadTimeout)
	defer cancel()
	extendDeadlines(c.gin.Writer, r, s.cfg.UploadTimeout)

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

// extendDeadlines gives a long call more time than the server's own limits for
// reading and writing. The write deadline is set only where the server has one,
// because only then the next request on the connection resets it.
func extendDeadlines(w http.ResponseWriter, r *http.Request, timeout time.Duration) {
	control := http.NewResponseController(w)
	until := time.Now().Add(timeout)
	// A connection without deadlines says so; then there is none to extend.
	_ = control.SetReadDeadline(until)
	if srv, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && srv.WriteTimeout > 0 {
		_ = control.SetWriteDeadline(until.Add(srv.WriteTimeout))
	}
}

// uploadError returns why an upload ended early, with its report. The streams'
// own errors come before err, which the reader has made of them.
func (c *call) uploadError(ctx context.Context, err error, sent, body *bounded, report api.Upload) error {
	switch {
	case errors.Is(sent.err, feed.ErrTooLarge):
		err = tooLarge("the body", MaxItemsBody)
	case errors.Is(body.err, feed.ErrTooLarge):
		err = tooLarge("the unpacked body", MaxItemsBody)
	case sent.err != nil:
		err = c.unreadable(sent.err)
	case ctx.Err() != nil:
		err = ctx.Err()
	case body.err != nil:
		err = fmt.Errorf("%w: the gzip body is damaged or ends early", feed.ErrInvalid)
	}
	return partial{error: err, data: report}
}
