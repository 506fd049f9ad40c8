package handler

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// compressFrom is the size in bytes from which an answer is compressed.
const compressFrom = 1 << 10

// Suffixes of the ETag of a compressed answer: the same content in another
// encoding is another representation.
const gzipTag, zstdTag = "-gzip", "-zstd"

// packer compresses text answers with zstd or gzip if the client accepts it.
type packer struct {
	*gin.Engine
	fast  http.Handler // answers of the API
	small http.Handler // pages and the OpenAPI document, which browsers store
}

// ServeHTTP implements [http.Handler].
func (p packer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Changes are sent at once. A stream hijacks the connection, and the wrapper would still write to it afterwards.
	if r.URL.Path == streamPath || r.URL.Path == changesPath {
		p.Engine.ServeHTTP(w, r)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		p.fast.ServeHTTP(w, r)
		return
	}
	p.small.ServeHTTP(w, r)
}

// Routes lists the routes, with the one that shares a pattern of gin with another.
func (p packer) Routes() gin.RoutesInfo {
	all := p.Engine.Routes()
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		all = append(all, gin.RouteInfo{Method: method, Path: "/v1/items/:id" + relatedSuffix})
	}
	if slices.ContainsFunc(all, func(r gin.RouteInfo) bool { return r.Method == http.MethodPost && r.Path == "/v1/items/*id" }) {
		all = slices.DeleteFunc(all, func(r gin.RouteInfo) bool { return r.Method == http.MethodPost && r.Path == "/v1/items/*id" })
		all = append(all, gin.RouteInfo{Method: http.MethodPost, Path: "/v1/items/counts"}, gin.RouteInfo{Method: http.MethodPost, Path: "/v1/items/:id" + reportSuffix})
	}
	return all
}

func compressed(routes *gin.Engine) (http.Handler, error) {
	fast, err := compressor(gzip.BestSpeed, int(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	small, err := compressor(gzip.BestCompression, int(zstd.SpeedBetterCompression))
	if err != nil {
		return nil, err
	}
	return packer{routes, fast(routes), small(routes)}, nil
}

// compressor returns the middleware that compresses at these levels.
func compressor(gzipLevel, zstdLevel int) (func(http.Handler) http.HandlerFunc, error) {
	return gzhttp.NewWrapper(
		gzhttp.MinSize(compressFrom),
		gzhttp.CompressionLevel(gzipLevel),
		gzhttp.ZstdCompressionLevel(zstdLevel),
		gzhttp.ContentTypes([]string{"application/json", "text/html", "text/css", "text/javascript", "image/svg+xml"}),
		gzhttp.SuffixETag(gzipTag),
	)
}

// plainTag returns the ETag of the uncompressed answer. A proxy that compresses makes it weak.
func plainTag(tag string) string {
	tag = strings.TrimPrefix(tag, "W/")
	for _, suffix := range []string{gzipTag, zstdTag} {
		if plain, ok := strings.CutSuffix(tag, suffix+`"`); ok {
			return plain + `"`
		}
	}
	return tag
}
