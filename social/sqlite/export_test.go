package sqlite

import (
	"context"

	"github.com/freshet/freshet/social"
)

// Statements returns the statements that the stores of this process have run, with their texts in
// SQLite.
func Statements() map[string][]string {
	all := map[string][]string{}
	known.Range(func(text, f any) bool {
		all[text.(string)] = []string{f.(forms).many, f.(forms).one}
		return true
	})
	return all
}

// Prepare compiles a statement.
func (s *Store) Prepare(ctx context.Context, text string) error {
	stmt, err := s.file.conn.PrepareContext(ctx, text)
	if err != nil {
		return err
	}
	return stmt.Close()
}

// StoredCards is [Store.Cards] without the cache: it reads from the file.
func (s *Store) StoredCards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	return s.Store.Cards(ctx, reader, posts)
}

// StoredCelebrities is [Store.Celebrities] without the cache.
func (s *Store) StoredCelebrities(ctx context.Context, reader string) (social.Pulled, error) {
	return s.Store.Celebrities(ctx, reader)
}
