package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// notified is an agent who was notified of one act of another, and how the act came about.
type notified struct {
	*httpSystem
	clock *clock
	act   string

	me, by, third string // third owns the thread and the group of some acts
	group         string
	post          string // what the notification is about; "" for none
	theirs        string // the post of the other agent; "" for none
	root          string // the root of the thread
}

// must makes a call that succeeds.
func (n *notified) must(who, method, path, body string) httpAnswer {
	n.Helper()
	got := n.call(who, method, path, body)
	require.Contains(n, []int{200, 201}, got.status, "%s: %s %s %s: %s", who, method, path, body, got.body)
	return got
}

// publish publishes a post, which has a word and a tag that its readers may mute.
func (n *notified) publish(who, audience, more string) string {
	n.Helper()
	return n.must(who, "POST", "/v1/posts", `{"caption":"a zebra","tags":["Zoo"]`+audience+more+`}`).Data.ID
}

func (n *notified) reply(to, more string) {
	n.theirs = n.publish(n.by, "", fmt.Sprintf(`,"reply_to":%q%s`, to, more))
}

func (n *notified) mentions() string { return fmt.Sprintf(`,"mentions":[%q]`, n.me) }

// inGroup creates a group of all three, and returns the audience of posts to it.
func (n *notified) inGroup() string {
	n.Helper()
	n.must(admin, "PUT", "/v1/circles/"+n.group, fmt.Sprintf(`{"owner":%q,"kind":"group","members":[%q,%q]}`, n.third, n.me, n.by))
	return fmt.Sprintf(`,"audience":{"circles":[%q]}`, n.group)
}

// invite has the owner of a new group invite somebody.
func (n *notified) invite(owner, whom string) {
	n.Helper()
	n.must(owner, "PUT", "/v1/circles/"+n.group, `{"kind":"group"}`)
	n.must(owner, "PUT", "/v1/circles/"+n.group+"/invitations/"+whom, "")
}

const forAll = `,"audience":{"public":true}`

// notifyingActs are acts of every kind, the same kind also where other rules decide who sees it.
var notifyingActs = map[string]func(n *notified){
	"follow": func(n *notified) { n.must(n.by, "PUT", "/v1/agents/"+n.by+"/following/"+n.me, "") },
	"like": func(n *notified) {
		n.post = n.publish(n.me, forAll, "")
		n.must(n.by, "PUT", "/v1/posts/"+n.post+"/like", "")
	},
	"reply": func(n *notified) {
		n.post = n.publish(n.me, forAll, "")
		n.reply(n.post, "")
	},
	"mention": func(n *notified) {
		n.theirs = n.publish(n.by, forAll, n.mentions())
		n.post = n.theirs
	},
	"mention in a thread": func(n *notified) {
		n.root = n.publish(n.third, forAll, "")
		n.reply(n.root, n.mentions())
		n.post = n.theirs
	},
	"like in a group": func(n *notified) {
		n.post = n.publish(n.me, n.inGroup(), "")
		n.must(n.by, "PUT", "/v1/posts/"+n.post+"/like", "")
	},
	"reply in a group": func(n *notified) {
		n.post = n.publish(n.me, n.inGroup(), "")
		n.reply(n.post, "")
	},
	"mention in a group": func(n *notified) {
		n.theirs = n.publish(n.by, n.inGroup(), n.mentions())
		n.post = n.theirs
	},
	"invitation": func(n *notified) { n.invite(n.by, n.me) },
	"joined": func(n *notified) {
		n.invite(n.me, n.by)
		n.must(n.by, "PUT", "/v1/circles/"+n.group+"/members/"+n.by, "")
	},
}

func (n *notified) is(acts ...string) bool { return slices.Contains(acts, n.act) }

// kind is the kind of the notification.
func (n *notified) kind() string {
	for _, kind := range social.NotificationKinds() {
		if len(n.act) >= len(kind) && n.act[:len(kind)] == string(kind) {
			return string(kind)
		}
	}
	panic(n.act)
}

// lossOfSight is a way in which an agent ceases to know of an act.
type lossOfSight struct {
	name  string
	do    func(n *notified)
	of    func(n *notified) bool // whether it concerns the act, before do; otherwise do changes nothing of it
	undo  func(n *notified)      // of what do changed; nil if that is impossible
	ended func(n *notified) bool // whether the act does not stand any more after undo
	first bool                   // do is also possible before the act
}

func every(*notified) bool { return true }
func none(*notified) bool  { return false }

// muting is the loss by a mute of the agent's, of things such as authors/ann.
func muting(name string, what func(n *notified) string, of func(n *notified) bool, first bool) lossOfSight {
	path := func(n *notified) string { return "/v1/agents/" + n.me + "/muted/" + what(n) }
	return lossOfSight{
		name, func(n *notified) { n.must(n.me, "PUT", path(n), "") }, of,
		func(n *notified) { n.must(n.me, "DELETE", path(n), "") }, none, first,
	}
}

// forAWhile is the loss by a mute that ends.
func forAWhile(l lossOfSight, what func(n *notified) string) lossOfSight {
	l.name += " for an hour"
	l.do = func(n *notified) {
		end := n.clock.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		n.must(n.me, "PUT", "/v1/agents/"+n.me+"/muted/"+what(n)+"?until="+end, "")
	}
	l.undo = func(n *notified) { n.clock.Advance(time.Hour) }
	return l
}

// mutesOfActs are the mutes that concern some act.
func mutesOfActs() (all []lossOfSight) {
	theirs := func(n *notified) bool { return n.kind() == "reply" || n.kind() == "mention" }
	of := func(path string) func(*notified) string { return func(*notified) string { return path } }
	author := func(n *notified) string { return "authors/" + n.by }
	group := func(n *notified) string { return "circles/" + n.group }
	inGroup := func(n *notified) bool {
		return n.is("like in a group", "reply in a group", "mention in a group", "joined")
	}
	for _, l := range []struct {
		lossOfSight
		what func(n *notified) string
	}{
		{muting("a muted author", author, every, true), author},
		{muting("a muted word", of("words/zebra"), theirs, true), of("words/zebra")},
		{muting("a muted tag", of("tags/ZOO"), theirs, true), of("tags/ZOO")},
		{muting("a muted group", group, inGroup, true), group},
	} {
		all = append(all, l.lossOfSight, forAWhile(l.lossOfSight, l.what))
	}
	post := func(n *notified) string { return "items/" + cmp.Or(n.post, "post:none") }
	reply := func(n *notified) string { return "items/" + cmp.Or(n.theirs, "post:none") }
	root := func(n *notified) string { return "items/" + cmp.Or(n.root, "post:none") }
	return append(all,
		muting("a muted kind", func(n *notified) string { return "notifications/" + n.kind() }, every, true),
		muting("a muted inviter", func(n *notified) string { return "invitations/" + n.by }, func(n *notified) bool { return n.is("invitation") }, true),
		muting("a hidden post", post, func(n *notified) bool { return n.post != "" }, false),
		muting("a hidden reply", reply, theirs, false),
		muting("a hidden thread", root, func(n *notified) bool { return n.root != "" }, false),
	)
}

// endsOfActs are the other losses.
func endsOfActs() []lossOfSight {
	call := func(who func(n *notified) string, method string, path func(n *notified) string) func(*notified) {
		return func(n *notified) { n.call(who(n), method, path(n), "") } // mostly it has nothing to do
	}
	me, by, third := func(n *notified) string { return n.me }, func(n *notified) string { return n.by }, func(n *notified) string { return n.third }
	path := func(format string, parts ...func(n *notified) string) func(*notified) string {
		return func(n *notified) string {
			var texts []any
			for _, part := range parts {
				texts = append(texts, part(n))
			}
			return fmt.Sprintf(format, texts...)
		}
	}
	group, post, theirs, root := func(n *notified) string { return n.group }, func(n *notified) string { return n.post }, func(n *notified) string { return n.theirs }, func(n *notified) string { return n.root }
	acts := func(names ...string) func(*notified) bool {
		return func(n *notified) bool { return n.is(names...) }
	}
	ofPost := acts("reply", "mention", "mention in a thread", "reply in a group", "mention in a group")
	ofOwn := acts("like", "reply", "like in a group", "reply in a group")
	block, blocked := path("/v1/agents/%s/blocked/%s", me, by), path("/v1/agents/%s/blocked/%s", by, me)
	parted := acts("follow", "invitation", "joined")
	return []lossOfSight{
		{"a block", call(me, "PUT", block), every, call(me, "DELETE", block), parted, false},
		{"a block by the other", call(by, "PUT", blocked), every, call(by, "DELETE", blocked), parted, false},
		{"the own post deleted", call(me, "DELETE", path("/v1/posts/%s", post)), ofOwn, nil, nil, false},
		{"their post deleted", call(by, "DELETE", path("/v1/posts/%s", theirs)), ofPost, nil, nil, false},
		{"the thread deleted", call(third, "DELETE", path("/v1/posts/%s", root)), acts("mention in a thread"), nil, nil, false},
		{"their reply removed from the thread", call(me, "DELETE", path("/v1/posts/%s", theirs)), acts("reply", "reply in a group"), nil, nil, false},
		{"their post removed from the group", call(third, "DELETE", path("/v1/posts/%s", theirs)), acts("reply in a group", "mention in a group", "mention in a thread"), nil, nil, false},
		{"unliked", call(by, "DELETE", path("/v1/posts/%s/like", post)), acts("like", "like in a group"), call(by, "PUT", path("/v1/posts/%s/like", post)), none, false},
		{"unfollowed", call(by, "DELETE", path("/v1/agents/%s/following/%s", by, me)), acts("follow"), call(by, "PUT", path("/v1/agents/%s/following/%s", by, me)), none, false},
		{"the invitation withdrawn", call(by, "DELETE", path("/v1/circles/%s/invitations/%s", group, me)), acts("invitation"), nil, nil, false},
		{"the invitation declined", call(me, "DELETE", path("/v1/circles/%s/invitations/%s", group, me)), acts("invitation"), nil, nil, false},
		{"the invitation accepted", call(me, "PUT", path("/v1/circles/%s/members/%s", group, me)), acts("invitation"), nil, nil, false},
		{"left the group", call(me, "DELETE", path("/v1/circles/%s/members/%s", group, me)), acts("reply in a group"), nil, nil, false},
		{"the other left the group", call(by, "DELETE", path("/v1/circles/%s/members/%s", group, by)), acts("joined"), nil, nil, false},
		{"the group deleted", func(n *notified) { n.call(admin, "DELETE", "/v1/circles/"+n.group, "") }, acts("reply in a group", "invitation", "joined"), nil, nil, false},
		{"erased", call(me, "DELETE", path("/v1/agents/%s", me)), every, nil, nil, false},
		{"the other erased", call(by, "DELETE", path("/v1/agents/%s", by)), every, nil, nil, false},
	}
}

// TestNotificationsOfLostSight has each act notify an agent, who then loses sight of it, or had lost it
// before, in each way, and finds it again where that is possible: the page and the stream must have it or not,
// at once, and name nothing of it.
func TestNotificationsOfLostSight(t *testing.T) {
	t.Parallel()
	now, cfg := at(noon), embedded(t)
	cfg.Auth.AdminToken = peopleAdmin
	system := httpSystem{t, open(t, cfg, WithClock(now.Now))}
	var kept []*notified
	serial := 0
	agents := func(act string) *notified {
		serial++
		n := &notified{httpSystem: &system, clock: now, act: act}
		n.me, n.by, n.third, n.group = fmt.Sprint("me", serial), fmt.Sprint("by", serial), fmt.Sprint("third", serial), fmt.Sprint("group", serial)
		return n
	}
	for act, perform := range notifyingActs {
		for _, loss := range append(mutesOfActs(), endsOfActs()...) {
			n := agents(act)
			perform(n)
			n.isTold(true, "before "+loss.name)
			lost := loss.of(n)
			loss.do(n)
			n.isTold(!lost, loss.name)
			if lost && loss.undo != nil {
				ended := loss.ended(n)
				loss.undo(n)
				n.isTold(!ended, "after "+loss.name)
			}
			if !loss.first {
				continue
			}
			n = agents(act)
			loss.do(n)
			perform(n)
			n.isTold(!loss.of(n), "act after "+loss.name)
			loss.undo(n)
			n.isTold(true, "act within "+loss.name)
			kept = append(kept, n)
		}
	}
	now.Advance(cfg.Notifications.Retention)
	for _, n := range kept {
		n.isTold(false, "after the retention")
	}
}

// isTold checks whether the agent is told of the act.
func (n *notified) isTold(told bool, when string) {
	n.Helper()
	answer := n.must(n.me, "GET", "/v1/agents/"+n.me+"/notifications", "")
	var data struct{ Data social.NoticePage }
	require.NoError(n, json.Unmarshal([]byte(answer.body), &data))
	watch, err := n.a.network.watcher.Watch(n.Context(), n.me, nil)
	require.NoError(n, err)
	defer watch.Close()
	unread, _ := watch.TakeUnread()
	if !told {
		require.Empty(n, data.Data.Notices, "%s, %s", n.act, when)
		require.Zero(n, data.Data.Unread+unread, "%s, %s", n.act, when)
		require.NotContains(n, answer.body, n.by, "%s, %s", n.act, when)
		return
	}
	require.Len(n, data.Data.Notices, 1, "%s, %s", n.act, when)
	notice := data.Data.Notices[0]
	require.Equal(n, n.kind(), string(notice.Kind), when)
	require.Equal(n, n.by, notice.Actors[0].ID, when)
	require.Equal(n, [2]int{1, 1}, [2]int{data.Data.Unread, unread}, "%s, %s", n.act, when)
}
