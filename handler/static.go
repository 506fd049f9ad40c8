package handler

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// static is content that stays the same while the process runs. It is compressed once.
type static struct {
	plain []byte
	gzip  []byte // nil: compressed it would not be smaller
	kind  string // media type
	etag  string // of plain
}

func newStatic(data []byte, kind string) (static, error) {
	sum := sha256.Sum256(data)
	s := static{plain: data, kind: kind, etag: `"` + hex.EncodeToString(sum[:12]) + `"`}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return s, err
	}
	if _, err = z.Write(data); err == nil {
		err = z.Close()
	}
	if b.Len() < len(data) {
		s.gzip = b.Bytes()
	}
	return s, err
}

// sendStatic answers GET and HEAD.
func (s *server) sendStatic(c *call, what static) {
	h := c.gin.Writer.Header()
	data, etag := what.plain, what.etag
	if what.gzip != nil && takesGzip(c.gin.Request) {
		data, etag = what.gzip, etag[:len(etag)-1]+gzipTag+`"`
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(data))) // ServeContent sets none for what is encoded
	}
	h.Set(gzhttp.HeaderNoCompression, "1")
	h.Set("Content-Type", what.kind)
	h.Set("ETag", etag)
	h.Set("Cache-Control", "no-cache") // asked for each time, sent only when it has changed
	h.Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(c.gin.Writer, c.gin.Request, "", time.Time{}, bytes.NewReader(data))
}
