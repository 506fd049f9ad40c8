package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	goTest   = regexp.MustCompile(`(?:\(cd (\S+) && )?\bgo test((?: +(?:'[^']*'|[^\s'|&;<>()` + "`" + `#]+))+)`)
	goWord   = regexp.MustCompile(`'[^']*'|\S+`)
	testName = regexp.MustCompile(`(?m)^func ((Test|Benchmark|Fuzz)\w*)\(`)
	goFile   = regexp.MustCompile("`([\\w./*-]+\\.go)`")
	script   = regexp.MustCompile(`\bscripts/[A-Za-z0-9._/-]+[A-Za-z0-9]`)
)

// TestDocumentedTestsExist looks up the packages that the documents give go test, and
// the tests, benchmarks and fuzz targets they ask of them.
func TestDocumentedTestsExist(t *testing.T) {
	commands := 0
	for document, text := range documents(t) {
		for _, m := range goTest.FindAllStringSubmatch(text, -1) {
			commands++
			assert.Empty(t, unknownTest(t, m[1], goWord.FindAllString(m[2], -1)), "%s: %s", document, m[0])
		}
	}
	assert.Greater(t, commands, 5)
	for line, want := range map[string]string{
		"go test ./cmd/freshet -run DocumentedTests": "", "go test -C bench -bench Home/embedded": "", "(cd bench && go test ./...": "",
		"go test ./bench -bench Home": "no package bench", "go test -C nowhere": "no package nowhere",
		"go test ./feed -bench Home": "no Home in feed", "go test -C bench -run '^$' -bench 'Hom$'": "no Hom$ in bench",
	} {
		m := goTest.FindStringSubmatch(line)
		require.NotNil(t, m, line)
		assert.Equal(t, want, unknownTest(t, m[1], goWord.FindAllString(m[2], -1)), "the test of the test: %s", line)
	}
}

// unknownTest returns what does not exist of a go test command that is given in the
// directory of a module; "" is the project's.
func unknownTest(t *testing.T, module string, words []string) string {
	t.Helper()
	pkg := "."
	asked := map[string]string{} // by kind, a pattern of names
	for i := 0; i < len(words); i++ {
		switch word := words[i]; word {
		case "-C":
			i++
			module = words[i]
		case "-run", "-bench", "-fuzz":
			i++
			kind := map[string]string{"-run": "Test", "-bench": "Benchmark", "-fuzz": "Fuzz"}[word]
			asked[kind], _, _ = strings.Cut(strings.Trim(words[i], "'"), "/")
		case "-benchtime", "-fuzztime", "-o", "-cpuprofile", "-mutexprofile":
			i++
		default:
			if !strings.HasPrefix(word, "-") {
				pkg = strings.TrimSuffix(word, "...")
			}
		}
	}
	dir := filepath.Join(module, pkg)
	_, err := os.Stat(filepath.Join("../..", dir, "go.mod"))
	isModule := err == nil
	files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
	require.NoError(t, err)
	if isModule != (filepath.Clean(pkg) == ".") || !isModule && len(files) == 0 {
		return "no package " + dir
	}
	known := map[string][]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range testName.FindAllStringSubmatch(string(text), -1) {
			known[m[2]] = append(known[m[2]], m[1])
		}
	}
	for kind, name := range asked {
		if name != "^$" && !slices.ContainsFunc(known[kind], regexp.MustCompile(name).MatchString) {
			return "no " + name + " in " + dir
		}
	}
	return ""
}

// TestDocumentedFilesExist looks up the Go files that the documents name, alone or with the end of
// their path.
func TestDocumentedFilesExist(t *testing.T) {
	ends := map[string]bool{} // of the paths of files
	require.NoError(t, filepath.WalkDir("../..", func(file string, _ fs.DirEntry, err error) error {
		if !strings.HasSuffix(file, ".go") {
			return err
		}
		parts := strings.Split(filepath.ToSlash(file), "/")[2:]
		for i := range parts {
			ends[strings.Join(parts[i:], "/")] = true
		}
		return err
	}))
	named := 0
	for document, text := range documents(t) {
		if filepath.Base(document) == "CHANGELOG.md" {
			continue // it names what there was
		}
		for _, m := range goFile.FindAllStringSubmatch(text, -1) {
			named++
			found := false
			for end := range ends {
				matches, err := path.Match(m[1], end)
				found = found || matches && err == nil
			}
			assert.True(t, found, "%s names %s", document, m[1])
		}
	}
	assert.Greater(t, named, 100)
}

// TestDocumentedScriptsExist looks up the scripts that the documents name.
func TestDocumentedScriptsExist(t *testing.T) {
	named := 0
	for document, text := range documents(t) {
		if filepath.Base(document) == "CHANGELOG.md" {
			continue // it names what there was
		}
		for _, name := range script.FindAllString(text, -1) {
			named++
			_, err := os.Stat(filepath.Join("../..", name))
			assert.NoError(t, err, "%s names %s", document, name)
		}
	}
	assert.Greater(t, named, 20)
}
