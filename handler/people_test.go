package handler_test

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/socialtest"
)

// people are the routes that list people, each with a path that lists somebody who follows u_1.
var people = map[string]string{
	"GET /v1/agents/{agent_id}/followers":         "/v1/agents/u_1/followers",
	"GET /v1/agents/{agent_id}/following":         "/v1/agents/u_1/following",
	"GET /v1/agents/{agent_id}/blocked":           "/v1/agents/u_1/blocked",
	"GET /v1/agents/{agent_id}/suggestions":       "/v1/agents/u_1/suggestions",
	"GET /v1/agents/{agent_id}/muted/invitations": "/v1/agents/u_1/muted/invitations",
	"GET /v1/circles/{id}/members":                "/v1/circles/club/members",
	"GET /v1/circles/{id}/invitations":            "/v1/circles/club/invitations",
	"POST /v1/authors/cards":                      "/v1/authors/cards",
}

// noPeople are routes with a list of agents' ids that is none of people, and why.
var noPeople = map[string]string{
	"POST /v1/agents/{agent_id}/following": "answers those of the call that were refused",
	"GET /v1/posts/{id}":                   "mentions of a post",
}

// listsPeople reports whether an answer has a list of ids of agents, or of objects with one as agent or author.
func listsPeople(s *openapi3.SchemaRef, seen map[*openapi3.Schema]bool) bool {
	if s == nil || seen[s.Value] {
		return false
	}
	seen[s.Value] = true
	for name, p := range s.Value.Properties {
		items := p.Value.Items
		if slices.Contains([]string{"agents", "authors", "cards", "members"}, name) && items != nil {
			_, author := items.Value.Properties["author"]
			_, id := items.Value.Properties["id"]
			if author || id || items.Value.Type.Is("string") {
				return true
			}
		}
		if name == "data" && listsPeople(p, seen) {
			return true
		}
	}
	return false
}

// TestListsOfPeopleHaveCards checks that each route that lists people answers their cards, with whether they follow the caller.
func TestListsOfPeopleHaveCards(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, change func(*configs.Config)) {
		t.Helper()
		c := openLogged(t, slog.New(slog.DiscardHandler), change)
		found := 0
		for op, route := range c.operations() {
			ok := route.Operation.Responses.Value("200")
			if ok == nil || ok.Value.Content.Get("application/json") == nil || !strings.Contains(op, "/v1/") {
				continue
			}
			if !listsPeople(ok.Value.Content.Get("application/json").Schema, map[*openapi3.Schema]bool{}) || noPeople[op] != "" {
				continue
			}
			found++
			require.Contains(t, people, op, "say in people or noPeople how this route lists people")
		}
		require.Len(t, people, found)
		m := &rights{t: t, server: c.server, store: c.social}
		m.befriend()
		for op, path := range people {
			if strings.HasSuffix(op, "/blocked") { // only name and image are shown
				continue
			}
			method, _, _ := strings.Cut(op, " ")
			body := map[string]string{"POST": `{"authors":["ann"]}`}[method]
			got := m.ask("u_1", method, path, body)
			require.Equal(t, 200, got.Code, "%s: %s", op, got.Body)
			require.True(t, followsBack(t, got.Body.Bytes()), "%s has no card of who follows: %s", op, got.Body)
		}
	})
}

// befriend has ann and eve follow u_1, and one of them be in each list of theirs: who is followed is not suggested.
func (m *rights) befriend() {
	ctx, here := m.t.Context(), time.Time{}
	must := func(_ bool, err error) { require.NoError(m.t, err) }
	for _, who := range []string{"ann", "eve"} {
		require.NoError(m.t, m.store.PutAuthor(ctx, social.Author{ID: who, Name: "Called " + who}, here))
		must(m.store.Follow(ctx, who, "u_1", here))
	}
	must(m.store.Follow(ctx, "u_1", "ann", here))
	_, _, err := m.store.CreatePost(ctx, social.Post{Author: "eve", Caption: "Hello", Audience: social.Audience{Public: true}}, social.Creation{})
	require.NoError(m.t, err)
	must(m.store.Mute(ctx, "u_1", social.MuteInviter, "eve", here))
	group := social.CircleTerms{Kind: social.KindGroup}
	socialtest.PutCircle(m.t, m.store, social.Circle{ID: "club", Owner: "u_1", CircleTerms: group}, []string{"u_1", "ann"}, here)
	must(m.store.Invite(ctx, "club", "eve", "u_1"))
}

// followsBack reports whether an answer has a card of somebody who follows the caller.
func followsBack(t *testing.T, body []byte) bool {
	t.Helper()
	type card struct {
		ID, Name   string
		FollowsYou bool `json:"follows_you"`
	}
	var page struct {
		Data struct {
			Cards   []card
			Authors []struct{ Card card }
		}
	}
	require.NoError(t, json.Unmarshal(body, &page))
	for _, s := range page.Data.Authors {
		page.Data.Cards = append(page.Data.Cards, s.Card)
	}
	return slices.ContainsFunc(page.Data.Cards, func(c card) bool { return c.FollowsYou && c.Name == "Called "+c.ID })
}
