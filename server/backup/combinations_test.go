package backup_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/backup"
)

// onCluster puts impressions into a Redis Cluster.
func onCluster(t *testing.T, cfg *configs.Config) {
	_, cfg.Redis.KeyPrefix = testenv.RedisCluster(t)
	cfg.Redis.URL = testenv.RedisAt(testenv.RedisClusterAddrs(t))
}

// bySentinels puts them into a Redis that Sentinels watch.
func bySentinels(t *testing.T, cfg *configs.Config) {
	_, cfg.Redis.KeyPrefix = testenv.RedisSentinel(t)
	master, addrs := testenv.RedisSentinelAddrs(t)
	cfg.Redis.URL = testenv.RedisAt(addrs, "master_name="+master)
}

func withoutPosts(_ *testing.T, cfg *configs.Config) {
	cfg.Social.Off, cfg.Postgres.URL, cfg.Media.URL = true, "", ""
}

func seen(_ *testing.T, cfg *configs.Config) { cfg.Impressions.On = configs.OnSeen }

// combinations are kinds of servers, with what the settings of those that are backed up, and of those that are
// restored, differ in.
var combinations = map[string]struct {
	embedded bool
	from, to func(*testing.T, *configs.Config) // to: nil means from
	nothing  bool                              // is stored
}{
	"embedded":                        {embedded: true},
	"embedded, without posts":         {embedded: true, from: withoutPosts},
	"embedded, seen items count":      {embedded: true, from: seen},
	"embedded, nothing stored":        {embedded: true, nothing: true},
	"services, nothing stored":        {nothing: true},
	"services, without posts":         {from: withoutPosts},
	"services, seen items count":      {from: seen},
	"services, without images":        {from: func(_ *testing.T, cfg *configs.Config) { cfg.Media.URL = "" }},
	"services, a copy of the index":   {from: func(_ *testing.T, cfg *configs.Config) { cfg.Recall.From = configs.FromMemory }},
	"services, lists in their Redis":  {from: func(_ *testing.T, cfg *configs.Config) { cfg.Timeline.RedisURL = cfg.Redis.URL }},
	"services, many shards, long ago": {from: func(_ *testing.T, cfg *configs.Config) { cfg.Dedup.Shards, cfg.Dedup.WindowDays = 4, 30 }},
	"from a cluster":                  {from: onCluster, to: bySentinels},
	"to a cluster":                    {to: onCluster},
	"Redis alone": {from: func(t *testing.T, cfg *configs.Config) {
		withoutPosts(t, cfg)
		cfg.Elasticsearch.Addresses = nil
	}},
	"Elasticsearch alone": {from: func(t *testing.T, cfg *configs.Config) {
		withoutPosts(t, cfg)
		cfg.Redis.URL = ""
	}},
}

// TestCombinations backs up servers with each combination of stores, and restores them under other names: what
// was shown is not shown again, and profiles and posts are there.
func TestCombinations(t *testing.T) {
	t.Parallel()
	for name, c := range combinations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := services
			if c.embedded {
				config = embedded
			}
			from, to, dir := config(t), config(t), filepath.Join(t.TempDir(), "backup")
			if c.from != nil {
				c.from(t, &from)
			}
			if c.to == nil {
				c.to = c.from
			}
			if c.to != nil {
				c.to(t, &to)
			}
			a := start(t, from)
			var post string
			var shown []string
			if !c.nothing {
				post, shown = a.some(from)
			}
			a.stop()
			makeBackup(t, from, dir)
			_, err := backup.Restore(t.Context(), to, dir, backup.Options{})
			require.NoError(t, err)
			assert.Empty(t, verified(t, to, dir).Differences)
			b := start(t, to)
			for _, id := range b.read("reader_0") {
				assert.NotContains(t, shown, id)
			}
			if c.nothing {
				return
			}
			profile, err := b.agent("").Profile(t.Context(), "reader_0")
			require.NoError(t, err)
			assert.Equal(t, []string{"nobody"}, profile.MutedAuthors)
			if post != "" {
				_, err = b.agent("reader_0").Post(t.Context(), post)
				require.NoError(t, err)
			}
		})
	}
}

// some stores items, a profile and, where there are any, a post, and returns what reader_0 was shown.
func (r *running) some(cfg configs.Config) (post string, shown []string) {
	r.t.Helper()
	ctx, admin := r.t.Context(), r.agent("")
	var lines strings.Builder
	for i := range 12 {
		fmt.Fprintf(&lines, `{"id":"doc_%d","title":"Item %d","update_time":%d}`+"\n", i, i, time.Now().Unix()-int64(i))
	}
	_, err := admin.Ingest(ctx, strings.NewReader(lines.String()), nil)
	require.NoError(r.t, err)
	_, err = admin.PutProfile(ctx, "reader_0", feed.Profile{MutedAuthors: []string{"nobody"}})
	require.NoError(r.t, err)
	if cfg.SocialOn() {
		change := client.NewPost{Caption: "A post"}
		if cfg.Media.URL != "" || !cfg.UsesPostgres() {
			change.Images = []client.NewImage{{Data: picture(r.t, 33)}}
		}
		created, err := r.agent("author_0").CreatePost(ctx, change)
		require.NoError(r.t, err)
		post = created.ID
	}
	testenv.WaitFor(r.t, func() bool {
		page, err := r.agent("probe").Feed(ctx, client.Ask{Action: client.ActionRefresh, Silent: true, Limit: 100})
		return err == nil && len(page.Items) >= 12
	}, "items that can be found")
	page, err := r.agent("reader_0").Refresh(ctx, 5)
	require.NoError(r.t, err)
	for _, item := range page.Items {
		shown = append(shown, item.ID)
	}
	require.Len(r.t, shown, 5)
	if cfg.Impressions.On == configs.OnSeen {
		require.NoError(r.t, r.agent("reader_0").Seen(ctx, shown...))
	}
	return post, shown
}

// TestForeignIndex backs up servers over an index that others manage: its items are not in the backup, all
// else is. Servers that manage theirs do not restore it, and the other way round.
func TestForeignIndex(t *testing.T) {
	t.Parallel()
	from, to, dir := services(t), services(t), filepath.Join(t.TempDir(), "backup")
	a := start(t, from)
	a.some(from)
	a.stop()
	managed := filepath.Join(t.TempDir(), "managed")
	makeBackup(t, from, managed)
	var mapping map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(elastic(t, from, http.MethodGet, from.Elasticsearch.Index+"/_mapping", "")), &mapping))
	put := func() {
		for _, m := range mapping {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, to.Elasticsearch.Addresses[0]+"/"+to.Elasticsearch.Index, strings.NewReader(string(m)))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http.StatusOK, res.StatusCode)
		}
	}
	put()
	from.Elasticsearch.ManageIndex, to.Elasticsearch.ManageIndex = false, false
	m := makeBackup(t, from, dir)
	assert.NotContains(t, m.PartOf("catalog").Tables, "items")
	_, err := backup.Restore(t.Context(), to, managed, backup.Options{})
	require.ErrorContains(t, err, "elasticsearch.manage_index must be as")
	_, err = backup.Restore(t.Context(), to, dir, backup.Options{})
	require.NoError(t, err)
	assert.Empty(t, verified(t, to, dir).Differences)
	b := start(t, to)
	profile, err := b.agent("").Profile(t.Context(), "reader_0")
	require.NoError(t, err)
	assert.Equal(t, []string{"nobody"}, profile.MutedAuthors)
	to.Elasticsearch.ManageIndex = true
	_, err = backup.Restore(t.Context(), to, dir, backup.Options{})
	require.ErrorContains(t, err, "elasticsearch.manage_index must be as")
	assert.False(t, slices.Contains(b.read("somebody"), "doc_1"))
}
