package sqlite

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/freshet/freshet/social/sqlstore"
)

// forms are the texts of a statement in SQLite. one is for lists of texts with a single element,
// the most frequent case, and needs no table of them. It is "" if the statement also reads its
// lists in another way.
type forms struct{ many, one string }

var (
	known sync.Map // forms of statements

	parameter = regexp.MustCompile(`\$\d+`)
	oneOf     = regexp.MustCompile(`= ANY \((\$\d+)\)`)
	unnest    = regexp.MustCompile(`unnest\(('[^']*'|[$@]\w+)::\w+\[\](, \$\d+::\w+\[\])*\)( WITH ORDINALITY)? (\w+) \(([^)]*)\)(\s+JOIN)?`)
	ofList    = regexp.MustCompile(`= ANY \(\(SELECT (\$\d+)::text\[\]\)::text\[\]\)`)
	selected  = regexp.MustCompile(`\(SELECT ([$@]\w+::\w+\[\])\)`)
	among     = regexp.MustCompile(`(?s)ctid = ANY \(ARRAY\(SELECT x\.ctid FROM (\w+)( x .*?) FOR UPDATE OF x SKIP LOCKED\)\)`)
	// keys are the primary keys of tables without a column id.
	keys = map[string]string{"follows": "agent, author", "members": "circle, agent", "post_circles": "post, circle", "post_keys": "author, key", "refusals": "agent, owner, circle"}

	// rules rewrite expressions that SQLite lacks. Lists in columns are JSON. There is no LATERAL:
	// a correlated list of row ids also reads an index only as far as necessary.
	rules = []struct {
		from *regexp.Regexp
		to   string
	}{
		{regexp.MustCompile(`ARRAY\(SELECT (.+?) FROM`), `(SELECT json_group_array($1) FROM`},
		{regexp.MustCompile(`(?s)LATERAL \(SELECT q\.author, q\.created_at, q\.id AS id (.*) p\n`), "posts p ON p.seq IN (SELECT q.seq $1\n"},
		{regexp.MustCompile(`(?s)LATERAL \(SELECT q\.author, q\.created_at, q\.post AS id (.*) p\n`), "posts p ON p.id IN (SELECT q.post $1\n"},
	}
	// words have an equivalent in SQLite, or none because they have no effect there. LIMIT is LIMIT
	// +$1 because SQLite compiles a statement again for each value of a bare parameter there.
	words = strings.NewReplacer(
		sqlstore.Now, "$1", "::bigint", "", "::text", "", ` COLLATE "C"`, "", " OFFSET 0", "", "LIMIT $", "LIMIT +$", "LIMIT @", "LIMIT +@",
		"greatest(", "max(", "least(", "min(", "cardinality(p.grants) > 0", "p.grants <> ''", "unnest(p.grants) g (value)", "json_each(CASE p.grants WHEN '' THEN '[]' ELSE p.grants END) g", "cardinality($2::text[]) = 0", "$2 = '[]'",
		"p.content::json #>> '{images,0}'", "CAST(p.content AS TEXT) -> '$.images[0]'", // a blob would be read as SQLite's own binary JSON
		" FOR KEY SHARE", "", " FOR NO KEY UPDATE", "", " FOR UPDATE OF j", "", " FOR UPDATE", "", " SKIP LOCKED", "")
)

// rewrite translates a statement of the store for SQLite.
func rewrite(text string) forms {
	if f, ok := known.Load(text); ok {
		return f.(forms)
	}
	many := ofList.ReplaceAllString(text, "= ANY ($1)")
	many = selected.ReplaceAllString(many, "$1")
	many = among.ReplaceAllStringFunc(unnest.ReplaceAllStringFunc(many, rows), amongKeys)
	for _, r := range rules {
		many = r.from.ReplaceAllString(many, r.to)
	}
	many = words.Replace(many)
	var f forms
	if oneOf.MatchString(many) && !strings.Contains(many, "json_each") {
		f.one = numbered(oneOf.ReplaceAllString(many, `= $1`))
	}
	f.many = numbered(oneOf.ReplaceAllString(many, `IN (SELECT value FROM json_each($1))`))
	known.Store(text, f)
	return f
}

// rows reads a list or a table as JSON, before the tables joined with it. The limit makes SQLite
// extract each row of a table from its JSON once, not for each use of a column.
func rows(text string) string {
	m := unnest.FindStringSubmatch(text)
	list, table, ordinal, alias, columns, join := m[1], m[2] != "", m[3] != "", m[4], strings.Split(m[5], ", "), m[6]
	limit := ""
	if table {
		limit = " LIMIT -1"
	}
	for i, name := range columns {
		value := "value"
		switch {
		case ordinal && i == len(columns)-1:
			value = "key + 1"
		case table:
			value = fmt.Sprintf("value ->> %d", i)
		}
		columns[i] = value + " AS " + name
	}
	if join != "" {
		join = " CROSS JOIN"
	}
	list = strings.NewReplacer("'{", "'[", "}'", "]'").Replace(list)
	return `(SELECT ` + strings.Join(columns, ", ") + ` FROM json_each(` + list + `)` + limit + `) ` + alias + join
}

// amongKeys selects rows by primary key.
func amongKeys(text string) string {
	m := among.FindStringSubmatch(text)
	key := cmp.Or(keys[m[1]], "id")
	return `(` + key + `) IN (SELECT x.` + strings.ReplaceAll(key, ", ", ", x.") + ` FROM ` + m[1] + m[2] + `)`
}

// numbered removes the numbers of parameters if each occurs once and in order: the driver binds
// those faster.
func numbered(text string) string {
	for i, number := range parameter.FindAllString(text, -1) {
		if number != fmt.Sprintf("$%d", i+1) {
			return text
		}
	}
	return parameter.ReplaceAllString(text, "?")
}
