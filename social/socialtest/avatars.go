package socialtest

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// avatarKeys are keys of images, as the blob store has them.
var avatarKeys = [...]string{strings.Repeat("a1", 16), strings.Repeat("b2", 16), strings.Repeat("c3", 16)}

// avatar uploads an avatar: it reserves the file and puts it.
func (e *env) avatar(author, key string) social.Author {
	e.Helper()
	e.ok(e.ReserveFiles(e.ctx, social.AvatarOwner(author, key), []string{key}))
	return must[social.Author](e)(e.PutAvatar(e.ctx, author, key))
}

// removes checks that the file of an avatar is unused, and that a job removes it.
func (e *env) removes(author, key string) {
	e.Helper()
	e.noFile(key)
	owner := social.AvatarOwner(author, key)
	require.Contains(e, e.dirty(), "images "+owner)
	require.Equal(e, []string{key}, e.unused(owner))
}

// uses checks that a file belongs to an author's avatar, and that no job removes it.
func (e *env) uses(author, key string) {
	e.Helper()
	owner := social.AvatarOwner(author, key)
	require.Equal(e, owner, e.fileOwner(key))
	e.pass(2 * social.ReservedFor)
	require.NotContains(e, e.dirty(), "images "+owner)
	require.Empty(e, e.unused(owner))
	require.Equal(e, owner, e.again().fileOwner(key), "as another server reads it")
}

func (e *env) patched(author string, patch func(*social.Author)) {
	e.Helper()
	_, err := e.PatchAuthor(e.ctx, author, func(a social.Author) (social.Author, error) {
		patch(&a)
		return a, nil
	})
	e.ok(err)
}

// avatars checks that the file of an avatar is kept as long as the card has it, whatever changes the card.
func avatars(e *env) {
	no := false
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "ann", Name: "Ann", Bio: "Rain", ImageURL: "https://example.com/a.jpg", Recommend: &no}, here))
	first, second, third := avatarKeys[0], avatarKeys[1], avatarKeys[2]
	want := social.Author{ID: "ann", Name: "Ann", Bio: "Rain", ImageURL: "/media/" + first, Recommend: &no}
	require.Equal(e, want, e.avatar("ann", first), "the rest of the card stays")
	require.Equal(e, want.ImageURL, e.info("bob", "ann").ImageURL)
	require.True(e, social.IsAvatar(e.fileOwner(first)))
	e.uses("ann", first)

	// What an app sends back, also with the server's address, is no change.
	e.patched("ann", func(a *social.Author) { a.Name = "Ann C." })
	e.uses("ann", first)
	e.patched("ann", func(a *social.Author) { a.ImageURL = "https://api.example.com/media/" + first })
	e.uses("ann", first)
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "ann", ImageURL: "/media/" + first}, e.clock().Add(-30*time.Hour)))
	e.uses("ann", first)
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "ann", ImageURL: "https://example.com/old.jpg"}, e.clock().Add(-30*time.Hour)))
	e.uses("ann", first) // the event is older than the card

	e.avatar("ann", second)
	e.removes("ann", first)
	e.uses("ann", second)
	e.patched("ann", func(a *social.Author) { a.ImageURL = "" })
	e.removes("ann", second)
	e.avatar("ann", third)
	e.pass(time.Second)
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "ann", Name: "Ann"}, e.clock()))
	e.removes("ann", third)
	require.Empty(e, e.info("bob", "ann").ImageURL, "an event replaces the card as a whole")

	e.ok(e.DropFiles(e.ctx, []string{first, second}))
	for key, erase := range map[string]func() error{
		first:  func() error { return e.EraseAuthor(e.ctx, "ann") },
		second: func() error { return e.EraseAgent(e.ctx, "ann") },
	} {
		e.pass(time.Second)
		e.avatar("ann", key)
		e.pass(time.Second)
		e.ok(erase())
		e.removes("ann", key)
		e.ok(erase())
	}
}

// avatarsGivenUp checks that only an upload makes a file an avatar: neither its address, nor a file that
// the images job has given up, and that uploads do not disturb each other.
func avatarsGivenUp(e *env) {
	ours, theirs, late := avatarKeys[0], avatarKeys[1], avatarKeys[2]
	e.avatar("bob", theirs)
	e.patched("ann", func(a *social.Author) { a.ImageURL = "/media/" + theirs })
	e.patched("ann", func(a *social.Author) { a.ImageURL = "" })
	e.uses("bob", theirs)
	e.patched("ann", func(a *social.Author) { a.ImageURL = "/media/" + theirs })
	e.ok(e.EraseAgent(e.ctx, "ann"))
	e.uses("bob", theirs)
	mustCreate(e)(e.photo("post:1", "ann", late))
	e.patched("ann", func(a *social.Author) { a.ImageURL = "/media/" + late })
	e.patched("ann", func(a *social.Author) { a.ImageURL = "" })
	require.Equal(e, "post:1", e.fileOwner(late), "it is that of the post")

	_, err := e.PutAvatar(e.ctx, "ann", theirs)
	require.ErrorIs(e, err, social.ErrUnavailable)
	_, err = e.PutAvatar(e.ctx, "ann", late)
	require.ErrorIs(e, err, social.ErrUnavailable)
	require.ErrorIs(e, e.ReserveFiles(e.ctx, social.AvatarOwner("ann", theirs), []string{theirs}), feed.ErrInvalid)

	owner := social.AvatarOwner("ann", ours)
	e.ok(e.ReserveFiles(e.ctx, owner, []string{ours}))
	e.noFile(ours)
	e.pass(social.ReservedFor)
	require.Contains(e, e.dirty(), "images "+owner)
	require.Equal(e, []string{ours}, e.unused(owner))
	_, err = e.PutAvatar(e.ctx, "ann", ours)
	require.ErrorIs(e, err, social.ErrUnavailable, "it may be removed at any moment")
	require.Empty(e, e.info("ann", "ann").ImageURL)
	e.ok(e.DropFiles(e.ctx, []string{ours}))

	// Two uploads at once: the one that is put first keeps its reservation when the job of the other runs.
	other := social.AvatarOwner("ann", ours)
	e.ok(e.ReserveFiles(e.ctx, other, []string{ours}))
	mine := strings.Repeat("d4", 16)
	e.avatar("ann", mine)
	require.Empty(e, e.unused(social.AvatarOwner("ann", mine)))
	must[social.Author](e)(e.PutAvatar(e.ctx, "ann", ours))
	e.removes("ann", mine)
	e.uses("ann", ours)
}
