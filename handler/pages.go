package handler

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/freshet/freshet/web"
)

// pagePolicy lets a page load what the server itself serves, and nothing else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// asset is an embedded file as it is served.
type asset struct {
	data []byte
	kind string // media type
	etag string
}

// assets reads the embedded pages by their path, such as feed/index.html.
func assets() (map[string]asset, error) {
	all := map[string]asset{}
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
		sum := sha256.Sum256(data)
		all[name] = asset{data: data, kind: kind, etag: `"` + hex.EncodeToString(sum[:12]) + `"`}
		return nil
	})
	return all, err
}

// pageTypes does not depend on what the machine's own tables say.
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
		return errNoRoute
	}
	h := c.gin.Writer.Header()
	h.Set("Content-Type", a.kind)
	h.Set("ETag", a.etag)
	h.Set("Cache-Control", "no-cache") // asked for each time, sent only when it has changed
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(c.gin.Writer, c.gin.Request, name, time.Time{}, bytes.NewReader(a.data))
	return nil
}
