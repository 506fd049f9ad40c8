package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// checkQuickly checks right after a step that nothing hidden is visible, whatever jobs are pending,
// and that a request of a post by its id gets the right answer.
func (p *people) checkQuickly() {
	p.Helper()
	reader, author := p.anyAgent(), p.anyAgent()
	for range 3 {
		p.checkPost(reader, p.anyPost())
	}
	switch p.rnd.IntN(6) {
	case 5:
		p.checkUnread(reader, p.checkNotifications(reader))
		p.checkLikes(reader)
	case 0:
		p.checkIncompleteList(reader, "/v1/timeline?limit=100", p.timeline(reader))
	case 1:
		p.checkList(reader, "/v1/authors/"+author+"/posts?limit=100", p.page(reader, author))
	case 2:
		p.checkReplies(reader, p.anyPost())
	case 3:
		p.feed(reader, "home", "refresh", false)
	case 4:
		p.feed(reader, "for_you", "refresh", p.rnd.IntN(2) == 0)
	}
}

// listOf makes a call as a reader, and returns the answer and its ids.
func (p *people) listOf(reader, method, path, body string) (httpAnswer, []string) {
	p.Helper()
	got := p.call(reader, method, path, body)
	return got, got.ids()
}

// checkIncompleteList reads a list that may lack posts with pending jobs.
func (p *people) checkIncompleteList(reader, path string, want []string) {
	p.Helper()
	got, ids := p.listOf(reader, "GET", path, "")
	require.Equal(p, 200, got.status, got.body)
	for _, id := range ids {
		require.Contains(p, want, id, "%s reads %s", reader, path)
		p.shown[[2]string{reader, id}] = true
	}
}

// checkList reads a list that must be complete.
func (p *people) checkList(reader, path string, want []string) {
	p.Helper()
	got, ids := p.listOf(reader, "GET", path, "")
	if len(want) == 0 && got.status == 404 { // an author without posts visible to the reader
		return
	}
	require.Equal(p, 200, got.status, got.body)
	require.Equal(p, want, ids, "%s reads %s", reader, path)
	require.Empty(p, got.Data.Degraded)
	for _, id := range ids {
		p.shown[[2]string{reader, id}] = true
	}
}

func (p *people) checkPost(reader string, x *modelPost) {
	p.Helper()
	p.looked++
	got := p.call(reader, "GET", "/v1/posts/"+x.id, "")
	require.Equal(p, either(p.sees(reader, x), 200, 404), got.status, "%q reads %s (%s) of %s", reader, x.id, x.kind(), x.author)
	if got.status != 200 {
		return
	}
	var post struct {
		Data struct {
			Caption  string
			Comments int
			Root     string
		}
	}
	require.NoError(p, json.Unmarshal([]byte(got.body), &post))
	require.Equal(p, x.caption, post.Data.Caption)
	require.Equal(p, p.comments(x), post.Data.Comments, "comments of %s", x.id)
	if x.root != nil {
		require.Equal(p, x.root.id, post.Data.Root)
	}
	if reader != guest {
		require.Equal(p, p.answers(reader, x), got.Data.InFeed.CanReply, "%s may reply to %s", reader, x.id)
		p.checkGroupsOf(reader, x, got.body)
	}
}

// checkReplies reads the replies to a post, in both orders. Who sees only their own gets these.
func (p *people) checkReplies(reader string, x *modelPost) {
	p.Helper()
	path, want := "/v1/posts/"+x.id+"/replies?limit=100", p.under(reader, x)
	if !p.sees(reader, x) && len(want) == 0 {
		require.Equal(p, 404, p.call(reader, "GET", path, "").status, "%q reads replies of %s", reader, x.id)
		return
	}
	p.checkList(reader, path, want)
	slices.Reverse(want)
	p.checkList(reader, path+"&order=oldest", want)
}

// feed reads a page of a feed; silent reads the badge.
func (p *people) feed(reader, name, action string, silent bool) []string {
	p.Helper()
	got, ids := p.listOf(reader, "POST", "/v1/feed", fmt.Sprintf(`{"feed":%q,"action":%q,"limit":20,"silent":%t}`, name, action, silent))
	require.Equal(p, 200, got.status, got.body)
	may := p.mayFeed(reader, name == "home")
	for _, id := range ids {
		require.Contains(p, may, id, "%s is shown it in %s, silent: %t", reader, name, silent)
		require.False(p, p.shown[[2]string{reader, id}], "%s is shown %s again in %s", reader, id, name)
	}
	if !silent {
		for _, id := range ids {
			p.shown[[2]string{reader, id}] = true
		}
	}
	return ids
}

// checkFeed reads a feed until a refresh has nothing new: every due post must have been shown by
// then. What a round of home leaves out, since too much in it only mentions the reader, is in a later
// round.
func (p *people) checkFeed(reader, name string) {
	p.Helper()
	for len(p.feed(reader, name, "refresh", false)) > 0 {
		more := true
		for more {
			more = len(p.feed(reader, name, "load_more", false)) > 0
		}
	}
	for _, id := range p.feeds(reader, name == "home") {
		require.True(p, p.shown[[2]string{reader, id}], "%s has never been shown %s, not in %s", reader, id, name)
	}
}

// checkStream checks the count of a stream for a reader who has seen nothing yet.
func (p *people) checkStream(reader string) {
	p.Helper()
	watch, err := p.a.network.watcher.Watch(p.Context(), reader, &social.Position{})
	require.NoError(p, err)
	defer watch.Close()
	p.a.network.watcher.Poll(p.Context())
	news := p.news(reader)
	require.Equal(p, p.counted(reader, news), watch.Take().Count, "the stream of %s counts %v", reader, news)
}

func (p *people) checkSuggestions(reader string) {
	p.Helper()
	got := p.call(reader, "GET", "/v1/agents/"+reader+"/suggestions?limit=100", "")
	require.Equal(p, 200, got.status, got.body)
	var page struct{ Data api.Suggestions }
	require.NoError(p, json.Unmarshal([]byte(got.body), &page))
	for _, s := range page.Data.Authors {
		author := s.Author
		require.False(p, author == reader || p.apart(reader, author) || p.muted(p.mutes, reader, author) || p.follows[[2]string{reader, author}] || p.unrecommended[author], "%s is suggested %s", reader, author)
	}
}

// checkCount checks the post count of an author, as a reader gets it.
func (p *people) checkCount(reader, author string) {
	p.Helper()
	got := p.call(reader, "GET", "/v1/authors/"+author, "")
	var card struct {
		Data struct {
			Posts     int
			IsBlocked bool `json:"is_blocked"`
		}
	}
	require.NoError(p, json.Unmarshal([]byte(got.body), &card))
	want := len(p.list(func(x *modelPost) bool { return x.author == author && x.root == nil && p.sees(reader, x) }))
	require.Equal(p, want, card.Data.Posts, "%q counts posts of %s", reader, author)
	require.Equal(p, p.blocks[[2]string{reader, author}], card.Data.IsBlocked, "%q and %s", reader, author)
}

// circlesOf checks an agent's circles by role.
func (p *people) circlesOf(reader string) {
	p.Helper()
	for of, role := range map[string]string{"owned": "owner", "joined": "member", "invited": "invited"} {
		want, got := []string{}, []string{}
		for id, c := range p.circles {
			if c.roleOf(reader) == role && !(role == "invited" && (p.over(c) || p.unheard[[2]string{reader, c.owner}])) {
				want = append(want, id)
			}
		}
		var page struct {
			Data struct{ Circles []struct{ ID string } }
		}
		answer := p.call(reader, "GET", "/v1/circles?of="+of, "")
		require.NoError(p, json.Unmarshal([]byte(answer.body), &page))
		for _, c := range page.Data.Circles {
			got = append(got, c.ID)
		}
		slices.Sort(want)
		require.Equal(p, want, got, "%s has %s", reader, of)
	}
}

// checkInvitations checks the list of open invitations of each circle.
func (p *people) checkInvitations() {
	p.Helper()
	for id, c := range p.circles {
		want := slices.Sorted(maps.Keys(c.invited))
		if p.over(c) {
			want = nil
		}
		var page struct{ Data struct{ Agents []string } }
		answer := p.call(c.owner, "GET", "/v1/circles/"+id+"/invitations", "")
		require.NoError(p, json.Unmarshal([]byte(answer.body), &page))
		require.Equal(p, append([]string{}, want...), page.Data.Agents, "invited to %s", id)
		for _, who := range p.names {
			if who != c.owner {
				require.Equal(p, c.refused(who), p.call(who, "GET", "/v1/circles/"+id+"/invitations", "").status, "%s asks who is invited to %s", who, id)
			}
		}
	}
}

// finishJobs advances time until no job is pending.
func (p *people) finishJobs() {
	p.Helper()
	testenv.WaitFor(p, func() bool {
		retryFailed(p.T, p.a)
		stats, err := p.a.network.store.Stats(p.Context())
		if err != nil {
			return false
		}
		for _, row := range stats.Rows {
			if row.State != "completed" {
				p.advance(5 * time.Second) // authors are delivered both ways for a while
				return false
			}
		}
		return !p.a.network.completeness.Incomplete() && !p.a.network.completeness.QueueBehind()
	}, "the queue is empty, and lists are answered from")
	refreshIndex(p, p.a)
}

// checkEverything checks every route as some readers and as a guest. Feeds show a post only once,
// so they are read before the lists.
func (p *people) checkEverything(readers []string) {
	p.Helper()
	p.catchUp()
	p.finishJobs()
	for _, reader := range readers {
		p.feed(reader, "home", "refresh", true)
		p.checkFeed(reader, "home")
		p.checkFeed(reader, "for_you")
		p.checkStream(reader)
		p.checkUnread(reader, p.checkNotifications(reader))
		p.checkLikes(reader)
		p.checkList(reader, "/v1/timeline?limit=100", p.timeline(reader))
		p.checkSuggestions(reader)
		p.circlesOf(reader)
		p.groupPages(reader)
	}
	for _, reader := range append([]string{guest}, readers...) {
		for _, x := range p.posts {
			p.checkPost(reader, x)
			if x.root == nil || p.rnd.IntN(4) == 0 {
				p.checkReplies(reader, x)
			}
		}
		for _, author := range p.names {
			path := "/v1/authors/" + url.PathEscape(author) + "/posts?limit=100"
			p.checkList(reader, path, p.page(reader, author))
			p.checkList(reader, path+"&view=grid", p.page(reader, author))
			p.checkCount(reader, author)
		}
	}
	p.checkGuestFeeds()
	p.checkInvitations()
}

// checkGuestFeeds checks the feeds for guests.
func (p *people) checkGuestFeeds() {
	p.Helper()
	_, ids := p.listOf(guest, "GET", "/v1/feed/guest?limit=50", "")
	public := p.list(func(x *modelPost) bool { return x.public && !x.gone && !p.unrecommended[x.author] })
	for _, id := range ids {
		require.True(p, slices.Contains(public, id) || !strings.HasPrefix(id, "post:"), id)
	}
}
