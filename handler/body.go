package handler

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
)

// readBody reads a body of at most limit bytes into the call's buffer, which is
// valid until the call ends.
func (c *call) readBody(limit int) ([]byte, error) {
	r := c.gin.Request
	if err := mayBeJSON(r); err != nil {
		return nil, err
	}
	enc := contentEncoding(r)
	if enc != "" {
		return nil, encoded(enc)
	}
	if r.ContentLength > int64(limit) {
		return nil, tooLarge("the body", limit)
	}
	c.in.Reset()
	// One byte beyond the limit is read to detect a body that is too large.
	c.sent = io.LimitedReader{R: r.Body, N: int64(limit) + 1}
	if _, err := c.in.ReadFrom(&c.sent); err != nil {
		return nil, c.unreadable(err)
	}
	if c.in.Len() > limit {
		return nil, tooLarge("the body", limit)
	}
	return c.in.Bytes(), nil
}

// mayBeJSON fails if the Content-Type excludes JSON. Unspecific types, such as the form type that
// curl -d sends, pass; then the content decides.
func mayBeJSON(r *http.Request) error {
	given := r.Header.Get("Content-Type")
	kind, _, _ := strings.Cut(given, ";")
	main, sub, _ := strings.Cut(strings.ToLower(strings.TrimSpace(kind)), "/")
	switch {
	case slices.Contains([]string{"multipart", "image", "audio", "video", "font", "model", "message"}, main):
	case slices.Contains([]string{"html", "xml", "csv", "yaml", "x-yaml", "pdf"}, sub), strings.HasSuffix(sub, "+xml"), strings.HasSuffix(sub, "+yaml"):
	default:
		return nil
	}
	return feed.Errorf(feed.ErrType, "this route does not support Content-Type %.80q; send JSON as application/json", given)
}

func encoded(enc string) error {
	return fmt.Errorf("%w: this route does not support Content-Encoding %q; send the body uncompressed", feed.ErrInvalid, enc)
}

// contentEncoding returns the body's encoding, "" for none.
func contentEncoding(r *http.Request) string {
	values := r.Header["Content-Encoding"]
	if len(values) == 0 {
		return ""
	}
	enc := strings.ToLower(strings.TrimSpace(strings.Join(values, ",")))
	if enc == "identity" {
		return ""
	}
	return enc
}

func tooLarge(what string, limit int) error {
	size := fmt.Sprintf("%d KiB", limit>>10)
	if limit >= 1<<20 {
		size = fmt.Sprintf("%d MiB", limit>>20)
	}
	return fmt.Errorf("%w: %s is larger than %s", feed.ErrTooLarge, what, size)
}

// unreadable returns the error for an incomplete body. The cause is not shown to the caller
// because it contains addresses.
func (c *call) unreadable(err error) error {
	switch {
	// Checked first, because net/http cancels the request's context after any failed read.
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: the body did not arrive in time", feed.ErrInvalid)
	case c.gone():
		return clientGone
	}
	return fmt.Errorf("%w: the body ended early", feed.ErrInvalid)
}

// bounded reads at most left bytes, then fails with feed.ErrTooLarge. It stores its error,
// because the reader around it may wrap or replace it.
type bounded struct {
	r    io.Reader
	left int64
	err  error // the first error other than io.EOF
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	// One byte beyond the bound is requested to detect that there is more.
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if int64(n) > b.left {
		n, b.err = int(b.left), feed.ErrTooLarge
		b.left = 0
		return n, b.err
	}
	b.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}
