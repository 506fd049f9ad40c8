package postgres

import (
	"context"

	"github.com/freshet/freshet/social/sqlstore"
)

// Identity identifies the database and the schema that the store uses, also after a failover to a
// replica. A copy that was restored from a dump has another identity, one of the server's files the same.
// It is "" if the server does not tell. The error wraps [social.ErrUnavailable] if it does not answer.
func (s *Store) Identity(ctx context.Context) (identity string, err error) {
	_, err = newQuerying(ctx, s.db.pool).Row([]any{&identity}, `SELECT coalesce((SELECT system_identifier FROM pg_control_system()) || '/' ||
		(SELECT oid FROM pg_database WHERE datname = current_database()) || '/' || `+home+`::text, '')`)
	switch code(err) {
	case noPrivilege, undefinedFunction:
		return "", nil
	}
	return identity, dialect.Failed(ctx, "identity", err)
}

// Settings stores one text, shared by all servers of the database. Errors wrap
// [social.ErrUnavailable].
type Settings struct{ db *database }

// Settings returns the store of the shared text.
func (s *Store) Settings() Settings { return Settings{s.db} }

// Get returns the text, or "" if there is none.
func (s Settings) Get(ctx context.Context) (text string, err error) {
	err = s.db.Read(ctx, func(on sqlstore.Session) error {
		_, err := on.Row([]any{&text}, `SELECT value FROM freshet_settings WHERE name = 'shared'`)
		return err
	})
	return text, dialect.Failed(ctx, "settings", err)
}

// Put replaces the text; with once, only if there is none.
func (s Settings) Put(ctx context.Context, text string, once bool) error {
	there := "(name) DO UPDATE SET value = excluded.value"
	if once {
		there = "DO NOTHING"
	}
	err := s.db.Write(ctx, func(on sqlstore.Writing) error {
		_, err := on.Exec(`INSERT INTO freshet_settings (name, value) VALUES ('shared', $1) ON CONFLICT `+there, text)
		return err
	})
	return dialect.Failed(ctx, "settings", err)
}
