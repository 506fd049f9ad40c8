package handler

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"

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

// withAuth returns the pages of a server. The feed page knows how this server knows its
// callers before it asks for anything, and whether there are readers of a demo.
func withAuth(pages map[string]static, auth Auth) (map[string]static, error) {
	const feed = "feed/index.html"
	says := fmt.Sprintf(`<html data-auth="%s" data-claim="%s"`, cmp.Or(auth.Mode, ModeHeader), html.EscapeString(cmp.Or(auth.JWT.Claim, "sub")))
	if auth.Demo {
		says += " data-demo"
	}
	page, err := newStatic(bytes.Replace(pages[feed].plain, []byte("<html"), []byte(says), 1), pages[feed].kind)
	if err != nil {
		return nil, err
	}
	pages = maps.Clone(pages)
	pages[feed] = page
	return pages, nil
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
