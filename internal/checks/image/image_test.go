// Package image runs the build of the Dockerfile with exactly the files that .dockerignore admits.
package image

import (
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../.."

// sent returns the files that reach the builder. docker build uses the same library to read and
// match the patterns.
func sent(t *testing.T) []string {
	t.Helper()
	file, err := os.Open(filepath.Join(root, ".dockerignore"))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	patterns, err := ignorefile.ReadAll(file)
	require.NoError(t, err)
	matcher, err := patternmatcher.New(patterns)
	require.NoError(t, err)
	var files []string
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil || name == ".git" { // a directory, or the file of a worktree
			return skip(d, err)
		}
		ignored, err := matcher.MatchesOrParentMatches(name)
		if err == nil && !ignored && d.Type().IsRegular() {
			files = append(files, name)
		}
		return err
	}))
	return files
}

func skip(d fs.DirEntry, err error) error {
	if err == nil && d.IsDir() {
		return fs.SkipDir
	}
	return err
}

func context(t *testing.T, files []string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		to := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		require.NoError(t, copyFile(filepath.Join(root, name), to))
	}
	return dir
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, info.Mode())
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}

var (
	continued = regexp.MustCompile(`\\\n\s*`)
	building  = regexp.MustCompile(`(?m)^RUN (?:--mount=\S+ +)*(.*go build.*)$`)
	copying   = regexp.MustCompile(`(?m)^RUN (?:--mount=\S+ +)*(.*licenses.*)$`)
	linked    = regexp.MustCompile(`(?m)^\tdep\t(\S+)`)
)

// TestImageBuild runs the Dockerfile's go build in a directory that has only the files that
// reach the builder. The binary must report the version given to the build. Two settings that
// would recompile every dependency are omitted.
func TestImageBuild(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	require.NoError(t, err)
	dockerfile := continued.ReplaceAllString(string(raw), "")
	require.Contains(t, dockerfile, "\nARG VERSION\n")
	command := building.FindStringSubmatch(dockerfile)
	require.NotNil(t, command, "the Dockerfile runs no go build")

	out := t.TempDir()
	for _, setting := range []string{"CGO_ENABLED=0 ", "-trimpath "} {
		require.Contains(t, command[1], setting)
		command[1] = strings.ReplaceAll(command[1], setting, "")
	}
	build := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(command[1], "/out/", out+"/"))
	build.Dir = context(t, sent(t))
	build.Env = append(os.Environ(), "VERSION=v1.2.3-test", "GOFLAGS=-mod=readonly")
	said, err := build.CombinedOutput()
	require.NoError(t, err, "%s\n%s", command[1], said)

	version, err := exec.CommandContext(t.Context(), filepath.Join(out, "freshet"), "version").CombinedOutput()
	require.NoError(t, err, "%s", version)
	assert.Regexp(t, `^freshet v1\.2\.3-test go1\.`, string(version))

	licenses := copying.FindStringSubmatch(dockerfile)
	require.NotNil(t, licenses, "the Dockerfile copies no licence texts")
	copies := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(licenses[1], "/out/", out+"/"))
	copies.Dir = build.Dir
	said, err = copies.CombinedOutput()
	require.NoError(t, err, "%s", said)
	contained, err := exec.CommandContext(t.Context(), "go", "version", "-m", filepath.Join(out, "freshet")).Output()
	require.NoError(t, err)
	modules := linked.FindAllStringSubmatch(string(contained), -1)
	require.NotEmpty(t, modules)
	for _, module := range modules {
		texts, err := os.ReadDir(filepath.Join(out, "licenses", module[1]))
		require.NoError(t, err)
		assert.NotEmpty(t, texts, module[1])
	}
	assert.FileExists(t, filepath.Join(out, "licenses", "LICENSE"))
}

// TestImageBuildContext checks that the builder gets no files that would only make builds copy
// more and miss the cache more often.
func TestImageBuildContext(t *testing.T) {
	for _, name := range sent(t) {
		if name == "scripts/licenses.sh" {
			continue // the build runs it
		}
		assert.NotRegexp(t, `^\.|(^|/)testdata/|_test\.go$|\.md$|^docs/|^scripts/|^bench/|^internal/checks/`, name)
	}
}
