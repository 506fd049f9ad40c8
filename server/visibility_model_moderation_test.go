package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed/api"
)

// modelHidden has the audience of a post from before moderators have hidden it.
type modelHidden struct {
	public, followers, removed bool
	circles                    []*modelCircle
}

// hidePost hides a post from all but its author.
func (r *rules) hidePost(x *modelPost) {
	if x.hidden == nil {
		x.hidden = &modelHidden{x.public, x.followers, x.removed, x.circles}
		x.public, x.followers, x.circles = false, false, nil
	}
	x.removed = true
}

// restorePost undoes that.
func (r *rules) restorePost(x *modelPost) {
	if x.hidden != nil {
		x.public, x.followers, x.removed, x.circles = x.hidden.public, x.hidden.followers, x.hidden.removed, x.hidden.circles
		x.hidden = nil
	}
}

// moderate has a moderator do something; who is no moderator may not.
func (p *people) moderate(kind, id, action, more string, status int) {
	p.Helper()
	body := fmt.Sprintf(`{"object":{"kind":%q,"id":%q},"action":%q%s}`, kind, id, action, more)
	p.mustCall(p.anyAgent(), "POST", "/v1/moderation", body, 403)
	p.mustCall(guest, "POST", "/v1/moderation", body, status, "X-Admin-Token", peopleAdmin)
}

// holdOrRestore has moderators hold, remove or restore a post, and an agent report it.
func (p *people) holdOrRestore() {
	x, who := p.anyPost(), p.anyAgent()
	p.mustCall(who, "POST", "/v1/posts/"+x.id+"/report", `{"reason":"spam"}`, either(p.sees(who, x), 200, 404))
	there := either(x.gone, 404, 200)
	read := p.mustCall(guest, "GET", "/v1/moderation/posts/"+x.id, "", there, "X-Admin-Token", peopleAdmin)
	if !x.gone {
		var post struct{ Data struct{ Caption string } }
		require.NoError(p, json.Unmarshal([]byte(read.body), &post))
		require.Equal(p, x.caption, post.Data.Caption)
	}
	action := []string{"hold", "remove", "restore", "restore", "restore"}[p.rnd.IntN(5)]
	switch action {
	case "restore":
		p.moderate("post", x.id, action, "", there)
		if !x.gone {
			p.restorePost(x)
		}
	default:
		p.moderate("post", x.id, action, `,"reason":"being checked"`, there)
		if !x.gone {
			p.hidePost(x)
		}
	}
}

// suspendForAMoment suspends an agent, and checks what it must not do, and where its posts are not shown.
func (p *people) suspendForAMoment() {
	who, reader := p.twoAgents()
	until := time.Unix(p.now, 0).Add(time.Hour)
	p.moderate("author", who, "suspend", fmt.Sprintf(`,"reason":"spam","until":%d`, until.Unix()), 200)
	p.suspended = who
	for path, body := range map[string]string{"/v1/posts": `{"caption":"x"}`, "/v1/agents/" + who + "/following": fmt.Sprintf(`{"authors":[%q]}`, reader)} {
		got := p.mustCall(who, "POST", path, body, 403)
		require.Contains(p, got.body, who+" is suspended until "+until.UTC().Format(time.RFC3339)+": spam")
	}
	x := p.anyPost()
	p.checkPost(reader, x)
	p.checkIncompleteList(reader, "/v1/timeline?limit=100", p.timeline(reader))
	for _, name := range []string{"home", "for_you"} {
		p.feed(reader, name, "refresh", p.rnd.IntN(2) == 0)
	}
	got := p.call(reader, "GET", "/v1/agents/"+reader+"/suggestions?limit=100", "")
	var page struct{ Data api.Suggestions }
	require.NoError(p, json.Unmarshal([]byte(got.body), &page))
	require.False(p, slices.ContainsFunc(page.Data.Authors, func(s api.Suggestion) bool { return s.Author == who }), "%s is suggested", who)
	p.suspended = ""
	p.moderate("author", who, "lift", "", 200)
}
