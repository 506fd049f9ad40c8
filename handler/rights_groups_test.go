package handler_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

// TestRightsInGroups calls every route of circles on a circle and on groups of each kind, as every
// kind of caller.
func TestRightsInGroups(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	inBothModes(t, testRightsInGroups)
}

func testRightsInGroups(t *testing.T, change func(*configs.Config)) {
	t.Helper()
	c := openLogged(t, slog.New(slog.DiscardHandler), change)
	m := &rights{t: t, server: c.server, store: c.social}
	until := time.Now().Add(time.Hour).Unix()
	group := social.CircleTerms{Kind: social.KindGroup}
	circles := map[string]social.Circle{
		"plain":  {},
		"closed": {CircleTerms: group},
		"owners": {CircleTerms: social.CircleTerms{Kind: social.KindGroup, Post: social.ByOwner}},
		"shown":  {CircleTerms: social.CircleTerms{Kind: social.KindGroup, MembersVisibleTo: social.ByMembers}},
		"event":  {CircleTerms: social.CircleTerms{Kind: social.KindEvent}, Until: until},
		"over":   {CircleTerms: social.CircleTerms{Kind: social.KindEvent}, Until: until - 3601},
	}
	for id, circle := range circles {
		circle.ID, circle.Owner, circle.Name = id, "owner", "secret name"
		seedGroup(t, c.social, circle)
	}
	require.NoError(t, c.social.EraseAgent(t.Context(), "erased"))
	for id, circle := range circles {
		for _, who := range []string{"stranger", "member", "former-member", "invited", "blocked", "blocker", "erased", "nobody", "admin", "owner"} {
			part := partIn(&circle, who)
			for _, call := range groupCalls(&circle) {
				path := strings.NewReplacer("{circle}", id, "{self}", who).Replace(call.path)
				body := strings.ReplaceAll(call.body, "{circle}", id)
				if call.want[part] == 0 {
					continue
				}
				got := m.ask(who, call.method, path, body)
				assert.Equal(t, call.want[part], got.Code, "%s %s as %s: %s", call.method, path, who, got.Body)
				if got.Code == http.StatusNotFound {
					never := m.ask(who, call.method, strings.Replace(path, id, "never", 1), strings.ReplaceAll(call.body, "{circle}", "never"))
					assert.Equal(t, strings.ReplaceAll(never.Body.String(), "never", id), got.Body.String(), "%s %s as %s", call.method, path, who)
				}
				if got.Code >= 400 {
					assert.NotContains(t, got.Body.String(), "secret", "%s %s as %s", call.method, path, who)
				}
			}
		}
	}
}

// seedGroup creates a circle with an agent in each role.
func seedGroup(t *testing.T, store social.Store, c social.Circle) {
	t.Helper()
	ctx := t.Context()
	var here time.Time
	ends := c.Until
	if over(&c) {
		c.Until = time.Now().Add(time.Hour).Unix() // until everybody is in it
	}
	socialtest.PutCircle(t, store, c, []string{"member", "former-member", "secret-member", "erased"}, here)
	_, err := store.RemoveMember(ctx, c.ID, "former-member", "former-member", here)
	require.NoError(t, err)
	if c.Open() {
		_, err := store.Invite(ctx, c.ID, "invited", "owner")
		require.NoError(t, err)
		_, err = store.Invite(ctx, c.ID, "secret-guest", "owner")
		require.NoError(t, err)
	}
	for agent, other := range map[string]string{"owner": "blocked", "blocker": "owner"} {
		_, err := store.Block(ctx, agent, other)
		require.NoError(t, err)
	}
	c.Until = ends
	if over(&c) {
		socialtest.PutCircle(t, store, c, nil, here)
	}
}

// over reports whether the circle is an event that has ended.
func over(c *social.Circle) bool { return c.Until != 0 && c.Until < time.Now().Unix() }

// partIn returns the role of a caller in the circle.
func partIn(c *social.Circle, who string) string {
	switch {
	case who == "nobody" || who == "admin" || who == "owner":
		return who
	case who == "member" && c.Open():
		return "member"
	case who == "invited" && c.Open():
		return "invited"
	}
	return "none"
}

type groupCall struct {
	method, path, body string
	want               map[string]int // by role; 0 means the call is not made
}

// groupCalls returns the calls in an order in which none affects the answers of later ones.
func groupCalls(c *social.Circle) []groupCall {
	all := func(owner, member, invited, none int) map[string]int {
		return map[string]int{"owner": owner, "admin": owner, "member": member, "invited": invited, "none": none, "nobody": 401}
	}
	invites, list, posts, self := 400, 403, 422, 200
	if c.Open() {
		invites, self = 200, 403
		if c.MembersVisibleTo == social.ByMembers {
			list = 200
		}
		if c.Post != social.ByOwner && !over(c) {
			posts = 201
		}
	}
	ownPosts, join, adds := 201, all(0, 200, 200, 404), all(200, 403, 403, 404)
	if c.Open() {
		adds["owner"] = 403 // an agent only invites
	}
	if over(c) {
		ownPosts, invites, join["invited"], adds["admin"] = 422, 422, 422, 422
	}
	publish := all(ownPosts, posts, 422, 422)
	publish["admin"] = 401
	leave := all(self, 200, 200, 200)
	join["admin"], leave["admin"] = 0, 0
	read := all(200, 200, 403, 404)
	read["admin"] = 401
	return []groupCall{
		{"GET", "/v1/circles/{circle}", "", all(200, 200, 200, 404)},
		{"GET", "/v1/circles/{circle}/posts", "", read},
		{"GET", "/v1/circles/{circle}/members", "", all(200, list, 403, 404)},
		{"PUT", "/v1/circles/{circle}", `{"name":"secret name"}`, all(200, 403, 403, 403)},
		{"PATCH", "/v1/circles/{circle}", `{"name":"secret name"}`, all(200, 403, 403, 404)},
		{"GET", "/v1/circles/{circle}/invitations", "", all(200, 403, 403, 404)},
		{"PUT", "/v1/circles/{circle}/invitations/newcomer", "", all(invites, 403, 403, 404)},
		{"DELETE", "/v1/circles/{circle}/invitations/newcomer", "", all(200, 403, 403, 404)},
		{"PUT", "/v1/circles/{circle}/members/newcomer", "", adds},
		{"DELETE", "/v1/circles/{circle}/members/newcomer", "", all(200, 403, 403, 404)},
		{"PUT", "/v1/circles/{circle}/members/blocked", "", all(403, 403, 403, 404)},
		{"DELETE", "/v1/circles/{circle}", "", all(0, 403, 403, 404)},
		{"POST", "/v1/posts", `{"caption":"x","audience":{"circles":["{circle}"]}}`, publish},
		{"DELETE", "/v1/circles/{circle}/invitations/{self}", "", all(0, 200, 0, 200)},
		{"PUT", "/v1/circles/{circle}/members/{self}", "", join},
		{"DELETE", "/v1/circles/{circle}/members/{self}", "", leave},
	}
}
