package server

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/export"
	"github.com/freshet/freshet/social/media"
)

// withPhotos are services with images in a folder that all servers share.
func withPhotos(t testing.TB) configs.Config {
	cfg := withPostgres(t)
	cfg.Media.URL = "file://" + t.TempDir()
	return cfg
}

// withPhoto publishes a post of the agent with an image.
func (e *erased) withPhoto() {
	if e.network.files == nil {
		return
	}
	var file bytes.Buffer
	require.NoError(e, png.Encode(&file, image.NewRGBA(image.Rect(0, 0, 8, 8))))
	made, err := media.NewProcessor(media.Config{}).Make(e.Context(), file.Bytes())
	require.NoError(e, err)
	const id = "post:photo-of-erased"
	saved, n, err := e.network.files.Save(e.Context(), id, []media.Image{made})
	require.NoError(e, err)
	p := social.Post{ID: id, Author: e.agent, Caption: "A photo", Images: saved, Audience: social.Audience{Public: true}}
	_, _, err = e.Social.CreatePost(e.Context(), p, social.Creation{Files: n})
	require.NoError(e, err)
	key, err := e.network.files.SaveAvatar(e.Context(), e.agent, made)
	require.NoError(e, err)
	_, err = e.Social.PutAvatar(e.Context(), e.agent, key)
	require.NoError(e, err)
}

// callAs makes a call as an agent.
func (e *erased) callAs(agent, method, path string, headers ...string) *httptest.ResponseRecorder {
	e.Helper()
	r := httptest.NewRequestWithContext(e.Context(), method, path, nil)
	r.Header.Set("X-Agent-ID", agent)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	e.Handler.ServeHTTP(w, r)
	return w
}

// exportState reads the state of the agent's export.
func (e *erased) exportState() (state api.Export) {
	e.Helper()
	w := e.callAs(e.agent, http.MethodGet, "/v1/agents/~/export")
	require.Equal(e, http.StatusOK, w.Code, w.Body.String())
	answer := struct{ Data *api.Export }{&state}
	require.NoError(e, json.Unmarshal(w.Body.Bytes(), &answer))
	return state
}

// export has the agent ask for an export, and waits until it is made.
func (e *erased) export() {
	e.Helper()
	require.Equal(e, "none", e.exportState().State)
	w := e.callAs(e.agent, http.MethodPost, "/v1/agents/~/export")
	require.Equal(e, http.StatusAccepted, w.Code, w.Body.String())
	testenv.WaitFor(e, func() bool { return e.exportState().State != "running" }, "the export to be made")
	require.Equal(e, "ready", e.exportState().State)
}

// unzip fetches the export and returns its files.
func (e *erased) unzip() map[string]string {
	e.Helper()
	w := e.callAs(e.agent, http.MethodGet, "/v1/agents/~/export/file")
	require.Equal(e, http.StatusOK, w.Code, w.Body.String())
	assert.Equal(e, "application/zip", w.Header().Get("Content-Type"))
	data := w.Body.Bytes()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(e, err)
	found := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(e, err)
		text, err := io.ReadAll(r)
		require.NoError(e, err)
		found[f.Name] = string(text)
	}
	return found
}

// TestExportOfEverything exports an agent who has done everything, and suspended is, compares the files with the list
// of everything, and erases the agent: nothing is left of the data, nor of an export.
func TestExportOfEverything(t *testing.T) {
	t.Parallel()
	for _, m := range []mode{{"embedded", embedded}, {"services", withPostgres}, {"services with images", withPhotos}} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg := m.config(t)
			cfg.Auth.AdminToken = "test-admin-token-of-enough-length"
			now := at(noon)
			noonOf := now.Now()
			e := &erased{T: t, App: open(t, cfg, WithClock(now.Now), WithCoReads()), agent: "u_erased"}
			items := subjects(12)
			theirs := items[0]
			theirs.ID, theirs.AuthorID = "by_the_erased", e.agent
			put(t, e.App, append(items, theirs)...)
			e.createData()
			e.withPhoto()
			waitSettled(t, e.App)
			e.export()
			found := e.unzip()
			e.checkExport(found)
			assert.Equal(t, "fetched", e.exportState().State)
			again := e.callAs(e.agent, http.MethodGet, "/v1/agents/~/export/file")
			assert.Equal(t, http.StatusGone, again.Code)
			assert.Contains(t, again.Body.String(), "was fetched already")
			soon := e.callAs(e.agent, http.MethodPost, "/v1/agents/~/export")
			assert.Equal(t, http.StatusTooManyRequests, soon.Code)
			assert.NotEmpty(t, soon.Header().Get("Retry-After"))

			now.Advance(export.Pause + time.Minute)
			expire(t, e.network.exports)
			e.export()
			erase := e.callAs(e.agent, http.MethodDelete, "/v1/agents/~")
			require.Equal(t, http.StatusOK, erase.Code, erase.Body.String())
			waitSettled(t, e.App)
			assert.Equal(t, "none", e.exportState().State)
			gone := e.callAs(e.agent, http.MethodGet, "/v1/agents/~/export/file")
			assert.Equal(t, http.StatusNotFound, gone.Code)
			assert.Contains(t, gone.Body.String(), "ask for one with POST")
			e.checkDocumented()
			e.noExportLeft()
			testenv.WaitFor(t, func() bool { // a refresh of the index
				items := 0
				err := e.works().Each(t.Context(), e.agent, func(feed.Doc) error { items++; return nil })
				return err == nil && items == 0
			}, "its items to be gone")
			now.Advance(export.Pause + time.Minute)
			e.export()
			for name, text := range e.unzip() {
				switch {
				case name == "card.ndjson": // an erasure leaves until when the id is suspended
					assert.Equal(t, fmt.Sprintf(`{"id":"u_erased","suspended_until":%d}`+"\n", noonOf.Add(time.Hour).Unix()), text)
				case strings.HasSuffix(name, ".ndjson"):
					assert.Empty(t, text, "%s of the next agent with this id", name)
				}
			}
		})
	}
}

// checkExport compares an export with the list of what is stored.
func (e *erased) checkExport(found map[string]string) {
	e.Helper()
	var m export.Manifest
	require.NoError(e, json.Unmarshal([]byte(found["manifest.json"]), &m))
	entries := map[string]export.Entry{}
	for _, entry := range m.Parts {
		entries[entry.Name] = entry
	}
	// What this agent has nothing of.
	none := map[string]bool{"replies": true, "removals": true, "groups": true, "images": e.network.files == nil}
	for _, p := range e.personal().Parts() {
		entry, ok := entries[p.Name]
		require.True(e, ok, "the manifest lacks %s", p.Name)
		assert.Equal(e, p.Without, entry.Without)
		assert.Contains(e, found["README.txt"], p.Without)
		if p.Export == nil {
			assert.NotContains(e, found, p.Name+".ndjson")
			continue
		}
		text, ok := found[p.File()]
		require.True(e, ok, "there is no file of %s", p.Name)
		assert.Equal(e, strings.Count(text, "\n"), entry.Lines, p.Name)
		if p.Name != "shown" { // it is emptied as impressions are recorded
			assert.Equal(e, none[p.Name], text == "", "%s: %s", p.Name, text)
		}
		for line := range strings.Lines(text) {
			assert.True(e, json.Valid([]byte(line)), line)
		}
	}
	if e.network.files != nil {
		assert.Equal(e, []int{3, 0}, []int{m.Images, m.Missing})
	}
	all := ""
	for name, text := range found {
		if strings.HasSuffix(name, ".ndjson") {
			all += text
		}
	}
	for _, mine := range []string{`"Mine"`, `"Hidden"`, `"held":true`, `"name":"Ana"`, `"mud"`, `"suspended_for":"about u_erased"`, `"id":"by_the_erased"`} {
		assert.Contains(e, all, mine)
	}
	assert.NotContains(e, found["shown.ndjson"], feed.GivenMark)
	for _, others := range []string{"Theirs", "c_theirs", "u_blocker", e.cfg.Auth.AdminToken} {
		assert.NotContains(e, all, others)
	}
}

// noExportLeft checks that no part of a file of an export is stored.
func (e *erased) noExportLeft() {
	e.Helper()
	list, err := e.Social.EndedExports(e.Context(), 1<<40, 1<<50, 100)
	require.NoError(e, err)
	for _, x := range list {
		assert.Empty(e, x.Agent)
		for part := range x.Parts {
			_, err := e.network.exports.Files.Get(e.Context(), x.Name, part+1)
			assert.Error(e, err)
		}
	}
	if e.cfg.DataDir == "" || e.cfg.UsesPostgres() {
		return
	}
	folders, err := os.ReadDir(filepath.Join(e.cfg.DataDir, "exports"))
	require.NoError(e, err)
	assert.Empty(e, folders)
}

// TestExportTransferCut: a transfer that is cut continues, on another connection, and is complete once all was sent.
func TestExportTransferCut(t *testing.T) {
	t.Parallel()
	now := at(noon)
	cfg := embedded(t)
	cfg.Auth.AdminToken = "test-admin-token-of-enough-length"
	e := &erased{T: t, App: open(t, cfg, WithClock(now.Now)), agent: "u_far"}
	content := bytes.Repeat([]byte("0123456789abcdef"), 40<<16) // 40 MiB: more than connections hold
	const partBytes = 4 << 20
	x := social.Export{Agent: e.agent, Name: strings.Repeat("a", 32), State: social.ExportReady, Parts: 10, Bytes: int64(len(content)), Asked: now.Now().Unix(), Until: now.Now().Add(time.Hour).Unix()}
	for part := range x.Parts {
		require.NoError(t, e.network.exports.Files.Put(t.Context(), x.Name, part+1, content[part*partBytes:min((part+1)*partBytes, len(content))]))
	}
	_, err := e.Social.ChangeExport(t.Context(), e.agent, func(social.Export) (social.Export, error) { return x, nil })
	require.NoError(t, err)
	const path = "/v1/agents/u_far/export/file"
	assert.Equal(t, http.StatusForbidden, e.callAs("u_other", http.MethodGet, path).Code)
	assert.Equal(t, http.StatusForbidden, e.callAs(e.agent, http.MethodGet, path, "Sec-Fetch-Site", "cross-site").Code, "an image on another site")
	assert.Equal(t, http.StatusOK, e.callAs(e.agent, http.MethodHead, path).Code)
	server := httptest.NewServer(e.Handler)
	defer server.Close()
	ask := func(from string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		require.NoError(t, err)
		r.Header.Set("X-Agent-ID", e.agent)
		if from != "" {
			r.Header.Set("Range", "bytes="+from+"-")
		}
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		return res
	}
	res := ask("")
	begin := make([]byte, 1<<20)
	_, err = io.ReadFull(res.Body, begin)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	sent := func() int64 {
		x, err := e.network.exports.State(t.Context(), e.agent)
		require.NoError(t, err)
		return x.Sent
	}
	testenv.WaitFor(t, func() bool { return sent() > 0 }, "the server to note what it has sent")
	require.Equal(t, "ready", e.exportState().State, "it was cut")
	require.Less(t, sent(), x.Bytes)

	res = ask("1048576")
	require.Equal(t, http.StatusPartialContent, res.StatusCode)
	rest, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.True(t, bytes.Equal(content, append(begin, rest...)))
	testenv.WaitFor(t, func() bool { return e.exportState().State == "fetched" }, "it to be fetched")
	require.Equal(t, http.StatusGone, e.callAs(e.agent, http.MethodGet, path).Code)
	require.Equal(t, http.StatusGone, e.callAs(e.agent, http.MethodGet, path, "Range", "bytes=0-").Code)
	require.Equal(t, http.StatusPartialContent, e.callAs(e.agent, http.MethodGet, path, "Range", "bytes=9000000-").Code, "the end was lost")
	now.Advance(export.KeepFetched)
	require.Equal(t, http.StatusNotFound, e.callAs(e.agent, http.MethodGet, path, "Range", "bytes=9000000-").Code)
	expire(t, e.network.exports)
	e.noExportLeft()
}

// TestExportOnAnotherServer makes an export on one server, stops it, and fetches the file from another.
func TestExportOnAnotherServer(t *testing.T) {
	t.Parallel()
	for _, m := range []mode{{"in the database", withPostgres}, {"beside the images", withPhotos}} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg := m.config(t)
			first := &erased{T: t, App: open(t, cfg), agent: "u_1"}
			require.NoError(t, first.Social.PutAuthor(t.Context(), social.Author{ID: first.agent, Name: "Ana"}, time.Time{}))
			first.export()
			require.NoError(t, first.Close(t.Context()))
			cfg.DataDir = t.TempDir()
			second := &erased{T: t, App: open(t, cfg), agent: first.agent}
			assert.Contains(t, second.unzip()["card.ndjson"], `"name":"Ana"`)
		})
	}
}

func expire(t *testing.T, x *export.Exporter) {
	t.Helper()
	_, _, err := x.Expire(t.Context())
	require.NoError(t, err)
}
