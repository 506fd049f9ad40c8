package handler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/freshet/freshet/catalog"
)

// postItems answers POST /v1/items. Items are stored as they arrive; an error
// that ends the upload early comes with the report of what was stored before.
func (s *server) postItems(c *call) error {
	r := c.gin.Request
	if err := s.auth.admin(r); err != nil {
		return err
	}
	enc := contentEncoding(r)
	if enc != "" && enc != "gzip" {
		return fmt.Errorf("%w: Content-Encoding %q is not known here; send gzip or the body as it is", errBadRequest, enc)
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
		unzip, err := gzip.NewReader(sent)
		if err != nil {
			return c.explainUpload(ctx, err, sent, &bounded{err: err}, catalog.Report{})
		}
		defer func() { _ = unzip.Close() }()
		body.r = unzip
	}
	report, err := s.deps.Intake.Read(ctx, body)
	if err != nil || sent.err != nil || body.err != nil {
		return c.explainUpload(ctx, err, sent, body, report)
	}
	return c.succeed(whole(report))
}

// extendDeadlines gives the upload its own time where the server limits how
// long a request and its answer may take. The write deadline is set only where
// the server has one, because only then the next request on the connection sets
// it anew.
func extendDeadlines(w http.ResponseWriter, r *http.Request, timeout time.Duration) {
	control := http.NewResponseController(w)
	until := time.Now().Add(timeout)
	// A connection without deadlines says so; then there is none to extend.
	_ = control.SetReadDeadline(until)
	if srv, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && srv.WriteTimeout > 0 {
		_ = control.SetWriteDeadline(until.Add(srv.WriteTimeout))
	}
}

// explainUpload says why an upload ended early. The streams know better than
// err, which is what the intake made of their failure.
func (c *call) explainUpload(ctx context.Context, err error, sent, body *bounded, report catalog.Report) error {
	switch {
	case errors.Is(sent.err, errTooLarge):
		err = tooLarge("the body", MaxItemsBody)
	case errors.Is(body.err, errTooLarge):
		err = tooLarge("the unpacked body", MaxItemsBody)
	case sent.err != nil:
		err = c.unreadable(sent.err)
	case ctx.Err() != nil:
		err = ctx.Err()
	case body.err != nil:
		err = fmt.Errorf("%w: the gzip body is damaged or ends early", errBadRequest)
	}
	return partial{error: err, data: whole(report)}
}

// whole makes the list of rejections a list even where it is empty.
func whole(r catalog.Report) catalog.Report {
	if r.Errors == nil {
		r.Errors = []catalog.Rejection{}
	}
	return r
}
