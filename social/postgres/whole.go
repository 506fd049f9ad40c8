package postgres

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/freshet/freshet/social/sqlstore"
)

// A version number does not prove what a database contains: versions before the first release used
// the same numbers for other tables, and a table, column, key or trigger may have been removed, or
// not restored. So the tables are compared with what their version has.

// expectedText lists what each version has: a line has the first version, or the first and the last
// one, and an object as [objects] names it. A test compares it with migrated schemas, and with
// -update writes it.
//
//go:embed expected.txt
var expectedText string

// ErrUnusable means that the tables are not those of their version, or that this user may not use
// them. Nothing was changed.
var ErrUnusable = errors.New("the tables in PostgreSQL cannot be used")

// Problem is what is wrong with the tables, and how to correct it.
type Problem struct {
	Text, Fix string
	Fatal     bool // the store cannot be used, or would store wrong data
}

// expected is an object, and the versions that have it.
type expected struct {
	first, last int64 // last is 0 if the newest version has it
	name        string
}

func (e expected) in(version int64) bool {
	return e.first <= version && (e.last == 0 || version <= e.last)
}

// expectations parses expectedText.
var expectations = sync.OnceValue(func() (all []expected) {
	for line := range strings.Lines(expectedText) {
		versions, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		first, last, _ := strings.Cut(versions, "-")
		e := expected{name: name}
		e.first, _ = strconv.ParseInt(first, 10, 64)
		e.last, _ = strconv.ParseInt(last, 10, 64)
		all = append(all, e)
	}
	return all
})

// home is the schema that has the tables: the current one, unless they were created in another one of
// the search_path.
const home = `coalesce((SELECT relnamespace FROM pg_class WHERE oid = to_regclass('` + versions + `')), current_schema()::regnamespace)`

// objects is the query of what the schema contains: tables, columns, the columns whose values the
// database provides, unique and other indexes, functions, and the triggers that run. With
// quote_all_identifiers the names of types are quoted.
const objects = `
	SELECT 'table ' || c.relname FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.relnamespace = ` + home + `
	UNION ALL SELECT 'column ' || c.relname || '.' || a.attname || ' of type ' || replace(format_type(a.atttypid, a.atttypmod), '"', '')
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relkind IN ('r', 'p') AND c.relnamespace = ` + home + `
	UNION ALL SELECT 'default of ' || c.relname || '.' || a.attname
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND (a.atthasdef OR a.attidentity <> '')
		WHERE c.relkind IN ('r', 'p') AND c.relnamespace = ` + home + `
	UNION ALL SELECT CASE WHEN i.indisunique THEN 'unique index ' ELSE 'index ' END || c.relname
		FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = ` + home + `
	UNION ALL SELECT 'function ' || p.proname FROM pg_proc p WHERE p.pronamespace = ` + home + ` AND p.proname LIKE 'freshet\_%'
	UNION ALL SELECT 'trigger ' || t.tgname || ' of ' || c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
		WHERE NOT t.tgisinternal AND t.tgenabled IN ('O', 'A') AND c.relnamespace = ` + home + ``

// names reads a column of texts.
func (q querying) names(text string, args ...any) (map[string]bool, error) {
	all := map[string]bool{}
	err := q.Each(sqlstore.Reading{Statement: sqlstore.Statement{Text: text, Args: args}, Scan: func(scan sqlstore.Scan) error {
		var name string
		err := scan(&name)
		all[name] = true
		return err
	}})
	return all, err
}

const (
	notWhole    = "the tables say that they are of version %d, but they lack what that version has: %s. They were created by a version before 0.1.0, or something was removed, or restoring them was interrupted"
	notThat     = "the tables say that they are of version %d, but they have what only later versions have: %s. They were created by a version before 0.1.0, or changed by another program"
	restoreFix  = "restore the database from a backup, use the version that created it, or name an empty database or schema in postgres.url"
	notOurs     = "the schema has no tables of Freshet, but %s: it belongs to another program, or to a version before 0.1.0"
	otherFix    = "name another database or schema in postgres.url (?search_path=), or remove what is there"
	gap         = "the table " + versions + " lacks the versions %s, so it is not known what the tables contain"
	off         = "these triggers are off: %s. Counts of posts become wrong"
	offFix      = "ALTER TABLE … ENABLE TRIGGER …, and count again as docs/operations.md describes"
	replicaRole = "session_replication_role is %s for this user, so no trigger runs, and counts of posts become wrong"
	roleFix     = "ALTER ROLE … RESET session_replication_role, or remove it from postgres.url"
	noRights    = "the user %s lacks privileges: %s"
	rightsFix   = "let the user own the tables (ALTER TABLE … OWNER TO …), or grant these privileges"
	filtered    = "row-level security hides rows from this user in %s"
	filteredFix = "ALTER TABLE … DISABLE ROW LEVEL SECURITY, or let the user own the tables, with NO FORCE ROW LEVEL SECURITY"
	noTouched   = "these triggers are missing or off: %s. Pages are answered without the copy of posts and relations in memory, which takes longer"
	touchedFix  = "ALTER TABLE … ENABLE TRIGGER …, or create them as in social/postgres/migrations/00017_touched.sql"
	slow        = "these indexes are missing: %s. Queries read more than necessary"
	slowFix     = "restore them from a backup of the schema, or create them as in social/postgres/migrations"
	behind      = "the sequence of jobs.id is behind its column: new jobs collide with stored ones"
	behindFix   = "SELECT setval(pg_get_serial_sequence('jobs', 'id'), (SELECT max(id) FROM jobs))"
)

// inspect compares the tables with what their version has, without changing anything. Other servers
// may migrate meanwhile: then it begins again.
func (q querying) inspect() (s Schema, err error) {
	for range attempts {
		s, err = q.versions()
		if code(err) == noPrivilege {
			s.Problems = []Problem{{fmt.Sprintf("the user lacks a privilege: %v", err), rightsFix, true}}
			return s, nil
		} else if err != nil {
			return s, err
		}
		s.Problems, err = q.problems(s)
		if err != nil {
			return s, err
		}
		now, err := q.versions()
		if err != nil || now.Found == s.Found {
			return s, err
		}
	}
	return s, nil
}

func (q querying) problems(s Schema) (problems []Problem, err error) {
	found, err := q.names(objects)
	if err != nil {
		return nil, err
	}
	if s.Found == 0 {
		return taken(found), nil
	}
	for _, check := range []func(Schema, map[string]bool) ([]Problem, error){q.checkVersions, q.checkObjects, q.checkRights, q.checkSequence} {
		more, err := check(s, found)
		if err != nil {
			return nil, err
		}
		problems = append(problems, more...)
		if fatal(problems) != nil {
			return problems, nil // the others may depend on it
		}
	}
	return problems, nil
}

// taken returns a problem if another program has objects with the names of Freshet's.
func taken(found map[string]bool) []Problem {
	var there []string
	for _, e := range expectations() {
		kind, name, _ := strings.Cut(e.name, " ")
		switch kind {
		case "column", "default", "trigger": // parts of tables
			continue
		}
		for _, as := range []string{"table ", "index ", "unique index ", "function "} {
			if found[as+strings.TrimPrefix(name, "index ")] {
				there = append(there, as+strings.TrimPrefix(name, "index "))
			}
		}
	}
	if len(there) == 0 {
		return nil
	}
	return []Problem{{fmt.Sprintf(notOurs, list(there)), otherFix, true}}
}

// checkVersions checks that every migration up to the version has been applied.
func (q querying) checkVersions(s Schema, _ map[string]bool) ([]Problem, error) {
	missing, err := q.names(`SELECT v::text FROM generate_series(1, $1::bigint) v
		WHERE NOT EXISTS (SELECT 1 FROM `+versions+` WHERE version_id = v AND is_applied)`, min(s.Found, s.Known))
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	return []Problem{{fmt.Sprintf(gap, list(keys(missing))), restoreFix, true}}, nil
}

func (q querying) checkObjects(s Schema, found map[string]bool) ([]Problem, error) {
	disabled, err := q.names(`SELECT 'trigger ' || t.tgname || ' of ' || c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
		WHERE NOT t.tgisinternal AND t.tgenabled IN ('D', 'R') AND c.relnamespace = ` + home + ``)
	if err != nil {
		return nil, err
	}
	var missing, early, without, out, touched []string
	for _, e := range expectations() {
		switch table := tableOf(e.name); {
		case s.Found < e.first && found[e.name] && atOnce(e.first):
			early = append(early, e.name)
		case !e.in(min(s.Found, s.Known)) || found[e.name]:
		case table != "" && !found["table "+table]: // reported once
		case strings.HasPrefix(e.name, "index "):
			without = append(without, strings.TrimPrefix(e.name, "index "))
		case notesTouched(e.name):
			touched = append(touched, strings.TrimPrefix(e.name, "trigger "))
		case disabled[e.name]:
			out = append(out, strings.TrimPrefix(e.name, "trigger "))
		default:
			missing = append(missing, e.name)
		}
	}
	var problems []Problem
	if len(missing) > 0 {
		problems = append(problems, Problem{fmt.Sprintf(notWhole, s.Found, list(missing)), restoreFix, true})
	}
	if len(early) > 0 {
		problems = append(problems, Problem{fmt.Sprintf(notThat, s.Found, list(early)), restoreFix, true})
	}
	if len(out) > 0 {
		problems = append(problems, Problem{fmt.Sprintf(off, list(out)), offFix, true})
	}
	if len(touched) > 0 {
		problems = append(problems, Problem{fmt.Sprintf(noTouched, list(touched)), touchedFix, false})
	}
	if len(without) > 0 {
		problems = append(problems, Problem{fmt.Sprintf(slow, list(without)), slowFix, false})
	}
	var role string
	if _, err := q.Row([]any{&role}, `SELECT current_setting('session_replication_role')`); err != nil {
		return nil, err
	}
	if role == "replica" {
		problems = append(problems, Problem{fmt.Sprintf(replicaRole, role), roleFix, true})
	}
	return problems, nil
}

// atOnce reports whether a migration is one transaction. If it is interrupted, nothing of it is left;
// others are repeated.
func atOnce(version int64) bool {
	names, _ := fs.Glob(files, fmt.Sprintf("migrations/%05d_*.sql", version))
	for _, name := range names {
		text, _ := files.ReadFile(name)
		return !strings.Contains(string(text), "+goose NO TRANSACTION")
	}
	return false
}

// tableOf returns the table of a column, a default or a trigger.
func tableOf(name string) string {
	kind, rest, _ := strings.Cut(name, " ")
	switch kind {
	case "column":
		table, _, _ := strings.Cut(rest, ".")
		return table
	case "default":
		table, _, _ := strings.Cut(strings.TrimPrefix(rest, "of "), ".")
		return table
	case "trigger":
		_, table, _ := strings.Cut(rest, " of ")
		return table
	}
	return ""
}

// checkRights checks that the user may read and write all rows, and if migrations are missing that
// they can be applied, so that they do not end half way.
func (q querying) checkRights(s Schema, _ map[string]bool) ([]Problem, error) {
	var tables []string
	for _, e := range expectations() {
		if name, ok := strings.CutPrefix(e.name, "table "); ok && e.in(min(s.Found, s.Known)) {
			tables = append(tables, name)
		}
	}
	lacking, err := q.names(`SELECT p || ' on ' || t FROM unnest($1::text[]) t, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) p
		WHERE NOT has_table_privilege((`+home+`)::regnamespace || '.' || quote_ident(t), p)`, tables)
	if err != nil {
		return nil, err
	}
	if s.Found < s.Known {
		owned, err := q.names(`SELECT 'ownership of ' || c.relname FROM pg_class c WHERE c.relnamespace = `+home+`
				AND c.relname = ANY ($1::text[]) AND NOT pg_has_role(c.relowner, 'USAGE')
			UNION ALL SELECT 'CREATE on the schema' WHERE NOT has_schema_privilege(current_schema(), 'CREATE')
			UNION ALL SELECT 'a search_path that begins with ' || n FROM (SELECT (`+home+`)::regnamespace::text) t (n) WHERE n <> current_schema()::regnamespace::text`, append(tables, versions))
		if err != nil {
			return nil, err
		}
		for name := range owned {
			lacking[name] = true
		}
	}
	var user string
	if _, err := q.Row([]any{&user}, `SELECT current_user::text`); err != nil {
		return nil, err
	}
	var problems []Problem
	if len(lacking) > 0 {
		problems = append(problems, Problem{fmt.Sprintf(noRights, user, list(keys(lacking))), rightsFix, true})
	}
	hidden, err := q.names(`SELECT t FROM unnest($1::text[]) t WHERE row_security_active((`+home+`)::regnamespace || '.' || quote_ident(t))`, tables)
	if len(hidden) > 0 {
		problems = append(problems, Problem{fmt.Sprintf(filtered, list(keys(hidden))), filteredFix, true})
	}
	return problems, err
}

// checkSequence checks that new jobs get new ids. A logical replica has the rows without the
// sequence.
func (q querying) checkSequence(Schema, map[string]bool) ([]Problem, error) {
	var late bool
	_, err := q.Row([]any{&late}, `SELECT has_sequence_privilege(pg_get_serial_sequence('jobs', 'id'), 'SELECT')
		AND coalesce((SELECT max(id) FROM jobs), 0) > coalesce(pg_sequence_last_value(pg_get_serial_sequence('jobs', 'id')::regclass), 0)`)
	if err != nil || !late {
		return nil, err
	}
	return []Problem{{behind, behindFix, false}}, nil
}

func list(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

func keys(set map[string]bool) []string {
	all := make([]string, 0, len(set))
	for name := range set {
		all = append(all, name)
	}
	return all
}

// fatal returns an error if a problem prevents the use of the tables.
func fatal(problems []Problem) error {
	for _, p := range problems {
		if p.Fatal {
			return fmt.Errorf("%w: %s. Nothing was changed; %s", ErrUnusable, p.Text, p.Fix)
		}
	}
	return nil
}
