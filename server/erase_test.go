package server

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/personal"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/socialtest"
)

// TestEraseAgentLeavesNoData erases over HTTP an agent who has every kind of data. No data may be
// left, with and without posts, in each mode.
func TestEraseAgentLeavesNoData(t *testing.T) {
	t.Parallel()
	alone := func(t testing.TB) configs.Config {
		cfg := embedded(t)
		cfg.Social.Off = true
		return cfg
	}
	for _, m := range []mode{{"embedded", embedded}, {"embedded without posts", alone}, {"services", withPostgres}} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg := m.config(t)
			cfg.Auth.AdminToken = "test-admin-token-of-enough-length"
			now := at(noon)
			a := open(t, cfg, WithClock(now.Now))
			e := &erased{T: t, App: a, agent: "u_erased"}
			items := subjects(12)
			theirs := items[0]
			theirs.ID, theirs.AuthorID = "by_the_erased", e.agent
			put(t, a, append(items, theirs)...)
			e.createData()
			require.NotEmpty(t, e.keys(), "there is something to be erased")
			stored := e.search()

			now.Advance(time.Second)
			r := httptest.NewRequest(http.MethodDelete, "/v1/agents/"+e.agent, nil)
			r.Header.Set("Authorization", "Bearer "+cfg.Auth.AdminToken)
			for range 2 {
				w := httptest.NewRecorder()
				a.Handler.ServeHTTP(w, r)
				require.Equal(t, http.StatusOK, w.Code, w.Body.String())
			}
			if a.network != nil {
				waitSettled(t, a)
			}
			e.checkErased()
			e.checkDocumented()
			e.checkListed(stored)
			if a.network == nil {
				return
			}
			now.Advance(social.TombstoneLives + time.Hour)
			for more := true; more; {
				removed, err := a.network.store.Purge(t.Context(), 1000)
				require.NoError(t, err)
				more = removed.Total() > 0
			}
			for place := range e.search() {
				if strings.HasPrefix(place, "social ") && place != "social jobs.key" { // the queue is cleaned up separately
					assert.Contains(t, ofOthers, place, "after the tombstones")
				}
			}
		})
	}
}

type erased struct {
	*testing.T
	*App
	agent string
}

// createData performs everything that an agent can do.
func (e *erased) createData() {
	ctx := e.Context()
	require.NoError(e, e.Engine.PutProfile(ctx, e.agent, feed.Profile{Interests: map[string]float64{subject(1): 1}, MutedTags: []string{"mud"}}))
	page := ask(e.T, e.App, refresh(e.agent, 4))
	require.Len(e, page.Docs, 4)
	named := refresh(e.agent, 1)
	named.Feed = feed.Name("tag:" + subject(1))
	ask(e.T, e.App, named)
	waitRecorded(e.T, e.App)
	react(e.T, e.App, e.agent, act(events.Click, page.Docs[0].ID), act(events.Like, page.Docs[1].ID), act(events.Hide, page.Docs[2].ID))
	require.NoError(e, e.Flush(ctx))
	require.NotEmpty(e, learningOf(e.T, e.App, e.agent).Features)
	if e.network == nil {
		return
	}
	s := e.Social
	require.NoError(e, s.PutAuthor(ctx, social.Author{ID: e.agent, Name: "Ana"}, time.Time{}))
	own, _, err := s.CreatePost(ctx, social.Post{Author: e.agent, Caption: "Mine", Audience: social.Audience{Public: true}}, social.Creation{Key: "k"})
	require.NoError(e, err)
	theirs, _, err := s.CreatePost(ctx, social.Post{Author: "u_other", Caption: "Theirs", Audience: social.Audience{Public: true}, Mentions: []string{e.agent}}, social.Creation{})
	require.NoError(e, err)
	changed := func(_ bool, err error) { e.Helper(); require.NoError(e, err) }
	changed(s.Follow(ctx, e.agent, "u_other", time.Time{}))
	changed(s.Follow(ctx, "u_other", e.agent, time.Time{}))
	changed(s.Block(ctx, e.agent, "u_blocked"))
	changed(s.Block(ctx, "u_blocker", e.agent))
	_, _, err = s.Like(ctx, e.agent, theirs.ID)
	require.NoError(e, err)
	_, _, err = s.Like(ctx, "u_other", own.ID)
	require.NoError(e, err)
	socialtest.PutCircle(e, s, social.Circle{ID: "c_own", Owner: e.agent, Name: "Own"}, []string{"u_other"}, time.Time{})
	socialtest.PutCircle(e, s, social.Circle{ID: "c_theirs", Owner: "u_other", Name: "Theirs"}, []string{e.agent}, time.Time{})
	group := social.CircleTerms{Kind: social.KindGroup}
	socialtest.PutCircle(e, s, social.Circle{ID: "g_own", Owner: e.agent, CircleTerms: group}, nil, time.Time{})
	changed(s.Invite(ctx, "g_own", "u_other", e.agent))
	socialtest.PutCircle(e, s, social.Circle{ID: "g_theirs", Owner: "u_other", CircleTerms: group}, nil, time.Time{})
	changed(s.Invite(ctx, "g_theirs", e.agent, "u_other"))
	// A group that passes to a member, refusals, and mutes.
	socialtest.PutCircle(e, s, social.Circle{ID: "g_passed", Owner: e.agent, CircleTerms: group}, []string{"u_other", "u_left"}, time.Time{})
	changed(s.RemoveMember(ctx, "g_passed", "u_left", "u_left", time.Time{}))
	changed(s.Invite(ctx, "g_passed", "u_declines", e.agent))
	changed(s.Withdraw(ctx, "g_passed", "u_declines", "u_declines"))
	socialtest.PutCircle(e, s, social.Circle{ID: "g_left", Owner: "u_other", CircleTerms: group}, []string{e.agent}, time.Time{})
	changed(s.RemoveMember(ctx, "g_left", e.agent, e.agent, time.Time{}))
	changed(s.Mute(ctx, e.agent, social.MuteCircle, "g_theirs", time.Time{}))
	changed(s.Mute(ctx, e.agent, social.MuteInviter, "u_other", time.Time{}))
	e.moderated(own.ID, theirs.ID)
	waitSettled(e.T, e.App)
}

// moderated has the agent report, and be reported, held and suspended.
func (e *erased) moderated(own, theirs string) {
	ctx, s := e.Context(), e.Social
	changed := func(is bool, err error) { e.Helper(); require.NoError(e, err); require.True(e, is) }
	by := func(agent string, kind social.ObjectKind, id string) social.Report {
		return social.Report{Object: social.Object{Kind: kind, ID: id}, Agent: agent, Reason: "spam"}
	}
	changed(s.Report(ctx, by(e.agent, social.ObjectPost, theirs)))
	changed(s.Report(ctx, by("u_other", social.ObjectPost, own)))
	changed(s.Report(ctx, by("u_other", social.ObjectAuthor, e.agent)))
	circle := social.Audience{Circles: []string{"g_own"}}
	hidden, _, err := s.CreatePost(ctx, social.Post{Author: e.agent, Caption: "Hidden", Audience: circle}, social.Creation{})
	require.NoError(e, err)
	changed(s.Moderate(ctx, social.Moderate{Object: social.Object{Kind: social.ObjectPost, ID: hidden.ID}, Action: social.ActionHold}))
	changed(s.Moderate(ctx, social.Moderate{
		Object: social.Object{Kind: social.ObjectAuthor, ID: e.agent}, Action: social.ActionSuspend, Until: e.clock().Add(time.Hour).Unix(), Reason: "about " + e.agent,
	}))
	_, err = s.PostsToModerate(ctx, "admin", social.PostsQuery{Author: e.agent, N: 10})
	require.NoError(e, err)
}

func (e *erased) checkErased() {
	ctx := e.Context()
	_, err := e.Engine.Profile(ctx, e.agent)
	require.ErrorIs(e, err, feed.ErrNotFound)
	left := learningOf(e.T, e.App, e.agent)
	assert.NotZero(e, left.Erased)
	left.Erased = 0
	assert.True(e, left.IsZero(), "%+v", left)
	at, err := e.stores.sessions.Refreshed(ctx, e.agent, feed.ForYou)
	require.NoError(e, err)
	assert.True(e, at.IsZero())
	page, err := e.stores.sessions.Pop(ctx, cache.Pop{Agent: e.agent, Limit: 5, Now: e.clock()})
	require.NoError(e, err)
	assert.Empty(e, page.Refs)
	var groups []string
	for _, it := range subjects(12) {
		groups = append(groups, it.ID)
	}
	checked, err := e.stores.dedup.Check(ctx, e.agent, groups, e.clock())
	require.NoError(e, err)
	assert.NotContains(e, checked.Verdicts, dedup.Pending)
	assert.Empty(e, e.keys())
	testenv.WaitFor(e, func() bool { // after a refresh of the index
		ids, err := e.stores.agents.Agents(ctx, 1000, 1)
		return err == nil && !slices.Contains(ids, e.agent)
	}, "them to be no reader to be sampled")
	if e.network == nil {
		return
	}
	for _, of := range []string{e.agent, "u_other"} {
		following, err := e.Social.Following(ctx, of, "", "", 10)
		require.NoError(e, err)
		assert.Empty(e, following, of)
		followers, err := e.Social.Followers(ctx, of, "", "", 10)
		require.NoError(e, err)
		assert.Empty(e, followers, of)
	}
	list, err := e.Social.Pull(ctx, social.PullQuery{Reader: "u_other", N: 10, Whole: true})
	require.NoError(e, err)
	for _, entry := range list {
		assert.NotEqual(e, e.agent, entry.Author)
	}
	queue, err := e.network.store.List(ctx, jobs.Filter{Kind: jobs.Erase, State: jobs.Dead})
	require.NoError(e, err)
	assert.Empty(e, queue)
}

// keys returns the keys in Redis that name the agent, except those of pages and counts, which
// expire.
func (e *erased) keys() (names []string) {
	if !e.cfg.UsesRedis() {
		at, err := e.stores.sessions.Refreshed(e.Context(), e.agent, feed.ForYou)
		require.NoError(e, err)
		if !at.IsZero() {
			names = append(names, "refreshed")
		}
		return names
	}
	client := redis.NewClient(&redis.Options{Addr: e.cfg.Redis.Server().Addrs[0]})
	defer func() { require.NoError(e, client.Close()) }()
	all := client.Scan(e.Context(), 0, e.cfg.Redis.KeyPrefix+"*"+e.agent+"*", 1000).Iterator()
	for all.Next(e.Context()) {
		key := strings.TrimPrefix(all.Val(), e.cfg.Redis.KeyPrefix)
		value := client.Get(e.Context(), all.Val()).Val()
		ends := strings.HasPrefix(key, "feed:page:") || strings.HasPrefix(key, "feed:erased:") ||
			strings.HasPrefix(key, "feed:profile:") && value == "null" // it has no profile
		if !ends {
			names = append(names, key)
		}
	}
	require.NoError(e, all.Err())
	return names
}

// ofOthers are the places in the social store that name an erased agent because of another agent,
// and remain until that agent changes them; the mark of the erasure; and what tells servers of it for a
// few minutes.
var ofOthers = []string{"social blocks.other", "social authors.id", "social touched.key"}

// perKey matches keys that exist once per post or request.
var perKey = regexp.MustCompile(`^(feed:post:|feed:page:<agent>:).*`)

// checkDocumented checks that the documentation gives the purpose and the lifetime of each place
// that still names the agent.
func (e *erased) checkDocumented() {
	text, err := os.ReadFile("../docs/security.md")
	require.NoError(e, err)
	_, section, found := strings.Cut(string(text), "### What remains after an erase")
	require.True(e, found)
	section, _, _ = strings.Cut(section, "\n## ")
	for place := range e.search() {
		store, name, _ := strings.Cut(place, " ")
		assert.Contains(e, section, "`"+name+"`", "a place in %s that docs/security.md does not list", store)
	}
}

// checkListed checks that the list which drives erasures and exports names each place that the erasure has emptied:
// what a store erases, it exports, or says why not.
func (e *erased) checkListed(before map[string]int) {
	list := e.personal()
	require.NoError(e, list.Check())
	left := e.search()
	for place := range before {
		if left[place] > 0 || strings.HasPrefix(place, "social jobs") {
			continue
		}
		assert.True(e, slices.ContainsFunc(list.Parts(), func(p personal.Part) bool {
			return slices.ContainsFunc(p.Places, func(name string) bool {
				next := strings.TrimPrefix(place, name)
				return next != place && (next == "" || strings.ContainsAny(next[:1], "<./") || strings.HasSuffix(name, ":"))
			})
		}), "%s was erased, and the list does not name it: register how it is exported", place)
	}
}

// search searches every store for the agent: each table and column of PostgreSQL and of the SQLite
// files, each key and value of Redis, each document of Elasticsearch, and the other files of the
// data directory. It counts the hits by kind of place.
func (e *erased) search() map[string]int {
	places := map[string]int{}
	if e.cfg.UsesPostgres() {
		e.searchPostgres(places)
	}
	if e.cfg.UsesRedis() {
		e.searchRedis(places)
	}
	if e.cfg.UsesElasticsearch() {
		e.searchElasticsearch(places)
	}
	if e.cfg.DataDir != "" {
		e.searchFiles(places)
	}
	return places
}

func (e *erased) searchPostgres(places map[string]int) {
	cfg, err := pgxpool.ParseConfig(e.cfg.Postgres.URL)
	require.NoError(e, err)
	c, err := pgx.ConnectConfig(e.Context(), cfg.ConnConfig)
	require.NoError(e, err)
	defer func() { require.NoError(e, c.Close(e.Context())) }()
	rows, err := c.Query(e.Context(), `SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = current_schema()`)
	require.NoError(e, err)
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Table, Column string }])
	require.NoError(e, err)
	require.NotEmpty(e, columns)
	for _, of := range columns {
		var n int
		text := fmt.Sprintf(`SELECT count(*) FROM %q WHERE %q::text LIKE $1`, of.Table, of.Column)
		require.NoError(e, c.QueryRow(e.Context(), text, "%"+e.agent+"%").Scan(&n))
		if n > 0 {
			places["social "+of.Table+"."+of.Column] += n
		}
	}
}

func (e *erased) searchRedis(places map[string]int) {
	client := redis.NewClient(&redis.Options{Addr: e.cfg.Redis.Server().Addrs[0]})
	defer func() { require.NoError(e, client.Close()) }()
	ctx := e.Context()
	all := client.Scan(ctx, 0, e.cfg.Redis.KeyPrefix+"*", 1000).Iterator()
	for all.Next(ctx) {
		key := all.Val()
		var value any
		switch client.Type(ctx, key).Val() {
		case "string":
			value = client.Get(ctx, key).Val()
		case "hash":
			value = client.HGetAll(ctx, key).Val()
		case "set":
			value = client.SMembers(ctx, key).Val()
		case "zset":
			value = client.ZRange(ctx, key, 0, -1).Val()
		case "list":
			value = client.LRange(ctx, key, 0, -1).Val()
		case "stream":
			value = client.XRange(ctx, key, "-", "+").Val()
		}
		if name := strings.TrimPrefix(key, e.cfg.Redis.KeyPrefix); strings.Contains(name, e.agent) || strings.Contains(fmt.Sprint(value), e.agent) {
			name = strings.ReplaceAll(strings.ReplaceAll(name, "{"+e.agent+"}", "<agent>"), e.agent, "<agent>")
			places["redis "+perKey.ReplaceAllString(name, "$1*")]++
		}
	}
	require.NoError(e, all.Err())
}

func (e *erased) searchElasticsearch(places map[string]int) {
	url := e.cfg.Elasticsearch.Addresses[0] + "/" + e.cfg.Elasticsearch.Index + "*/"
	for _, step := range []string{"_refresh", "_search?size=10000"} {
		req, err := http.NewRequestWithContext(e.Context(), http.MethodGet, url+step, nil) // a retry is allowed if an idle connection has closed
		require.NoError(e, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(e, err)
		var found struct {
			Hits struct {
				Hits []struct {
					Index string          `json:"_index"`
					ID    string          `json:"_id"`
					Doc   json.RawMessage `json:"_source"`
				}
			}
		}
		require.NoError(e, json.NewDecoder(res.Body).Decode(&found))
		require.NoError(e, res.Body.Close())
		for _, h := range found.Hits.Hits {
			if strings.Contains(h.ID+string(h.Doc), e.agent) {
				kind := ""
				if strings.Contains(h.Index, "-agents") {
					kind = "-agents"
				}
				places["elasticsearch <index>"+kind]++
			}
		}
	}
}

func (e *erased) searchFiles(places map[string]int) {
	require.NoError(e, filepath.WalkDir(e.cfg.DataDir, func(path string, d fs.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case err != nil || d.IsDir() || strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm"):
			return err
		case strings.HasSuffix(name, ".db"):
			e.searchSQLite(path, strings.TrimSuffix(name, ".db"), places)
		default:
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if bytes.Contains(raw, []byte(e.agent)) || strings.Contains(name, e.agent) {
				places["file "+filepath.Base(filepath.Dir(path))+"/*"+filepath.Ext(name)]++
			}
		}
		return nil
	}))
}

func (e *erased) searchSQLite(path, name string, places map[string]int) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	require.NoError(e, err)
	defer func() { require.NoError(e, db.Close()) }()
	rows, err := db.QueryContext(e.Context(), `SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'`)
	require.NoError(e, err)
	var columns [][2]string
	for rows.Next() {
		var of [2]string
		require.NoError(e, rows.Scan(&of[0], &of[1]))
		columns = append(columns, of)
	}
	require.NoError(e, rows.Err())
	for _, of := range columns {
		var n int
		text := fmt.Sprintf(`SELECT count(*) FROM %q WHERE instr(CAST(%q AS TEXT), ?) > 0`, of[0], of[1])
		require.NoError(e, db.QueryRowContext(e.Context(), text, e.agent).Scan(&n))
		if n > 0 {
			places[name+" "+of[0]+"."+of[1]] += n
		}
	}
}
