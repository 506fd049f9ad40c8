package sqlite

import (
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
	// unneeded words have no effect in SQLite, or none that it needs.
	unneeded = regexp.MustCompile(`::\w+(\[\])?| COLLATE "C"| OFFSET 0| FOR (KEY SHARE|NO KEY UPDATE|UPDATE)( OF \w+)?( SKIP LOCKED)?`)
	selected = regexp.MustCompile(`\(SELECT ([$@]\w+)\)`)
	unnest   = regexp.MustCompile(`unnest\(([$@]\w+)((?:, \$\d+)*)\)( WITH ORDINALITY)? (\w+) \(([^)]*)\)(\s+JOIN)?`)
	// words have an equivalent. LIMIT is LIMIT +$1 because SQLite compiles a statement again for each
	// value of a bare parameter there.
	words = strings.NewReplacer("LIMIT $", "LIMIT +$", "LIMIT @", "LIMIT +@", "greatest(", "max(", "least(", "min(")
)

// rewrite returns a statement of the store for SQLite. What differs in more than words is written
// twice; see [sqlstore.Either]. SQLite refuses to prepare a statement in which anything is left.
func rewrite(text string) forms {
	if f, ok := known.Load(text); ok {
		return f.(forms)
	}
	many := selected.ReplaceAllString(unneeded.ReplaceAllString(sqlstore.InSQLite(text), ""), "$1")
	many = words.Replace(unnest.ReplaceAllStringFunc(many, rows))
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
	from, table, ordinal, alias, columns, join := "json_each("+m[1]+")", m[2] != "", m[3] != "", m[4], strings.Split(m[5], ", "), m[6]
	if table {
		from += " LIMIT -1"
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
	return `(SELECT ` + strings.Join(columns, ", ") + ` FROM ` + from + `) ` + alias + join
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
