package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlstore"
)

// notCopied are tables that a copy of the database does not have: the settings are those of the servers that
// start on it, the touched rows those of a few minutes, which a crash of the database empties, too, and exports are
// made anew when they are asked for.
var notCopied = []string{"freshet_settings", "touched", "touched_state", "exports", "export_parts"}

// Table is a table that is copied, with the columns whose values it stores.
type Table struct {
	Name    string
	Columns []string
}

func (t Table) list() string {
	quoted := make([]string, len(t.Columns))
	for i, name := range t.Columns {
		quoted[i] = pgx.Identifier{name}.Sanitize()
	}
	return pgx.Identifier{t.Name}.Sanitize() + " (" + strings.Join(quoted, ", ") + ")"
}

// Snapshot is one state of the database, however long it takes to read it.
type Snapshot struct {
	*sqlstore.Store
	Version int64   // of the tables
	Newest  bool    // this program knows no newer one, so Store can read it
	Tables  []Table // that are copied
	tx      pgx.Tx
}

// fixed is a [sqlstore.Database] that reads in one transaction.
type fixed struct{ tx pgx.Tx }

var errOnlyRead = errors.New("a snapshot can only be read")

// Read implements [sqlstore.Database].
func (f fixed) Read(ctx context.Context, do func(sqlstore.Session) error) error {
	return do(newQuerying(ctx, f.tx))
}

// Snapshot implements [sqlstore.Database].
func (f fixed) Snapshot(ctx context.Context, do func(sqlstore.Session) error) error {
	return f.Read(ctx, do)
}

// Alone implements [sqlstore.Database].
func (f fixed) Alone(ctx context.Context, do func(sqlstore.Session) error) error {
	return f.Read(ctx, do)
}

// Write implements [sqlstore.Database].
func (fixed) Write(context.Context, func(sqlstore.Writing) error) error { return errOnlyRead }

// ReadAll calls do with a snapshot, of which no time limit of the server's ends the transaction. The store
// need not be migrated. Errors are those of [Store.Migrate], and of do.
func (s *Store) ReadAll(ctx context.Context, do func(*Snapshot) error) error {
	v, err := newQuerying(ctx, s.db.pool).usable()
	switch {
	case err != nil:
		return fmt.Errorf("postgres: %w", reason(err))
	case v.Found == 0:
		return fmt.Errorf("postgres: there are no tables; postgres.url must lead to the database of the servers")
	case v.Found > v.Known:
		return fmt.Errorf("postgres: %w: the tables are of version %d, this one knows up to %d; use the version that the servers run", errNewerSchema, v.Found, v.Known)
	}
	return pgx.BeginTxFunc(ctx, s.db.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		snapshot := &Snapshot{Store: sqlstore.New(fixed{tx}, &dialect, social.Options{}), Version: v.Found, Newest: v.Found == v.Known, tx: tx}
		if _, err := tx.Exec(ctx, `SELECT set_config(name, '0', true) `+limits); err != nil {
			return reason(err)
		}
		if snapshot.Tables, err = tablesOf(ctx, tx, v.Found); err != nil {
			return reason(err)
		}
		if err := s.unmigrated(ctx, tx, snapshot); err != nil {
			return err
		}
		return do(snapshot)
	})
}

// unmigrated locks the tables of a snapshot, so that no migration changes them while they are read, and returns
// an error if one has since the snapshot was taken: a table that was written anew has no rows in it.
func (s *Store) unmigrated(ctx context.Context, tx pgx.Tx, of *Snapshot) error {
	names := make([]string, len(of.Tables))
	for i, t := range of.Tables {
		names[i] = pgx.Identifier{t.Name}.Sanitize()
	}
	if _, err := tx.Exec(ctx, `LOCK TABLE `+strings.Join(names, ", ")+` IN ACCESS SHARE MODE`); err != nil {
		return fmt.Errorf("postgres: %w", reason(err))
	}
	now, err := newQuerying(ctx, s.db.pool).usable()
	if err != nil {
		return fmt.Errorf("postgres: %w", reason(err))
	}
	if now.Found != of.Version {
		return errors.New("postgres: the tables were migrated meanwhile; run it again")
	}
	return nil
}

// tablesOf returns the tables of a version that are copied.
func tablesOf(ctx context.Context, tx pgx.Tx, version int64) (tables []Table, err error) {
	for _, e := range expectations() {
		name, ok := strings.CutPrefix(e.name, "table ")
		if !ok || !e.in(version) || slices.Contains(notCopied, name) {
			continue
		}
		t := Table{Name: name}
		if t.Columns, err = texts(ctx, tx, `SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = '`+name+`'::regclass
			AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' ORDER BY a.attnum`); err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	return tables, nil
}

// Copy writes the rows of a table, each a line of PostgreSQL's text format.
func (s *Snapshot) Copy(ctx context.Context, t Table, to io.Writer) error {
	_, err := s.tx.Conn().PgConn().CopyTo(ctx, to, `COPY `+t.list()+` TO STDOUT`)
	return reason(err)
}

// Sequences returns the last value of the sequence of each column that has one and has used it, by "table.column".
func (s *Snapshot) Sequences(ctx context.Context) (map[string]int64, error) {
	found := map[string]int64{}
	rows, err := s.tx.Query(ctx, `SELECT c.relname || '.' || a.attname, pg_sequence_last_value(pg_get_serial_sequence(c.relname, a.attname)::regclass)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attidentity <> ''
		WHERE c.relkind = 'r' AND c.relnamespace = `+home)
	if err != nil {
		return nil, reason(err)
	}
	var name string
	var last *int64
	_, err = pgx.ForEachRow(rows, []any{&name, &last}, func() error {
		if last != nil {
			found[name] = *last
		}
		return nil
	})
	return found, reason(err)
}

// ErrNotEmpty means that rows cannot be copied into a database that has some.
var ErrNotEmpty = errors.New("the database of postgres.url is not empty")

// madeByMigrations are tables that have a row after the migrations.
var madeByMigrations = []string{"freshet_schema", changesState}

// changesState is the table that says which cursors of changes are valid.
const changesState = "changes_state"

// CheckEmpty returns [ErrNotEmpty], with what to do, unless the database has no tables, or tables of this
// version that are empty.
func (s *Store) CheckEmpty(ctx context.Context, version int64) error {
	v, err := newQuerying(ctx, s.db.pool).usable()
	switch {
	case err != nil:
		return fmt.Errorf("postgres: %w", reason(err))
	case version > v.Known:
		return fmt.Errorf("postgres: %w: the backup has tables of version %d, this one knows up to %d; upgrade freshet", errNewerSchema, version, v.Known)
	case v.Found == 0:
		return nil
	case v.Found > version:
		return fmt.Errorf("%w: it has tables of version %d, and the backup is of version %d; name a new database or schema", ErrNotEmpty, v.Found, version)
	}
	return pgx.BeginTxFunc(ctx, s.db.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		tables, err := tablesOf(ctx, tx, v.Found)
		for _, t := range tables {
			var some bool
			if slices.Contains(madeByMigrations, t.Name) {
				continue
			}
			if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM `+t.Name+`)`).Scan(&some); err != nil {
				return reason(err)
			}
			if some {
				return fmt.Errorf("%w: the table %s has rows; name a new database or schema in postgres.url", ErrNotEmpty, t.Name)
			}
		}
		return reason(err)
	})
}

// Fill creates the tables of a version and replaces their rows, all in one transaction. read gives the rows
// of a table, as [Snapshot.Copy] has written them. Triggers do not run: their results are in the rows.
func (s *Store) Fill(ctx context.Context, version int64, tables []Table, sequences map[string]int64, read func(Table, func(io.Reader) error) error) error {
	if err := s.migrate(ctx, version); err != nil {
		return fmt.Errorf("postgres: migrate: %w", reason(err))
	}
	err := s.db.on(ctx, func(conn *pgxpool.Conn) (bool, error) {
		return false, pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{}, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT set_config(name, '0', true) `+limits); err != nil {
				return err
			}
			if err := sameTables(ctx, tx, version, tables); err != nil {
				return err
			}
			for _, t := range tables {
				if err := fillTable(ctx, tx, t, read); err != nil {
					return fmt.Errorf("table %s: %w", t.Name, err)
				}
			}
			if err := endCursors(ctx, tx, tables); err != nil {
				return err
			}
			for name, last := range sequences {
				table, column, _ := strings.Cut(name, ".")
				if _, err := tx.Exec(ctx, `SELECT setval(pg_get_serial_sequence($1, $2), $3)`, table, column, last); err != nil {
					return fmt.Errorf("sequence of %s: %w", name, err)
				}
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("postgres: %w", reason(err))
	}
	// Queries of the first minutes would be planned for empty tables.
	for _, t := range tables {
		if _, err := s.db.pool.Exec(ctx, `ANALYZE `+pgx.Identifier{t.Name}.Sanitize()); err != nil {
			return fmt.Errorf("postgres: %w", reason(err))
		}
	}
	return nil
}

// sameTables returns an error unless tables are those of a version, with all their columns: others in the
// database are not its own.
func sameTables(ctx context.Context, tx pgx.Tx, version int64, tables []Table) error {
	known, err := tablesOf(ctx, tx, version)
	if err != nil {
		return err
	}
	columns := map[string][]string{}
	for _, t := range known {
		columns[t.Name] = slices.Sorted(slices.Values(t.Columns))
	}
	for _, t := range tables {
		if !slices.Equal(columns[t.Name], slices.Sorted(slices.Values(t.Columns))) {
			return fmt.Errorf("the copy has a table %q with columns that tables of version %d have not", t.Name, version)
		}
		delete(columns, t.Name)
	}
	for name := range columns {
		return fmt.Errorf("the copy lacks the table %s", name)
	}
	return nil
}

// endCursors ends all cursors of changes: those handed out after the copy was made name changes of another
// history. The next server to start renews them, because the table is not the one that the row names.
func endCursors(ctx context.Context, tx pgx.Tx, tables []Table) error {
	if !slices.ContainsFunc(tables, func(t Table) bool { return t.Name == changesState }) {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE `+changesState+` SET home = ''`)
	return err
}

func fillTable(ctx context.Context, tx pgx.Tx, t Table, read func(Table, func(io.Reader) error) error) error {
	name := pgx.Identifier{t.Name}.Sanitize()
	if _, err := tx.Exec(ctx, `ALTER TABLE `+name+` DISABLE TRIGGER USER`); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `TRUNCATE `+name); err != nil {
		return err
	}
	err := read(t, func(rows io.Reader) error {
		_, err := tx.Conn().PgConn().CopyFrom(ctx, rows, `COPY `+t.list()+` FROM STDIN`)
		return err
	})
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `ALTER TABLE `+name+` ENABLE TRIGGER USER`)
	return err
}
