package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// AskExport calls POST /v1/agents/{agent_id}/export: it asks for everything that is stored about the agent, and returns
// how far that is. While an export is being made or can be fetched, it asks for no other. Too soon after the last one it
// returns [ErrRateLimited].
func (c *Client) AskExport(ctx context.Context, agent string) (Export, error) {
	return call[Export](ctx, c, Request{Method: http.MethodPost, Path: v1("agents", agent, "export"), Repeatable: true})
}

// ExportState calls GET /v1/agents/{agent_id}/export: how far the export is.
func (c *Client) ExportState(ctx context.Context, agent string) (Export, error) {
	return call[Export](ctx, c, Request{Method: http.MethodGet, Path: v1("agents", agent, "export"), Repeatable: true})
}

// FetchExport calls GET /v1/agents/{agent_id}/export/file and writes the zip to w. If the transfer is cut, it continues,
// with as many tries as [WithRetries] allows after the last byte that has arrived. It returns the number of bytes
// written. Once all were sent, the server does not send them again.
func (c *Client) FetchExport(ctx context.Context, agent string, w io.Writer) (n int64, err error) {
	d := download{client: c, path: v1("agents", agent, "export", "file"), to: w}
	for try := 1; ; try++ {
		before := d.bytes
		err = d.more(ctx)
		if err == nil || d.failed != nil || !mayRetry(err, true) {
			return d.bytes, err
		}
		if d.bytes > before {
			try = 1
		}
		if try >= c.tries {
			return d.bytes, err
		}
		if c.notify != nil {
			c.notify(err, c.pause)
		}
		if err := sleep(ctx, c.pause); err != nil {
			return d.bytes, err
		}
	}
}

// download is a file that is fetched in as many transfers as it takes.
type download struct {
	client *Client
	path   string
	to     io.Writer
	tag    string // of the file, once it is known
	bytes  int64  // that were written
	failed error  // of the writer
}

// Write implements [io.Writer], for the body of an answer.
func (d *download) Write(p []byte) (n int, err error) {
	n, err = d.to.Write(p)
	d.bytes, d.failed = d.bytes+int64(n), err
	return n, err
}

// more fetches what is left.
func (d *download) more(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.client.base+d.path, nil)
	if err != nil {
		return err
	}
	req.Header = d.client.header.Clone()
	want := http.StatusOK
	if d.bytes > 0 {
		want = http.StatusPartialContent
		req.Header.Set("Range", "bytes="+strconv.FormatInt(d.bytes, 10)+"-")
		req.Header.Set("If-Range", d.tag)
	}
	res, err := d.client.http.Do(req)
	if err != nil {
		return unreached(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	switch res.StatusCode {
	case want:
	case http.StatusOK:
		return errors.New("the file was replaced while it was being fetched; fetch it again from its beginning")
	default:
		answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		if err != nil {
			return unreached(ctx, err)
		}
		_, err = open(res, answer)
		return err
	}
	d.tag = res.Header.Get("ETag")
	if _, err := io.Copy(d, res.Body); err != nil {
		if d.failed != nil {
			return d.failed
		}
		return unreached(ctx, fmt.Errorf("the transfer was cut off: %w", err))
	}
	return nil
}
