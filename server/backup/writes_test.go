package backup_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/backup"
	"github.com/freshet/freshet/server/erasures"
	"github.com/freshet/freshet/social"
)

// writers are all kinds of calls that go on while a backup is made. n counts their rounds.
var writers = map[string]func(ctx context.Context, r *running, n int) error{
	"posts with images": func(ctx context.Context, r *running, n int) error {
		_, err := r.agent("author_0").CreatePost(ctx, client.NewPost{Caption: "Meanwhile", Images: []client.NewImage{{Data: picture(r.t, 50+n)}}})
		return err
	},
	"posts that are edited and deleted": func(ctx context.Context, r *running, n int) error {
		c, caption := r.agent("author_1"), "Edited"
		post, err := c.CreatePost(ctx, client.NewPost{Caption: "Short-lived", Images: []client.NewImage{{Data: picture(r.t, 50+n)}}})
		if err == nil {
			_, err = c.EditPost(ctx, post.ID, client.PostEdit{Caption: &caption})
		}
		if err == nil {
			err = c.DeletePost(ctx, post.ID)
		}
		return err
	},
	"erasures": func(ctx context.Context, r *running, n int) error {
		agent := fmt.Sprintf("gone_%d", n)
		_, err := r.agent(agent).CreatePost(ctx, client.NewPost{Caption: "By somebody who goes"})
		if err == nil {
			_, err = r.agent("").PutProfile(ctx, agent, feed.Profile{MutedTags: []string{"mud"}})
		}
		if err == nil {
			err = r.agent(agent).DeleteAgent(ctx, agent)
		}
		return err
	},
	"suspensions": func(ctx context.Context, r *running, n int) error {
		_, err := r.agent("").Moderate(ctx, client.Moderation{
			Object: social.Object{Kind: social.ObjectAuthor, ID: fmt.Sprintf("bad_%d", n)}, Action: social.ActionSuspend, Reason: "spam", Until: time.Now().Unix() + 3600,
		})
		return err
	},
	"follows": func(ctx context.Context, r *running, n int) error {
		reader := fmt.Sprintf("reader_%d", n)
		_, err := r.agent(reader).Follow(ctx, reader, "author_0")
		if err == nil {
			_, err = r.agent("reader_2").Unfollow(ctx, "reader_2", "author_1")
		}
		return err
	},
	"named feeds": func(ctx context.Context, r *running, n int) error {
		_, err := r.agent(fmt.Sprintf("tagged_%d", n)).Feed(ctx, client.Ask{Action: client.ActionRefresh, Limit: 5, Feed: "tag:go"})
		return err
	},
	"rankings": func(ctx context.Context, r *running, n int) error {
		_, err := r.agent("").PutFeed(ctx, feed.Name(fmt.Sprintf("stored%d", n)), n, client.FeedChange{Filter: feed.Filter{Any: feed.Conditions{Tags: []string{"go"}}}})
		return err
	},
	"items": func(ctx context.Context, r *running, n int) error {
		_, err := r.agent("").Ingest(ctx, strings.NewReader(fmt.Sprintf(`{"id":"meanwhile_%d","title":"Go","tags":["go"],"update_time":%d}`, n, time.Now().Unix())), nil)
		return err
	},
}

// TestBackupDuringWrites makes backups while everything is written, and restores the last: it is one that can be
// compared and used, has what was there before, shows nothing twice, and nothing of agents who were erased.
func TestBackupDuringWrites(t *testing.T) {
	t.Parallel()
	for mode, config := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			from, to, dir := config(t), config(t), filepath.Join(t.TempDir(), "backup")
			from.Erasures.File = filepath.Join(t.TempDir(), "erased.ndjson")
			a := start(t, from)
			posts := a.fill(3, 3)
			shown := a.read("reader_0")
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var running sync.WaitGroup
			for name, write := range writers {
				running.Go(func() {
					for n := 0; n < 40 && ctx.Err() == nil; n++ {
						err := write(ctx, a, n)
						if !errors.Is(err, context.Canceled) {
							assert.NoError(t, err, name)
						}
					}
				})
			}
			var m *backup.Manifest
			for range 3 {
				m = makeBackup(t, from, dir)
			}
			stop()
			running.Wait()
			a.stop()
			intact(t, dir, m.ID)

			_, err := backup.Restore(t.Context(), to, dir, backup.Options{})
			require.NoError(t, err)
			require.Empty(t, verified(t, to, dir).Differences)
			list, err := erasures.Read([]string{from.Erasures.File}, m.Started.Add(-time.Minute))
			require.NoError(t, err)
			require.NoError(t, server.EraseAgain(t.Context(), to, list, func(int) {}, server.WithRecallCache(0, 0)))
			b := start(t, to)
			for _, id := range posts {
				_, err := b.agent("reader_0").Post(t.Context(), id)
				require.NoError(t, err)
			}
			for _, id := range b.read("reader_0") {
				assert.NotContains(t, shown, id)
			}
			for _, e := range list {
				_, err := b.agent("").Profile(t.Context(), e.Agent)
				require.ErrorIs(t, err, feed.ErrNotFound)
				page, err := b.agent("").ModeratedPosts(t.Context(), client.ModeratedFilter{Author: e.Agent, Limit: 5})
				require.NoError(t, err)
				assert.Empty(t, page.Posts, e.Agent)
			}
		})
	}
}
