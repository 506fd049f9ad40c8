package sqlite_test

import (
	"cmp"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postgres"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
	"github.com/freshet/freshet/social/sqlstore"
)

// golden has the text of each statement in SQLite, under the name of what it is part of.
const golden = "testdata/statements.golden.sql"

var update = flag.Bool("update", false, "write the texts of the statements anew")

// Statements of one database.
var (
	onlySQLite   = regexp.MustCompile(`^(BEGIN|COMMIT|ROLLBACK)|temp\.touched|INDEXED BY|sqlite_sequence`)
	onlyPostgres = regexp.MustCompile(`^Tx\.lock(Rows|Roots|Later): |^Tx\.agents: INSERT`) // where they are, and their beginnings
	// foreign is what SQLite does not understand, or recompiles in each call.
	foreign = regexp.MustCompile(`LATERAL|ctid|::|LOCKED|FOR (UPDATE|KEY|NO)|unnest|ARRAY|ANY|cardinality|greatest|least|extract|COLLATE|#>|LIMIT [$@?]|[«¦»]`)
)

// TestStatementsCompile checks the golden file with the current tables.
func TestStatementsCompile(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "social.db"), social.Options{})
	raw, err := os.ReadFile(golden)
	require.NoError(t, err)
	list := entries(string(raw), false)
	require.Greater(t, len(list), 150)
	for text := range list {
		require.NoError(t, s.Prepare(t.Context(), text), text)
		assert.NotRegexp(t, foreign, text)
	}
}

// checkStatements checks that the golden file has the texts of all statements that ran, and that
// all parts of statements in the source ran.
func checkStatements(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "social.db"), social.Options{})
	require.NoError(t, s.EndLeases(t.Context()), "which is not in the contracts")
	used := socialsqlite.Statements()
	parts := partsOf(t)
	for _, p := range parts {
		for text := range used {
			if strings.Contains(text, p.text) {
				p.uses++
			}
		}
	}
	names := map[string]string{} // by text
	for text, forms := range used {
		name := nameOf(text, parts)
		for i, form := range forms {
			heading := name + []string{"", ", for a list of one"}[i]
			if form != "" && (names[form] == "" || heading < names[form]) {
				names[form] = heading
			}
		}
	}
	run := flag.Lookup("test.run").Value.String() + flag.Lookup("test.skip").Value.String()
	all := !strings.Contains(run, "/")
	if all {
		for _, p := range parts {
			if p.uses == 0 && !onlyPostgres.MatchString(p.name+": "+p.text) {
				t.Errorf("no test runs this part of %s: %s", p.name, p.text)
			}
		}
	}
	if *update && all {
		require.NoError(t, os.WriteFile(golden, []byte(written(names)), 0o600))
	}
	raw, err := os.ReadFile(golden)
	require.NoError(t, err)
	want, have := entries(written(names), all), entries(string(raw), all)
	for entry := range want {
		assert.True(t, have[entry], "the golden file lacks this; go test ./social/sqlite -run TestStore -update writes it:\n%s", entry)
	}
	for entry := range have {
		assert.True(t, want[entry] || !all, "the golden file has this, which is outdated:\n%s", entry)
	}
	t.Run("PostgreSQL", func(t *testing.T) { prepareInPostgres(t, slices.Sorted(maps.Keys(used))) })
}

// written returns the golden file.
func written(names map[string]string) string {
	var b strings.Builder
	for _, text := range slices.SortedFunc(maps.Keys(names), func(x, y string) int {
		return cmp.Or(strings.Compare(names[x], names[y]), strings.Compare(x, y))
	}) {
		b.WriteString("-- " + names[text] + "\n" + strings.TrimSpace(text) + ";\n\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// entries returns the entries of a golden file, with their headings or without.
func entries(text string, headings bool) map[string]bool {
	found := map[string]bool{}
	for entry := range strings.SplitSeq(text, ";\n\n") {
		if !headings {
			_, entry, _ = strings.Cut(entry, "\n")
		}
		found[strings.TrimSpace(entry)] = true
	}
	return found
}

// prepareInPostgres checks that PostgreSQL accepts the statements.
func prepareInPostgres(t *testing.T, list []string) {
	url := testenv.Postgres(t)
	s, err := postgres.New(t.Context(), postgres.Config{URL: url}, social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.NoError(t, s.Migrate(t.Context()))
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	for _, text := range list {
		if onlySQLite.MatchString(text) {
			continue
		}
		text, _, err := pgx.NamedArgs{}.RewriteQuery(t.Context(), conn, sqlstore.InPostgres(text), nil)
		require.NoError(t, err)
		_, err = conn.Prepare(t.Context(), "", text)
		assert.NoError(t, err, text)
	}
}

// part is a literal with SQL, and the declaration that it is in.
type part struct {
	name, text string
	uses       int // in how many statements it occurs
}

// partsOf returns the raw string literals of the store, which are all SQL.
func partsOf(t *testing.T) (parts []*part) {
	paths, err := filepath.Glob("../sqlstore/*.go")
	require.NoError(t, err)
	number := regexp.MustCompile(`%(\[\d+\])?d`)
	for _, path := range append(paths, "dialect.go", "writer.go", "touched.go") {
		if strings.HasSuffix(path, "_test.go") || path == "../sqlstore/dialect.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for name, node := range declarations(file) {
			ast.Inspect(node, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if ok && lit.Value[0] == '`' {
					for _, text := range number.Split(strings.Trim(lit.Value, "`"), -1) {
						parts = append(parts, &part{name: name, text: text})
					}
				}
				return true
			})
		}
	}
	require.Greater(t, len(parts), 300)
	return parts
}

// declarations returns the functions and values of a file by name.
func declarations(file *ast.File) map[string]ast.Node {
	found := map[string]ast.Node{}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				of := d.Recv.List[0].Type
				if star, ok := of.(*ast.StarExpr); ok {
					of = star.X
				}
				name = of.(*ast.Ident).Name + "." + name
			}
			found[name] = d
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if value, ok := spec.(*ast.ValueSpec); ok {
					found[value.Names[0].Name] = value
				}
			}
		}
	}
	return found
}

// nameOf returns the declaration that has most of a statement to itself.
func nameOf(text string, parts []*part) string {
	const long = 12 // shorter parts may occur by chance
	var in []*part
	for _, p := range parts {
		if p.text == text || len(p.text) >= long && strings.Contains(text, p.text) {
			in = append(in, p)
		}
	}
	if len(in) == 0 {
		return "unknown"
	}
	return slices.MinFunc(in, func(x, y *part) int {
		return cmp.Or(x.uses-y.uses, len(y.text)-len(x.text), strings.Compare(x.name, y.name))
	}).name
}
