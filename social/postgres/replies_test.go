package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postgres"
)

// TestReplyLockOrder checks the order of locks. Creating a reply locks the root post and
// then the post counts of its author. A removal that waited for the post while it held the lock of
// those counts would deadlock, and all other replies to the post would wait.
func TestReplyLockOrder(t *testing.T) {
	for name, remove := range map[string]func(ctx context.Context, s *postgres.Store, reply string) error{
		"deleted": func(ctx context.Context, s *postgres.Store, reply string) error {
			return s.DeletePost(ctx, reply, "bob", time.Time{})
		},
		"made a post": func(ctx context.Context, s *postgres.Store, reply string) error {
			p := social.Post{ID: reply, Author: "bob", Caption: "x", CreatedAt: time.Now().Unix(), Audience: social.Audience{Public: true}}
			_, _, err := s.CreatePost(ctx, p, social.Creation{At: time.Now()})
			return err
		},
		"erased": func(ctx context.Context, s *postgres.Store, _ string) error {
			_, err := s.EraseSome(ctx, "bob", 100, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, ctx := testenv.ReusedPostgres(t), t.Context()
			s := open(t, url, social.Options{})
			post := func(p social.Post) string {
				p.Caption = "x"
				made, _, err := s.CreatePost(ctx, p, social.Creation{})
				require.NoError(t, err)
				return made.ID
			}
			root := post(social.Post{Author: "ann", Audience: social.Audience{Public: true}})
			reply := post(social.Post{Author: "bob", ReplyTo: root})
			if name == "erased" {
				require.NoError(t, s.EraseAuthor(ctx, "bob"))
			}
			post(social.Post{Author: "bob", Audience: social.Audience{Public: true}})

			other, err := pgx.Connect(ctx, url)
			require.NoError(t, err)
			defer func() { require.NoError(t, other.Close(ctx)) }()
			tx, err := other.Begin(ctx)
			require.NoError(t, err)
			_, err = tx.Exec(ctx, `SELECT 1 FROM posts WHERE id = $1 FOR UPDATE`, root)
			require.NoError(t, err)
			removed := make(chan error, 1)
			go func() { removed <- remove(ctx, s, reply) }()
			for waits := 0; waits == 0; {
				require.Empty(t, removed, "it waits for the root")
				require.NoError(t, tx.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waits))
			}
			var n int
			require.NoError(t, tx.QueryRow(ctx, `SELECT public FROM post_counts WHERE author = 'bob' FOR UPDATE NOWAIT`).Scan(&n))
			require.NoError(t, tx.Commit(ctx))
			require.NoError(t, <-removed)
			cards, err := s.Cards(ctx, "", []social.PostVersion{{ID: root}})
			require.NoError(t, err)
			require.Zero(t, cards[0].Comments)
		})
	}
}
