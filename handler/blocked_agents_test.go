package handler_test

import (
	"fmt"
	"log/slog"
	"maps"
	"regexp"
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

// person matches the names of fields that hold agents.
var person = regexp.MustCompile(`(?i)^(agents?|agent_ids?|authors?|author_ids?|owners?|members?|mentions?|mentioned|invited|invitations?|inviters?|likers?|liked_by|followers?|following|followees?|blocked|users?|people|by|removed_by|who|grants)$`)

// agentsIn lists the fields of a schema that hold agents.
func agentsIn(s *openapi3.SchemaRef, at string, seen map[*openapi3.Schema]bool) (list []string) {
	if s == nil || s.Value == nil || seen[s.Value] {
		return nil
	}
	if s.Ref == "#/components/schemas/AgentID" {
		return []string{at}
	}
	seen[s.Value] = true
	defer delete(seen, s.Value)
	for name, p := range s.Value.Properties {
		under := agentsIn(p, at+"."+name, seen)
		if len(under) == 0 && person.MatchString(name) && !p.Value.Type.Is("integer") && !p.Value.Type.Is("boolean") {
			under = []string{at + "." + name}
		}
		list = append(list, under...)
	}
	list = append(list, agentsIn(s.Value.Items, at+"[]", seen)...)
	for _, some := range []openapi3.SchemaRefs{s.Value.OneOf, s.Value.AnyOf, s.Value.AllOf} {
		for _, one := range some {
			list = append(list, agentsIn(one, at, seen)...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// unnamed says why a route that answers agents needs no call in the test.
type unnamed string

// naming lists every route that an agent may call and that answers agents: the calls in which it
// might name one, or why it does not. {me} is the caller and {other} the agent whom a block
// separates from the caller.
func naming() map[string]any {
	const own, asked = unnamed("answers what is the caller's own"), unnamed("names only whom the call names")
	get := func(paths ...string) (calls [][3]string) {
		for _, path := range paths {
			calls = append(calls, [3]string{"GET", path, ""})
		}
		return calls
	}
	return map[string]any{
		"GET /v1/agents/{agent_id}/followers":     get("/v1/agents/{me}/followers", "/v1/agents/{me}/followers?limit=1"),
		"GET /v1/agents/{agent_id}/following":     get("/v1/agents/{me}/following", "/v1/agents/{me}/following?limit=1"),
		"GET /v1/agents/{agent_id}/suggestions":   get("/v1/agents/{me}/suggestions?limit=100"),
		"GET /v1/agents/{agent_id}/blocked":       unnamed("lists whom the caller blocks, for the caller to manage"),
		"GET /v1/authors/{id}":                    asked,
		"POST /v1/authors/cards":                  asked,
		"GET /v1/authors/{id}/posts":              get("/v1/authors/{other}/posts", "/v1/authors/{other}/posts?view=grid"),
		"GET /v1/circles":                         get("/v1/circles?of=joined", "/v1/circles?of=invited", "/v1/circles?of=owned"),
		"GET /v1/circles/{id}":                    get("/v1/circles/shared", "/v1/circles/first", "/v1/circles/second"),
		"GET /v1/circles/{id}/posts":              get("/v1/circles/shared/posts", "/v1/circles/shared/posts?view=grid", "/v1/circles/first/posts", "/v1/circles/second/posts"),
		"GET /v1/agents/{agent_id}/notifications": get("/v1/agents/{me}/notifications?limit=100", "/v1/agents/{me}/notifications?limit=1"),
		"GET /v1/agents/{agent_id}/likes":         get("/v1/agents/{me}/likes?limit=100"),
		"GET /v1/agents/{agent_id}/muted/items":   get("/v1/agents/{me}/muted/items?limit=100", "/v1/agents/{me}/muted/items?limit=1"),
		"GET /v1/circles/{id}/invitations": get("/v1/circles/open-first/invitations", "/v1/circles/open-second/invitations", "/v1/circles/open-third/invitations",
			"/v1/circles/open-third/invitations?limit=1"),
		"GET /v1/circles/{id}/members": get("/v1/circles/shared/members", "/v1/circles/shared/members?limit=2", "/v1/circles/first/members", "/v1/circles/second/members"),
		"GET /v1/feed/guest":           unnamed("knows no reader"),
		"GET /v1/posts/{id}":           get("/v1/posts/post:1", "/v1/posts/post:2", "/v1/posts/post:3", "/v1/posts/post:4"),
		"GET /v1/items/{id}/related":   get("/v1/items/post:thread/related?limit=100", "/v1/items/post:1/related?limit=100", "/v1/items/post:2/related?limit=100"),
		"GET /v1/posts/{id}/replies":   get("/v1/posts/post:thread/replies", "/v1/posts/post:thread/replies?order=oldest&limit=1", "/v1/posts/post:1/replies", "/v1/posts/post:2/replies"),
		"GET /v1/timeline":             get("/v1/timeline?limit=100"),
		"POST /v1/feed": [][3]string{
			{"POST", "/v1/feed", `{"action":"refresh","limit":100}`},
			{"POST", "/v1/feed", `{"action":"refresh","limit":100,"feed":"home"}`},
		},
		"POST /v1/agents/{agent_id}/following":        asked,
		"POST /v1/posts":                              own,
		"PATCH /v1/posts/{id}":                        own,
		"PUT /v1/authors/{id}":                        own,
		"PUT /v1/circles/{id}":                        own,
		"PATCH /v1/authors/{id}":                      own,
		"PUT /v1/authors/{id}/image":                  own,
		"PATCH /v1/circles/{id}":                      own,
		"GET /v1/agents/{agent_id}/profile":           own,
		"PUT /v1/agents/{agent_id}/profile":           own,
		"PATCH /v1/agents/{agent_id}/profile":         own,
		"GET /v1/agents/{agent_id}/muted/invitations": unnamed("lists whose invitations the caller has muted, for the caller to manage"),
	}
}

// TestBlockedAgentsNotNamed calls every route that answers agents, as each of two agents
// separated by a block, and as one who is not.
func TestBlockedAgentsNotNamed(t *testing.T) {
	t.Parallel()
	inBothModes(t, func(t *testing.T, change func(*configs.Config)) {
		t.Helper()
		c := openLogged(t, slog.New(slog.DiscardHandler), change)
		table := naming()
		for op, route := range c.operations() {
			if fields := agentsAnswered(route.Operation); len(fields) > 0 {
				require.Contains(t, table, op, "say in naming how this route may name an agent: %s", fields)
			}
		}
		m := &rights{t: t, server: c.server, store: c.social}
		m.separate("xavier", "rosa", "zoe")
		named := map[string]bool{}
		for _, op := range slices.Backward(slices.Sorted(maps.Keys(table))) { // a feed does not show what a page has shown
			calls, ok := table[op].([][3]string)
			if !ok {
				require.Contains(t, c.operations(), op)
				continue
			}
			for _, pair := range [][2]string{{"xavier", "rosa"}, {"rosa", "xavier"}} {
				for _, call := range calls {
					got := m.asking(pair[0], pair[1], call)
					require.NotContains(t, got, pair[1], "%v names %s to %s", call, pair[1], pair[0])
					named[op] = named[op] || strings.Contains(m.asking("zoe", pair[1], call), pair[1])
				}
			}
			// What is suggested is in engine, TestSuggestions, and socialtest.
			require.True(t, named[op] || strings.HasSuffix(op, "suggestions"), "%s names nobody: the test proves nothing", op)
		}
	})
}

// agentsAnswered lists the fields with agents that a route answers to agents, or to anybody.
func agentsAnswered(op *openapi3.Operation) (list []string) {
	if op.Security != nil && len(*op.Security) > 0 && !slices.ContainsFunc(*op.Security, func(r openapi3.SecurityRequirement) bool {
		_, agent := r["agent"]
		return agent || len(r) == 0
	}) {
		return nil // for admins
	}
	for status, r := range op.Responses.Map() {
		for _, m := range r.Value.Content {
			if status[0] == '2' {
				list = append(list, agentsIn(m.Schema, "", map[*openapi3.Schema]bool{})...)
			}
		}
	}
	return list
}

func (m *rights) asking(me, other string, call [3]string) string {
	fill := strings.NewReplacer("{me}", me, "{other}", other)
	return m.ask(me, call[0], fill.Replace(call[1]), fill.Replace(call[2])).Body.String()
}

// separate makes a network in which two agents would meet everywhere, and then one blocks the other.
func (m *rights) separate(one, other, neutral string) {
	ctx := m.t.Context()
	all, here := []string{one, other, neutral, "olga"}, time.Time{}
	group := social.CircleTerms{Kind: social.KindGroup, MembersVisibleTo: social.ByMembers}
	for id, owner := range map[string]string{"shared": "olga", "first": one, "second": other, "third": neutral} {
		socialtest.PutCircle(m.t, m.store, social.Circle{ID: id, Owner: owner, Name: id, CircleTerms: group}, all, here)
		socialtest.PutCircle(m.t, m.store, social.Circle{ID: "open-" + id, Owner: owner, CircleTerms: group}, nil, here)
		for _, agent := range all {
			_, err := m.store.Invite(ctx, "open-"+id, agent, owner)
			require.NoError(m.t, err)
		}
	}
	for _, agent := range all {
		for _, author := range append(all, social.Server) {
			if agent != author {
				_, err := m.store.Follow(ctx, agent, author, here)
				require.NoError(m.t, err)
			}
		}
	}
	post := func(p social.Post) {
		p.Caption, p.Tags = "a post", []string{"story"}
		_, _, err := m.store.CreatePost(ctx, p, social.Creation{})
		require.NoError(m.t, err)
	}
	public := social.Audience{Public: true}
	post(social.Post{ID: "post:thread", Author: "olga", Audience: public})
	for i, author := range []string{one, other} {
		post(social.Post{ID: fmt.Sprintf("post:%d", 1+i), Author: author, Audience: public})
		post(social.Post{ID: fmt.Sprintf("post:%d", 3+i), Author: author, Audience: social.Audience{Circles: []string{"shared"}}})
		post(social.Post{ID: fmt.Sprintf("post:reply-%d", i), Author: author, ReplyTo: "post:thread"})
		hidden := fmt.Sprintf("post:hidden-%d", i)
		post(social.Post{ID: hidden, Author: author, Audience: public})
		for _, agent := range all {
			require.Equal(m.t, 200, m.ask(agent, "PUT", "/v1/agents/~/muted/items/"+hidden, "").Code)
		}
	}
	for _, agent := range all {
		for _, id := range []string{"post:1", "post:2", "post:3", "post:4"} {
			_, _, err := m.store.Like(ctx, agent, id)
			require.NoError(m.t, err)
		}
	}
	_, err := m.store.Block(ctx, one, other)
	require.NoError(m.t, err)
	settled(m.t, m.store)
}
