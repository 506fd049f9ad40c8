package handler

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// compressFrom is the size in bytes from which an answer is compressed.
const compressFrom = 1 << 10

// Suffixes of the ETag of a compressed answer: the same content in another
// encoding is another representation.
const gzipTag, zstdTag = "-gzip", "-zstd"

// packer serves routes so that JSON is sent as zstd or gzip where the client takes it.
// What is compressed already, such as /metrics and the pages, is left alone.
type packer struct {
	*gin.Engine
	packed http.Handler
}

// ServeHTTP implements [http.Handler].
func (p packer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A stream takes the connection, which the wrapper would write to after it.
	if r.URL.Path == streamPath {
		p.Engine.ServeHTTP(w, r)
		return
	}
	p.packed.ServeHTTP(w, r)
}

func compressed(routes *gin.Engine) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.MinSize(compressFrom),
		gzhttp.CompressionLevel(gzip.BestSpeed),
		gzhttp.ContentTypes([]string{"application/json"}),
		gzhttp.SuffixETag(gzipTag),
	)
	if err != nil {
		return nil, err
	}
	return packer{routes, wrap(routes)}, nil
}

// takesGzip reports whether the client takes gzip (RFC 9110, 12.5.3).
func takesGzip(r *http.Request) bool {
	for _, accepted := range strings.Split(strings.Join(r.Header["Accept-Encoding"], ","), ",") {
		coding, weight, _ := strings.Cut(accepted, ";")
		if !strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			continue
		}
		_, q, weighed := strings.Cut(weight, "=")
		much, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
		return !weighed || err == nil && much > 0
	}
	return false
}

// plainTag is the ETag of the uncompressed answer.
func plainTag(tag string) string {
	for _, suffix := range []string{gzipTag, zstdTag} {
		if plain, ok := strings.CutSuffix(tag, suffix+`"`); ok {
			return plain + `"`
		}
	}
	return tag
}
