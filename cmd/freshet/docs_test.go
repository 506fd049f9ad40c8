package main

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documents returns the text of every Markdown file of the repository by its relative path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "build" || path != "../.." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			text, err := os.ReadFile(path)
			found[path] = string(text)
			return err
		}
		return nil
	}))
	require.Contains(t, found, "../../README.md")
	require.Contains(t, found, "../../docs/quickstart.md")
	return found
}

var (
	codeBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	heading   = regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchor    = regexp.MustCompile(`<a id="([^"]+)"></a>`)
	notInName = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	link      = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"`)
)

// anchors returns the link targets in a document: those that GitHub generates for the headings, and
// explicit ones.
func anchors(text string) map[string]bool {
	names := map[string]bool{"": true}
	for _, a := range anchor.FindAllStringSubmatch(text, -1) {
		names[a[1]] = true
	}
	for _, h := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		names[strings.ReplaceAll(notInName.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	return names
}

// TestDocumentedLinksExist checks that the target of each relative link in the documents exists,
// including its anchor.
func TestDocumentedLinksExist(t *testing.T) {
	docs := documents(t)
	links := 0
	for path, text := range docs {
		for _, m := range link.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
			target, err := url.Parse(m[1] + m[2])
			require.NoError(t, err, path)
			if target.Scheme != "" {
				continue
			}
			links++
			to := path
			if target.Path != "" {
				to = filepath.Join(filepath.Dir(path), target.Path)
			}
			_, err = os.Stat(to)
			assert.NoError(t, err, "%s links to %s", path, target)
			if target.Fragment != "" && filepath.Ext(to) == ".md" {
				assert.True(t, anchors(docs[to])[target.Fragment], "%s links to %s: there is no such place", path, target)
			}
		}
	}
	assert.Greater(t, links, 50)
}

var (
	// A command at the start of a line, or after a shell construct that may precede it.
	invocation = regexp.MustCompile(`(?m)(?:^|[|&;(] *|then |until |while |\$ )(?:[A-Z_]+=\S+ +)*(?:go run \./cmd/freshet|freshet)((?: +[^\s|&;<>()]+)+)`)
	quoted     = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	inline     = regexp.MustCompile("`(freshet [^`]+)`")
)

var building = regexp.MustCompile(`(?m)\bgo (?:build|install) [^\n]*\./cmd/freshet$`)

// TestDocumentedBuildsAreStripped checks that documents, the Makefile and the Dockerfile build a
// binary without debug tables, which are a third of it.
func TestDocumentedBuildsAreStripped(t *testing.T) {
	texts := documents(t)
	for _, name := range []string{"../../Makefile", "../../Dockerfile"} {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		texts[name] = string(raw)
	}
	for _, name := range []string{"README.md", "docs/quickstart.md", "docs/production.md", "Makefile", "Dockerfile"} {
		assert.Regexp(t, building, texts["../../"+name], name)
	}
	for name, text := range texts {
		for _, command := range building.FindAllString(text, -1) {
			assert.Contains(t, command, ` -ldflags="-s -w`, name)
		}
	}
}

// TestDocumentedCommandsExist looks up the commands in the documents' code, and their flags.
func TestDocumentedCommandsExist(t *testing.T) {
	commands := 0
	for path, text := range documents(t) {
		code := strings.Join(codeBlock.FindAllString(text, -1), "\n")
		for _, m := range inline.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
			code += "\n" + strings.ReplaceAll(m[1], "\n", " ")
		}
		for _, m := range invocation.FindAllStringSubmatch(quoted.ReplaceAllString(code, "x"), -1) {
			line, _, _ := strings.Cut(m[1], " #")
			if !strings.Contains(line, "…") {
				commands++
				if filepath.Base(path) != "CHANGELOG.md" {
					assert.NotRegexp(t, "^ *decay ", line, "%s names a command as it was called before", path)
				}
				assert.Empty(t, unknownIn(newRootCommand(), strings.Fields(line)), "%s: freshet%s", path, line)
			}
		}
	}
	assert.Greater(t, commands, 60)
	for line, want := range map[string]string{
		"ranking set scale=3h --as slow": "", "serve --dedup.shards 4": "",
		"ranking sett": "sett", "explain --agnet u_1": "--agnet", "frobnicate": "frobnicate",
	} {
		assert.Equal(t, want, unknownIn(newRootCommand(), strings.Fields(line)), "the test of the test: %s", line)
	}
}

// unknownIn returns the first word that is no subcommand where one is wanted, or no flag of the
// command.
func unknownIn(root *cobra.Command, words []string) string {
	cmd, rest, err := root.Find(words)
	if err != nil || cmd.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return append(rest, words...)[0]
	}
	cmd.InitDefaultHelpFlag()
	for _, word := range rest {
		name, isFlag := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		if isFlag && name != "" && cmd.Flags().Lookup(name) == nil {
			return word
		}
	}
	return ""
}
