package handler

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // for the OpenAPI document
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"maps"
	"math"
	"mime"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/handler/web"
)

// pagePolicy allows a page to load only resources of this server.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// assets returns the embedded pages by path, such as feed/index.html, read once for all servers
// of a process.
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
			return fmt.Errorf("web/%s: unknown media type of this extension", name)
		}
		if name == "console/ranking/table.js" {
			data, err = withParameters(data)
		}
		all[name] = newStatic(data, kind)
		return err
	})
	return all, err
})

// withParameters fills the table of the console's ranking view from [feed.Parameters].
func withParameters(module []byte) ([]byte, error) {
	single, err := feed.Preset(feed.PresetSingle) // what the view offers instead of curves
	table := map[string]any{}
	for p, absent := range (feed.Ranking{Decay: single}).Values() {
		table[p.Path] = map[string]any{
			"help": p.Help, "time": p.IsDuration(), "absent": absent, "notLeast": p.NotLeast, "notMost": p.NotMost,
			"least": p.Least, "most": min(p.Most, math.MaxFloat64), // JSON has no infinity
		}
	}
	data, failed := json.Marshal(table)
	return bytes.Replace(module, []byte("{};"), append(data, ';'), 1), cmp.Or(err, failed)
}

// pageTypes is used instead of the machine's table of media types.
var pageTypes = map[string]string{
	".html": mime.FormatMediaType("text/html", map[string]string{"charset": "utf-8"}),
	".css":  mime.FormatMediaType("text/css", map[string]string{"charset": "utf-8"}),
	".js":   mime.FormatMediaType("text/javascript", map[string]string{"charset": "utf-8"}),
	".svg":  "image/svg+xml",
}

// withAuth returns the pages of a server. The feed page contains the server's authentication
// mode, and whether it has demo readers, so that it need not ask first.
func withAuth(pages map[string]static, auth Auth) map[string]static {
	const feed = "feed/index.html"
	says := fmt.Sprintf(`<html data-auth="%s" data-claim="%s"`, cmp.Or(auth.Mode, ModeHeader), html.EscapeString(cmp.Or(auth.JWT.Claim, "sub")))
	if auth.Demo {
		says += " data-demo"
	}
	pages = maps.Clone(pages)
	pages[feed] = newStatic(bytes.Replace(pages[feed].data, []byte("<html"), []byte(says), 1), pages[feed].kind)
	return pages
}

// page returns a route that serves one of the pages.
func (s *server) page(name string) func(*call) error {
	return func(c *call) error { return s.sendAsset(c, name+"/index.html") }
}

// getAsset serves the files that the pages load.
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
	return a.send(c)
}

//go:generate go test -run TestOpenAPIBuilt . -update

// The OpenAPI documents built from openapi/, for servers with and without posts.
var (
	//go:embed openapi/posts.json
	withPosts []byte
	//go:embed openapi/items.json
	withoutPosts []byte
)

// describe returns the OpenAPI document for a server version, with or without the social routes.
func describe(version string, social bool) static {
	data := withoutPosts
	if social {
		data = withPosts
	}
	return newStatic(bytes.Replace(data, []byte(`"version":""`), feed.AppendString([]byte(`"version":`), version), 1), jsonType[0])
}

// static is content that does not change while the process runs.
type static struct {
	data []byte
	kind string // media type
	etag string
}

func newStatic(data []byte, kind string) static {
	sum := sha256.Sum256(data)
	return static{data, kind, `"` + hex.EncodeToString(sum[:12]) + `"`}
}

// send answers GET and HEAD.
func (s static) send(c *call) error {
	h := c.gin.Writer.Header()
	h.Set("Cache-Control", "no-cache") // revalidated each time, sent only if changed
	h.Set("X-Content-Type-Options", "nosniff")
	if tag, ok := noneMatch(c.gin.Request, s.etag); ok {
		return notModified(tag).send(c)
	}
	h.Set("Content-Type", s.kind)
	h.Set("ETag", s.etag)
	h.Set("Content-Length", strconv.Itoa(len(s.data)))
	_, err := c.gin.Writer.Write(s.data)
	c.unsent = err != nil
	return nil
}
