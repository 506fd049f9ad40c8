package handler

import (
	"context"
	"fmt"
	"mime/multipart"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/media"
)

// MaxAvatarBody limits the form with an author's avatar, in bytes.
const MaxAvatarBody = media.MaxBytes + 64<<10

// putAvatar answers PUT /v1/authors/{id}/image with the stored card. Like a post with images, it runs
// outside the gate of agents' calls until the card is written.
func (s *server) putAvatar(c *call) error {
	author, err := s.owner("id")(c)
	if err != nil {
		return err
	}
	if err := c.noQuery(); err != nil {
		return err
	}
	images := s.deps.Social.Images
	switch {
	case images == nil:
		return errNoImages
	case !hasFiles(c.gin.Request):
		return feed.Errorf(feed.ErrType, "send the image as multipart/form-data, in the field image")
	}
	u, err := s.pictures.enter(author)
	if err != nil {
		return err
	}
	defer u.leave()
	extendDeadlines(c.gin.Writer, c.gin.Request, imageTime)
	file, err := c.readAvatar(u)
	if err != nil {
		return err
	}
	// The time for the answer begins when the client has sent the whole body.
	extendDeadlines(c.gin.Writer, c.gin.Request, imageTime+releaseTime)
	ctx, cancel := context.WithTimeout(c.gin.Request.Context(), imageTime)
	defer cancel()
	made, err := images.Make(ctx, file)
	if err != nil {
		return err
	}
	card, err := s.saveAvatar(ctx, c, author, made)
	if err != nil {
		return err
	}
	return c.succeed(card)
}

// readAvatar reads the field image of a form, which must be its only one.
func (c *call) readAvatar(u *imageUpload) ([]byte, error) {
	files, err := c.readForm(u, MaxAvatarBody, 1, func(part *multipart.Part) error {
		return fmt.Errorf("%w: unexpected form field %.40q; send only the field image", feed.ErrInvalid, part.FormName())
	})
	switch {
	case err != nil:
		return nil, err
	case len(files) == 0:
		return nil, fmt.Errorf("%w: the form has no field image; send it with the file", feed.ErrInvalid)
	}
	return files[0], nil
}

// saveAvatar stores an image and then the card with it, or neither.
func (s *server) saveAvatar(ctx context.Context, c *call, author string, made media.Image) (card social.Author, err error) {
	key, err := s.deps.Social.Images.SaveAvatar(ctx, author, made)
	if err != nil {
		return card, err
	}
	defer func() {
		if err != nil {
			s.release(ctx, social.AvatarOwner(author, key))
		}
	}()
	gated, err := s.gated(c)
	if err != nil {
		return card, err
	}
	card, err = s.deps.Social.Store.PutAvatar(gated, author, key)
	c.done()
	return card, err
}
