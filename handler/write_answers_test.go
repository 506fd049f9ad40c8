package handler_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/handler"
)

// use is how a route may use a method of its dependencies.
type use int

const (
	reads use = iota // without asking what the caller may see: after a write it may find another agent's thing under the id
	asks             // reads as the caller, and decides in the same moment
	writes
	neither
)

// uses lists every method of the dependencies that write.
var uses = map[string]map[string]use{
	"Store": {
		"AddMember": writes, "Block": writes, "ChangeCircle": writes, "CreatePost": writes, "DeletePost": writes, "DeletePromotion": writes, "DropCircle": writes, "DropFiles": writes,
		"EditPost": writes, "ChangeExport": writes, "DropExport": writes, "PutExportPart": writes, "DropExportParts": writes, "EraseAgent": writes, "EraseAuthor": writes, "EraseSome": writes, "Follow": writes, "FollowAll": writes,
		"Invite": writes, "KeepSuggested": writes, "Like": writes, "Mute": writes, "PatchAuthor": writes, "PatchCircle": writes, "Purge": writes, "PutAuthor": writes, "PutAvatar": writes, "PutCircle": writes,
		"PutPromotion": writes, "RemoveMember": writes, "RemovePost": writes, "ReserveFiles": writes, "SetCounts": writes, "SetDelivery": writes,
		"Unblock": writes, "Unfollow": writes, "Unlike": writes, "Unmute": writes, "Withdraw": writes,

		"Author": asks, "Cards": asks, "CardsOf": asks, "CircleFor": asks, "CirclePosts": asks, "CirclesOf": asks, "Followers": asks, "Following": asks,
		"Blocked": asks, "Grid": asks, "Invited": asks, "Members": asks, "ErasedAgents": neither, "Muted": asks, "Pull": asks, "Replies": asks, "Ping": neither,
	},
	"Engine": {
		"EditProfile": writes, "Feed": writes, "ForgetLearned": writes, "Liked": writes, "React": writes, "RemoveProfile": writes, "Seen": writes, "Unliked": writes,
		"Explain": reads, "HiddenWith": reads, "Learned": neither, "Profile": reads, "LastErased": neither, "Ranking": neither, "Related": asks, "Muted": asks,
	},
	"Ingest":   {"Read": writes, "ReadNewer": writes, "Counts": writes, "Patch": writes},
	"Items":    {"Remove": writes, "Docs": reads},
	"Rankings": {"Change": writes, "Revert": writes, "Current": reads, "At": reads, "History": reads},
	"Personal": {"Erase": writes, "Parts": neither, "Check": neither},
}

// TestWriteAnswersReadNothing: a route answers from its own write. Once that has returned, the
// id may belong to somebody else, so a route that reads again must ask as its caller.
func TestWriteAnswersReadNothing(t *testing.T) {
	t.Parallel()
	deps := reflect.TypeFor[handler.Deps]()
	store, _ := reflect.TypeFor[handler.Social]().FieldByName("Store")
	for name, methods := range uses {
		field, ok := deps.FieldByName(name)
		if !ok {
			field = store
		}
		if name != "Store" { // what a store reads in addition counts as read
			require.Len(t, methods, field.Type.NumMethod(), "say what each method of %s does", name)
		}
		for method := range methods {
			_, ok := field.Type.MethodByName(method)
			require.True(t, ok, "%s.%s does not exist", name, method)
		}
	}
	for i := range store.Type.NumMethod() {
		method := store.Type.Method(i).Name
		if uses["Store"][method] == reads {
			verb := []string{"Put", "Set", "Create", "Edit", "Delete", "Drop", "Add", "Remove", "Erase", "Move", "Keep", "Patch"}
			require.False(t, slices.ContainsFunc(verb, func(v string) bool { return strings.HasPrefix(method, v) }), "%s sounds like a write: add it to uses", method)
		}
	}
	set := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var files []*ast.File
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(set, name, nil, 0)
			require.NoError(t, err)
			files = append(files, file)
		}
	}
	faults, written := readAfterWrite(files)
	require.Empty(t, faults)
	require.Greater(t, written, 15, "the test no longer finds the writes")

	old, err := parser.ParseFile(set, "old.go", `package handler
		func (s *server) put(ctx context.Context) (any, error) {
			if err := s.store(ctx); err != nil { return nil, err }
			return s.deps.Social.Store.Circle(ctx, id)
		}
		func (s *server) store(ctx context.Context) error { return s.deps.Social.Store.PutCircle(ctx) }
		func (s *server) fine(ctx context.Context) (any, error) {
			kept, err := s.deps.Social.Store.Circle(ctx, id)
			s.deps.Social.Store.PutCircle(ctx)
			return s.deps.Social.Store.CircleFor(ctx, id, by)
		}`, 0)
	require.NoError(t, err)
	faults, _ = readAfterWrite([]*ast.File{old})
	require.Equal(t, []string{"put: Store.Circle is read after Store.PutCircle"}, faults)
}

// readAfterWrite returns the functions that read after they wrote, themselves or through others,
// and the number of functions that write.
func readAfterWrite(files []*ast.File) (faults []string, written int) {
	bodies := map[string]*ast.BlockStmt{}
	for _, file := range files {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Body != nil && !strings.HasSuffix(strings.ToLower(f.Name.Name), "routes") {
				bodies[f.Name.Name] = f.Body
			}
		}
	}
	for name := range bodies {
		wrote := ""
		for _, call := range callsIn(name, bodies, map[string]bool{}) {
			field, method, _ := strings.Cut(call, ".")
			switch kind := uses[field][method]; {
			case kind == writes:
				wrote = call
			case kind == reads && wrote != "":
				faults = append(faults, fmt.Sprintf("%s: %s is read after %s", name, call, wrote))
			}
		}
		if wrote != "" {
			written++
		}
	}
	slices.Sort(faults)
	return faults, written
}

// callsIn lists the methods of dependencies that a function uses, in the order of its text.
func callsIn(name string, bodies map[string]*ast.BlockStmt, inside map[string]bool) (list []string) {
	if bodies[name] == nil || inside[name] {
		return nil
	}
	inside[name] = true
	defer delete(inside, name)
	ast.Inspect(bodies[name], func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok {
				list = append(list, callsIn(f.Name, bodies, inside)...)
			}
		case *ast.SelectorExpr:
			of := ""
			switch x := n.X.(type) {
			case *ast.SelectorExpr:
				of = x.Sel.Name
			case *ast.Ident:
				if x.Name == "store" { // as the functions that add routes name it
					of = "Store"
				}
			}
			if uses[of] != nil {
				list = append(list, of+"."+n.Sel.Name)
				return false
			}
			if x, ok := n.X.(*ast.Ident); ok && (x.Name == "s" || x.Name == "c") {
				list = append(list, callsIn(n.Sel.Name, bodies, inside)...)
			}
		}
		return true
	})
	return list
}
