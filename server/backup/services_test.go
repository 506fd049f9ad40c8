package backup_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/backup"
)

func TestMain(m *testing.M) { os.Exit(testenv.Reuse(m).Run()) }

const adminToken = "a-token-for-tests-of-backups"

// services returns the configuration of servers over services, with names that no other test uses, without
// anything in them.
func services(t *testing.T) configs.Config {
	t.Helper()
	cfg := configs.Default()
	dir := t.TempDir()
	cfg.DataDir, cfg.Auth.AdminToken, cfg.Server.RequestTimeout = filepath.Join(dir, "data"), adminToken, 20*time.Second
	cfg.Redis.URL = testenv.RedisURL(t)
	_, cfg.Redis.KeyPrefix = testenv.Redis(t)
	address, index := testenv.Elastic(t)
	cfg.Elasticsearch.Addresses, cfg.Elasticsearch.Index = []string{address}, index
	cfg.Postgres.URL = testenv.Postgres(t) + "&pool_max_conns=8"
	cfg.Media.URL = (&url.URL{Scheme: "file", Path: filepath.Join(dir, "images")}).String()
	require.NoError(t, cfg.Validate())
	return cfg
}

// running is a server of a test.
type running struct {
	t    *testing.T
	app  *server.App
	url  string
	stop func()
}

func start(t *testing.T, cfg configs.Config, options ...server.Option) *running {
	t.Helper()
	app, err := server.Open(t.Context(), cfg, append(options, server.WithRecallCache(0, 0), server.WithLogger(slog.New(slog.DiscardHandler)))...)
	require.NoError(t, err)
	s := httptest.NewServer(app.Handler)
	stop := sync.OnceFunc(func() { s.Close(); assert.NoError(t, app.Close(context.WithoutCancel(t.Context()))) })
	t.Cleanup(stop)
	return &running{t, app, s.URL, stop}
}

func (r *running) agent(name string) *client.Client {
	r.t.Helper()
	c, err := client.New(r.url, client.WithAgent(name), client.WithToken(map[bool]string{true: adminToken}[name == ""]))
	require.NoError(r.t, err)
	r.t.Cleanup(c.Close)
	return c
}

// read reads all that a reader's feed has, and returns the ids.
func (r *running) read(agent string) (ids []string) {
	r.t.Helper()
	c := r.agent(agent)
	page, err := c.Refresh(r.t.Context(), 20)
	require.NoError(r.t, err)
	for len(page.Items) > 0 {
		for _, item := range page.Items {
			ids = append(ids, item.ID)
		}
		page, err = c.LoadMore(r.t.Context(), 20)
		require.NoError(r.t, err)
	}
	return ids
}

// picture returns an image of a width.
func picture(t *testing.T, width int) []byte {
	t.Helper()
	var data bytes.Buffer
	require.NoError(t, png.Encode(&data, image.NewGray(image.Rect(0, 0, width, 20))))
	return data.Bytes()
}

// fill stores items, a profile, a version of the ranking, posts and follows, and returns the posts.
func (r *running) fill(authors, readers int) (posts []string) {
	r.t.Helper()
	ctx, admin := r.t.Context(), r.agent("")
	var lines strings.Builder
	for i := range 120 {
		fmt.Fprintf(&lines, `{"id":"doc_%d","title":"Item <%d> & more","update_time":%d,"score":1.50}`+"\n", i, i, time.Now().Unix()-int64(i))
	}
	_, err := admin.Ingest(ctx, strings.NewReader(lines.String()), nil)
	require.NoError(r.t, err)
	_, err = admin.PutProfile(ctx, "reader_0", feed.Profile{MutedAuthors: []string{"nobody"}})
	require.NoError(r.t, err)
	for i := range authors {
		post, err := r.agent(fmt.Sprintf("author_%d", i)).CreatePost(ctx, client.NewPost{
			Caption: "A post\twith a tab, a \\ and a\nline", Images: []client.NewImage{{Data: picture(r.t, 40+i)}},
		})
		require.NoError(r.t, err)
		posts = append(posts, post.ID)
		for j := range readers {
			reader := fmt.Sprintf("reader_%d", j)
			_, err = r.agent(reader).Follow(ctx, reader, fmt.Sprintf("author_%d", i))
			require.NoError(r.t, err)
		}
	}
	testenv.WaitFor(r.t, func() bool {
		page, err := r.agent("probe").Feed(ctx, client.Ask{Action: client.ActionRefresh, Silent: true, Limit: 100})
		return err == nil && len(page.Items) > 20
	}, "items that can be found")
	return posts
}

// make backs up, with no limits.
func makeBackup(t *testing.T, cfg configs.Config, dir string) *backup.Manifest {
	t.Helper()
	m, err := backup.Make(t.Context(), cfg, dir, backup.Options{}, time.Now)
	require.NoError(t, err)
	return m
}

func verified(t *testing.T, cfg configs.Config, dir string) *backup.Comparison {
	t.Helper()
	found, err := backup.Verify(t.Context(), cfg, dir, backup.Options{})
	require.NoError(t, err)
	return found
}

// TestServicesRoundTrip backs up servers over services while they write, restores that into others, and
// compares: what was answered before the backup began is there, and nothing that was shown before is shown
// again.
func TestServicesRoundTrip(t *testing.T) {
	t.Parallel()
	from, to, dir := services(t), services(t), filepath.Join(t.TempDir(), "backup")
	a := start(t, from)
	posts := a.fill(6, 5)
	shown := map[string][]string{}
	for i := range 3 {
		agent := fmt.Sprintf("reader_%d", i)
		shown[agent] = a.read(agent)
		require.NotEmpty(t, shown[agent])
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var writers sync.WaitGroup
	writers.Go(func() {
		c := a.agent("author_0")
		for n := 0; n < 40 && ctx.Err() == nil; n++ { // a feed has some hundreds
			_, err := c.CreatePost(t.Context(), client.NewPost{Caption: "Meanwhile"})
			assert.NoError(t, err)
		}
	})
	first := makeBackup(t, from, dir)
	m := makeBackup(t, from, dir)
	stop()
	writers.Wait()
	a.stop()
	assert.NotEqual(t, first.ID, m.ID)
	settings, err := os.ReadFile(filepath.Join(dir, m.ID, "settings.yaml"))
	require.NoError(t, err)
	assert.NotContains(t, string(settings), adminToken)
	_, err = backup.Restore(t.Context(), from, dir, backup.Options{})
	require.ErrorContains(t, err, "the database of postgres.url is not empty")

	interrupted(t, to, dir)
	_, err = server.Open(t.Context(), to, server.WithLogger(slog.New(slog.DiscardHandler)))
	require.ErrorContains(t, err, "run the freshet restore again")
	_, err = backup.Restore(t.Context(), to, dir, backup.Options{})
	require.NoError(t, err)
	found := verified(t, to, dir)
	assert.Empty(t, found.Differences)
	assert.Equal(t, 5, found.Timelines)
	assert.GreaterOrEqual(t, found.Images, int64(len(posts)))
	assert.Greater(t, found.Rows, int64(150))

	b := start(t, to)
	for _, id := range posts {
		_, err := b.agent("reader_0").Post(t.Context(), id)
		require.NoError(t, err)
	}
	for agent, before := range shown {
		now := b.read(agent)
		again := slices.DeleteFunc(now, func(id string) bool { return !slices.Contains(before, id) })
		assert.Empty(t, again, "%s was shown these before", agent)
	}
	fresh := b.read("somebody")
	for _, id := range posts {
		assert.Contains(t, fresh, id)
	}
	profile, err := b.agent("").Profile(t.Context(), "reader_0")
	require.NoError(t, err)
	assert.Equal(t, []string{"nobody"}, profile.MutedAuthors)
	_, err = b.agent("author_0").CreatePost(t.Context(), client.NewPost{Caption: "A new one"})
	require.NoError(t, err, "new jobs have new ids")
}

// interrupted restores until the impressions begin, and then is cut off.
func interrupted(t *testing.T, cfg configs.Config, dir string) {
	t.Helper()
	ctx, cut := context.WithCancel(t.Context())
	defer cut()
	_, err := backup.Restore(ctx, cfg, dir, backup.Options{Progress: func(part string, done, _ int64) {
		if part == "catalog" && done > 50 {
			cut()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
}

// TestServicesDifferences changes each store after a restoration: the comparison names what was changed.
func TestServicesDifferences(t *testing.T) {
	t.Parallel()
	from, to, dir := services(t), services(t), filepath.Join(t.TempDir(), "backup")
	a := start(t, from)
	posts := a.fill(3, 3)
	a.read("reader_0")
	a.stop()
	makeBackup(t, from, dir)
	_, err := backup.Restore(t.Context(), to, dir, backup.Options{})
	require.NoError(t, err)
	require.Empty(t, verified(t, to, dir).Differences)

	conn, err := pgx.Connect(t.Context(), strings.TrimSuffix(to.Postgres.URL, "&pool_max_conns=8"))
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	_, err = conn.Exec(t.Context(), `DELETE FROM follows WHERE agent = 'reader_1' AND author = 'author_1'`)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, to.Elasticsearch.Addresses[0]+"/"+to.Elasticsearch.Index+"/_doc/doc_7?refresh=true", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, res.Body)
	require.NoError(t, res.Body.Close())
	redis, _ := testenv.Redis(t)
	keys, err := redis.Keys(t.Context(), to.Redis.KeyPrefix+"bf:global:*").Result()
	require.NoError(t, err)
	require.NotEmpty(t, keys)
	require.NoError(t, redis.Del(t.Context(), keys...).Err())

	text := strings.Join(verified(t, to, dir).Differences, "\n")
	assert.Contains(t, text, "social: follows has 8 rows, and 9 in the backup")
	assert.Contains(t, text, "the timeline of reader_1 has 2 posts, and 3 in the backup")
	assert.Regexp(t, `catalog: items has \d+ rows, and \d+ in the backup`, text)
	assert.Regexp(t, `impressions: the filter of \d+, shard 0, is missing`, text)
	assert.NotContains(t, text, "reader_0")
	assert.Len(t, posts, 3)

	// A database that is damaged in the backup is not restored in part.
	third := services(t)
	m, err := backup.ReadManifest(t.Context(), dir)
	require.NoError(t, err)
	path := filepath.Join(dir, m.ID, "postgres", "posts.copy")
	rows, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(rows, rows...), 0o600))
	_, err = backup.Restore(t.Context(), third, dir, backup.Options{})
	require.ErrorContains(t, err, "posts")
	require.NoError(t, os.WriteFile(path, rows, 0o600))
	_, err = backup.Restore(t.Context(), third, dir, backup.Options{})
	require.NoError(t, err)
	require.Empty(t, verified(t, third, dir).Differences)
}

// TestBackupOfAPartRefused backs up with less than the servers have, as a job without their environment does:
// nothing is copied, and the message names what is missing.
func TestBackupOfAPartRefused(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	start(t, cfg).stop()
	dir := t.TempDir()
	for name, change := range map[string]func(*configs.Config){
		"PostgreSQL (postgres.url)":               func(c *configs.Config) { c.Postgres.URL, c.Media.URL = "", "" },
		"Elasticsearch (elasticsearch.addresses)": func(c *configs.Config) { c.Elasticsearch.Addresses = nil },
		"redis.key_prefix":                        func(c *configs.Config) { c.Redis.KeyPrefix = "other:" },
		"elasticsearch.index":                     func(c *configs.Config) { c.Elasticsearch.Index += "-other" },
		"media.url":                               func(c *configs.Config) { c.Media.URL = "" },
	} {
		part := cfg
		change(&part)
		require.NoError(t, part.Validate(), name)
		_, err := backup.Make(t.Context(), part, filepath.Join(dir, name), backup.Options{}, time.Now)
		require.ErrorContains(t, err, "the servers over these stores use "+name)
		require.ErrorContains(t, err, "the environment of the servers")
		_, err = backup.ReadManifest(t.Context(), filepath.Join(dir, name))
		require.Error(t, err)
	}
	makeBackup(t, cfg, filepath.Join(dir, "whole"))
}
