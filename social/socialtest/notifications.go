package socialtest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// inbox returns an agent's notifications, the newest first, as "kind actor post reply circle".
func (e *env) inbox(agent string) []string {
	e.Helper()
	out := []string{}
	for _, n := range must[social.Inbox](e)(e.Notifications(e.ctx, agent)).List {
		out = append(out, strings.Join(strings.Fields(fmt.Sprint(n.Kind, " ", n.Actor.ID, " ", n.Post, " ", n.Reply, " ", n.Circle.ID)), " "))
	}
	return out
}

func (e *env) state(agent string) social.InboxState {
	e.Helper()
	return must[[]social.InboxState](e)(e.InboxStates(e.ctx, []string{agent}))[0]
}

// hasTold requires the notifications of an agent, the newest first.
func (e *env) hasTold(agent string, want ...string) {
	e.Helper()
	require.Equal(e, append([]string{}, want...), e.inbox(agent))
}

// likesNow makes a like that must be new.
func (e *env) likesNow(agent, post string) {
	e.Helper()
	_, changed, err := e.Like(e.ctx, agent, post)
	e.ok(err)
	require.True(e, changed)
}

func (e *env) answer(author, to string, mentions ...string) social.Post {
	e.Helper()
	return e.create(social.Post{Author: author, Caption: "by " + author, ReplyTo: to, Mentions: mentions})
}

func notificationsOfEveryKind(e *env) {
	e.follow("b", "a")
	p := e.post("a", public())
	e.likesNow("b", p.ID)
	r := e.answer("b", p.ID, "a", "m")
	m := e.post("b", public(), "a", "a2")
	e.group("g", "a", social.CircleTerms{})
	e.group("h", "b", social.CircleTerms{})
	e.invited("g", "b")
	e.invited("h", "a")
	e.join("g", "b")
	want := []string{"joined b g", "invitation b h", "mention b " + m.ID, "reply b " + p.ID + " " + r.ID, "like b " + p.ID, "follow b"}
	e.hasTold("a", want...)
	e.hasTold("b")
	e.hasTold("m", "mention b "+r.ID)
	e.hasTold("a2", "mention b "+m.ID)
	box := must[social.Inbox](e)(e.Notifications(e.ctx, "a"))
	require.Equal(e, social.CircleRef{ID: "g", Name: box.List[0].Circle.Name}, box.List[0].Circle)
	require.Equal(e, box.List[0].Number, box.Last)
	require.Equal(e, social.InboxState{Last: box.Last}, e.state("a"))
	for i, n := range box.List {
		require.Positive(e, n.At)
		require.True(e, i == 0 || n.Number < box.List[i-1].Number)
	}
	further := e.answer("m", r.ID)
	e.hasTold("b", "reply m "+r.ID+" "+further.ID)
	require.Equal(e, p.ID, must[social.Inbox](e)(e.Notifications(e.ctx, "b")).List[0].Root)

	for _, kind := range social.NotificationKinds() {
		must[bool](e)(e.Mute(e.ctx, "a", social.MuteNotification, string(kind), here))
		want = slices.DeleteFunc(want, func(text string) bool { return strings.HasPrefix(text, string(kind)) })
		e.hasTold("a", want...)
	}
	must[bool](e)(e.Unmute(e.ctx, "a", social.MuteNotification, "follow"))
	e.hasTold("a", "follow b")
	require.ErrorIs(e, second(e.Mute(e.ctx, "a", social.MuteNotification, "likes", here)), feed.ErrInvalid)
}

// ownActs are acts that notify nobody.
func ownActs(e *env) {
	p := e.post("a", public(), "a")
	e.likesNow("a", p.ID)
	e.answer("a", p.ID, "a")
	e.group("g", "a", social.CircleTerms{})
	e.putCircle("c", "a", "b")
	must[bool](e)(e.AddMember(e.ctx, "c", "d", "a", here))
	e.follow("a", social.Server)
	remote := e.create(social.Post{Author: "far", Origin: "example.com", Caption: "x", Audience: public(), React: social.RightPublic})
	e.likesNow("a", remote.ID)
	old := e.clock().Add(-365 * 24 * time.Hour)
	must[bool](e)(e.Follow(e.ctx, "b", "a", old))
	_, _, err := e.FollowAll(e.ctx, []social.Edge{{Agent: "d", Author: "a"}}, old)
	e.ok(err)
	for _, agent := range []string{"a", "b", "d", "far", social.Server} {
		require.Zero(e, e.state(agent), agent)
	}
}

// undone are acts on a, each with a way in which it ends, and one in which a does not hear of it any more.
func undoneActs(e *env) {
	for i, undo := range []func(a, b string, p, r, m social.Post){
		func(a, b string, p, _, _ social.Post) {
			must[bool](e)(e.Unfollow(e.ctx, b, a, here))
			e.unlike(b, p.ID)
		},
		func(_, b string, _, r, m social.Post) {
			e.ok(e.DeletePost(e.ctx, r.ID, b, here))
			e.ok(e.DeletePost(e.ctx, m.ID, b, here))
		},
		func(a, _ string, p, _, _ social.Post) { e.ok(e.DeletePost(e.ctx, p.ID, a, here)) },
		func(a, b string, _, _, _ social.Post) { must[bool](e)(e.Block(e.ctx, a, b)) },
		func(a, b string, _, _, _ social.Post) { must[bool](e)(e.Block(e.ctx, b, a)) },
		func(a, b string, _, _, _ social.Post) {
			must[bool](e)(e.Withdraw(e.ctx, "h"+b, a, b))
			e.leave("g"+a, b)
		},
		func(a, b string, _, _, _ social.Post) {
			e.join("h"+b, a)
			e.removeMember("g"+a, b, a)
		},
		func(a, b string, _, _, _ social.Post) {
			must[bool](e)(e.Mute(e.ctx, a, social.MuteInviter, b, here))
			must[bool](e)(e.Mute(e.ctx, a, social.MuteCircle, "g"+a, here))
		},
		func(_, b string, _, _, _ social.Post) { e.ok(e.EraseAgent(e.ctx, b)) },
		func(a, _ string, _, _, _ social.Post) {
			e.ok(e.EraseAgent(e.ctx, a))
			e.eraseAll(a)
			require.Zero(e, e.state(a))
		},
		func(a, _ string, _, _, _ social.Post) { e.ok(e.EraseAuthor(e.ctx, a)) },
	} {
		a, b := fmt.Sprint("a", i), fmt.Sprint("b", i)
		e.follow(b, a)
		p := e.post(a, public())
		e.likesNow(b, p.ID)
		r := e.answer(b, p.ID)
		m := e.post(b, public(), a)
		e.group("g"+a, a, social.CircleTerms{})
		e.group("h"+b, b, social.CircleTerms{})
		e.invited("g"+a, b)
		e.invited("h"+b, a)
		e.join("g"+a, b)
		all := []string{"joined " + b + " g" + a, "invitation " + b + " h" + b, "mention " + b + " " + m.ID, "reply " + b + " " + p.ID + " " + r.ID, "like " + b + " " + p.ID, "follow " + b}
		e.hasTold(a, all...)
		ends := [][]int{{4, 5}, {2, 3}, {3, 4}, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, {0, 1}, {0, 1}, {0, 1}, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}}[i]
		undo(a, b, p, r, m)
		var left []string
		for k, text := range all {
			if !slices.Contains(ends, k) {
				left = append(left, text)
			}
		}
		e.hasTold(a, left...)
	}
}

// lostAudience checks that an agent is not told about posts that it does not see any more.
func lostAudience(e *env) {
	e.group("g", "o", social.CircleTerms{}, "a", "b")
	e.follow("a", "b")
	e.follow("b", "a")
	own := e.post("a", inCircles("g"))
	mention := e.post("b", followers(), "a")
	in := e.post("o", inCircles("g"))
	thread := e.answer("a", in.ID)
	e.likesNow("b", own.ID)
	e.likesNow("b", thread.ID)
	reply := e.answer("b", own.ID)
	below := e.answer("b", thread.ID)
	told := []string{"reply b " + thread.ID + " " + below.ID, "reply b " + own.ID + " " + reply.ID, "like b " + thread.ID, "like b " + own.ID, "mention b " + mention.ID}
	e.hasTold("a", append(told, "follow b")...)

	must[bool](e)(e.Mute(e.ctx, "a", social.MuteCircle, "g", here))
	e.hasTold("a", "mention b "+mention.ID, "follow b")
	must[bool](e)(e.Unmute(e.ctx, "a", social.MuteCircle, "g"))
	e.hasTold("a", append(told, "follow b")...)

	e.removeMember("g", "a", "o")
	e.hasTold("a", "like b "+thread.ID, "like b "+own.ID, "mention b "+mention.ID, "follow b")
	e.ok(e.RemovePost(e.ctx, own.ID, "o", "g", ""))
	e.hasTold("a", "like b "+thread.ID, "like b "+own.ID, "mention b "+mention.ID, "follow b")
	e.unfollow("b", "a")
	e.hasTold("a", "like b "+thread.ID, "like b "+own.ID, "mention b "+mention.ID)
	e.ok(e.DeletePost(e.ctx, in.ID, "o", here))
	e.hasTold("a", "like b "+own.ID, "mention b "+mention.ID)
}

// seenMarker checks the marker, which only moves forward.
func seenMarker(e *env) {
	require.Equal(e, social.Inbox{}, must[social.Inbox](e)(e.Notifications(e.ctx, "a")))
	require.False(e, must[bool](e)(e.SeeNotifications(e.ctx, "a", 0)))
	for i := range 3 {
		e.follow(fmt.Sprint("b", i), "a")
	}
	require.Equal(e, social.InboxState{Last: 3}, e.state("a"))
	for i, step := range [][2]int64{{1, 1}, {3, 3}, {2, 3}, {0, 3}, {3, 3}} {
		require.Equal(e, i < 2, must[bool](e)(e.SeeNotifications(e.ctx, "a", step[0])))
		require.Equal(e, social.InboxState{Last: 3, Seen: step[1]}, e.state("a"))
	}
	for _, bad := range []int64{4, -1, 1 << 62} {
		require.ErrorIs(e, second(e.SeeNotifications(e.ctx, "a", bad)), feed.ErrInvalid)
	}
	require.ErrorIs(e, second(e.SeeNotifications(e.ctx, "b", 1)), feed.ErrInvalid)
	require.Equal(e, []social.InboxState{{}, {Last: 3, Seen: 3}, {}}, must[[]social.InboxState](e)(e.InboxStates(e.ctx, []string{"x", "a", "y"})))
	e.follow("b9", "a")
	require.Equal(e, social.InboxState{Last: 4, Seen: 3}, e.state("a"))
}

// notifiedAgain checks that an act which is undone and repeated notifies again after a day.
func notifiedAgain(e *env) {
	p := e.post("a", public())
	e.likesNow("b", p.ID)
	e.likesNow("c", p.ID)
	e.unlike("b", p.ID)
	e.hasTold("a", "like c "+p.ID)
	e.likesNow("b", p.ID)
	e.hasTold("a", "like c "+p.ID, "like b "+p.ID)
	e.unlike("b", p.ID)
	e.pass(25 * time.Hour)
	e.likesNow("b", p.ID)
	e.hasTold("a", "like b "+p.ID, "like c "+p.ID)
}

// notificationsOfErased checks that nobody hears of what an erased agent did, nor the next agent with the id of
// what was done to the one before.
func notificationsOfErased(e *env) {
	p := e.post("a", public())
	e.likesNow("b", p.ID)
	e.likesNow("c", p.ID)
	e.follow("b", "a")
	e.follow("a", "b")
	e.ok(second(e.SeeNotifications(e.ctx, "b", 1)))
	e.erasedThen("b", func() {
		e.Helper()
		e.hasTold("a", "like c "+p.ID)
		e.hasTold("b")
	})
	require.Zero(e, e.state("b"))
	e.hasTold("a", "like c "+p.ID)

	e.likesNow("b", p.ID)
	e.follow("b", "a")
	e.ok(e.EraseAgent(e.ctx, "b"))
	e.pass(-time.Hour) // another agent has the id, on a server whose clock is behind, before all was removed
	e.likesNow("b", p.ID)
	e.follow("c", "b")
	e.hasTold("a", "like b "+p.ID, "like c "+p.ID)
	e.hasTold("b", "follow c")
	e.eraseAll("b")
	e.hasTold("a", "like b "+p.ID, "like c "+p.ID)
	e.hasTold("b", "follow c")
}

func notificationsKept(e *env) {
	e.follow("b", "a")
	e.pass(keepNotifications - time.Minute)
	e.follow("c", "a")
	e.hasTold("a", "follow c", "follow b")
	e.pass(2 * time.Minute)
	e.hasTold("a", "follow c")
	require.Positive(e, e.purgeRows(100))
	e.pass(-time.Hour)
	e.hasTold("a", "follow c")
	var want []string
	for i := range 3 * mostNotifications {
		e.follow(fmt.Sprintf("f%03d", i), "a")
		want = append([]string{fmt.Sprintf("follow f%03d", i)}, want...)
	}
	e.hasTold("a", want[:mostNotifications]...)
	for i := range 2 * mostNotifications { // what was removed does not come back
		e.unfollow(fmt.Sprintf("f%03d", 3*mostNotifications-1-i), "a")
	}
	require.Less(e, len(e.inbox("a")), mostNotifications/2)
}

// notificationsCrowded checks that neither many acts of one kind nor those of one agent, who deletes what they
// write, remove the notifications of what others did.
func notificationsCrowded(e *env) {
	p := e.post("a", public())
	reply := e.reply("c", p.ID)
	e.pass(time.Second)
	e.follow("d", "a")
	for range 3 * mostNotifications {
		e.ok(e.DeletePost(e.ctx, e.reply("b", p.ID).ID, "b", here))
	}
	e.hasTold("a", "follow d", "reply c "+p.ID+" "+reply.ID)
	for i := range 3 * mostNotifications {
		e.likesNow(fmt.Sprintf("f%03d", i), p.ID)
	}
	told := e.inbox("a")
	require.Len(e, told, mostNotifications+2)
	require.Equal(e, []string{"follow d", "reply c " + p.ID + " " + reply.ID}, told[mostNotifications:])
	for range 3 * mostNotifications { // they stand
		e.reply("b", p.ID)
	}
	require.Contains(e, e.inbox("a"), "reply c "+p.ID+" "+reply.ID)
}

// notifiedByMany has agents on two servers notify two others at once, while these read: no notification appears
// below one that was there before.
func notifiedByMany(e *env) {
	const writers, each = 8, 12
	servers := []Backend{e.Backend, e.place.Open()}
	p, q := e.post("a", public()), e.post("b", public())
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				agent := fmt.Sprint("w", w, "_", i%6)
				for k, post := range []string{p.ID, q.ID} {
					if i < 6 {
						_, _, err := servers[(w+k)%2].Like(e.ctx, agent, post)
						if err != nil {
							e.Error(err)
						}
						continue
					}
					if _, _, err := servers[w%2].CreatePost(e.ctx, social.Post{Author: agent, Caption: "x", Audience: public(), Mentions: []string{"a", "b"}}, social.Creation{}); err != nil {
						e.Error(err)
					}
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	known, last := map[string]bool{}, int64(0)
	for done := false; !done; {
		select {
		case <-ended:
			done = true
		default:
		}
		box := must[social.Inbox](e)(e.Notifications(e.ctx, "a"))
		require.GreaterOrEqual(e, box.Last, last)
		for _, n := range box.List {
			name := fmt.Sprint(n.Kind, n.Actor.ID, n.Post)
			require.True(e, known[name] || n.Number > last, "%s appears below %d", name, last)
			known[name] = true
		}
		last = box.Last
	}
	require.Equal(e, int64(writers*each+writers*each/2), last)
	require.Equal(e, last, e.state("b").Last)
}

// NotificationsOff checks a store that keeps none.
func NotificationsOff(t *testing.T, b Backend) {
	_, err := b.Follow(t.Context(), "b", "a", here)
	require.NoError(t, err)
	_, err = b.Notifications(t.Context(), "a")
	require.ErrorIs(t, err, feed.ErrForbidden)
	require.ErrorContains(t, err, "notifications.retention")
	states, err := b.InboxStates(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.Equal(t, []social.InboxState{{}}, states)
}

// invitedByNextOwner checks that an invitation stays told of when the group passes to another, who invites then.
func invitedByNextOwner(e *env) {
	erase := func(owner string) {
		e.ok(e.EraseAgent(e.ctx, owner))
		e.eraseAll(owner)
	}
	handOver := func(string) {
		e.ok(second(e.PatchCircle(e.ctx, "g", "owner", owned("next"))))
	}
	for i, pass := range []func(owner string){handOver, erase} {
		e.group("g", "owner", social.CircleTerms{}, "next")
		e.invited("g", "a")
		e.invited("g", "apart")
		must[bool](e)(e.Block(e.ctx, "apart", "next"))
		before := e.state("a")
		e.pass(time.Minute)
		pass("owner")
		e.hasTold("a", "invitation next g")
		require.Equal(e, before, e.state("a"), "it is no new one")
		e.hasTold("apart")
		must[bool](e)(e.Mute(e.ctx, "a", social.MuteInviter, "next", here))
		e.hasTold("a")
		must[bool](e)(e.Unmute(e.ctx, "a", social.MuteInviter, "next"))
		e.hasTold("a", "invitation next g")
		if i == 0 { // back, which was told of before
			e.ok(second(e.PatchCircle(e.ctx, "g", "next", owned("owner"))))
			e.hasTold("a", "invitation owner g")
		}
		by := map[int]string{0: "owner", 1: "next"}[i]
		must[bool](e)(e.Withdraw(e.ctx, "g", "a", by))
		e.hasTold("a")
		e.ok(e.DropCircle(e.ctx, "g", by, here))
		must[bool](e)(e.Unblock(e.ctx, "apart", "next"))
		e.pass(time.Minute)
	}
}
