package handler_test

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/server"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/media"
	"github.com/freshet/freshet/social/media/folder"
	"github.com/freshet/freshet/social/socialtest"
)

// seedSocial stores the data that the cases of the social routes refer to.
func seedSocial(t *testing.T, store social.Store) {
	t.Helper()
	ctx := t.Context()
	for i := range 3 { // the jobs 1 to 3, which never run because they are not due
		require.NoError(t, store.(jobs.Queue).Enqueue(ctx, jobs.Spec{Kind: jobs.Deliver, Key: fmt.Sprint("post:later", i), After: 24 * time.Hour}))
	}
	create := func(id, author, key string, change func(*social.Post)) {
		p := social.Post{ID: id, Author: author, Caption: "Rain at last #weather", Audience: social.Audience{Public: true}}
		if change != nil {
			change(&p)
		}
		_, _, err := store.CreatePost(ctx, p, social.Creation{Key: key})
		require.NoError(t, err)
	}
	for _, id := range []string{"mine", "gone", "d0", "d1"} {
		create("post:"+id, "u_1", "", nil)
	}
	create("post:keyed", "u_1", "of-a-deleted-post", nil)
	for _, id := range []string{"post:gone", "post:keyed"} {
		require.NoError(t, store.DeletePost(ctx, id, "", time.Time{}))
	}
	create("post:private", "u_1", "", func(p *social.Post) { p.Audience = social.Audience{} })
	create("post:theirs", "u_2", "", func(p *social.Post) { p.React, p.Reply = social.RightNone, social.RightNone })
	create("post:liked", "u_2", "", nil)
	_, err := store.Block(ctx, "u_3", "u_1")
	require.NoError(t, err)
	_, err = store.Follow(ctx, "u_1", "u_2", time.Time{})
	require.NoError(t, err)
	for _, id := range []string{"c1", "d0", "d1"} {
		socialtest.PutCircle(t, store, social.Circle{ID: id, Owner: "u_1", Name: "Friends"}, []string{"u_2", "u_4"}, time.Time{})
	}
	socialtest.PutCircle(t, store, social.Circle{ID: "full", Owner: "u_1"}, names(social.MaxCircleMembers), time.Time{})
	for i := range social.MaxPromotions { // as many as are allowed
		p := social.Promotion{ID: fmt.Sprintf("p%d", i), ItemID: "post:mine", From: 1, Until: 4e9, Weight: 1}
		require.NoError(t, store.PutPromotion(ctx, p))
	}
	for _, id := range []string{"d0", "d1"} { // already over
		require.NoError(t, store.PutPromotion(ctx, social.Promotion{ID: id, ItemID: "never", From: 1, Until: 2, Weight: 1}))
	}
	edges := make([]social.Edge, social.MaxFollowees)
	for i, author := range names(len(edges)) {
		edges[i] = social.Edge{Agent: "full", Author: author}
	}
	_, refused, err := store.FollowAll(ctx, edges, time.Time{})
	require.NoError(t, err)
	require.Empty(t, refused)
	socialtest.PutCircle(t, store, social.Circle{ID: "theirs", Owner: "u_2"}, nil, time.Time{})
	group := social.CircleTerms{Kind: social.KindGroup}
	socialtest.PutCircle(t, store, social.Circle{ID: "club", Owner: "u_2", CircleTerms: group}, []string{"u_1"}, time.Time{})
	socialtest.PutCircle(t, store, social.Circle{ID: "rowers", Owner: "u_1", CircleTerms: group}, nil, time.Time{})
	_, err = store.Invite(ctx, "rowers", "u_8", "")
	require.NoError(t, err)
	socialtest.PutCircle(t, store, social.Circle{ID: "choir", Owner: "u_1", CircleTerms: group}, []string{"u_2"}, time.Time{})
	for _, id := range []string{"post:off-topic", "post:spam"} {
		create(id, "u_2", "", func(p *social.Post) { p.Audience = social.Audience{Circles: []string{"choir"}} })
	}
	require.NoError(t, store.RemovePost(ctx, "post:spam", "u_1", "", "off topic"))
	socialtest.PutCircle(t, store, social.Circle{ID: "passed", Owner: "u_1", CircleTerms: group}, []string{"u_2"}, time.Time{})
	over := social.Circle{ID: "over", Owner: "u_2", CircleTerms: social.CircleTerms{Kind: social.KindEvent}, Until: 1_772_791_200}
	socialtest.PutCircle(t, store, over, nil, time.Now()) // as another system reports it
	for i := range feed.MaxMutes {
		for _, kind := range []social.MuteKind{social.MuteCircle, social.MuteInviter} {
			_, err := store.Mute(ctx, "full", kind, fmt.Sprintf("m_%d", i), time.Time{})
			require.NoError(t, err)
		}
	}
	for i := range social.MaxInvitations {
		id := fmt.Sprintf("club%d", i)
		socialtest.PutCircle(t, store, social.Circle{ID: id, Owner: fmt.Sprintf("o_%d", i/social.MaxInvitedBy), CircleTerms: group}, nil, time.Time{})
		_, err := store.Invite(ctx, id, "popular", "")
		require.NoError(t, err)
	}
}

func names(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("n_%d", i)
	}
	return list
}

const photoKey = "0123456789abcdef0123456789abcdef"

func seedImage(t *testing.T, store social.Store, dataDir string) {
	t.Helper()
	files, err := folder.Open(filepath.Join(dataDir, "media"))
	require.NoError(t, err)
	require.NoError(t, files.Put(t.Context(), photoKey[:2]+"/"+photoKey, media.File{Type: "image/png", Data: []byte(tinyPNG)}))
	require.NoError(t, files.Close())
	require.NoError(t, store.ReserveFiles(t.Context(), "post:photo", []string{photoKey}))
	url := social.ImagePath + photoKey
	p := social.Post{ID: "post:photo", Author: "u_1", Audience: social.Audience{Public: true}, Images: []social.Image{{URL: url, Thumbnail: url, Width: 1, Height: 1, Color: "#ff0000", Alt: "A dot"}}}
	_, _, err = store.CreatePost(t.Context(), p, social.Creation{Files: 1})
	require.NoError(t, err)
}

var tinyPNG = func() string {
	var b strings.Builder
	p := image.NewRGBA(image.Rect(0, 0, 1, 1))
	p.Set(0, 0, color.RGBA{255, 0, 0, 255})
	if err := png.Encode(&b, p); err != nil {
		panic(err)
	}
	return b.String()
}()

// withFile returns a call with a form of a post and a file.
func withFile(post, file string) exchange {
	const line = "--x\r\nContent-Disposition: form-data; name="
	return exchange{
		op: "POST /v1/posts", headers: []string{asAgent}, kind: "multipart/form-data; boundary=x",
		body: line + "\"post\"\r\nContent-Type: application/json\r\n\r\n" + post + "\r\n" +
			line + "\"image\"; filename=\"x\"\r\nContent-Type: application/octet-stream\r\n\r\n" + file + "\r\n--x--\r\n",
	}
}

// withPicture returns a call with a form of a file alone.
func withPicture(id, file string, headers ...string) exchange {
	return exchange{
		path: at(id), headers: headers, kind: "multipart/form-data; boundary=x",
		body: "--x\r\nContent-Disposition: form-data; name=\"image\"; filename=\"x\"\r\nContent-Type: application/octet-stream\r\n\r\n" + file + "\r\n--x--\r\n",
	}
}

// at returns the path parameters of a route with an id.
func at(id string) map[string]string { return map[string]string{"id": id} }

func postCases(func(...string) []exchange) map[string]contractRoute {
	const rain = `{"caption":"Rain at last #weather"}`
	of := func(id, body string, headers ...string) exchange {
		return exchange{path: at("post:" + id), headers: headers, body: body}
	}
	publish := func(body string, headers ...string) exchange {
		return exchange{op: "POST /v1/posts", headers: append([]string{asAgent}, headers...), body: body}
	}
	again := publish(rain, "Idempotency-Key: k 1")
	again.before = []exchange{again}
	reused := publish(`{"caption":"Another"}`, "Idempotency-Key: k 1")
	reused.before = []exchange{publish(rain, "Idempotency-Key: k 1")}
	const post, like = "/v1/posts/{id}", "/v1/posts/{id}/like"
	unseen := of("private", "", "X-Agent-ID: u_9")
	return map[string]contractRoute{
		"POST /v1/posts": {
			good: []exchange{
				publish(rain), again,
				publish(`{"caption":"We meet at six","tags":["plans"],"audience":{"followers":true,"circles":["c1"]},"mentions":["u_2"],"reply":"audience","react":"followers"}`),
				publish(`{"caption":"For you","audience":{},"mentions":["u_2"]}`),
				withFile(`{"images":[{"alt":"A dot"}]}`, tinyPNG),
				publish(`{"caption":"At last","reply_to":"post:mine"}`),
				withFile(`{"reply_to":"post:mine"}`, tinyPNG),
			},
			bad: map[int]exchange{
				40004: publish(`{"caption":"x","mentions":["a b"]}`),
				40301: publish(`{"caption":"At last","reply_to":"post:theirs"}`),
				40401: publish(rain, "Idempotency-Key: of-a-deleted-post"),
				40901: reused,
				41501: withFile(`{}`, "<svg/>"),
				42201: publish(`{"caption":" "}`),
			},
		},
		"GET /media/{key}": {
			good: []exchange{
				{path: map[string]string{"key": photoKey}},
				{path: map[string]string{"key": photoKey}, headers: []string{"Range: bytes=0-9"}},
				{path: map[string]string{"key": photoKey}, headers: []string{`If-None-Match: "` + photoKey + `"`}},
			},
			bad: map[int]exchange{
				40004: {path: map[string]string{"key": photoKey}, headers: []string{"X-Agent-ID: a b"}},
				40401: {path: map[string]string{"key": strings.Repeat("0", 32)}},
				41601: {path: map[string]string{"key": photoKey}, headers: []string{"Range: bytes=9999-"}},
			},
		},
		"GET " + post: {
			good: []exchange{of("mine", "", asAgent), of("mine", ""), of("liked", "", asAgent), of("private", "", asAgent), of("off-topic", "", "X-Agent-ID: u_2"), of("spam", "", "X-Agent-ID: u_2")},
			bad:  map[int]exchange{40004: {path: at("mine")}, 40401: unseen},
		},
		"PATCH " + post: {
			good: []exchange{of("mine", `{"caption":"Rain!","tags":["sky"]}`, asAgent), of("mine", `{"tags":[]}`, asAdmin), of("private", `{"caption":"x","reply":"none"}`, bearer)},
			bad: map[int]exchange{
				40004: {path: at("mine"), headers: []string{asAgent}, body: rain},
				40301: of("theirs", rain, asAgent),
				40401: of("private", rain, "X-Agent-ID: u_9"),
				42201: of("mine", `{"caption":""}`, asAgent),
			},
		},
		"DELETE " + post: {
			good: []exchange{
				of("d0", "", asAgent), of("d1", "", asAdmin), of("off-topic", "", asAgent),
				{path: at("post:off-topic"), query: "?circle=choir&reason=off%20topic", headers: []string{asAdmin}},
			},
			bad: map[int]exchange{
				40001: {path: at("post:off-topic"), query: "?reason=" + strings.Repeat("x", 501), headers: []string{asAgent}},
				40004: {path: at("mine"), headers: []string{asAgent}}, 40301: of("theirs", "", asAgent), 40401: unseen,
			},
		},
		"GET " + post + "/replies": {
			good: []exchange{{path: at("post:mine"), query: "?order=oldest", headers: []string{asAgent}, before: []exchange{publish(`{"caption":"x","reply_to":"post:mine"}`)}}, of("liked", "")},
			bad: map[int]exchange{
				40001: {path: at("post:mine"), query: "?order=best"}, 40003: {path: at("post:mine"), query: "?limit=0"}, 40004: {path: at("mine")}, 40401: unseen,
			},
		},
		"PUT " + like: {
			good: []exchange{of("liked", "", asAgent), of("mine", "", asAgent)},
			bad:  map[int]exchange{40004: {path: at("mine"), headers: []string{asAgent}}, 40301: of("theirs", "", asAgent), 40401: unseen},
		},
		"DELETE " + like: {
			good: []exchange{of("liked", "", asAgent), unseen},
			bad:  map[int]exchange{40004: {path: at("mine"), headers: []string{asAgent}}},
		},
	}
}

func timelineCases(func(...string) []exchange) map[string]contractRoute {
	read := func(query string) exchange { return exchange{headers: []string{asAgent}, query: query} }
	badID := exchange{headers: []string{"X-Agent-ID: @server"}}
	pages := map[int]exchange{40001: read("?cursor=5"), 40003: read("?limit=0"), 40004: badID}
	grid := read("?limit=1")
	grid.path = at("u_1")
	ofNobody := exchange{path: at("u_2"), query: "?limit=1&cursor=post:z:1999999999"}
	tiles := exchange{path: at("u_1"), query: "?view=grid", headers: []string{asAgent}}
	badGrid := map[int]exchange{}
	for code, e := range pages {
		e.path = at("u_1")
		badGrid[code] = e
	}
	likes := func(agent, query string, headers ...string) exchange {
		return exchange{path: map[string]string{"agent_id": agent}, query: query, headers: headers}
	}
	return map[string]contractRoute{
		"GET /v1/agents/{agent_id}/likes": {
			good: []exchange{likes("u_1", "", asAgent), likes("~", "?limit=1&cursor=post:0:1772791200000000", asAgent), likes("nobody", "", asAdmin)},
			bad: map[int]exchange{
				40001: likes("u_1", "?cursor=5", asAgent), 40003: likes("u_1", "?limit=0", asAgent), 40004: likes("u:1", "", asAdmin), 40301: likes("u_2", "", asAgent),
			},
		},
		"GET /v1/timeline":       {good: []exchange{read(""), read("").with("X-Agent-ID: nobody_knows"), read("?limit=1"), read("?limit=100&cursor=post:0:1999999999")}, bad: pages},
		"POST /v1/timeline/warm": {good: []exchange{read("")}, bad: map[int]exchange{40004: badID}},
		"GET /v1/stream": {
			good: []exchange{read("").with("X-Agent-ID: listener"), read("").with(asAgent, "Last-Event-ID: post:0:1772791200"), read("").with(asAgent, "Last-Event-ID: 0"), read("?lastEventId=post:0:1772791200").with(asAgent)},
			bad:  map[int]exchange{40001: read("").with(asAgent, "Last-Event-ID: 5"), 40004: badID},
		},
		"GET /v1/authors/{id}/posts": {good: []exchange{grid, tiles, ofNobody, {path: at("nobody_knows")}}, bad: badGrid},
	}
}

func authorCases(func(...string) []exchange) map[string]contractRoute {
	const author, agent = "/v1/authors/{id}", "/v1/agents/{agent_id}"
	of := func(id, body string, headers ...string) exchange {
		return exchange{path: at(id), headers: headers, body: body}
	}
	card := `{"name":"Ana","image_url":"https://example.org/ana.jpg","bio":"Rain and rivers."}`
	erase := func(id, header string) exchange {
		return exchange{path: map[string]string{"agent_id": id}, headers: []string{header}}
	}
	// No other case uses these agents.
	const own = "X-Agent-ID: u_own"
	blocked := of("u_9", "", own)
	blocked.before = []exchange{{
		op: "PUT " + agent + "/blocked/{agent}", path: map[string]string{"agent_id": "u_own", "agent": "u_9"}, headers: []string{own},
	}}
	chosen := of("u_own", "", own)
	chosen.before = []exchange{{op: "PUT " + author, path: at("u_own"), headers: []string{own}, body: `{"suggest_from_follows":false,"recommend":false}`}}
	return map[string]contractRoute{
		"GET " + author: {
			good: []exchange{of("u_2", "", asAgent), of("u_2", ""), blocked, chosen},
			bad:  map[int]exchange{40004: of("@server", ""), 40401: of("nobody_knows", "")},
		},
		"PUT " + author: {
			good: []exchange{of("u_own", card, own), of("u_own", `{"suggest_from_follows":false,"recommend":false}`, own), of("u_own", "{}", asAdmin)},
			bad:  map[int]exchange{40004: of("@server", card, asAdmin)},
		},
		"PATCH " + author: {
			good: []exchange{
				of("u_own", `{"bio":null,"name":"Ann"}`, own), of("u_own", "{}", asAdmin), of("u_own", `{"recommend":null}`, own),
			},
			bad: map[int]exchange{40004: of("@server", card, asAdmin)},
		},
		"PUT " + author + "/image": {
			good: []exchange{withPicture("u_own", tinyPNG, own), withPicture("u_own", tinyPNG, asAdmin)},
			bad: map[int]exchange{
				40001: {path: at("u_own"), headers: []string{own}, kind: "multipart/form-data; boundary=x", body: "--x--"},
				40004: withPicture("@server", tinyPNG, asAdmin), 40301: withPicture("u_2", tinyPNG, own),
				41301: withPicture("u_own", tinyPNG+strings.Repeat("x", media.MaxBytes), own),
				41501: withPicture("u_own", "<svg/>", own), 42201: withPicture("u_own", tinyPNG[:40], own),
			},
		},
		"DELETE " + author: {
			good: []exchange{of("u_own", "", own), of("u_own", "", asAdmin)},
			bad:  map[int]exchange{40004: of("@server", "", asAdmin)},
		},
		"DELETE " + agent: {
			good: []exchange{erase("u_own", own), erase("u_own", asAdmin)},
			bad:  map[int]exchange{40004: erase("@server", asAdmin)},
		},
	}
}

// socialMuteCases are the routes of mutes that the social store holds.
func socialMuteCases(func(...string) []exchange) map[string]contractRoute {
	cases := map[string]contractRoute{}
	for list, param := range map[string]string{"circles": "circle", "invitations": "agent"} {
		path := "/v1/agents/{agent_id}/muted/" + list
		of := func(agent, id string) exchange {
			return exchange{path: map[string]string{"agent_id": agent, param: id}, headers: []string{asAdmin}}
		}
		listed := func(query string) exchange {
			return exchange{path: map[string]string{"agent_id": "u_1"}, query: query, headers: []string{asAgent}}
		}
		bad := map[int]exchange{40004: of("u:1", "x")}
		cases["GET "+path] = contractRoute{
			good: []exchange{listed("?limit=1"), listed("?after=a")},
			bad:  map[int]exchange{40001: listed("?cursor=1"), 40003: listed("?limit=0"), 40004: listed("?after=a%20b")},
		}
		cases["DELETE "+path+"/{"+param+"}"] = contractRoute{good: []exchange{of("u_1", "x").with(asAgent), of("nobody", "never")}, bad: bad}
		cases["PUT "+path+"/{"+param+"}"] = contractRoute{
			good: []exchange{of("u_1", "x").with(asAgent), of("u_1", "x")},
			bad:  map[int]exchange{40004: of("u_1", "a%20b"), 42202: of("full", "more")},
		}
	}
	return cases
}

// moderationCases are the routes of reports and moderators.
func moderationCases(stored func(...string) []exchange) map[string]contractRoute {
	report := func(id, body string, header string) exchange {
		return exchange{path: map[string]string{"id": id}, body: body, headers: []string{header}}
	}
	reports := func(id, none, bad string) contractRoute {
		spam := report(id, `{"reason":"spam"}`, asAgent)
		spam.before = stored("i1")
		return contractRoute{
			good: []exchange{spam, report(id, `{"reason":"other","details":"x"}`, asAgent)},
			bad: map[int]exchange{
				40001: report(id, `{"reason":"dislike"}`, asAgent), 40401: report(none, `{"reason":"spam"}`, asAgent), 40004: report(bad, `{"reason":"spam"}`, asAgent), 40101: report(id, `{"reason":"spam"}`, ""),
				41301: report(id, `{"reason":"spam"`+strings.Repeat(" ", 9<<10)+`}`, asAgent),
			},
		}
	}
	admin := func(query, body string) exchange {
		return exchange{query: query, body: body, headers: []string{asAdmin}}
	}
	return map[string]contractRoute{
		"POST /v1/posts/{id}/report":   reports("post:theirs", "post:gone", "x"),
		"POST /v1/items/{id}/report":   reports("i1", "i2", "post:mine"),
		"POST /v1/authors/{id}/report": reports("u_2", "u_none", "u:1"),
		"POST /v1/circles/{id}/report": reports("club", "theirs", "a%20b"),
		"GET /v1/reports": {
			good: []exchange{admin("", ""), admin("?state=decided&limit=1", "")},
			bad:  map[int]exchange{40001: admin("?state=x", ""), 40003: admin("?limit=101", "")},
		},
		"POST /v1/moderation": {
			good: []exchange{admin("", `{"object":{"kind":"author","id":"u_9"},"action":"dismiss"}`)},
			bad: map[int]exchange{
				40001: admin("", `{"object":{"kind":"author","id":"u_9"},"action":"hold"}`), 40004: admin("", `{"object":{"kind":"post","id":"x"},"action":"hold"}`),
				40401: admin("", `{"object":{"kind":"post","id":"post:gone"},"action":"hold"}`),
				41301: admin("", `{"object":{"kind":"author","id":"u_9"},"action":"dismiss"`+strings.Repeat(" ", 9<<10)+`}`),
			},
		},
		"GET /v1/moderation/posts": {
			good: []exchange{admin("", ""), admin("?author=u_1&reported=true&limit=1", ""), admin("?state=held&since=1&until=2", "")},
			bad:  map[int]exchange{40001: admin("?state=x", ""), 40003: admin("?limit=101", ""), 40004: admin("?author=u:1", "")},
		},
		"GET /v1/moderation/posts/{id}": {
			good: []exchange{report("post:private", "", asAdmin)},
			bad:  map[int]exchange{40004: report("x", "", asAdmin), 40401: report("post:gone", "", asAdmin), 40301: report("post:private", "", asAgent)},
		},
		"GET /v1/audit": {
			good: []exchange{admin("", ""), admin("?limit=1&cursor=5", "")},
			bad:  map[int]exchange{40001: admin("?cursor=x", ""), 40003: admin("?limit=101", "")},
		},
	}
}

// notificationCases are the routes of notifications.
func notificationCases(func(...string) []exchange) map[string]contractRoute {
	const path, muted = "/v1/agents/{agent_id}/notifications", "/v1/agents/{agent_id}/muted/notifications"
	of := func(agent, query, body string, headers ...string) exchange {
		return exchange{path: map[string]string{"agent_id": agent}, query: query, body: body, headers: headers}
	}
	kind := func(agent, kind string, headers ...string) exchange {
		return exchange{path: map[string]string{"agent_id": agent, "kind": kind}, headers: headers}
	}
	change := contractRoute{
		good: []exchange{kind("u_1", "like", asAgent), kind("nobody", "mention", asAdmin)},
		bad:  map[int]exchange{40001: kind("u_1", "likes", asAgent), 40004: kind("u:1", "like", asAdmin)},
	}
	return map[string]contractRoute{
		"GET " + path: {
			good: []exchange{of("u_1", "?limit=100", "", asAgent), of("u_2", "", "", asAdmin), of("u_2", "?limit=1&cursor=1.follow..2026-03-06", "", asAdmin)},
			bad: map[int]exchange{
				40001: of("u_1", "?cursor=5", "", asAgent), 40003: of("u_1", "?limit=101", "", asAgent), 40004: of("u:1", "", "", asAdmin),
			},
		},
		"PUT " + path + "/seen": {
			good: []exchange{of("u_1", "", `{"marker":0}`, asAgent), of("u_2", "", `{"marker":1}`, asAdmin)},
			bad: map[int]exchange{
				40001: of("u_1", "", `{"marker":99999}`, asAgent), 40004: of("u:1", "", `{"marker":1}`, asAdmin),
				41301: of("u_1", "", `{"marker":1`+strings.Repeat(" ", 2<<10)+`}`, asAgent),
			},
		},
		"GET " + muted: {
			good: []exchange{of("u_1", "", "", asAgent), of("nobody", "", "", asAdmin)},
			bad:  map[int]exchange{40001: of("u_1", "?limit=1", "", asAgent), 40004: of("u:1", "", "", asAdmin)},
		},
		"PUT " + muted + "/{kind}":    change,
		"DELETE " + muted + "/{kind}": change,
	}
}

const exportName = "00112233445566778899aabbccddeeff"

// seedExports stores an export that is ready, of u_exported, and one that was fetched, of u_fetched.
func seedExports(t *testing.T, store server.SocialStore, dir string) {
	t.Helper()
	now := time.Now()
	for agent, e := range map[string]social.Export{
		"u_exported": {Name: exportName, State: social.ExportReady}, "u_fetched": {Name: strings.Repeat("e", 32), State: social.ExportFetched},
	} {
		e.Agent, e.Parts, e.Bytes, e.Asked, e.Until = agent, 1, int64(len(tinyPNG)), now.Unix(), now.Add(time.Hour).Unix()
		folder := filepath.Join(dir, "exports", e.Name)
		require.NoError(t, os.MkdirAll(folder, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "000001"), []byte(tinyPNG), 0o600))
		_, err := store.ChangeExport(t.Context(), agent, func(social.Export) (social.Export, error) { return e, nil })
		require.NoError(t, err)
	}
}

// exportCases are the routes of exports, with those of seedExports.
func exportCases(func(...string) []exchange) map[string]contractRoute {
	const path = "/v1/agents/{agent_id}/export"
	of := func(agent string, headers ...string) exchange {
		return exchange{path: map[string]string{"agent_id": agent}, headers: headers}
	}
	bad := map[int]exchange{40001: of("u_1", asAgent), 40004: of("u:1", asAdmin), 40301: of("u_2", asAgent)}
	query := of("u_1", asAgent)
	query.query = "?limit=1"
	bad[40001] = query
	file := map[int]exchange{
		40401: of("nobody", asAdmin), 41001: of("u_fetched", asAdmin), 41601: of("u_exported", asAdmin, "Range: bytes=999999-"),
	}
	for code, e := range bad {
		file[code] = e
	}
	tooSoon := map[int]exchange{42901: of("u_fetched", asAdmin)}
	for code, e := range bad {
		tooSoon[code] = e
	}
	return map[string]contractRoute{
		"POST " + path: {good: []exchange{of("u_1", asAgent), of("u_2", asAdmin)}, bad: tooSoon},
		"GET " + path:  {good: []exchange{of("u_1", asAgent), of("nobody", asAdmin), of("u_exported", asAdmin), of("u_fetched", asAdmin)}, bad: bad},
		"GET " + path + "/file": {
			good: []exchange{of("u_exported", "X-Agent-ID: u_exported", "Range: bytes=0-9"), of("u_exported", asAdmin, `If-None-Match: "`+exportName+`"`), of("u_exported", asAdmin), of("u_fetched", asAdmin, "Range: bytes=1-")},
			bad:  file,
		},
	}
}

func followCases(func(...string) []exchange) map[string]contractRoute {
	const following, blocked = "/v1/agents/{agent_id}/following/{author}", "/v1/agents/{agent_id}/blocked/{agent}"
	follow := func(agent, author string, headers ...string) exchange {
		return exchange{path: map[string]string{"agent_id": agent, "author": author}, headers: headers}
	}
	many := func(agent, body string, header string) exchange {
		return exchange{path: map[string]string{"agent_id": agent}, headers: []string{header}, body: body}
	}
	block := func(agent, other string, headers ...string) exchange {
		return exchange{path: map[string]string{"agent_id": agent, "agent": other}, headers: headers}
	}
	list := func(query, header string) exchange {
		return exchange{path: map[string]string{"agent_id": "u_1"}, query: query, headers: []string{header}}
	}
	lists := contractRoute{
		good: []exchange{list("", asAgent), list("?limit=1&after=1", asAdmin)},
		bad:  map[int]exchange{40001: list("?before=u_2", asAgent), 40003: list("?limit=1001", asAgent), 40004: list("?after=a%20b", asAgent)},
	}
	return map[string]contractRoute{
		"GET /v1/agents/{agent_id}/following": lists,
		"GET /v1/agents/{agent_id}/followers": lists,
		"GET /v1/agents/{agent_id}/suggestions": {
			good: []exchange{list("", asAgent), list("?limit=100", asAdmin)},
			bad:  map[int]exchange{40001: list("?after=u_2", asAgent), 40003: list("?limit=101", asAgent), 40004: follow("@server", "", asAdmin)},
		},
		"POST /v1/agents/{agent_id}/following": {
			good: []exchange{many("u_1", `{"authors":["u_2","u_3"]}`, asAgent), many("full", `{"authors":["one_more","@server"]}`, asAdmin)},
			bad: map[int]exchange{
				40001: many("u_1", `{"authors":[]}`, asAgent), 40004: many("u_1", `{"authors":["a b"]}`, asAgent),
				41301: many("u_1", `{"authors":["`+strings.Repeat("x", 64<<10)+`"]}`, asAgent),
			},
		},
		"GET /v1/agents/{agent_id}/blocked": lists,
		"POST /v1/authors/cards": {
			good: []exchange{{headers: []string{asAgent}, body: `{"authors":["u_2","u_2","@server","unknown"]}`}, {headers: []string{asAdmin}, body: `{"authors":["u_2"]}`}},
			bad: map[int]exchange{
				40001: {headers: []string{asAgent}, body: `{"authors":[]}`}, 40004: {headers: []string{asAgent}, body: `{"authors":["a b"]}`},
				41301: {headers: []string{asAgent}, body: `{"authors":["` + strings.Repeat("x", 64<<10) + `"]}`},
			},
		},
		"PUT " + following: {
			good: []exchange{follow("u_1", "u_2", asAgent), follow("u_1", "@server", asAdmin)},
			bad: map[int]exchange{
				40001: follow("u_1", "u_1", asAgent),
				40004: follow("u_1", "a%20b", asAgent),
				40301: follow("u_1", "u_3", asAgent),
				42202: follow("full", "one_more", asAdmin),
			},
		},
		"DELETE " + following: {
			good: []exchange{follow("u_5", "u_2", "X-Agent-ID: u_5"), follow("u_5", "u_2", asAdmin)},
			bad:  map[int]exchange{40001: follow("u_1", "u_1", asAgent), 40004: follow("u_1", "a%20b", asAgent)},
		},
		"PUT " + blocked: {
			good: []exchange{block("u_5", "u_6", "X-Agent-ID: u_5"), block("u_5", "u_6", asAdmin)},
			bad:  map[int]exchange{40001: block("u_1", "u_1", asAgent), 40004: block("u_1", "@server", asAgent)},
		},
		"DELETE " + blocked: {
			good: []exchange{block("u_5", "u_6", "X-Agent-ID: u_5"), block("u_5", "u_6", asAdmin)},
			bad:  map[int]exchange{40001: block("u_1", "u_1", asAgent), 40004: block("u_1", "@server", asAgent)},
		},
	}
}

func circleCases(func(...string) []exchange) map[string]contractRoute {
	const circle, list, one = "/v1/circles/{id}", "/v1/circles/{id}/members", "/v1/circles/{id}/members/{agent}"
	const invitation = circle + "/invitations/{agent}"
	of := func(id, body string, headers ...string) exchange {
		return exchange{path: at(id), headers: headers, body: body}
	}
	listed := func(id, query string, headers ...string) exchange {
		return exchange{path: at(id), query: query, headers: headers}
	}
	member := func(id, agent string, headers ...string) exchange {
		return exchange{path: map[string]string{"id": id, "agent": agent}, headers: headers}
	}
	return map[string]contractRoute{
		"GET " + circle + "/posts": {
			good: []exchange{listed("choir", "?limit=1", asAgent), listed("club", "?view=grid&cursor=post:z:1999999999", asAgent), listed("c1", "", asAgent)},
			bad: map[int]exchange{
				40001: listed("club", "?cursor=1", asAgent),
				40003: listed("club", "?limit=0", asAgent),
				40004: listed("a%20b", "", asAgent),
				40301: listed("rowers", "", "X-Agent-ID: u_8"),
				40401: listed("theirs", "", asAgent),
			},
		},
		"GET /v1/circles": {
			good: []exchange{{headers: []string{asAgent}}, {query: "?limit=1&after=a&of=joined", headers: []string{asAgent}}, {headers: []string{"X-Agent-ID: nobody"}}},
			bad: map[int]exchange{
				40001: {query: "?cursor=1", headers: []string{asAgent}},
				40003: {query: "?limit=0", headers: []string{asAgent}},
				40004: {query: "?after=a%20b", headers: []string{asAgent}},
			},
		},
		"GET " + circle: {
			good: []exchange{of("c1", "", asAgent), of("theirs", "", asAdmin), of("club", "", asAgent)},
			bad:  map[int]exchange{40004: of("a%20b", "", asAgent), 40401: of("theirs", "", asAgent)},
		},
		"PUT " + circle: {
			good: []exchange{
				of("c1", `{"name":"Friends","members":["u_2","u_4"]}`, asAgent), of("c1", `{"name":"Old friends"}`, asAdmin),
				of("c9", `{"owner":"u_9","members":[]}`, bearer),
				of("c11", `{"name":"Regatta","kind":"event","post":"owner","history":"all","members_visible_to":"members","until":"2036-06-01T18:00:00Z"}`, asAgent),
			},
			bad: map[int]exchange{
				40001: of("c10", `{"name":"Whose?"}`, asAdmin),
				40004: of("c1", `{"members":["a b"]}`, asAgent),
				40301: of("c1", `{"owner":"u_2"}`, asAgent),
				42201: of("over", `{"members":["u_9"]}`, asAdmin),
				42202: of("c1", `{"members":["`+strings.Join(names(social.MaxCircleMembers+1), `","`)+`"]}`, asAgent),
			},
		},
		"PATCH " + circle: {
			good: []exchange{
				of("c1", `{"name":null}`, asAgent), of("club", `{"post":"owner"}`, asAdmin), of("passed", `{"owner":"u_2","post":null}`, asAgent),
				of("c1", `{"name":"Friends"}`, asAgent),
			},
			bad: map[int]exchange{
				40001: of("c1", `{"members":null}`, asAgent),
				40004: of("c1", `{"members":["a b"]}`, asAgent),
				40301: of("club", `{"name":"Mine"}`, asAgent),
				40401: of("theirs", `{"name":"Mine"}`, asAgent),
				42201: of("club", `{"owner":"u_9"}`, asAdmin),
				42202: of("c1", `{"members":["`+strings.Join(names(social.MaxCircleMembers+1), `","`)+`"]}`, asAgent),
			},
		},
		"DELETE " + circle: {
			good: []exchange{of("d0", "", asAgent), of("d1", "", asAdmin)},
			bad:  map[int]exchange{40004: of("a%20b", "", asAgent), 40301: of("club", "", asAgent), 40401: of("theirs", "", asAgent)},
		},
		"GET " + list: {
			good: []exchange{listed("c1", "?limit=1", asAgent), listed("theirs", "?after=u_2", asAdmin)},
			bad: map[int]exchange{
				40001: listed("c1", "?cursor=1", asAgent),
				40003: listed("c1", "?limit=0", asAgent),
				40004: listed("c1", "?after=a%20b", asAgent),
				40301: listed("club", "", asAgent),
				40401: listed("never", "", asAgent),
			},
		},
		"PUT " + one: {
			good: []exchange{member("c1", "u_2", asAgent), member("theirs", "u_2", asAdmin)},
			bad: map[int]exchange{
				40004: member("c1", "@server", asAgent),
				40301: member("club", "u_3", asAgent),
				40401: member("never", "u_2", asAgent),
				42201: member("over", "u_9", asAdmin),
				42202: member("full", "one_more", asAgent),
			},
		},
		"GET " + circle + "/invitations": {
			good: []exchange{listed("rowers", "?limit=1", asAgent), listed("club0", "", asAdmin)},
			bad: map[int]exchange{
				40001: listed("rowers", "?cursor=1", asAgent),
				40003: listed("rowers", "?limit=0", asAgent),
				40004: listed("rowers", "?after=a%20b", asAgent),
				40301: listed("club", "", asAgent),
				40401: listed("theirs", "", asAgent),
			},
		},
		"PUT " + invitation: {
			good: []exchange{member("rowers", "u_2", asAgent), member("club", "u_3", asAdmin)},
			bad: map[int]exchange{
				40001: member("c1", "u_2", asAgent),
				40004: member("rowers", "@server", asAgent),
				40301: member("club", "u_3", asAgent),
				40401: member("theirs", "u_2", asAgent),
				42201: member("over", "u_2", asAdmin),
				42202: member("rowers", "popular", asAgent),
			},
		},
		"DELETE " + invitation: {
			good: []exchange{member("rowers", "u_2", asAgent), member("club", "u_3", asAdmin)},
			bad: map[int]exchange{
				40004: member("rowers", "@server", asAgent),
				40301: member("club", "u_3", asAgent),
				40401: member("theirs", "u_2", asAgent),
			},
		},
		"DELETE " + one: {
			good: []exchange{member("c1", "u_7", asAgent), member("theirs", "u_7", asAdmin)},
			bad: map[int]exchange{
				40004: member("c1", "@server", asAgent),
				40301: member("club", "u_2", asAgent),
				40401: member("never", "u_2", asAgent),
			},
		},
	}
}

func promotionCases(func(...string) []exchange) map[string]contractRoute {
	const one, week = "/v1/promoted/{id}", `{"item_id":"doc_1","from":"2026-03-06T12:00:00Z","until":4000000000}`
	of := func(id, body string, headers ...string) exchange {
		return exchange{path: at(id), headers: append(headers, asAdmin), body: body}
	}
	listed := func(query string) exchange { return exchange{query: query, headers: []string{asAdmin}} }
	return map[string]contractRoute{
		"GET /v1/promoted": {
			good: []exchange{listed(""), listed("?limit=1000"), listed("?after=p1&limit=1"), {headers: []string{bearer}}},
			bad:  map[int]exchange{40001: listed("?before=x"), 40003: listed("?limit=0"), 40004: listed("?after=a%20b")},
		},
		"GET " + one: {
			good: []exchange{of("p1", "")},
			bad:  map[int]exchange{40004: of("a%20b", ""), 40401: of("never", "")},
		},
		"PUT " + one: {
			good: []exchange{
				of("p0", week), of("p0", `{"item_id":"post:mine","from":1,"until":4000000000,"weight":0.5,"tags":["go","db"],"langs":["en"]}`),
				of("ended", `{"item_id":"doc_1","from":1,"until":2,"weight":1e9}`),
			},
			bad: map[int]exchange{
				40001: of("p0", `{"item_id":"doc_1","from":4,"until":3}`),
				40004: of("p0", `{"item_id":"a b","from":3,"until":4}`),
				42202: of("one_more", week),
			},
		},
		"DELETE " + one: {
			good: []exchange{of("d0", ""), of("d1", "")},
			bad:  map[int]exchange{40004: of("a%20b", ""), 40401: of("never", "")},
		},
	}
}

// jobCases use the jobs that seedSocial creates.
func jobCases(func(...string) []exchange) map[string]contractRoute {
	of := func(id string) exchange { return exchange{path: at(id), headers: []string{asAdmin}} }
	listed := func(query string) exchange { return exchange{query: query, headers: []string{asAdmin}} }
	mark := func(body string) exchange { return exchange{headers: []string{asAdmin}, body: body} }
	return map[string]contractRoute{
		"GET /v1/changes": {
			good: []exchange{
				listed("?after=oldest&limit=2"), listed("?types=follow.created,post.created&wait=1ms"), listed("?after=oldest").with(asAdmin, "Accept: application/x-ndjson"),
				listed("").with(asAdmin, "Last-Event-ID: oldest"),
				{headers: []string{bearer}},
			},
			bad: map[int]exchange{40001: listed("?after=5"), 40003: listed("?limit=1001"), 41001: listed("?after=c1.other.0")},
		},
		"GET /v1/jobs": {
			good: []exchange{listed("?limit=2"), listed("?kind=deliver&state=pending&key=post:mine&after=0"), {headers: []string{bearer}}},
			bad:  map[int]exchange{40001: listed("?kind=x"), 40003: listed("?limit=1001")},
		},
		"POST /v1/jobs": {
			good: []exchange{mark(`{"post":"post:mine"}`), mark(`{"post":"post:gone"}`)},
			bad:  map[int]exchange{40004: mark(`{"post":"mine"}`), 40401: mark(`{"post":"post:never"}`)},
		},
		"POST /v1/jobs/rederive": {
			good: []exchange{mark(`{}`), mark(`{"cursor":"posts/","limit":2}`), mark(`{"cursor":"items/"}`)},
			bad: map[int]exchange{
				40001: mark(`{"cursor":"x"}`), 40003: mark(`{"limit":1001}`),
				50301: {headers: []string{asAdmin}, body: `{"cursor":"posts/"}`, late: true},
			},
		},
		"POST /v1/jobs/{id}/retry": {
			good: []exchange{of("1")},
			bad:  map[int]exchange{40001: of("one"), 40401: of("999999")},
		},
		"DELETE /v1/jobs/{id}": {
			good: []exchange{of("2"), of("3")},
			bad:  map[int]exchange{40001: of("one"), 40401: of("999999")},
		},
	}
}
