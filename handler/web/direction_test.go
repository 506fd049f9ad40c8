package web

import (
	"io/fs"
	"os"
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
	pages, err := fs.Glob(Files, "console/*/view.html")
	require.NoError(t, err)
	require.NotEmpty(t, pages)
	for _, page := range append(pages, "feed/index.html", "console/index.html") {
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

// TestRunbookSections checks that the sections of the runbook to which the console links exist.
func TestRunbookSections(t *testing.T) {
	t.Parallel()
	module, err := fs.ReadFile(Files, "console/runbook.js")
	require.NoError(t, err)
	runbook, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	sections := regexp.MustCompile(`\w+: '(freshet\w+)'`).FindAllStringSubmatch(string(module), -1)
	assert.Greater(t, len(sections), 10)
	for _, section := range sections {
		assert.True(t, strings.Contains(string(runbook), `<a id="`+section[1]+`"></a>`), section[1])
	}
}
