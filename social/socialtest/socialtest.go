// Package socialtest is the conformance suite for [social.Store]. Every backend passes it:
//
//	func TestStore(t *testing.T) {
//		socialtest.Run(t, func(t *testing.T, opts social.Options) socialtest.Place { … })
//	}
package socialtest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Backend is the interface of a backend under test.
type Backend interface {
	social.Store
	jobs.Queue
}

// Place is the location of a backend's data. Open may be called repeatedly; each call simulates
// another server. Backends are closed by the test's cleanup, or by Close, which simulates a process
// that dies.
type Place interface {
	Open() Backend
	Close(b Backend)
}

// New returns an empty place.
type New func(t *testing.T, opts social.Options) Place

// Run runs the checks of the contract, each in a separate place.
func Run(t *testing.T, place New) {
	run(t, place, checks)
	for name, run := range reuses {
		t.Run("Ids used again/"+name, func(t *testing.T) {
			t.Parallel()
			run(newEnv(t, place))
		})
	}
}

// RunLimits checks what happens when there is as much of something as there may be. It creates
// thousands of rows.
func RunLimits(t *testing.T, place New) { run(t, place, limits) }

// RunModels compares a backend with a model of it, in networks with every relation and in random ones.
func RunModels(t *testing.T, place New) {
	run(t, place, models)
	t.Run("random operations/many more networks", func(t *testing.T) {
		t.Parallel()
		testenv.Full(t, "models")
		for seed, clocks := range manyNetworks() {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				random(seed, clocks...)(newEnv(t, place))
			})
		}
	})
}

type check struct {
	name string
	run  func(e *env)
}

func run(t *testing.T, place New, checks []check) {
	for _, check := range checks {
		t.Run(check.name, func(t *testing.T) {
			t.Parallel()
			check.run(newEnv(t, place))
		})
	}
}

var models = []check{
	{"Cards/visibility", matrix},
	{"random operations", random(1)},
	{"random operations/another network", random(2)},
	{"random operations/a third", random(3)},
	{"random operations/two servers, clocks apart", random(4, 0, time.Minute)},
	{"random operations/clocks apart the other way", random(5, 0, -time.Minute)},
	{"random operations/a clock that jumps", random(6, 0, 365*24*time.Hour, -time.Hour, 5*time.Minute)},
}

var limits = []check{
	{"Follows/limit", followLimit},
	{"Circles/limit", circleLimit},
	{"Groups/limits", groupLimits},
	{"Groups/limit of mutes", muteLimit},
	{"Groups/handed over, limit", handedOverLimit},
	{"Promotions/limit", promotionLimit},
}

var checks = []check{
	{"Cards/order, doubles, unknown, versions", cards},
	{"Posts/create", create},
	{"Posts/idempotency key", idempotency},
	{"Posts/bad", badPosts},
	{"Posts/edit", edit},
	{"Posts/delete", deletes},
	{"Posts/counts", counts},
	{"Posts/ids of every character", oddIDs},
	{"Posts/of one second", oneSecond},
	{"Posts/public ones", publicPosts},
	{"Moderation/hold, remove, restore", holds},
	{"Moderation/suspensions", suspensions},
	{"Moderation/old tokens", oldTokens},
	{"Moderation/erased agents", erasedAgents},
	{"Moderation/reported again", holdsThenReported},
	{"Moderation/what moderators read, audit log", audits},
	{"Moderation/retention of reports", reportsRetention},
	{"Replies", replies},
	{"Replies/of a post that has ended", repliesOfEnded},
	{"Replies/who may", whoMayReply},
	{"Replies/bad", badReplies},
	{"Replies/by many", repliedAtOnce},
	{"Replies/whose root is hidden", repliesHidden},
	{"Replies/of who is not known otherwise", repliesOfUnknown},
	{"Replies/whose author is shut out", repliesShutOut},
	{"Replies/of others, to who is shut out", repliesOfOthers},
	{"Replies/of a circle whose id is used again", reusedCircles},
	{"Replies/under a post that is reported again", repliesReported},
	{"Replies/under a post that is reported again late", repliesReportedLate},
	{"Replies/under a post to what is purged", repliesOfPurged},
	{"Replies/and events", repliesByEvents},
	{"Replies/imported", repliesImported},
	{"Replies/imported, refused", repliesNotImported},
	{"Changes/of every type", changesOfEveryType},
	{"Changes/pages and types", changePages},
	{"Changes/that change nothing", noChanges},
	{"Changes/by many at once", changesAtOnce},
	{"Changes/after a restart", changesAfterRestart},
	{"Changes/retention", changesRetention},
	{"Changes/retention, clocks that were wrong", changesRetentionClocks},
	{"Changes/bad cursors", badCursors},
	{"Notifications/of every kind", notificationsOfEveryKind},
	{"Notifications/of one's own acts", ownActs},
	{"Notifications/undone", undoneActs},
	{"Notifications/of what is hidden now", lostAudience},
	{"Notifications/seen", seenMarker},
	{"Notifications/again", notifiedAgain},
	{"Notifications/invited by the next owner", invitedByNextOwner},
	{"Notifications/kept", notificationsKept},
	{"Notifications/crowded", notificationsCrowded},
	{"Notifications/by many at once", notifiedByMany},
	{"Follows", follows},
	{"Follows/server", followServer},
	{"Follows/many at once", followAll},
	{"Follows/many at once, by many", followAllRace},
	{"Follows/blocks", blocks},
	{"Suggestions/friends", friends},
	{"Suggestions/friends of other systems", friendsOfOthers},
	{"Suggestions/whose follows", refusals},
	{"Suggestions/choices", choices},
	{"Suggestions/not recommended", notRecommended},
	{"Suggestions/newest authors", newestAuthors},
	{"Follows/suggestions", suggestions},
	{"Follows/who is not suggested", unsuggestable},
	{"Lists of agents/for readers", listsForReaders},
	{"Lists of agents/members", membersShown},
	{"Circles", circles},
	{"Circles/as they were put", circleAsPut},
	{"Likes", likes},
	{"Likes/of what is hidden now", likesOfHidden},
	{"Likes/and replies of authors to their own posts", ownReactions},
	{"Groups/posts of members", groups},
	{"Groups/terms", groupTerms},
	{"Groups/events", events},
	{"Groups/roles", roles},
	{"Groups/invitations", invitations},
	{"Groups/many invitations", manyInvitations},
	{"Groups/blocks", acrossBlocks},
	{"Groups/taken", groupsTaken},
	{"Groups/told of", groupsTold},
	{"Groups/left", groupsLeft},
	{"Removals", removals},
	{"Removals/from wider audiences", removalsFromWider},
	{"Removals/of replies", removedReplies},
	{"Removals/and events", removalsReported},
	{"Replies/closed later", closedReplies},
	{"Order/joinings and posts, clocks apart", joinedApart},
	{"Order/another system's clock", groupsApart},
	{"Order/of another system's posts", reportedInAnyOrder},
	{"Order/groups with one id", secondLife},
	{"Order/reported before a group was created", reportedThenTaken},
	{"Order/erasures, clocks apart", erasedApart},
	{"Order/an erasure, and a post that is reported again", reportedErased},
	{"Groups/consent", consent},
	{"Groups/refusals", refusedInvitations},
	{"Groups/invited", invitedList},
	{"Groups/events that are over", endedEvents},
	{"Groups/muted", mutes},
	{"Groups/muted for a time", timedMutes},
	{"Groups/muted invitations", mutedInviters},
	{"Groups/handed over", handedOver},
	{"Groups/handed over, blocks", acrossBlocksOfOwner},
	{"Groups/inherited", inherited},
	{"Groups/inherited at once", inheritedAtOnce},
	{"Groups/inherited by a reused id", inheritedByReused},
	{"Groups/patched", patched},
	{"Groups/patched at once", patchedAtOnce},
	{"Authors/patched", patchedAuthor},
	{"Follows/drawn", drawnFollowers},
	{"Likes/by author", affinities},
	{"Likes/listed", liked},
	{"Authors/cards", authors},
	{"Authors/counts of posts", postCounts},
	{"Authors/counts of posts, by many", countedAtOnce},
	{"Authors/cards of people", agentCards},
	{"Authors/celebrities", celebrities},
	{"Authors/erase author", eraseAuthor},
	{"Authors/erase agent", eraseAgent},
	{"Authors/erase agent, clocks apart", eraseAhead},
	{"Events/of a post in any order", postEvents},
	{"Events/of a follow in any order", followEvents},
	{"Events/of a circle in any order", circleEvents},
	{"Events/changes made here hold", clocksApart},
	{"Events/clock ahead", clockAhead},
	{"Jobs/of each change", jobsOfChanges},
	{"Jobs/classes", classes},
	{"Jobs/with the change or not at all", jobsSurvive},
	{"Lists/limits and bounds", listBounds},
	{"Lists/posts that arrive late", lateArrivals},
	{"Images/files of posts", files},
	{"Images/given up", filesGivenUp},
	{"Images/avatars", avatars},
	{"Images/avatars given up", avatarsGivenUp},
	{"Images/jobs", filesJobs},
	{"Images/idempotency key", filesKey},
	{"Promotions", promotions},
	{"Exports/records", exports},
	{"Exports/asked for at once", exportAskedAtOnce},
	{"Exports/of an agent who has done everything", exported},
	{"Exports/of long lists", exportPages},
	{"Promotions/bad", badPromotions},
	{"Purge", purge},
	{"many writers", manyWriters},
	{"cancelled context", cancelled},
}

// env is a backend and its clock.
type env struct {
	*testing.T
	Backend
	ctx   context.Context
	place Place
	mu    sync.Mutex
	now   time.Time
	skew  time.Duration // of the server that is called
}

// The celebrity thresholds in this suite.
const (
	celebrityAt    = 4
	celebrityUntil = 3
	keepChanges    = 72 * time.Hour

	keepNotifications = 150 * 24 * time.Hour
	mostNotifications = 60

	keepReports = 365 * 24 * time.Hour
)

func newEnv(t *testing.T, place New) *env {
	e := &env{T: t, ctx: t.Context(), now: time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)}
	e.place = place(t, social.Options{
		Clock: e.clock, QueueClock: e.time, CelebrityAt: celebrityAt, CelebrityUntil: celebrityUntil, KeepChanges: keepChanges,
		KeepNotifications: keepNotifications, MostNotifications: mostNotifications, KeepReports: keepReports,
	})
	e.Backend = e.place.Open()
	return e
}

func (e *env) clock() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now.Add(e.skew)
}

// time is the clock of the queue: the database has one.
func (e *env) time() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

func (e *env) pass(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = e.now.Add(d)
}

// purgeRows purges, and returns how many rows of all kinds were removed.
func (e *env) purgeRows(n int) int {
	e.Helper()
	return must[social.Purged](e)(e.Purge(e.ctx, n)).Total()
}

// ok fails the test if err is not nil.
func (e *env) ok(err error) {
	e.Helper()
	require.NoError(e, err)
}

// must returns the value of a call, and fails the test if the call returns an error.
func must[V any](e *env) func(V, error) V {
	return func(v V, err error) V {
		e.Helper()
		require.NoError(e, err)
		return v
	}
}

var here = time.Time{} // the time argument of a change by a local call instead of an event

func public() social.Audience                 { return social.Audience{Public: true} }
func followers() social.Audience              { return social.Audience{Followers: true} }
func inCircles(ids ...string) social.Audience { return social.Audience{Circles: ids} }
func (e *env) follow(agent, author string) {
	e.Helper()
	must[bool](e)(e.Follow(e.ctx, agent, author, here))
}

func (e *env) unfollow(agent, author string) {
	e.Helper()
	must[bool](e)(e.Unfollow(e.ctx, agent, author, here))
}
func (e *env) block(agent, other string) { e.Helper(); must[bool](e)(e.Block(e.ctx, agent, other)) }
func (e *env) putCircle(id, owner string, members ...string) {
	e.Helper()
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: id, Owner: owner}, append([]string{}, members...), here)))
}

// post creates a post and lets a second pass.
func (e *env) post(author string, a social.Audience, mentions ...string) social.Post {
	e.Helper()
	p := e.create(social.Post{Author: author, Caption: "by " + author, Audience: a, Mentions: mentions})
	e.pass(time.Second)
	return p
}

func (e *env) create(p social.Post) social.Post {
	e.Helper()
	post, created, err := e.CreatePost(e.ctx, p, social.Creation{})
	require.NoError(e, err)
	require.True(e, created)
	require.Equal(e, e.card(p.Author, post.ID), post.Card)
	return post.Post
}

// card reads one post for a reader.
// receivers reads a page of a post's receivers.
func (e *env) receivers(id, after string, n int) []social.Receiver {
	e.Helper()
	return must[[]social.Receivers](e)(e.Receivers(e.ctx, []social.ReceiverPage{{Post: id, After: after}}, n))[0].List
}

func (e *env) card(reader, id string) social.Card {
	e.Helper()
	list := must[[]social.Card](e)(e.Cards(e.ctx, reader, []social.PostVersion{{ID: id}}))
	require.Len(e, list, 1)
	require.Equal(e, list, must[[]social.Card](e)(e.CardsOf(e.ctx, []social.Asked{{Reader: reader, ID: id}})))
	require.Equal(e, id, list[0].ID)
	return list[0]
}

// row reads a stored post, and its state, which must be the same.
func (e *env) row(id string) social.Post {
	e.Helper()
	p := must[[]social.Post](e)(e.PostsByID(e.ctx, []string{id}))[0]
	require.Equal(e, []social.PostState{{}, p.State()}, must[[]social.PostState](e)(e.PostStates(e.ctx, []string{"post:unknown", id})))
	return p
}

func (e *env) info(reader, author string) social.AuthorInfo {
	e.Helper()
	return must[social.AuthorInfo](e)(e.Author(e.ctx, reader, author))
}

// dirty lists the waiting jobs, as "kind key", and completes them.
func (e *env) dirty() []string {
	e.Helper()
	e.pass(jobs.CountDelay)
	out := []string{}
	for {
		list := must[[]jobs.Job](e)(e.Lease(e.ctx, 1000, time.Minute))
		if len(list) == 0 {
			return out
		}
		for _, j := range list {
			out = append(out, fmt.Sprintf("%s %s", j.Kind, j.Key))
			must[[]jobs.State](e)(e.Done(e.ctx, j))
		}
	}
}

func entryIDs(list []social.Entry) []string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.ID
	}
	return out
}

// PutCircle stores a circle, and fails the test if that fails.
func PutCircle(t require.TestingT, s social.Circles, c social.Circle, members []string, at time.Time) {
	if h, ok := t.(interface{ Helper() }); ok {
		h.Helper()
	}
	_, err := s.PutCircle(context.Background(), c, members, at)
	require.NoError(t, err)
}
