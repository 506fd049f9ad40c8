package handler

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/net/http/httpguts"
)

// compressFrom is the size in bytes from which an answer is compressed.
const compressFrom = 1 << 10

// Suffixes of the ETag of a compressed answer: the same content in another
// encoding is another representation.
const gzipTag, zstdTag = "-gzip", "-zstd"

// compressed wraps the routes so that JSON is sent as zstd or gzip where the
// client takes it. What is compressed already, such as /metrics and the pages,
// is left alone.
func compressed(routes http.Handler) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.MinSize(compressFrom),
		gzhttp.CompressionLevel(gzip.BestSpeed),
		gzhttp.ContentTypes([]string{"application/json"}),
		gzhttp.SuffixETag(gzipTag),
	)
	if err != nil {
		return nil, err
	}
	packed := wrap(routes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A stream takes the connection, which the wrapper would write to after it.
		if r.URL.Path == streamPath {
			routes.ServeHTTP(w, r)
			return
		}
		packed.ServeHTTP(w, r)
	}), nil
}

// takesGzip reports whether the client takes gzip without conditions.
func takesGzip(r *http.Request) bool {
	return httpguts.HeaderValuesContainsToken(r.Header["Accept-Encoding"], "gzip")
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
