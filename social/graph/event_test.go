package graph_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/graph"
)

func TestExternalPosts(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	mustApply(t, s, `{"type":"post.created","data":{"id":"post:a-1","author":{"id":"ann@example.org","name":"Ann","image_url":"https://example.org/ann.png"},
		"created_at":"2026-03-06T11:00:00Z","caption":"#Rain at last","tags":["weather"],"audience":{"followers":true,"circles":["x"]},"mentions":["u_1"],
		"reply":"audience","react":"none","origin":"example.org","url":"https://example.org/1","object_type":"article","grants":["u_2"]}}`)
	require.Equal(t, social.Post{
		ID: "post:a-1", Author: "ann@example.org", CreatedAt: now.Add(-time.Hour).Unix(), Caption: "#Rain at last", Tags: []string{"weather"},
		Audience: social.Audience{Followers: true}, Mentions: []string{"u_1"}, Reply: social.RightAudience, React: social.RightNone,
		Grants: []string{"u_2"}, Origin: "example.org", URL: "https://example.org/1", ObjectType: "article", Version: 1,
	}, postOf(t, s, "post:a-1"))
	info, err := s.Author(t.Context(), "", "ann@example.org")
	require.NoError(t, err)
	require.Equal(t, social.Author{ID: "ann@example.org", Name: "Ann", ImageURL: "https://example.org/ann.png"}, info.Author)

	mustApply(t, s,
		`{"type":"post.updated","data":{"id":"post:a-1","caption":"Rain","at":1772796600.5}}`,
		`{"type":"engagement","data":{"id":"post:a-1","likes":7,"comments":2,"at":1772796601}}`,
		`{"type":"post.updated","data":{"id":"post:a-1","caption":"an older edit","tags":["x"],"at":1772796600}}`)
	p := postOf(t, s, "post:a-1")
	require.Equal(t, "Rain", p.Caption)
	require.Equal(t, []string{"x"}, p.Tags)
	cards, err := s.Cards(t.Context(), "u_1", []social.PostVersion{{ID: "post:a-1"}})
	require.NoError(t, err)
	require.Equal(t, int64(7), cards[0].Likes)
	require.Equal(t, "Ann", cards[0].Author.Name)

	mustApply(t, s, `{"type":"post.deleted","data":{"id":"post:a-1","at":1772797000}}`)
	require.True(t, postOf(t, s, "post:a-1").Deleted)
	// Late and repeated events restore nothing and are no error.
	mustApply(t, s,
		`{"type":"post.updated","data":{"id":"post:a-1","caption":"late","at":1772796900}}`,
		`{"type":"post.created","data":{"id":"post:a-1","author":{"id":"ann@example.org"},"created_at":1772794800,"caption":"again"}}`,
		`{"type":"post.deleted","data":{"id":"post:a-1","at":1772797000}}`)
	require.True(t, postOf(t, s, "post:a-1").Deleted)
}

func TestEventAudience(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for i, tt := range []struct {
		json string
		want social.Audience
	}{
		{``, social.Audience{Public: true}},
		{`,"audience":null`, social.Audience{Public: true}},
		{`,"audience":{}`, social.Audience{}},
		{`,"audience":{"public":true}`, social.Audience{Public: true}},
		{`,"audience":{"followers":true}`, social.Audience{Followers: true}},
	} {
		id := fmt.Sprintf("post:%d", i)
		mustApply(t, s, `{"type":"post.created","data":{"id":"`+id+`","author":{"id":"a"},"created_at":1,"caption":"x"`+tt.json+`}}`)
		require.Equal(t, tt.want, postOf(t, s, id).Audience, tt.json)
	}
}

func TestFollowsAndConnections(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	mustApply(t, s,
		`{"type":"follow.created","data":{"agent_id":"u_1","author_id":"a","at":10}}`,
		`{"type":"follow.created","data":{"agent_id":"u_1","author_id":"@server","at":10}}`,
		`{"type":"connections.accepted","data":{"agents":["u_1","u_2"],"at":10}}`)
	require.Equal(t, []string{"@server", "a", "u_2"}, list(t, s.Following, "u_1"))
	require.Equal(t, []string{"u_1"}, list(t, s.Following, "u_2"))
	mustApply(t, s,
		`{"type":"connections.removed","data":{"agents":["u_2","u_1"],"at":20}}`,
		`{"type":"follow.removed","data":{"agent_id":"u_1","author_id":"a","at":20}}`,
		`{"type":"follow.created","data":{"agent_id":"u_1","author_id":"a","at":19}}`,
		`{"type":"connections.accepted","data":{"agents":["u_1","u_2"],"at":20}}`)
	require.Equal(t, []string{"@server"}, list(t, s.Following, "u_1"))
	require.Empty(t, list(t, s.Following, "u_2"))
}

func TestExternalCircles(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	mustApply(t, s,
		`{"type":"circle.changed","data":{"id":"c1","added":["u_9"],"at":5}}`,
		`{"type":"circle.changed","data":{"id":"c1","owner":"a","name":"Family","members":["u_1","u_2"],"at":10}}`,
		`{"type":"circle.changed","data":{"id":"c1","added":["u_3"],"removed":["u_1"],"at":11}}`,
		`{"type":"circle.changed","data":{"id":"c1","owner":"a","name":"Kin","at":12}}`)
	require.Equal(t, []string{"u_2", "u_3"}, list(t, s.Members, "c1"))
	c, err := s.Circle(t.Context(), "c1")
	require.NoError(t, err)
	require.Equal(t, social.Circle{ID: "c1", Owner: "a", Name: "Kin", Size: 2, CircleTerms: social.CircleTerms{Kind: social.KindCircle}}, c)
	mustApply(t, s,
		`{"type":"circle.changed","data":{"id":"c1","owner":"a","name":"Kin","members":[],"at":13}}`)
	require.Empty(t, list(t, s.Members, "c1"))
	mustApply(t, s,
		`{"type":"circle.changed","data":{"id":"g1","added":["u_9"],"at":5}}`,
		`{"type":"circle.changed","data":{"id":"g1","owner":"a","kind":"event","history":"all","until":"2026-06-01T18:00:00Z","at":10}}`)
	require.Equal(t, []string{"a", "u_9"}, list(t, s.Members, "g1"))
	c, err = s.Circle(t.Context(), "g1")
	require.NoError(t, err)
	require.Equal(t, social.KindEvent, c.Kind)
	require.Equal(t, int64(1780336800), c.Until)
	mustApply(t, s, `{"type":"circle.changed","data":{"id":"c1","deleted":true,"at":14}}`)
	_, err = s.Circle(t.Context(), "c1")
	require.ErrorIs(t, err, feed.ErrNotFound)
}

func TestInvalidEvents(t *testing.T) {
	t.Parallel()
	post := func(fields string) string {
		return `{"type":"post.created","data":{"id":"post:1","author":{"id":"a"},"created_at":1,"caption":"x",` + fields + `}}`
	}
	for line, says := range map[string]string{
		``:                           "the JSON is empty",
		`[]`:                         "must be an object",
		`{"data":{}}`:                "type is missing; known are circle.changed, connections.accepted",
		`{"type":"post.deleted"}`:    "data is missing",
		`{"type":"x","data":{}}`:     `unknown type "x"; known are`,
		`{"type":"x","data":[]}`:     `data must be an object`,
		`{"type":"x","daat":{}}`:     `unknown field "daat"; known are type, data`,
		`{"type":"x","type":"y"}`:    `duplicate field "type"`,
		post(`"capton":"y"`):         `unknown field "capton"; known are id, at, author, created_at, caption`,
		post(`"caption":"y"`):        `duplicate field "caption"`,
		post(`"audience":{"all":1}`): `unknown field "all" in audience; known are public, followers, circles`,
		post(`"audience":[]`):        "audience must be an object",
		post(`"reply":"all"`):        `reply must be public, followers, audience or none, not "all"`,
		post(`"react":""`):           "react must not be empty; leave it out for its default",
		`{"type":"circle.changed","data":{"id":"c","at":1,"owner":"u_1","kind":"group","post":""}}`: "post must not be empty",
		post(`"grants":["u_1"]`):                 "only a post of another system may carry grants",
		post(`"at":"1"`):                         "at must be a number if it is in Unix seconds, not a string",
		post(`"at":0`):                           "at must be a time",
		post(`"mentions":["a b"]`):               "mentions[0]: bad id",
		post(`"origin":"https://example.org/x"`): `origin must be the name of a host such as "example.org"`,
		`{"type":"post.created","data":{"id":"1","author":{"id":"a"},"created_at":1,"caption":"x"}}`:                                                `the id of a post begins with "post:"`,
		`{"type":"post.created","data":{"id":"post:1","author":"a","created_at":1,"caption":"x"}}`:                                                  "author must be an object, not a string",
		`{"type":"post.created","data":{"id":"post:1","author":{"id":"@server"},"created_at":1,"caption":"x"}}`:                                     "@server is reserved",
		`{"type":"post.created","data":{"id":"post:1","author":{"id":"a","name":"` + strings.Repeat("x", 257) + `"},"created_at":1,"caption":"x"}}`: "author: bad request: name has 257",
		`{"type":"post.created","data":{"id":"post:1","author":{"id":"a"},"caption":"x"}}`:                                                          "created_at is missing",
		`{"type":"post.created","data":{"id":"post:1","author":{"id":"a"},"created_at":1}}`:                                                         "neither caption nor image",
		`{"type":"post.updated","data":{"id":"post:1","at":1}}`:                                                                                     "it changes nothing; send caption, tags, alts or reply",
		`{"type":"post.updated","data":{"id":"post:1","caption":"x"}}`:                                                                              "at is missing",
		`{"type":"post.updated","data":{"caption":"x","at":1}}`:                                                                                     `the id of a post begins with "post:"`,
		`{"type":"post.updated","data":{"id":"post:1","tags":[""],"at":1}}`:                                                                         "a tag is empty",
		`{"type":"post.deleted","data":{"id":"post:1"}}`:                                                                                            "at is missing",
		`{"type":"post.deleted","data":{"id":"x","at":1}}`:                                                                                          "begins with",
		`{"type":"follow.created","data":{"agent_id":"a","author_id":"a","at":1}}`:                                                                  "a cannot follow or block themself",
		`{"type":"follow.created","data":{"agent_id":"a","author_id":"b"}}`:                                                                         "at is missing",
		`{"type":"follow.removed","data":{"agent_id":"@server","author_id":"b","at":1}}`:                                                            "@server is reserved",
		`{"type":"connections.accepted","data":{"agents":["a"],"at":1}}`:                                                                            "agents must list the two connected agents, not 1",
		`{"type":"connections.accepted","data":{"agents":["a","a"],"at":1}}`:                                                                        "themself",
		`{"type":"connections.removed","data":{"agents":["a","b"]}}`:                                                                                "at is missing",
		`{"type":"circle.changed","data":{"id":"c","at":1}}`:                                                                                        "it changes nothing",
		`{"type":"circle.changed","data":{"id":"c","members":[],"at":1}}`:                                                                           "owner is missing",
		`{"type":"circle.changed","data":{"id":"c","owner":"a","members":[],"added":["x"],"at":1}}`:                                                 "either members, or added and removed",
		`{"type":"circle.changed","data":{"id":"c","deleted":true,"owner":"a","at":1}}`:                                                             "deleted allows no other fields",
		`{"type":"circle.changed","data":{"id":"c","deleted":true}}`:                                                                                "at is missing",
		`{"type":"circle.changed","data":{"id":"c/d","deleted":true,"at":1}}`:                                                                       "the id of a circle must",
		`{"type":"circle.changed","data":{"id":"c","added":["a b"],"at":1}}`:                                                                        "added: bad id",
		`{"type":"circle.changed","data":{"id":"c","owner":"@server","at":1}}`:                                                                      "owner: bad id",
		`{"type":"engagement","data":{"id":"post:1","likes":1,"at":1}}`:                                                                             "likes and comments are required",
		`{"type":"engagement","data":{"id":"post:1","likes":-1,"comments":0,"at":1}}`:                                                               "must be 0 to 2^53",
		`{"type":"engagement","data":{"id":"post:1","likes":1.5,"comments":0,"at":1}}`:                                                              "likes must be a whole number",
		`{"type":"engagement","data":{"id":"p","likes":1,"comments":0,"at":1}}`:                                                                     "begins with",
		`{"type":"engagement","data":{"id":"post:1","likes":1,"comments":0}}`:                                                                       "at is missing",
	} {
		_, err := graph.Decode([]byte(line))
		require.ErrorIs(t, err, feed.ErrInvalid, line)
		require.ErrorContains(t, err, says, line)
		require.True(t, feed.Refused(err))
	}
	_, err := graph.Parse("post.deleted", make([]byte, graph.MaxEventBytes+1))
	require.ErrorIs(t, err, feed.ErrInvalid)
}

func TestEventsRefusedByStore(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	_, err := s.Block(t.Context(), "a", "u_1")
	require.NoError(t, err)
	mustApply(t, s, `{"type":"post.created","data":{"id":"post:1","author":{"id":"a"},"created_at":1,"caption":"x"}}`)
	for line, is := range map[string]error{
		`{"type":"post.created","data":{"id":"post:2","author":{"id":"a"},"created_at":1772798431,"caption":"x"}}`:        feed.ErrInvalid,
		`{"type":"post.created","data":{"id":"post:2","author":{"id":"a"},"created_at":1772798431,"at":1,"caption":"x"}}`: feed.ErrRule,
		`{"type":"follow.created","data":{"agent_id":"u_3","author_id":"a","at":1772798431}}`:                             feed.ErrInvalid,
		`{"type":"follow.created","data":{"agent_id":"u_1","author_id":"a","at":1}}`:                                      feed.ErrForbidden,
		`{"type":"connections.accepted","data":{"agents":["u_1","a"],"at":1}}`:                                            feed.ErrForbidden,
		`{"type":"post.created","data":{"id":"post:1","author":{"id":"b"},"created_at":2,"caption":"x"}}`:                 feed.ErrForbidden,
		`{"type":"post.updated","data":{"id":"post:1","caption":"","at":2}}`:                                              feed.ErrRule,
	} {
		e, err := graph.Decode([]byte(line))
		require.NoError(t, err, line)
		err = e.Apply(t.Context(), s)
		require.ErrorIs(t, err, is, line)
		require.True(t, feed.Refused(err))
	}
}
