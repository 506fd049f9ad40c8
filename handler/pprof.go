package handler

import (
	"net/http"
	"net/http/pprof"

	"github.com/gin-gonic/gin"
)

// pprofRoutes adds GET /debug/pprof/*, Go's profiles of the running process, for
// admins only: a profile shows what the server works on, and costs time. There is
// no route for the command line, because its flags may contain secrets.
func (s *server) pprofRoutes(g *gin.Engine) {
	const path = "/debug/pprof"
	serve := map[string]http.HandlerFunc{
		"/profile": pprof.Profile,
		"/symbol":  pprof.Symbol,
		"/trace":   pprof.Trace,
	}
	answer := s.handle("GET "+path+"/{profile}", func(c *call) error {
		if err := s.auth.admin(c.gin.Request); err != nil {
			return err
		}
		h := c.gin.Writer.Header()
		h["Cache-Control"], h["X-Content-Type-Options"] = noStore, noSniff
		// The index also answers the named profiles: heap, goroutine, …
		profile, ok := serve[c.gin.Param("profile")]
		if !ok {
			profile = pprof.Index
		}
		profile(c.gin.Writer, c.gin.Request)
		return nil
	})
	g.GET(path+"/*profile", answer)
	g.HEAD(path+"/*profile", answer)
}
