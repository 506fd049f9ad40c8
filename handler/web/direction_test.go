package web

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// elements matches the elements of a page that show or take text by users: text fields, and
// headings, paragraphs and summaries that scripts fill.
var elements = regexp.MustCompile(`<textarea[^>]*>|<input[^>]*>|<(?:h2|p|summary)(?: [^>]*)?></(?:h2|p|summary)>|<h2[^>]*><a [^>]*></a></h2>`)

// filled matches elements that have only Freshet's own texts, or elements created by scripts.
var filled = regexp.MustCompile(`type="|class="(?:meta soft|tags|counts|said)"|id="(?:end|act-note|curves-help)"`)

// TestTextDirection checks that every element that shows or takes text by users has
// dir="auto", so that Arabic and Hebrew run from right to left.
func TestTextDirection(t *testing.T) {
	t.Parallel()
	found := 0
	for _, page := range []string{"feed/index.html", "console/index.html"} {
		text, err := fs.ReadFile(Files, page)
		require.NoError(t, err)
		for _, element := range elements.FindAllString(string(text), -1) {
			if !filled.MatchString(element) {
				found++
				assert.Contains(t, element, `dir="auto"`, page)
			}
		}
	}
	assert.Greater(t, found, 15)

	// Scripts create elements with make, which sets dir="auto".
	require.NoError(t, fs.WalkDir(Files, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".js") || strings.HasPrefix(path, "docs/") {
			return err
		}
		text, err := fs.ReadFile(Files, path)
		made := strings.Count(string(text), "createElement(")
		if path == "api.js" {
			assert.Contains(t, string(text), `element.dir ||= 'auto'`)
			made--
		}
		assert.Zero(t, made, "%s makes elements without make", path)
		return err
	}))
}
