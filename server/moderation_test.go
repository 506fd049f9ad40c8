package server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

// suspendedWrites are the writes of an agent: those that others see are refused while it is suspended.
var suspendedWrites = []struct {
	method, path, body string
	status             int
}{
	{"POST", "/v1/posts", `{"caption":"x"}`, 403},
	{"POST", "/v1/posts", `{"caption":"x","reply_to":"{post}"}`, 403},
	{"PATCH", "/v1/posts/{own}", `{"caption":"y"}`, 403},
	{"PUT", "/v1/posts/{post}/like", "", 403},
	{"PUT", "/v1/agents/u_1/following/u_2", "", 403},
	{"POST", "/v1/agents/u_1/following", `{"authors":["u_2"]}`, 403},
	{"PUT", "/v1/authors/u_1", `{"name":"x"}`, 403},
	{"PATCH", "/v1/authors/u_1", `{"name":"x"}`, 403},
	{"PUT", "/v1/circles/new", `{"members":[]}`, 403},
	{"PATCH", "/v1/circles/club", `{"name":"x"}`, 403},
	{"PUT", "/v1/circles/club/invitations/u_3", "", 403},
	{"PUT", "/v1/circles/other/members/u_1", "", 403},
	{"POST", "/v1/posts/{post}/report", `{"reason":"spam"}`, 200},
	{"PUT", "/v1/agents/u_1/muted/authors/u_2", "", 200},
	{"PUT", "/v1/agents/u_1/muted/circles/club", "", 200},
	{"PUT", "/v1/agents/u_1/blocked/u_3", "", 200},
	{"PUT", "/v1/agents/u_1/profile", `{"interests":{"go":1}}`, 200},
	{"POST", "/v1/feed", `{"action":"refresh"}`, 200},
	{"GET", "/v1/timeline", "", 200},
	{"DELETE", "/v1/posts/{post}/like", "", 200},
	{"DELETE", "/v1/posts/{own}", "", 200},
	{"DELETE", "/v1/agents/u_1", "", 200},
}

func TestSuspendedAgentWritesNothingOthersSee(t *testing.T) {
	t.Parallel()
	_, s := untrusted(t, embedded(t))
	write := func(method, path, body string, want int, headers ...string) string {
		t.Helper()
		status, _, data := s.call(method, path, body, headers...)
		require.Equal(t, want, status, "%s %s: %s", method, path, data)
		return data
	}
	id := func(data string) string {
		var post struct{ ID string }
		require.NoError(t, json.Unmarshal([]byte(data), &post))
		return post.ID
	}
	post := id(write("POST", "/v1/posts", `{"caption":"x"}`, 201, asU2))
	own := id(write("POST", "/v1/posts", `{"caption":"x"}`, 201, asU1))
	write("PUT", "/v1/circles/club", `{"kind":"group"}`, 200, asU1)
	write("PUT", "/v1/circles/other", `{"kind":"group"}`, 200, asU2)
	write("PUT", "/v1/circles/other/invitations/u_1", "", 200, asU2)
	until := time.Now().Add(time.Hour).Unix()
	write("POST", "/v1/moderation", fmt.Sprintf(`{"object":{"kind":"author","id":"u_1"},"action":"suspend","reason":"spam","until":%d}`, until), 200, asAdmin)
	for _, w := range suspendedWrites {
		path := strings.NewReplacer("{post}", post, "{own}", own).Replace(w.path)
		write(w.method, path, strings.ReplaceAll(w.body, "{post}", post), w.status, asU1)
	}
	upload := "--x\r\nContent-Disposition: form-data; name=\"image\"; filename=\"x\"\r\n\r\n" + onePixel(t) + "\r\n--x--\r\n"
	const form = "Content-Type: multipart/form-data; boundary=x"
	write("PUT", "/v1/authors/u_1/image", upload, 403, asU1, form)
	write("PUT", "/v1/authors/u_2/image", upload, 200, asU2, form)
}

// onePixel returns a file of an image.
func onePixel(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))))
	return b.String()
}

// token returns a token of an agent that was issued at a time.
func token(secret, agent string, issued, expires time.Time, more string) string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	signed := part(`{"alg":"HS256"}`) + "." + part(fmt.Sprintf(`{"sub":%q,"exp":%d%s}`, agent, expires.Unix(), strings.ReplaceAll(more, "IAT", fmt.Sprint(issued.Unix()))))
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write([]byte(signed))
	return signed + "." + base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}

func TestTokenFromBeforeErasurePublishesNothing(t *testing.T) {
	t.Parallel()
	const secret = "a-secret-of-at-least-thirty-two-bytes"
	cfg, now := embedded(t), at(noon)
	cfg.Auth.Mode, cfg.Auth.JWT = "jwt", configs.JWT{Secret: secret, Claim: cfg.Auth.JWT.Claim}
	s := httpSystem{t, open(t, cfg, WithClock(now.Now))}
	publish := func(token string, status int) string {
		t.Helper()
		got := s.call("", "POST", "/v1/posts", `{"caption":"x"}`, "Authorization", "Bearer "+token)
		require.Equal(t, status, got.status, got.body)
		return got.body
	}
	expires := noon.Add(24 * time.Hour)
	old, silent := token(secret, "u_1", noon.Add(-time.Minute), expires, `,"iat":IAT`), token(secret, "u_1", noon, expires, "")
	publish(old, 201)
	publish(silent, 201)
	got := s.call("", "DELETE", "/v1/agents/u_1", "", "Authorization", "Bearer "+old)
	require.Equal(t, 200, got.status)
	require.Contains(t, publish(old, 401), "erased")
	require.Contains(t, publish(silent, 401), "iat")
	got = s.call("", "DELETE", "/v1/agents/u_1", "", "Authorization", "Bearer "+old)
	require.Equal(t, 200, got.status, "erasing again is no new life")
	now.Advance(time.Minute)
	publish(token(secret, "u_1", now.Now(), expires, `,"iat":IAT`), 201)
	publish(old, 401)
	publish(token(secret, "u_2", noon.Add(-time.Minute), expires, `,"iat":IAT`), 201)
}

// TestModeratorsReadEveryPost checks that an admin reads what only others may see, that nobody else does, and that
// the audit log has it.
func TestModeratorsReadEveryPost(t *testing.T) {
	t.Parallel()
	_, s := untrusted(t, embedded(t))
	status, _, data := s.call("POST", "/v1/posts", `{"caption":"secret","audience":{}}`, asU1)
	require.Equal(t, 201, status, data)
	var post struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(data), &post))
	path := "/v1/moderation/posts/" + post.ID
	status, _, data = s.call("GET", path, "", asAdmin)
	require.Equal(t, 200, status)
	require.Contains(t, data, `"caption":"secret"`)
	for _, p := range []string{path, "/v1/moderation/posts", "/v1/audit", "/v1/reports"} {
		status, _, _ = s.call("GET", p, "", asU1)
		require.Equal(t, 403, status, p)
		status, _, _ = s.call("GET", p, "")
		require.Equal(t, 401, status, p)
	}
	_, _, data = s.call("GET", "/v1/moderation/posts?author=u_1", "", asAdmin)
	require.Contains(t, data, post.ID)
	_, _, data = s.call("GET", "/v1/audit", "", asAdmin)
	var log struct {
		Entries []struct{ Who, Action string }
	}
	require.NoError(t, json.Unmarshal([]byte(data), &log))
	require.Len(t, log.Entries, 2)
	require.Equal(t, []string{"list", "read"}, []string{log.Entries[0].Action, log.Entries[1].Action})
	require.Regexp(t, `^admin:[0-9a-f]{8}$`, log.Entries[0].Who)
}

// TestItemsReported checks the route of reports of items, whose ids have slashes, beside those that share its pattern.
func TestItemsReported(t *testing.T) {
	t.Parallel()
	a, s := untrusted(t, embedded(t))
	seed(t, a, s)
	for path, want := range map[string]int{
		"/v1/items/doc_1/report": 200, "/v1/items/none/report": 404, "/v1/items/doc_1": 405, "/v1/items/report": 405, "/v1/items/post:x/report": 400,
	} {
		status, _, data := s.call("POST", path, `{"reason":"spam"}`, asU1)
		require.Equal(t, want, status, "%s: %s", path, data)
	}
	status, _, _ := s.call("POST", "/v1/items/counts", `{"id":"doc_1","likes":1}`, asAdmin)
	require.Equal(t, 200, status)
	_, _, data := s.call("GET", "/v1/reports", "", asAdmin)
	require.Contains(t, data, `"id":"doc_1"`)
}
