package handler

import (
	"fmt"
	"io/fs"
	"mime"
	"path"
	"strings"
	"sync"

	"github.com/freshet/freshet/handler/web"
)

// pagePolicy allows a page to load only what this server serves.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// assets are the embedded pages by their path, such as feed/index.html, read once
// for all servers of a process.
var assets = sync.OnceValues(func() (map[string]static, error) {
	all := map[string]static{}
	err := fs.WalkDir(web.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(web.Files, name)
		if err != nil {
			return err
		}
		kind, known := pageTypes[path.Ext(name)]
		if !known {
			return fmt.Errorf("web/%s: the media type of this extension is not known", name)
		}
		all[name], err = newStatic(data, kind)
		return err
	})
	return all, err
})

// pageTypes replaces the machine's own table of media types.
var pageTypes = map[string]string{
	".html": mime.FormatMediaType("text/html", map[string]string{"charset": "utf-8"}),
	".css":  mime.FormatMediaType("text/css", map[string]string{"charset": "utf-8"}),
	".js":   mime.FormatMediaType("text/javascript", map[string]string{"charset": "utf-8"}),
	".svg":  "image/svg+xml",
}

// page answers with one of the pages.
func (s *server) page(name string) func(*call) error {
	return func(c *call) error { return s.sendAsset(c, name+"/index.html") }
}

// getAsset answers what the pages load.
func (s *server) getAsset(c *call) error {
	return s.sendAsset(c, strings.TrimPrefix(c.gin.Param("path"), "/"))
}

func (s *server) sendAsset(c *call, name string) error {
	a, ok := s.assets[name]
	if !ok {
		return noRoute(c)
	}
	h := c.gin.Writer.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Referrer-Policy", "no-referrer")
	s.sendStatic(c, a)
	return nil
}
