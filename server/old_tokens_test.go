package server

import (
	"context"
	"encoding/json"
	"io"
	"iter"
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
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

const tokenSecret = "a-secret-of-at-least-thirty-two-bytes"

// withTokens identifies callers by tokens.
func withTokens(cfg configs.Config) configs.Config {
	cfg.Auth.Mode, cfg.Auth.AdminToken = configs.ModeJWT, testAdmin
	cfg.Auth.JWT = configs.JWT{Secret: tokenSecret, Claim: cfg.Auth.JWT.Claim}
	return cfg
}

// issued returns the token of an agent that was issued at a time.
func issued(agent string, at time.Time) string {
	return "Bearer " + token(tokenSecret, agent, at, at.Add(48*time.Hour), `,"iat":IAT`)
}

// operations returns all routes of a server that the API describes, with parameters that agents could send.
func operations(t *testing.T, a *App, agent string) (list [][2]string) {
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &document))
	names := strings.NewReplacer("/posts/{id}", "/posts/post:x", "/authors/{id}", "/authors/"+agent, "{agent_id}", agent, "{path}", "x")
	for path, methods := range document.Paths {
		for method := range methods {
			switch method {
			case "get", "put", "post", "patch", "delete":
				filled := names.Replace(path)
				for strings.Contains(filled, "{") {
					begin, end := strings.Index(filled, "{"), strings.Index(filled, "}")
					filled = filled[:begin] + "x" + filled[end+1:]
				}
				list = append(list, [2]string{strings.ToUpper(method), filled})
			}
		}
	}
	require.Greater(t, len(list), 90)
	return list
}

// callerless reports whether a route ignores who calls.
func callerless(path string) bool {
	return !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/media/") || path == "/v1/feed/guest"
}

// TestTokenFromBeforeErasureRefused calls every route with a token from before the erasure of its agent, on the server
// that has erased it and on another: none answers, whatever the next agent with the id has. A token from after it is as
// any other.
func TestTokenFromBeforeErasureRefused(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg := withTokens(m.config(t))
			apps := []*App{open(t, cfg)}
			if m.name == "services" {
				cfg.DataDir = t.TempDir()
				apps = append(apps, open(t, cfg))
			}
			now := time.Now()
			old := issued("u_1", now.Add(-time.Hour))
			s := httpSystem{t, apps[0]}
			ask := func(a *App, token string, op [2]string) httpAnswer {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				r := httptest.NewRequestWithContext(ctx, op[0], op[1], strings.NewReader("{}"))
				r.Header.Set("Authorization", token)
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				a.Handler.ServeHTTP(w, r)
				return httpAnswer{status: w.Code, body: w.Body.String()}
			}
			timeline := [2]string{"GET", "/v1/timeline"}
			require.Equal(t, 200, ask(apps[0], old, timeline).status)
			require.Equal(t, 200, s.call("", "DELETE", "/v1/agents/u_1", "", "Authorization", old).status)
			young := issued("u_1", time.Now().Add(2*time.Second))
			other := apps[len(apps)-1]
			testenv.WaitFor(t, func() bool { return ask(other, old, timeline).status == 401 }, "the other server to know of the erasure")
			require.Equal(t, 200, s.call("", "PUT", "/v1/agents/u_1/profile", `{"interests":{"go":1}}`, "Authorization", young).status)
			for _, a := range apps {
				for _, op := range operations(t, a, "u_1") {
					got := ask(a, old, op)
					switch {
					case callerless(op[1]), strings.HasPrefix(op[1], "/media/") && a.network.files == nil:
						continue
					case op[1] == "/v1/stream" || op[1] == "/v1/changes":
						require.Equal(t, 401, got.status, "%v", op)
					default:
						assert.Equal(t, 401, got.status, "%v: %s", op, got.body)
					}
				}
				for _, op := range [][2]string{timeline, {"GET", "/v1/agents/u_1/profile"}, {"GET", "/v1/agents/u_1/export"}, {"GET", "/v1/circles"}} {
					require.Equal(t, 200, ask(a, young, op).status, "%v", op)
				}
				require.Equal(t, 200, ask(a, issued("u_2", now.Add(-time.Hour)), timeline).status)
			}
			require.Contains(t, ask(apps[0], old, timeline).body, "sign in again")
		})
	}
}

// TestErasureRepeated repeats an erasure with the token of before: it is made again, until somebody uses the id. What is
// refused is not in the file of erasures, from which it would be made after a restore.
func TestErasureRepeated(t *testing.T) {
	t.Parallel()
	for use, call := range map[string][3]string{
		"profile": {"PATCH", "/v1/agents/u_1/profile", `{"interests":{"go":1}}`},
		"mute":    {"PUT", "/v1/agents/u_1/muted/authors/u_2", ""},
		"group":   {"PUT", "/v1/agents/u_1/muted/circles/g", ""},
		"block":   {"PUT", "/v1/agents/u_1/blocked/u_2", ""},
		"post":    {"POST", "/v1/posts", `{"caption":"x"}`},
		"report":  {"POST", "/v1/authors/u_2/report", `{"reason":"spam"}`},
	} {
		t.Run(use, func(t *testing.T) {
			t.Parallel()
			cfg, now := withTokens(embedded(t)), at(noon)
			cfg.Erasures.File = filepath.Join(t.TempDir(), "erased.ndjson")
			a := open(t, cfg, WithClock(now.Now))
			s := httpSystem{t, a}
			require.NoError(t, a.Social.PutAuthor(t.Context(), social.Author{ID: "u_2", Name: "B"}, time.Time{}))
			_, err := a.Social.PutCircle(t.Context(), social.Circle{ID: "g", Owner: "u_2", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, nil, time.Time{})
			require.NoError(t, err)
			noted := func() int {
				data, err := os.ReadFile(cfg.Erasures.File)
				require.NoError(t, err)
				return strings.Count(string(data), `"u_1"`)
			}
			old := issued("u_1", noon.Add(-time.Minute))
			erase := func(token string, want int) {
				t.Helper()
				got := s.call("", "DELETE", "/v1/agents/u_1", "", "Authorization", token)
				require.Equal(t, want, got.status, got.body)
			}
			require.Equal(t, 200, s.call("", "PATCH", "/v1/agents/u_1/profile", `{"interests":{"old":1}}`, "Authorization", old).status)
			erase(old, 200)
			erase(old, 200)
			require.Equal(t, 2, noted())
			now.Advance(time.Minute)
			young := issued("u_1", now.Now())
			if use == "group" { // an agent mutes groups that it is in
				_, err := a.Social.AddMember(t.Context(), "g", "u_1", "", time.Time{})
				require.NoError(t, err)
			}
			got := s.call("", call[0], call[1], call[2], "Authorization", young)
			require.Less(t, got.status, 300, got.body)
			erase(old, 401)
			require.Equal(t, 401, s.call("", "DELETE", "/v1/authors/u_1", "", "Authorization", old).status)
			require.Equal(t, 2, noted(), "what was refused would be made after a restore")
			erase(young, 200)
			require.Equal(t, 3, noted())
		})
	}
}

// TestStreamEndsWithErasure: a stream that was opened before the agent was erased tells nothing of the next one.
func TestStreamEndsWithErasure(t *testing.T) {
	t.Parallel()
	s := serve(t, withTokens(embedded(t)))
	old := issued("u_1", time.Now().Add(-time.Hour))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/stream", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", old)
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(t, 200, res.StatusCode)
	_, err = res.Body.Read(make([]byte, 1))
	require.NoError(t, err)
	caller := httpSystem{t, s.App}
	require.Equal(t, 200, caller.call("", "DELETE", "/v1/agents/u_1", "", "Authorization", old).status)
	s.follow("u_2", "u_1")
	rest, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NotContains(t, string(rest), "event: notification")
}

// TestStreamTellsOfUndone: the unread count of a stream falls when what it counts is undone, on every server.
func TestStreamTellsOfUndone(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg := m.config(t)
			first := serve(t, cfg)
			second := first
			if m.name == "services" {
				cfg.DataDir = t.TempDir()
				second = serve(t, cfg)
			}
			ctx, store := t.Context(), first.network.store
			post := first.publish("u_1", social.Audience{Public: true})
			_, err := store.PutCircle(ctx, social.Circle{ID: "g", Owner: "u_1", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, nil, time.Time{})
			require.NoError(t, err)
			_, err = store.PutCircle(ctx, social.Circle{ID: "h", Owner: "u_3", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, nil, time.Time{})
			require.NoError(t, err)
			listening, cancel := context.WithCancel(ctx)
			next, stop := iter.Pull2(second.client("u_1").StreamEvents(listening, ""))
			defer stop()
			defer cancel()
			_, err, _ = next()
			require.NoError(t, err)
			unread := func(want int) {
				t.Helper()
				for {
					event, err, ok := next()
					require.True(t, ok)
					require.NoError(t, err)
					if event.Notified {
						require.Equal(t, want, event.Unread)
						return
					}
				}
			}
			var reply, mention social.Written
			done := func(_ any, err error) { t.Helper(); require.NoError(t, err) }
			for name, act := range map[string][2]func(){
				"like": {
					func() { _, _, err := store.Like(ctx, "u_2", post.ID); done(nil, err) },
					func() { _, _, err := store.Unlike(ctx, "u_2", post.ID); done(nil, err) },
				},
				"follow": {
					func() { done(store.Follow(ctx, "u_2", "u_1", time.Time{})) },
					func() { done(store.Unfollow(ctx, "u_2", "u_1", time.Time{})) },
				},
				"reply": {
					func() {
						reply, _, err = store.CreatePost(ctx, social.Post{Author: "u_2", Caption: "x", ReplyTo: post.ID}, social.Creation{})
						done(nil, err)
					},
					func() { done(nil, store.DeletePost(ctx, reply.ID, "u_2", time.Time{})) },
				},
				"mention that is held": {
					func() {
						mention, _, err = store.CreatePost(ctx, social.Post{Author: "u_2", Caption: "x", Mentions: []string{"u_1"}, Audience: social.Audience{Public: true}}, social.Creation{})
						done(nil, err)
					},
					func() {
						done(store.Moderate(ctx, social.Moderate{By: "m", Object: social.Object{Kind: social.ObjectPost, ID: mention.ID}, Action: social.ActionHold}))
					},
				},
				"invitation": {
					func() { done(store.Invite(ctx, "h", "u_1", "u_3")) },
					func() { done(store.Withdraw(ctx, "h", "u_1", "u_3")) },
				},
				"block": {
					func() { done(store.Follow(ctx, "u_4", "u_1", time.Time{})) },
					func() { done(store.Block(ctx, "u_1", "u_4")) },
				},
			} {
				t.Log(name)
				act[0]()
				unread(1)
				act[1]()
				unread(0)
			}
		})
	}
}
