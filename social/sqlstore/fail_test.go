package sqlstore

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestFailedFunctionsReturn checks that each call of [Query.fail] is returned, or that the next
// statement is a return: what follows a failure would run on the zero values of failed reads.
func TestFailedFunctionsReturn(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	calls := 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		returned := failuresReturned(file)
		ast.Inspect(file, func(n ast.Node) bool {
			if isFail(n) {
				calls++
				if !returned[n] {
					t.Errorf("%s: the function goes on after it has failed", files.Position(n.Pos()))
				}
			}
			return true
		})
	}
	if calls == 0 {
		t.Error("no call of fail was found")
	}
}

// isFail reports whether a node is a call of fail.
func isFail(n ast.Node) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && method.Sel.Name == "fail"
}

// failuresReturned returns the calls of fail that end their functions.
func failuresReturned(file *ast.File) map[ast.Node]bool {
	returned := map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			for _, result := range n.Results {
				returned[result] = true
			}
		case *ast.BlockStmt:
			markFollowed(returned, n.List)
		case *ast.CaseClause:
			markFollowed(returned, n.Body)
		}
		return true
	})
	return returned
}

// markFollowed marks the calls that are statements directly before a return.
func markFollowed(returned map[ast.Node]bool, list []ast.Stmt) {
	for i, statement := range list[:max(len(list)-1, 0)] {
		call, isCall := statement.(*ast.ExprStmt)
		_, isReturn := list[i+1].(*ast.ReturnStmt)
		if isCall && isReturn {
			returned[call.X] = true
		}
	}
}
