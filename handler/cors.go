package handler

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/rs/cors"

	"github.com/freshet/freshet/social"
)

// CORS configures which pages of other origins may call /v1 and read images and /openapi.json.
type CORS struct {
	Origins     []string // exact origins, such as https://app.example.com, or "*" alone; none allows only our own pages
	Credentials bool     // browsers send cookies; never with "*"
}

// preflightAge is how long browsers may cache the answer to a preflight, in seconds. It is the
// maximum in Chrome.
const preflightAge = 2 * 60 * 60

// newCORS returns nil if no other origin may call.
func newCORS(cfg CORS) *cors.Cors {
	if len(cfg.Origins) == 0 {
		return nil
	}
	return cors.New(cors.Options{
		AllowedOrigins:   cfg.Origins,
		AllowCredentials: cfg.Credentials,
		AllowedMethods:   []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete},
		// Tracing and gateways add their own headers, and no header grants more than the origin
		// does.
		AllowedHeaders: []string{"*"},
		ExposedHeaders: []string{"ETag", "Retry-After", "X-Request-ID"},
		MaxAge:         preflightAge,
	})
}

// isForPages reports whether pages of other origins may call a path.
func isForPages(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, social.ImagePath) || path == "/openapi.json"
}

// allowOrigin adds the CORS headers and reports whether the call was a preflight, which it has
// then answered. Operators' routes, such as /metrics, are excluded: they authenticate no caller,
// so a page in an employee's browser must not read them.
func (s *server) allowOrigin(w gin.ResponseWriter, r *http.Request) (preflight bool) {
	allowed := s.origins.Load().cors
	if allowed == nil || !isForPages(r.URL.Path) {
		return false
	}
	allowed.HandlerFunc(w, r)
	preflight = r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
	if preflight {
		w.WriteHeaderNow()
	}
	return preflight
}
