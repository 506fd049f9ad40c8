package backup_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
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
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/server/backup"
)

// story has an older and a newer backup of the same servers, and names the things that change between them.
type story struct {
	older, newer string // directories

	kept    string // a post of both times
	edited  string // a post whose caption changes from "heron" to "kingfisher"
	deleted string // a post that is deleted
	created string // a post that is created, with an image
	early   []string
	late    []string // items that reader_0 is shown before the older backup, and after it
}

// tell makes both backups.
func tell(t *testing.T, cfg configs.Config) *story {
	t.Helper()
	root, ctx := t.TempDir(), t.Context()
	s := &story{older: filepath.Join(root, "older"), newer: filepath.Join(root, "newer")}
	a := start(t, cfg)
	s.kept = a.fill(2, 2)[1]
	write := func(author, caption string, images ...client.NewImage) string {
		post, err := a.agent(author).CreatePost(ctx, client.NewPost{Caption: caption, Images: images})
		require.NoError(t, err)
		return post.ID
	}
	s.edited, s.deleted = write("author_0", "heron"), write("author_1", "to be deleted")
	page, err := a.agent("reader_0").Refresh(ctx, 20)
	require.NoError(t, err)
	for _, item := range page.Items {
		s.early = append(s.early, item.ID)
	}
	a.settle()
	makeBackup(t, cfg, s.older)

	s.created = write("author_0", "created later", client.NewImage{Data: picture(t, 77)})
	caption := "kingfisher"
	_, err = a.agent("author_0").EditPost(ctx, s.edited, client.PostEdit{Caption: &caption})
	require.NoError(t, err)
	require.NoError(t, a.agent("author_1").DeletePost(ctx, s.deleted))
	_, err = a.agent("reader_1").Unfollow(ctx, "reader_1", "author_1")
	require.NoError(t, err)
	_, err = a.agent("").Ingest(ctx, strings.NewReader(`{"id":"doc_late","title":"Late","update_time":`+jsonOf(time.Now().Unix())+`}`), nil)
	require.NoError(t, err)
	for page, err = a.agent("reader_0").LoadMore(ctx, 20); len(page.Items) > 0; page, err = a.agent("reader_0").LoadMore(ctx, 20) {
		require.NoError(t, err)
		for _, item := range page.Items {
			s.late = append(s.late, item.ID)
		}
	}
	a.settle()
	makeBackup(t, cfg, s.newer)
	a.stop()
	return s
}

func jsonOf(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// mix returns the directory of a backup whose parts are the newer ones, except those named.
func (s *story) mix(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "mix")
	require.NoError(t, os.CopyFS(dir, os.DirFS(s.newer)))
	from, err := backup.ReadManifest(t.Context(), s.older)
	require.NoError(t, err)
	to, err := backup.ReadManifest(t.Context(), dir)
	require.NoError(t, err)
	editManifest(t, dir, func(m map[string]any) {
		all := m["parts"].([]any)
		for i := range all {
			name := all[i].(map[string]any)["name"].(string)
			p := from.PartOf(name)
			if !slices.Contains(parts, name) {
				continue
			}
			for _, f := range p.Files {
				copyFile(t, filepath.Join(s.older, from.ID, f.Name), filepath.Join(dir, to.ID, f.Name))
			}
			var part map[string]any
			require.NoError(t, json.Unmarshal([]byte(jsonOf(p)), &part))
			all[i] = part
		}
	})
	images, err := filepath.Glob(filepath.Join(s.older, "images", "*", "*"))
	require.NoError(t, err)
	for _, path := range images {
		name, err := filepath.Rel(s.older, path)
		require.NoError(t, err)
		copyFile(t, path, filepath.Join(dir, name))
	}
	return dir
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o700))
	require.NoError(t, os.WriteFile(to, data, 0o600))
}

// settle waits until no job for lists or items is waiting.
func (r *running) settle() {
	r.t.Helper()
	testenv.WaitFor(r.t, func() bool {
		page, err := r.agent("").Jobs(r.t.Context(), client.JobFilter{Limit: 1})
		return err == nil && !slices.ContainsFunc(page.Queue.Rows, func(rows client.JobRows) bool { return rows.Kind != "count" && rows.Kind != "suggest" })
	}, "the jobs")
}

// rederive makes lists and items agree with the posts, as freshet jobs rederive --all does.
func (r *running) rederive() {
	r.t.Helper()
	for cursor, more := "", true; more; {
		done, err := r.agent("").Rederive(r.t.Context(), cursor, 3)
		require.NoError(r.t, err)
		if done.NextCursor == nil {
			break
		}
		cursor = *done.NextCursor
	}
	r.settle()
}

// found returns which of the posts of a story, and of its late item, for-you finds for somebody new.
func (r *running) found(agent string, s *story) []string {
	r.t.Helper()
	names := map[string]string{s.kept: "kept", s.edited: "edited", s.deleted: "deleted", s.created: "created", "doc_late": "item"}
	var list []string
	for _, id := range r.read(agent) {
		if names[id] != "" {
			list = append(list, names[id])
		}
	}
	slices.Sort(list)
	return list
}

// finds waits until for-you finds these for somebody new: what jobs have written can be searched a second later.
func (r *running) finds(s *story, want []string) {
	r.t.Helper()
	n := 0
	testenv.WaitFor(r.t, func() bool {
		n++
		return slices.Equal(want, r.found(fmt.Sprintf("later_%d", n), s))
	}, "%v in for-you", want)
}

// timeline returns which posts of a story the timeline of reader_1 has.
func (r *running) timeline(s *story) []string {
	r.t.Helper()
	names := map[string]string{s.kept: "kept", s.edited: "edited", s.deleted: "deleted", s.created: "created"}
	page, err := r.agent("reader_1").Timeline(r.t.Context(), "", 100)
	require.NoError(r.t, err)
	var list []string
	for _, item := range page.Items {
		if names[item.ID] != "" {
			list = append(list, names[item.ID])
		}
	}
	slices.Sort(list)
	return list
}

// mixes are parts of an older backup that are restored with the others of a newer one, and what a reader sees
// of it: the table of docs/operations.md.
var mixes = map[string]struct {
	older    string   // names of parts
	found    []string // by for-you, before items are made again
	after    []string // and after that
	timeline []string // of reader_1, who followed author_1, the author of the kept post, at the older time
	again    string   // what reader_0 is shown again: "" nothing, "late" what was shown after the older backup
	noImage  bool     // the image of what was created is missing
}{
	"nothing is older": {
		found: []string{"created", "edited", "item", "kept"}, after: []string{"created", "edited", "item", "kept"}, timeline: []string{"created", "edited"},
	},
	"all is older": {
		older: "social catalog images impressions events co-readers",
		found: []string{"deleted", "edited", "kept"}, after: []string{"deleted", "edited", "kept"}, timeline: []string{"deleted", "edited", "kept"}, again: "late",
	},
	"posts": {
		older: "social",
		found: []string{"edited", "item", "kept"}, after: []string{"deleted", "edited", "item", "kept"}, timeline: []string{"deleted", "edited", "kept"},
	},
	"items": {
		older: "catalog",
		found: []string{"edited", "kept"}, after: []string{"created", "edited", "kept"}, timeline: []string{"created", "edited"},
	},
	"impressions": {
		older: "impressions",
		found: []string{"created", "edited", "item", "kept"}, after: []string{"created", "edited", "item", "kept"}, timeline: []string{"created", "edited"}, again: "late",
	},
	"images": {
		older: "images",
		found: []string{"created", "edited", "item", "kept"}, after: []string{"created", "edited", "item", "kept"}, timeline: []string{"created", "edited"}, noImage: true,
	},
	"all but impressions": {
		older: "social catalog images events co-readers",
		found: []string{"deleted", "edited", "kept"}, after: []string{"deleted", "edited", "kept"}, timeline: []string{"deleted", "edited", "kept"},
	},
}

// TestMixes restores each mix of older and newer parts: what readers see is as documented, and items agree with
// the posts once they are made again.
func TestMixes(t *testing.T) {
	t.Parallel()
	for mode, config := range modes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := tell(t, config(t))
			for name, c := range mixes {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					dir, to := s.mix(t, strings.Fields(c.older)...), config(t)
					_, err := backup.Restore(t.Context(), to, dir, backup.Options{})
					require.NoError(t, err)
					assert.Empty(t, verified(t, to, dir).Differences)
					r := start(t, to)
					assert.Equal(t, c.found, r.found("new_1", s))
					shown := r.read("reader_0")
					for _, id := range s.early {
						assert.NotContains(t, shown, id, "it was shown before either backup")
					}
					repeated := slices.ContainsFunc(s.late, func(id string) bool { return slices.Contains(shown, id) })
					assert.Equal(t, c.again == "late", repeated)
					assert.Equal(t, c.timeline, r.timeline(s))
					r.images(s, slices.Contains(c.after, "created"), !c.noImage)
					r.rederive()
					r.finds(s, c.after)
					assert.Equal(t, c.timeline, r.timeline(s))
				})
			}
		})
	}
}

// images reads the post that was created, and its image.
func (r *running) images(s *story, there, image bool) {
	r.t.Helper()
	post, err := r.agent("somebody").Post(r.t.Context(), s.created)
	if !there {
		require.ErrorIs(r.t, err, feed.ErrNotFound)
		return
	}
	require.NoError(r.t, err)
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+post.Images[0].URL, nil)
	require.NoError(r.t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(r.t, err)
	_, _ = io.Copy(io.Discard, res.Body)
	require.NoError(r.t, res.Body.Close())
	assert.Equal(r.t, map[bool]int{true: 200, false: 404}[image], res.StatusCode)
}

// TestPostgresAloneRestored restores PostgreSQL alone, beside the items and the lists of later: timelines and
// for-you agree with it once all is derived again.
func TestPostgresAloneRestored(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	s := tell(t, cfg)
	a := start(t, cfg)
	require.Equal(t, []string{"created", "edited"}, a.timeline(s), "the list of reader_1 is built")
	a.stop()
	to := cfg
	to.Postgres.URL = testenv.Postgres(t) + "&pool_max_conns=8"
	require.NoError(t, backup.Refill(t.Context(), to, s.older))
	_, err := server.Open(t.Context(), to)
	require.ErrorContains(t, err, "--accept-settings")
	b := start(t, to, server.WithSettingsApart())
	assert.Equal(t, []string{"edited"}, b.timeline(s), "what was unfollowed later is not in the list")
	assert.Equal(t, []string{"edited", "item", "kept"}, b.found("new_1", s))
	b.rederive()
	testenv.WaitFor(t, func() bool { return slices.Equal([]string{"deleted", "edited", "kept"}, b.timeline(s)) }, "the list that is built again")
	b.finds(s, []string{"deleted", "edited", "item", "kept"})
}
