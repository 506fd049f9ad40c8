package socialtest

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// The network of the rights matrices: every kind of post and every reader. The expected access is
// written by hand, independent of the rules that it tests.

// Readers lists a reader for each relation to "author". "nobody" and "admin" send no agent id;
// "admin" has the admin token.
var Readers = []string{
	"author", "follower", "former-follower", "member", "former-member", "mentioned",
	"blocked", "blocker", "muter", "server-follower", "stranger", "nobody", "admin",
	// For groups: the owner of an event that the author is in, an agent who joined after the posts,
	// an invited agent, and an erased follower and member.
	"founder", "latecomer", "invited", "erased",
}

// RightsPost is a kind of post with the rights of the readers.
type RightsPost struct {
	Post    social.Post
	Sees    []string // readers who may read it by its id
	All     bool     // all readers may read it, except those with a block
	InTheir []string // readers who have it in their timeline, apart from mutes
	Owners  []string // readers who may edit and delete it
	Later   []string // readers who would also see it if it were published after [Network]
	Deleted bool
}

// RightsPosts returns the posts that [Network] stores, by kind. The caller must delete those that
// are Deleted.
func RightsPosts() map[string]RightsPost {
	const elsewhere = "elsewhere.example"
	remote := func(p social.Post) social.Post {
		p.Origin = elsewhere
		return p
	}
	followers := social.Audience{Followers: true}
	return map[string]RightsPost{
		"public": {
			Post: social.Post{Audience: social.Audience{Public: true}, Mentions: []string{"mentioned"}}, All: true,
			InTheir: []string{"author", "follower", "muter", "server-follower", "mentioned"}, Owners: []string{"author", "admin"},
		},
		"followers": {
			Post: social.Post{Audience: followers, React: social.RightAudience}, Sees: []string{"author", "follower", "muter"},
			InTheir: []string{"author", "follower", "muter"}, Owners: []string{"author", "admin"},
		},
		"circle": {
			Post: social.Post{Audience: social.Audience{Circles: []string{"c1"}}, React: social.RightAudience}, Sees: []string{"author", "member"},
			InTheir: []string{"author", "member"}, Owners: []string{"author", "admin"},
		},
		"mention": {
			Post: social.Post{Mentions: []string{"mentioned", "blocked", "blocker"}, React: social.RightAudience}, Sees: []string{"author", "mentioned"},
			InTheir: []string{"author", "mentioned"}, Owners: []string{"author", "admin"},
		},
		"remote": {
			Post: remote(social.Post{Audience: followers, React: social.RightAudience}), Sees: []string{"follower", "muter"},
			InTheir: []string{"follower", "muter"}, Owners: []string{"admin"},
		},
		"remote-granted": {
			Post: remote(social.Post{Audience: followers, React: social.RightAudience, Grants: []string{"follower", "stranger", "member"}}),
			Sees: []string{"follower", "muter"}, InTheir: []string{"follower", "muter"}, Owners: []string{"admin"},
		},
		"group": {
			Post: social.Post{Audience: social.Audience{Circles: []string{"g1"}}, React: social.RightAudience}, Sees: []string{"author", "member"},
			InTheir: []string{"author", "member"}, Owners: []string{"author", "admin"}, Later: []string{"latecomer"},
		},
		"group-history": {
			Post: social.Post{Audience: social.Audience{Circles: []string{"g2"}}}, Sees: []string{"author", "member", "latecomer"},
			InTheir: []string{"author", "member", "latecomer"}, Owners: []string{"author", "admin"},
		},
		"event": {
			Post: social.Post{Audience: social.Audience{Circles: []string{"e1"}}}, Sees: []string{"author", "member", "founder"},
			InTheir: []string{"author", "member", "founder"}, Owners: []string{"author", "admin"}, Later: []string{"latecomer"},
		},
		"group-reply":         {Post: social.Post{ReplyTo: "post:group", Mentions: []string{"latecomer", "invited"}}, Sees: []string{"author", "member"}, Owners: []string{"author", "admin"}},
		"group-history-reply": {Post: social.Post{ReplyTo: "post:group-history", Mentions: []string{"stranger"}}, Sees: []string{"author", "member", "latecomer"}, Owners: []string{"author", "admin"}},
		"event-reply":         {Post: social.Post{ReplyTo: "post:event", Mentions: []string{"stranger"}}, Sees: []string{"author", "member", "founder"}, Owners: []string{"author", "admin"}},
		"public-reply":        {Post: social.Post{ReplyTo: "post:public", Mentions: []string{"blocked"}}, All: true, Owners: []string{"author", "admin"}},
		"followers-reply":     {Post: social.Post{ReplyTo: "post:followers", Mentions: []string{"stranger"}}, Sees: []string{"author", "follower", "muter"}, Owners: []string{"author", "admin"}},
		"circle-reply":        {Post: social.Post{ReplyTo: "post:circle", Mentions: []string{"stranger"}}, Sees: []string{"author", "member"}, Owners: []string{"author", "admin"}},
		"mention-reply":       {Post: social.Post{ReplyTo: "post:mention", Mentions: []string{"stranger"}}, Sees: []string{"author", "mentioned"}, Owners: []string{"author", "admin"}},
		"deleted":             {Post: social.Post{Audience: social.Audience{Public: true}, Mentions: []string{"mentioned"}}, Deleted: true},
	}
}

// Visible reports whether the reader may read the post by its id.
func (p RightsPost) Visible(reader string) bool {
	if p.All {
		return reader != "blocked" && reader != "blocker"
	}
	return slices.Contains(p.Sees, reader)
}

// OnPage reports whether the reader sees the post on its author's page.
func (p RightsPost) OnPage(reader string) bool {
	return p.Visible(reader) && (p.Post.ReplyTo == "" || p.All || reader == "author")
}

// Unanswered reports whether the post has no replies.
func (p RightsPost) Unanswered() bool { return p.Post.ReplyTo != "" || p.Post.Remote() || p.Deleted }

// Listed reports whether the post is in the reader's timeline, where mutes hide it.
func (p RightsPost) Listed(reader string) bool {
	return slices.Contains(p.InTheir, reader) && reader != "muter"
}

// Likeable reports whether the reader may like the post.
func (p RightsPost) Likeable(kind, reader string) bool {
	if strings.HasPrefix(kind, "remote") {
		return kind == "remote-granted" && reader == "follower"
	}
	return p.Visible(reader)
}

// Secret is the prefix of every text that [Network] stores in posts and cards.
const Secret = "secret-of-"

// SecretOf returns the caption and alternative text that only the post of this kind has.
func SecretOf(kind string) string { return Secret + kind }

// Tag is the tag of all posts of [Network].
const Tag = "rights"

// Network stores the readers' relations, and one post of each kind.
func Network(t *testing.T, store social.Store) {
	t.Helper()
	ctx := t.Context()
	var here time.Time
	for _, agent := range []string{"follower", "former-follower", "muter", "blocked", "blocker"} {
		_, err := store.Follow(ctx, agent, "author", here)
		require.NoError(t, err)
	}
	_, err := store.Unfollow(ctx, "former-follower", "author", here)
	require.NoError(t, err)
	for _, agent := range []string{"server-follower", "blocked"} {
		_, err := store.Follow(ctx, agent, social.Server, here)
		require.NoError(t, err)
	}
	require.NoError(t, second(store.PutCircle(ctx, social.Circle{ID: "c1", Owner: "author"}, []string{"member", "former-member", "blocked", "blocker"}, here)))
	_, err = store.RemoveMember(ctx, "c1", "former-member", "author", here)
	require.NoError(t, err)
	for agent, other := range map[string]string{"author": "blocked", "blocker": "author"} {
		_, err := store.Block(ctx, agent, other)
		require.NoError(t, err)
	}
	rightsGroups(t, store)
	require.NoError(t, store.PutAuthor(ctx, social.Author{ID: "author", Bio: SecretOf("bio")}, here))
	all := RightsPosts()
	kinds := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return strings.Compare(all[a].Post.ReplyTo, all[b].Post.ReplyTo) })
	for _, kind := range kinds { // replies come last
		p := all[kind].Post
		p.ID, p.Author, p.Caption, p.Tags = "post:"+kind, "author", SecretOf(kind), []string{Tag}
		p.Images = []social.Image{{URL: kind, Width: 1, Height: 1, Alt: SecretOf(kind)}}
		_, _, err := store.CreatePost(ctx, p, social.Creation{})
		require.NoError(t, err)
	}
	for _, circle := range []string{"g1", "g2", "e1"} {
		_, err := store.AddMember(ctx, circle, "latecomer", "latecomer", here)
		require.NoError(t, err)
	}
}

// rightsGroups creates groups of the author, and an event that the author is in together with the
// two agents across a block.
func rightsGroups(t *testing.T, store social.Store) {
	t.Helper()
	ctx := t.Context()
	var here time.Time
	until := time.Now().Add(24 * time.Hour).Unix()
	for _, c := range []social.Circle{
		{ID: "g1", Owner: "author", CircleTerms: social.CircleTerms{Kind: social.KindGroup}},
		{ID: "g2", Owner: "author", CircleTerms: social.CircleTerms{Kind: social.KindGroup, History: social.HistoryAll}},
		{ID: "e1", Owner: "founder", CircleTerms: social.CircleTerms{Kind: social.KindEvent}, Until: until},
	} {
		members := []string{"member", "former-member", "erased"}
		if c.Owner == "founder" {
			members = append(members, "author", "blocked", "blocker")
		}
		require.NoError(t, second(store.PutCircle(ctx, c, members, here)))
		_, err := store.RemoveMember(ctx, c.ID, "former-member", "former-member", here)
		require.NoError(t, err)
		for _, guest := range []string{"invited", "latecomer"} {
			_, err := store.Invite(ctx, c.ID, guest, c.Owner)
			require.NoError(t, err)
		}
	}
	_, err := store.Follow(ctx, "erased", "author", here)
	require.NoError(t, err)
	require.NoError(t, store.EraseAgent(ctx, "erased"))
}

// liked checks the list of what an agent likes: the newest like first, by pages.
func liked(e *env) {
	var want []string
	for _, author := range []string{"a", "b", "a"} {
		p := e.post(author, public())
		e.like("m", p.ID)
		want = slices.Insert(want, 0, p.ID)
		e.like("other", p.ID)
		e.pass(time.Second)
	}
	list := func(below social.Position, n int) (ids []string, last social.Position) {
		for _, entry := range must[[]social.Entry](e)(e.Liked(e.ctx, "m", below, n)) {
			ids, last = append(ids, entry.ID), entry.Position
		}
		return ids, last
	}
	all, _ := list(social.Position{}, 10)
	require.Equal(e, want, all)
	first, at := list(social.Position{}, 2)
	require.Equal(e, want[:2], first)
	rest, at := list(at, 2)
	require.Equal(e, want[2:], rest)
	rest, _ = list(at, 2)
	require.Empty(e, rest)
	e.like("m", want[1])
	all, _ = list(social.Position{}, 10)
	require.Equal(e, want, all, "a like that is repeated keeps its time")
	e.unlike("m", want[1])
	e.ok(e.DeletePost(e.ctx, want[2], "a", here))
	all, _ = list(social.Position{}, 10)
	require.Equal(e, []string{want[0], want[2]}, all, "cards say what can be seen")
	e.ok(e.EraseAgent(e.ctx, "m"))
	all, _ = list(social.Position{}, 10)
	require.Empty(e, all)
}

// affinities checks the counts of an agent's likes and replies by author since a time.
func affinities(e *env) {
	like := func(agent, author string, n int) (posts []social.Post) {
		for range n {
			p := e.post(author, public())
			e.like(agent, p.ID)
			posts = append(posts, p)
		}
		return posts
	}
	before := e.clock()
	like("m", "old", 2)
	e.pass(time.Hour)
	since := e.clock()
	gone := like("m", "ann", 3)[0]
	like("m", "bob", 1)
	like("other", "ann", 1)
	e.unlike("m", like("m", "cid", 1)[0].ID)
	e.ok(e.DeletePost(e.ctx, gone.ID, "ann", here))
	require.Equal(e, map[string]int{"ann": 3, "bob": 1}, must[map[string]int](e)(e.Affinities(e.ctx, "m", since)))
	require.Equal(e, map[string]int{"ann": 3, "bob": 1, "old": 2}, must[map[string]int](e)(e.Affinities(e.ctx, "m", before)))
	require.Empty(e, must[map[string]int](e)(e.Affinities(e.ctx, "nobody", before)))

	root, over := e.post("dan", public()), e.post("ann", public())
	first := e.reply("other", root.ID)
	e.reply("m", first.ID) // counts for the author of the root
	e.reply("m", root.ID)
	removed := e.reply("m", root.ID)
	e.ok(e.DeletePost(e.ctx, removed.ID, "m", here))
	e.reply("m", over.ID)
	require.Equal(e, map[string]int{"ann": 4, "bob": 1, "dan": 2}, must[map[string]int](e)(e.Affinities(e.ctx, "m", since)))
	e.ok(e.DeletePost(e.ctx, over.ID, "ann", here))
	e.reply("m", e.post("m", public()).ID)
	require.Equal(e, map[string]int{"ann": 3, "bob": 1, "dan": 2}, must[map[string]int](e)(e.Affinities(e.ctx, "m", since)))
	e.pass(time.Minute)
	require.Empty(e, must[map[string]int](e)(e.Affinities(e.ctx, "m", e.clock())), "all interactions are older")
	e.ok(e.EraseAgent(e.ctx, "m"))
	require.Empty(e, must[map[string]int](e)(e.Affinities(e.ctx, "m", before)))
}

// drawnFollowers checks that each agent who follows somebody is drawn once.
func drawnFollowers(e *env) {
	for _, pair := range [][2]string{{"a", "b"}, {"a", "c"}, {"b", "c"}, {"d", "a"}, {"gone", "a"}} {
		e.follow(pair[0], pair[1])
	}
	must[bool](e)(e.Unfollow(e.ctx, "gone", "a", here))
	require.ElementsMatch(e, []string{"a", "b", "d"}, must[[]string](e)(e.DrawFollowers(e.ctx, 10)))
	require.Len(e, must[[]string](e)(e.DrawFollowers(e.ctx, 2)), 2)
}
