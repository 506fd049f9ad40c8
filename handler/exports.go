package handler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/export"
)

// exportFilePath is the path of the file of an export.
const exportFilePath = "/v1/agents/{agent_id}/export/file"

// exportTime limits the transfer of an export. What is left can be continued.
const exportTime = time.Hour

// Exports makes and sends exports. Its methods are those of [export.Exporter].
type Exports interface {
	Ask(ctx context.Context, agent string) (social.Export, error)
	State(ctx context.Context, agent string) (social.Export, error)
	Open(ctx context.Context, agent string, rest bool) (*export.File, error)
	Sent(ctx context.Context, f *export.File, from, to int64) error
}

func (s *server) exportRoutes(route router) {
	const path = "/v1/agents/:agent_id/export"
	own := s.owner("agent_id")
	route(http.MethodPost, path, serve(s.gated, own, s.postExport))
	route(http.MethodGet, path, serve(s.gated, own, s.getExport))
	route(http.MethodGet, path+"/file", s.getExportFile)
}

// accepted is the answer to a call for an export.
type accepted struct{ data any }

func (a accepted) send(c *call) error { return c.answer(http.StatusAccepted, a.data) }

// postExport answers POST /v1/agents/{agent_id}/export.
func (s *server) postExport(ctx context.Context, _ *call, agent string) (any, error) {
	e, err := s.deps.Social.Exports.Ask(ctx, agent)
	var soon export.TooSoon
	if errors.As(err, &soon) {
		return nil, rateError{after: soon.After, what: fmt.Sprintf("an export can be asked for once in %d minutes", export.Pause/time.Minute)}
	}
	return accepted{exportOf(&e)}, err
}

// getExport answers GET /v1/agents/{agent_id}/export.
func (s *server) getExport(ctx context.Context, _ *call, agent string) (any, error) {
	e, err := s.deps.Social.Exports.State(ctx, agent)
	return exportOf(&e), err
}

// exportOf returns what the agent is told of a record.
func exportOf(e *social.Export) api.Export {
	out := api.Export{State: api.NoExport, AskedAt: e.Asked}
	if e.Name == "" {
		return out
	}
	out.State = string(e.State)
	switch e.State {
	case social.ExportReady:
		out.Bytes, out.Until = e.Bytes, e.Until
	case social.ExportFetched:
		out.Bytes, out.NextAt = e.Bytes, export.Rest(e).Unix()
	case social.ExportFailed:
		out.Reason, out.NextAt = e.Reason, export.Rest(e).Unix()
	}
	return out
}

// zipType and asFile are headers of the file.
var (
	zipType = []string{"application/zip"}
	asFile  = []string{`attachment; filename="export.zip"`}
)

// getExportFile answers GET and HEAD /v1/agents/{agent_id}/export/file. What was sent completely is sent once; a transfer
// that was cut continues with Range. An image on a page of another site must not use it up.
func (s *server) getExportFile(c *call) error {
	agent, err := s.owner("agent_id")(c)
	if err != nil {
		return err
	}
	if err := s.auth.checkShown(c.gin.Request); err != nil {
		return err
	}
	if err := c.noQuery(); err != nil {
		return err
	}
	leave, err := s.enterExport(agent)
	if err != nil {
		return err
	}
	defer leave()
	// The request timeout applies to the start of the answer, not to its transfer.
	ctx, cancel := context.WithTimeout(c.gin.Request.Context(), exportTime)
	defer cancel()
	keepPlainRange(c.gin.Request.Header)
	late := time.AfterFunc(s.cfg.RequestTimeout, cancel)
	file, err := s.deps.Social.Exports.Open(ctx, agent, continues(c.gin.Request))
	inTime := late.Stop()
	if err != nil {
		return err
	}
	if !inTime {
		return context.DeadlineExceeded
	}
	extendDeadlines(c.gin.Writer, c.gin.Request, exportTime)
	h := c.gin.Writer.Header()
	h["Cache-Control"], h["Vary"], h["X-Content-Type-Options"] = forCaller, callersVary, noSniff
	h["Content-Type"], h["Content-Disposition"] = zipType, asFile
	h["Etag"] = []string{`"` + file.Name + `"`}
	w := &counting{refusing: refusing{ResponseWriter: c.gin.Writer}}
	http.ServeContent(w, c.gin.Request, "", time.Time{}, file)
	if w.refused {
		h.Del("Content-Disposition")
		h.Del("Vary")
		return problem{
			status: http.StatusRequestedRangeNotSatisfiable, code: 41601,
			msg: "the export does not have the requested range; Content-Range contains its length",
		}
	}
	s.sent(c, file, w.bytes)
	return nil
}

// continues reports whether a request asks for a file from a later position than its beginning.
func continues(r *http.Request) bool {
	m := plainRange.FindStringSubmatch(r.Header.Get("Range"))
	return m != nil && strings.Trim(m[1], "0") != ""
}

// counting counts what is sent.
type counting struct {
	refusing
	bytes int64
}

func (w *counting) Write(p []byte) (int, error) {
	n, err := w.refusing.Write(p)
	if !w.refused {
		w.bytes += int64(n)
	}
	return n, err
}

// sent notes how much of a file the answer has had.
func (s *server) sent(c *call, file *export.File, bytes int64) {
	if bytes == 0 || c.gin.Request.Method == http.MethodHead {
		return
	}
	from := int64(0)
	if c.gin.Writer.Status() == http.StatusPartialContent {
		if _, err := fmt.Sscanf(c.gin.Writer.Header().Get("Content-Range"), "bytes %d-", &from); err != nil {
			return
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.gin.Request.Context()), releaseTime)
	defer cancel()
	if err := s.deps.Social.Exports.Sent(ctx, file, from, from+bytes); err != nil {
		s.log.WarnContext(ctx, "it cannot be noted that an export was sent; it can be fetched again until it expires", "error", err)
	}
}
