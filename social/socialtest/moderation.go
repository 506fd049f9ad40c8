package socialtest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

func (e *env) moderate(action social.Action, kind social.ObjectKind, id, reason string) bool {
	e.Helper()
	return must[bool](e)(e.Moderate(e.ctx, social.Moderate{Object: social.Object{Kind: kind, ID: id}, Action: action, Reason: reason, By: "admin"}))
}

func (e *env) suspend(agent, reason string, d time.Duration) {
	e.Helper()
	require.True(e, must[bool](e)(e.Moderate(e.ctx, social.Moderate{
		Object: social.Object{Kind: social.ObjectAuthor, ID: agent}, Action: social.ActionSuspend, Reason: reason, Until: e.clock().Add(d).Unix(), By: "admin",
	})))
}

func (e *env) report(kind social.ObjectKind, id, agent string) (bool, error) {
	return e.Report(e.ctx, social.Report{Object: social.Object{Kind: kind, ID: id}, Agent: agent, Reason: "spam", Details: "by " + agent})
}

// reportedNow lists the objects with reports.
func (e *env) reportedNow(decided bool) (list []social.ReportedObject) {
	e.Helper()
	after := ""
	for {
		page := must[social.ReportedPage](e)(e.Reported(e.ctx, social.ReportedQuery{Decided: decided, After: after, N: 2}))
		list = append(list, page.Objects...)
		if page.NextCursor == nil {
			return list
		}
		require.Len(e, page.Objects, 2)
		after = *page.NextCursor
	}
}

// holds checks hold, remove and restore in every list.
func holds(e *env) {
	e.group("g", "o", social.CircleTerms{}, "m", "author")
	e.follow("friend", "author")
	p := e.post("author", social.Audience{Followers: true, Circles: []string{"g"}}, "named")
	open := e.post("author", public())
	reply := e.reply("friend", open.ID)
	readers := []string{"friend", "m", "named", "o"}
	listed := func(reader string) bool {
		list := must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: reader, N: 50}))
		return slices.ContainsFunc(list, func(x social.Entry) bool { return x.ID == p.ID })
	}
	for _, reader := range readers {
		require.True(e, listed(reader), reader)
	}
	before := e.row(p.ID)
	require.EqualValues(e, 2, e.info("friend", "author").Posts)
	require.EqualValues(e, 1, e.row(open.ID).Comments)

	require.True(e, e.moderate(social.ActionHold, social.ObjectPost, p.ID, "being checked"))
	require.False(e, e.moderate(social.ActionHold, social.ObjectPost, p.ID, "again"), "a repetition")
	for _, reader := range readers {
		require.False(e, e.card(reader, p.ID).Visible, reader)
		require.False(e, listed(reader), reader)
	}
	require.EqualValues(e, 1, e.info("friend", "author").Posts)
	require.EqualValues(e, 2, e.info("author", "author").Posts)
	require.Equal(e, []social.Removal{{By: social.ByAdmin, Reason: "being checked", At: e.clock().Unix(), Held: true}}, e.card("author", p.ID).Removed)
	require.True(e, e.moderate(social.ActionRemove, social.ObjectPost, p.ID, "spam"))
	require.Equal(e, []social.Removal{{By: social.ByAdmin, Reason: "spam", At: e.clock().Unix()}}, e.card("author", p.ID).Removed)
	caption := "better"
	e.edited(p.ID, "author", social.Edit{Caption: &caption})
	require.True(e, e.moderate(social.ActionRestore, social.ObjectPost, p.ID, ""))
	require.False(e, e.moderate(social.ActionRestore, social.ObjectPost, p.ID, ""))
	after := e.row(p.ID)
	require.Equal(e, before.Audience, after.Audience)
	require.False(e, after.Removed)
	require.Empty(e, e.card("author", p.ID).Removed)
	for _, reader := range readers {
		require.True(e, listed(reader), reader)
		require.Contains(e, string(e.card(reader, p.ID).Content), "better")
	}

	e.moderate(social.ActionHold, social.ObjectPost, reply.ID, "")
	require.Empty(e, e.under("named", open.ID, false))
	require.Equal(e, []string{reply.ID}, e.under("friend", open.ID, false), "its author")
	require.Zero(e, e.row(open.ID).Comments)
	e.moderate(social.ActionRestore, social.ObjectPost, reply.ID, "")
	require.Equal(e, []string{reply.ID}, e.under("named", open.ID, false))
	require.EqualValues(e, 1, e.row(open.ID).Comments)
	later := e.reply("friend", open.ID)
	e.moderate(social.ActionHold, social.ObjectPost, later.ID, "")
	e.ok(e.RemovePost(e.ctx, later.ID, "author", "", "off topic"))
	e.moderate(social.ActionRestore, social.ObjectPost, later.ID, "")
	require.Equal(e, []string{reply.ID}, e.under("named", open.ID, false), "the author has removed it meanwhile")
	require.Len(e, e.card("friend", later.ID).Removed, 1)
	require.EqualValues(e, 1, e.row(open.ID).Comments)
	e.moderate(social.ActionHold, social.ObjectPost, open.ID, "")
	require.Empty(e, e.under("named", open.ID, false), "replies to what is hidden")
	require.NotContains(e, must[[]social.Entry](e)(e.NewestPublic(e.ctx, 50)), social.Entry{Position: open.Position(), Author: "author"})
	require.ErrorIs(e, second(e.Moderate(e.ctx, social.Moderate{Object: social.Object{Kind: social.ObjectPost, ID: "post:none"}, Action: social.ActionHold})), feed.ErrNotFound)
}

// holdsThenReported checks that another report of a hidden post lets nobody see it, when it is restored, who did not
// before.
func holdsThenReported(e *env) {
	e.group("g", "o", social.CircleTerms{}, "m", "author")
	e.group("h", "o", social.CircleTerms{}, "n", "author")
	p := e.post("author", inCircles("g"), "named", "dropped")
	e.moderate(social.ActionHold, social.ObjectPost, p.ID, "")
	e.pass(time.Second)
	again := social.Post{ID: p.ID, Author: "author", Caption: "again", Audience: social.Audience{Public: true, Circles: []string{"g", "h"}}, Mentions: []string{"named", "other"}, CreatedAt: p.CreatedAt}
	_, created, err := e.CreatePost(e.ctx, again, social.Creation{At: e.clock()})
	require.NoError(e, err)
	require.True(e, created)
	e.moderate(social.ActionRestore, social.ObjectPost, p.ID, "")
	for reader, sees := range map[string]bool{"m": true, "named": true, "dropped": false, "other": false, "n": false, "stranger": false} {
		require.Equal(e, sees, e.card(reader, p.ID).Visible, reader)
	}
}

// holdsThenEnds checks that a restored post is not for circles and agents that have ended meanwhile, though others have
// their ids.
func holdsThenEnds(e *env) {
	e.group("g", "o", social.CircleTerms{}, "m", "author")
	p := e.post("author", inCircles("g"), "named")
	e.moderate(social.ActionHold, social.ObjectPost, p.ID, "")
	e.ok(e.DropCircle(e.ctx, "g", "o", here))
	e.pass(time.Minute)
	e.ok(e.EraseAgent(e.ctx, "named"))
	e.eraseAll("named")
	e.pass(social.TombstoneLives + time.Hour)
	e.swept()
	e.group("g", "next", social.CircleTerms{History: social.HistoryAll}, "m")
	e.moderate(social.ActionRestore, social.ObjectPost, p.ID, "")
	for _, reader := range []string{"m", "next", "o", "named"} {
		require.False(e, e.card(reader, p.ID).Visible, reader)
	}
	require.True(e, e.card("author", p.ID).Visible)
}

// reportsOfAgents checks who may report what, how reports are listed, decided and erased.
func reportsOfAgents(e *env) {
	e.cardsOf("author", "a", "b", "blocked")
	e.group("g", "o", social.CircleTerms{}, "a")
	e.putCircle("plain", "a")
	open, private := e.post("author", public()), e.post("author", social.Audience{}, "a")
	e.block("author", "blocked")
	cursor := e.changesNow()
	for _, c := range []struct {
		kind      social.ObjectKind
		id, agent string
		want      error
	}{
		{social.ObjectPost, open.ID, "a", nil},
		{social.ObjectPost, private.ID, "a", nil},
		{social.ObjectPost, private.ID, "b", feed.ErrNotFound},
		{social.ObjectPost, open.ID, "blocked", feed.ErrNotFound},
		{social.ObjectPost, "post:none", "b", feed.ErrNotFound},
		{social.ObjectAuthor, "author", "b", nil},
		{social.ObjectAuthor, "author", "blocked", feed.ErrNotFound},
		{social.ObjectAuthor, "nobody", "b", feed.ErrNotFound},
		{social.ObjectCircle, "g", "a", nil},
		{social.ObjectCircle, "g", "b", feed.ErrNotFound},
		{social.ObjectCircle, "plain", "a", feed.ErrNotFound},
		{social.ObjectItem, "item/1", "b", nil},
		{social.ObjectItem, open.ID, "b", feed.ErrBadID},
		{"thread", "x", "b", feed.ErrInvalid},
	} {
		changed, err := e.report(c.kind, c.id, c.agent)
		require.ErrorIs(e, err, c.want, "%+v", c)
		require.Equal(e, c.want == nil, changed, "%+v", c)
		e.pass(time.Second)
	}
	e.changed(cursor, "report.created a  "+open.ID, "report.created a  "+private.ID, "report.created b author", "report.created a  g", "report.created b  item/1")
	for _, bad := range []social.Report{{Reason: "dislike"}, {Reason: "spam", Details: strings.Repeat("x", social.MaxReportDetails+1)}} {
		bad.Object, bad.Agent = social.Object{Kind: social.ObjectPost, ID: open.ID}, "b"
		require.ErrorIs(e, second(e.Report(e.ctx, bad)), feed.ErrInvalid)
	}
	require.False(e, must[bool](e)(e.report(social.ObjectPost, open.ID, "a")), "once for each agent")
	require.True(e, must[bool](e)(e.report(social.ObjectPost, open.ID, "b")))
	list := e.reportedNow(false)
	require.Len(e, list, 5)
	require.Equal(e, social.Object{Kind: social.ObjectPost, ID: open.ID}, list[0].Object, "the latest first")
	require.Equal(e, map[social.ReportReason]int{"spam": 2}, list[0].Reasons)
	require.Equal(e, []string{"by b", "by a"}, []string{list[0].Reports[0].Details, list[0].Reports[1].Details})
	require.Empty(e, e.reportedNow(true))

	require.True(e, e.moderate(social.ActionDismiss, social.ObjectPost, open.ID, ""))
	require.False(e, e.moderate(social.ActionDismiss, social.ObjectPost, open.ID, ""))
	require.Len(e, e.reportedNow(false), 4)
	require.Equal(e, "dismiss", e.reportedNow(true)[0].Decision)
	for _, action := range []social.Action{social.ActionHold, social.ActionRestore} { // with no report open
		require.True(e, e.moderate(action, social.ObjectPost, open.ID, ""))
		require.Equal(e, string(action), e.reportedNow(true)[0].Decision)
	}
	require.False(e, e.moderate(social.ActionRestore, social.ObjectPost, open.ID, ""))
	require.True(e, must[bool](e)(e.report(social.ObjectPost, open.ID, "author")), "a new report opens it again")
	require.Equal(e, 3, e.reportedNow(false)[0].Count)

	e.ok(e.EraseAgent(e.ctx, "a"))
	e.eraseAll("a")
	list = e.reportedNow(false)
	require.Len(e, list, 3, "without what only they reported")
	require.Equal(e, 2, list[0].Count)
	e.ok(e.EraseAgent(e.ctx, "author"))
	e.eraseAll("author")
	require.Equal(e, []social.Object{{Kind: social.ObjectItem, ID: "item/1"}}, []social.Object{e.reportedNow(false)[0].Object})
	require.Len(e, e.reportedNow(false), 1, "nothing about them or their posts")
	require.ErrorIs(e, second(e.Reported(e.ctx, social.ReportedQuery{After: "x", N: 1})), feed.ErrInvalid)
}

// reportsRetention checks that reports are removed some time after the decision about their object, and not
// while they are open.
func reportsRetention(e *env) {
	old, again, late := e.post("author", public()), e.post("author", public()), e.post("author", public())
	for _, id := range []string{old.ID, again.ID} {
		require.True(e, must[bool](e)(e.report(social.ObjectPost, id, "a")))
		require.True(e, must[bool](e)(e.report(social.ObjectPost, id, "b")))
		require.True(e, e.moderate(social.ActionDismiss, social.ObjectPost, id, ""))
	}
	require.True(e, must[bool](e)(e.report(social.ObjectItem, "item/1", "a")), "which nobody decides")
	require.True(e, must[bool](e)(e.report(social.ObjectPost, late.ID, "a")))
	e.pass(time.Hour)
	require.True(e, e.moderate(social.ActionDismiss, social.ObjectPost, late.ID, ""))
	e.pass(keepReports - time.Hour)
	require.True(e, must[bool](e)(e.report(social.ObjectPost, again.ID, "c")), "which opens it")
	purge := func(want int) {
		e.Helper()
		require.Equal(e, want, must[social.Purged](e)(e.Purge(e.ctx, 10))["reports"])
	}
	purge(1)
	purge(0)
	decided, open := e.reportedNow(true), e.reportedNow(false)
	require.Len(e, decided, 1)
	require.Equal(e, late.ID, decided[0].ID)
	require.Equal(e, []string{again.ID, "item/1"}, []string{open[0].ID, open[1].ID})
	require.Equal(e, 3, open[0].Count)
	e.pass(time.Second)
	require.True(e, must[bool](e)(e.report(social.ObjectPost, old.ID, "a")), "nothing is known of the first report")
	require.Equal(e, 1, e.reportedNow(false)[0].Count)
	e.pass(time.Hour)
	purge(1)
	require.Empty(e, e.reportedNow(true))
}

// suspensions checks that a suspended agent writes nothing that others see, until the time has come, and what is
// recommended.
func suspensions(e *env) {
	e.cardsOf("author")
	p := e.post("author", public())
	e.suspend("author", "spam", time.Hour)
	as := func(a social.Actor) error {
		a.Agent = "author"
		_, _, err := e.CreatePost(social.WithActor(e.ctx, a), social.Post{Author: "author", Caption: "x", Audience: public()}, social.Creation{})
		return err
	}
	member := social.Actor{Public: true}
	require.ErrorContains(e, as(member), "author is suspended until "+e.clock().Add(time.Hour).UTC().Format(time.RFC3339)+": spam")
	require.ErrorIs(e, as(member), feed.ErrForbidden)
	ctx := social.WithActor(e.ctx, social.Actor{Agent: "author", Public: true})
	for what, err := range map[string]error{
		"like":   second(first2(e.Like(ctx, "author", p.ID))),
		"follow": second(e.Follow(ctx, "author", "b", here)),
		"edit":   second(e.EditPost(ctx, p.ID, "author", social.Edit{Caption: &p.ID}, here)),
		"card":   e.PutAuthor(ctx, social.Author{ID: "author", Name: "x"}, here),
		"circle": second(e.ChangeCircle(ctx, "c", "author", social.CircleChange{})),
	} {
		require.ErrorIs(e, err, feed.ErrForbidden, what)
	}
	require.NoError(e, second(e.Block(social.WithActor(e.ctx, social.Actor{Agent: "author"}), "author", "b")), "no other sees it")
	require.Empty(e, must[[]string](e)(e.Following(e.ctx, "author", "", "", 10)), "nothing of a refused write is left")
	require.True(e, e.card("reader", p.ID).Suspended)
	own := e.info("author", "author")
	require.Equal(e, []any{e.clock().Add(time.Hour).Unix(), "spam"}, []any{own.SuspendedUntil, own.SuspendedFor})
	require.Zero(e, e.info("reader", "author").SuspendedUntil, "nobody else is told")
	require.Equal(e, []string{"author"}, must[[]string](e)(e.Unsuggestable(e.ctx, "reader", []string{"author"}, e.clock())))
	require.Empty(e, must[[]social.NewAuthor](e)(e.NewestAuthors(e.ctx, "reader", nil, 10)))

	e.pass(time.Hour + time.Second)
	require.NoError(e, as(member), "the time has come")
	own = e.info("author", "author")
	require.Equal(e, []any{int64(0), ""}, []any{own.SuspendedUntil, own.SuspendedFor})
	require.False(e, e.card("reader", p.ID).Suspended)
	require.Len(e, must[[]social.NewAuthor](e)(e.NewestAuthors(e.ctx, "reader", nil, 10)), 1)
	e.suspend("author", "", time.Hour)
	require.ErrorIs(e, as(member), feed.ErrForbidden)
	require.True(e, e.moderate(social.ActionLift, social.ObjectAuthor, "author", ""))
	require.NoError(e, as(member))
	require.ErrorIs(e, second(e.Moderate(e.ctx, social.Moderate{
		Object: social.Object{Kind: social.ObjectAuthor, ID: "author"}, Action: social.ActionSuspend, Until: e.clock().Unix(),
	})), feed.ErrInvalid, "not in the future")

	e.suspend("author", "secret", time.Hour)
	e.ok(e.EraseAgent(e.ctx, "author"))
	e.eraseAll("author")
	require.NotContains(e, as(member).Error(), "secret")
	require.ErrorIs(e, as(member), feed.ErrForbidden, "an erasure does not end it")
	erased := e.clock().Unix()
	e.pass(2 * time.Hour)
	for issued, want := range map[int64]error{0: feed.ErrUnauthenticated, erased - 1: feed.ErrUnauthenticated, erased: feed.ErrUnauthenticated, erased + 2: nil} {
		err := as(social.Actor{Token: true, Issued: issued, Public: true})
		require.ErrorIs(e, err, want, "issued %d", issued)
		require.NotErrorIs(e, err, social.ErrUnavailable)
	}
}

// oldTokens checks that a token from before an erasure takes nothing away from who has the id now.
func oldTokens(e *env) {
	e.cardsOf("author")
	erased := e.clock().Unix()
	e.ok(e.EraseAgent(e.ctx, "author"))
	e.eraseAll("author")
	e.pass(time.Minute)
	as := func(issued int64) context.Context {
		return social.WithActor(e.ctx, social.Actor{Agent: "author", Token: true, Issued: issued, Removes: true})
	}
	old := as(erased - 1)
	e.ok(e.EraseAgent(old, "author")) // the answer may have been lost
	e.eraseAll("author")
	e.pass(2 * time.Minute)
	young := as(e.clock().Unix())
	p, q := e.post("author", public()), e.post("other", public())
	must[bool](e)(first2(e.Like(e.ctx, "author", q.ID)))
	must[bool](e)(e.Follow(e.ctx, "author", "other", here))
	for what, err := range map[string]error{
		"delete":   e.DeletePost(old, p.ID, "author", here),
		"unlike":   second(first2(e.Unlike(old, "author", q.ID))),
		"unfollow": second(e.Unfollow(old, "author", "other", here)),
		"card":     e.EraseAuthor(old, "author"),
		"all":      e.EraseAgent(old, "author"),
	} {
		require.ErrorIs(e, err, feed.ErrUnauthenticated, what)
	}
	require.True(e, e.card("author", q.ID).HasLiked)
	require.True(e, e.card("reader", p.ID).Visible)
	e.ok(e.DeletePost(young, p.ID, "author", here))
	e.ok(e.EraseAgent(young, "author"))
}

// audits checks what moderators read, and that each read and action is in the log.
func audits(e *env) {
	e.cardsOf("author")
	e.group("g", "o", social.CircleTerms{}, "author")
	private, other := e.post("author", inCircles("g")), e.post("o", public())
	e.moderate(social.ActionHold, social.ObjectPost, private.ID, "why")
	must[bool](e)(e.report(social.ObjectPost, other.ID, "author"))
	ids := func(q social.PostsQuery) (list []string) {
		e.Helper()
		q.N = 10
		for _, p := range must[[]social.ModeratedPost](e)(e.PostsToModerate(e.ctx, "admin", q)) {
			list = append(list, p.ID)
		}
		return list
	}
	got := must[[]social.ModeratedPost](e)(e.ModeratedPosts(e.ctx, "admin", []string{private.ID, "post:none"}))
	require.Equal(e, []any{private.ID, "author", social.HeldPost, "why", inCircles("g"), ""},
		[]any{got[0].ID, got[0].Author, got[0].State, got[0].Reason, got[0].Audience, got[1].ID})
	require.Equal(e, []string{other.ID, private.ID}, ids(social.PostsQuery{}))
	require.Equal(e, []string{private.ID}, ids(social.PostsQuery{Below: other.Position()}))
	require.Equal(e, []string{private.ID}, ids(social.PostsQuery{Author: "author"}))
	require.Empty(e, ids(social.PostsQuery{Author: "author", Below: private.Position()}))
	require.Equal(e, []string{other.ID}, ids(social.PostsQuery{Reported: true}))
	require.Equal(e, []string{private.ID}, ids(social.PostsQuery{State: social.HeldPost}))
	require.Empty(e, ids(social.PostsQuery{State: social.RemovedPost}))
	require.Equal(e, []string{other.ID}, ids(social.PostsQuery{Since: other.CreatedAt}))
	require.Equal(e, []string{private.ID}, ids(social.PostsQuery{Until: other.CreatedAt}))
	require.ErrorIs(e, second(e.PostsToModerate(e.ctx, "admin", social.PostsQuery{State: "x", N: 1})), feed.ErrInvalid)

	root := e.post("o", public())
	reply := e.reply("author", root.ID)
	e.ok(e.DeletePost(e.ctx, root.ID, "o", here))
	require.Empty(e, must[[]social.ModeratedPost](e)(e.ModeratedPosts(e.ctx, "admin", []string{reply.ID}))[0].ID, "it ends with its root post")
	require.Equal(e, []string{private.ID}, ids(social.PostsQuery{Author: "author"}))

	log := must[[]social.AuditEntry](e)(e.Audit(e.ctx, 0, 100))
	require.Len(e, log, 12)
	require.Equal(e, social.AuditEntry{
		Seq: log[11].Seq, At: log[11].At, Who: "admin", Action: social.ActionHold, Object: social.Object{Kind: social.ObjectPost, ID: private.ID}, Reason: "why",
	}, log[11])
	require.Equal(e, social.ActionRead, log[10].Action)
	require.Equal(e, []social.Object{{}, {Kind: social.ObjectAuthor, ID: "author"}}, []social.Object{log[9].Object, log[7].Object}, "lists of all authors, and of one")
	require.Equal(e, log[5:], must[[]social.AuditEntry](e)(e.Audit(e.ctx, log[4].Seq, 100)))
	e.suspend("author", "bad", time.Hour)
	e.ok(e.EraseAgent(e.ctx, "author"))
	e.eraseAll("author")
	entry := must[[]social.AuditEntry](e)(e.Audit(e.ctx, 0, 1))[0]
	require.Equal(e, []any{social.ActionSuspend, "", ""}, []any{entry.Action, entry.Object.ID, entry.Reason})
	for _, entry := range must[[]social.AuditEntry](e)(e.Audit(e.ctx, 0, 100)) {
		require.Empty(e, entry.Reason, "neither of what is about them, nor about their posts")
	}
}

// first2 leaves out the first of three results.
func first2[A, B any](_ A, b B, err error) (B, error) { return b, err }
