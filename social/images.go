package social

import (
	"context"
	"regexp"
	"strings"
	"time"
)

// ImagePath is the prefix of the URL of every image on this server; its key follows.
const ImagePath = "/media/"

// ReservedFor is how long files stay reserved for an owner that is not created: longer than any
// request takes.
const ReservedFor = time.Hour

// avatarPrefix begins the owner of the file of an avatar. No id of a post begins with it.
const avatarPrefix = "avatar:"

// AvatarOwner returns the owner of the file of an author's avatar: each upload has one of its own, so
// that concurrent uploads of an author have nothing to do with each other. No agent's id has a space.
func AvatarOwner(author, key string) string { return avatarPrefix + author + " " + key }

// IsAvatar reports whether an owner of files is an avatar and not a post.
func IsAvatar(owner string) bool { return strings.HasPrefix(owner, avatarPrefix) }

// avatarKey matches the key at the end of the address of an image of a server.
var avatarKey = regexp.MustCompile(ImagePath + `([0-9a-f]{32})$`)

// AvatarKey returns the key of an image of this server that a card refers to, by its path or by an
// address that ends in it, as an app may send back; "" for any other address.
func AvatarKey(imageURL string) string {
	m := avatarKey.FindStringSubmatch(imageURL)
	if m == nil {
		return ""
	}
	return m[1]
}

// Images records which file of the blob store belongs to which post or avatar, its owner. A file is
// reserved before it is stored, so that every stored file has a row. Keys are the blob store's.
type Images interface {
	// ReserveFiles records files that are about to be stored for a post that will be created with
	// [Creation.Files], or for an avatar ([AvatarOwner]) of [Authors.PutAvatar], and enqueues an images
	// job of the owner that runs after [ReservedFor]. Keys that are already recorded are feed.ErrInvalid.
	ReserveFiles(ctx context.Context, owner string, keys []string) error

	// FileOwner returns the post or the avatar that a file belongs to, or feed.ErrNotFound, also if
	// the post is not created yet, or deleted, or the avatar replaced.
	FileOwner(ctx context.Context, key string) (owner string, err error)

	// UnusedFiles returns the files of an owner that was never created, or is deleted. Afterwards it
	// cannot be created with them. It returns none for an owner that uses its files.
	UnusedFiles(ctx context.Context, owner string) (keys []string, err error)

	// DropFiles removes the records of files that are no longer stored, except those of an owner that
	// exists.
	DropFiles(ctx context.Context, keys []string) error
}

// The states of a file, as backends store them.
const (
	FileReserved = iota // the post is not created yet, or the avatar not put
	FileUsed            // it belongs to a post or a card
	FileUnused          // it can be removed
)
