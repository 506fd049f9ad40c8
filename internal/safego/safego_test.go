package safego_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/safego"
)

func TestRun(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	require.ErrorIs(t, safego.Run(func() error { return failed }), failed)
	require.NoError(t, safego.Run(func() error { return nil }))
	var p *safego.Panic
	require.ErrorAs(t, safego.Func(func() error { panic("broken") })(), &p)
	assert.Equal(t, "broken", p.Value)
	assert.Contains(t, p.Stack, "safego_test.go")
	assert.Contains(t, p.Error(), "panic: broken\n")
}

func TestLog(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	log := slog.New(slog.NewTextHandler(&lines, nil))
	require.False(t, safego.Log(log, "this", func() {}))
	require.Empty(t, lines.String())
	require.True(t, safego.Log(log, "this", func() { panic("broken") }))
	assert.Contains(t, lines.String(), "doing=this")
	assert.Contains(t, lines.String(), "panic: broken")
}

// unguarded has the numbers of goroutines that need no guard, by file: each waits for others, or
// runs guarded code.
var unguarded = map[string]int{
	"client/upload.go":              1, // of the caller's process
	"client/live.go":                1, // of the caller's process
	"cmd/freshet/main.go":           1, // waits for a signal
	"cmd/freshet/serve.go":          1, // sets the garbage collector
	"dedup/journal/journal.go":      1, // syncs a file
	"dedup/memory/rollover.go":      1, // waits for what is running
	"dedup/memory/memory.go":        1, // each check is guarded
	"dedup/recorder.go":             1, // collects batches; each write is guarded
	"dedup/spool/spool.go":          1, // each pass is guarded
	"engine/abandon.go":             1, // waits
	"engine/home.go":                1, // each source is guarded
	"engine/prefetch.go":            1, // each read is guarded
	"server/serve.go":               1, // net/http guards each request
	"internal/safego/safego.go":     1, // Each, by Func
	"internal/logqueue/logqueue.go": 1, // writes lines, where a panic would be logged
	"recall/shared.go":              1, // the source is guarded
	"signals/buffer.go":             1, // each batch is guarded
	"social/graph/applier.go":       1, // each event is guarded
	"social/graph/stream/stream.go": 1, // each turn is guarded
	"social/postgres/memo.go":       1, // each query is guarded
}

// TestGoroutinesGuarded checks the product's source code: a panic in an unguarded goroutine
// would end the process.
func TestGoroutinesGuarded(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	found := map[string]int{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			test := name == "bench" || name == "internal/checks" || name == "examples" || name == "node_modules" || d.Name() == ".git"
			if test || strings.HasSuffix(name, "test") || d.Name() == "testenv" || d.Name() == "ownpostgres" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		if n := goroutines(t, path); n > 0 {
			found[name] = n
		}
		return nil
	}))
	assert.Equal(t, unguarded, found, "goroutines without a guard")
}

// goroutines counts the goroutines of a file that are started without a guard, by go or by a
// function that starts one.
func goroutines(t *testing.T, path string) (n int) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(node ast.Node) bool {
		var started ast.Node
		switch s := node.(type) {
		case *ast.GoStmt:
			started = s.Call
		case *ast.CallExpr:
			if f, ok := s.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "Go" || f.Sel.Name == "DoChan") && len(s.Args) > 0 {
				started = s
			}
		}
		if started == nil {
			return true
		}
		var text bytes.Buffer
		require.NoError(t, printer.Fprint(&text, files, started))
		if !strings.Contains(text.String(), "safego.") {
			n++
		}
		return true
	})
	return n
}
