package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// TestPurgeLockOrder checks the order of locks. Creating a post again removes its promotions
// while its row is locked, so a purge that waited for that row while it held the lock of a
// promotion would deadlock.
func TestPurgeLockOrder(t *testing.T) {
	url, ctx := testenv.ReusedPostgres(t), t.Context()
	s := open(t, url, social.Options{})
	post, _, err := s.CreatePost(ctx, social.Post{ID: "post:again", Author: "ann", CreatedAt: time.Now().Unix(), Caption: "x", Audience: social.Audience{Public: true}}, social.Creation{At: time.Now()})
	require.NoError(t, err)
	require.NoError(t, s.PutPromotion(ctx, social.Promotion{ID: "old", ItemID: post.ID, From: 1, Until: 2, Weight: 1}))

	other, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close(ctx)) }()
	_, err = other.Exec(ctx, `INSERT INTO revived (post) VALUES ($1)`, post.ID)
	require.NoError(t, err)
	tx, err := other.Begin(ctx)
	require.NoError(t, err)
	_, err = tx.Exec(ctx, `SELECT 1 FROM posts WHERE id = $1 FOR UPDATE`, post.ID)
	require.NoError(t, err)

	purged := make(chan error, 1)
	go func() {
		_, err := s.Purge(ctx, 10)
		purged <- err
	}()
	for waits := 0; waits == 0; {
		require.Empty(t, purged, "it waits for the post")
		require.NoError(t, tx.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waits))
	}
	_, err = tx.Exec(ctx, `SELECT 1 FROM promotions WHERE id = 'old' FOR UPDATE NOWAIT`)
	require.NoError(t, err, "the purge has no promotion while it waits")
	require.NoError(t, tx.Commit(ctx))
	require.NoError(t, <-purged)
	_, err = s.Promotion(ctx, "old")
	require.Error(t, err, "purged")
}
