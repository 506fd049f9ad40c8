package handler

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/media"
)

const (
	// imageTime limits the processing of a post with images, and the transfer of an image.
	imageTime = 2 * time.Minute
	// releaseTime limits the removal of a failed call's stored images.
	releaseTime = 10 * time.Second
	// MaxImagesBody has room for one image more than allowed, so that a call with eleven gets a
	// specific error.
	MaxImagesBody = (social.MaxImages+1)*media.MaxBytes + MaxPostBody + 64<<10
)

// Images processes and stores the images of posts and cards. The methods are those of [media.Processor] and
// [media.Files].
type Images interface {
	Make(ctx context.Context, file []byte) (media.Image, error)
	Save(ctx context.Context, post string, images []media.Image) (saved []social.Image, files int, err error)
	SaveAvatar(ctx context.Context, author string, m media.Image) (key string, err error)
	Release(ctx context.Context, owner string) error
	Owner(ctx context.Context, key string) (string, error)
	Open(ctx context.Context, key string) (media.Reader, error)
}

func (s *server) imageRoutes(route router) {
	route(http.MethodGet, social.ImagePath+":key", s.getImage)
}

var errNoImages = feed.Errorf(feed.ErrType, "this server does not accept images, because media.url is not set")

// hasFiles reports whether a body may contain files.
func hasFiles(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "multipart/form-data"
}

// createWithImages answers POST /v1/posts with files. Nothing is stored until all images are
// processed and the post is valid. It runs outside the gate of agents' calls until the post
// itself is written: images take long, and must not occupy the capacity for feeds.
func (s *server) createWithImages(c *call, author, key string) error {
	images := s.deps.Social.Images
	if images == nil {
		return errNoImages
	}
	u, err := s.pictures.enter(author)
	if err != nil {
		return err
	}
	defer u.leave()
	extendDeadlines(c.gin.Writer, c.gin.Request, imageTime)
	in, files, err := c.readPost(u)
	if err != nil {
		return err
	}
	// The time for the answer begins when the client has sent the whole body.
	extendDeadlines(c.gin.Writer, c.gin.Request, imageTime+releaseTime)
	p, err := s.newPost(in, author, files)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.gin.Request.Context(), imageTime)
	defer cancel()
	made := make([]media.Image, len(files))
	for i := range files {
		if made[i], err = images.Make(ctx, files[i]); err != nil {
			return fmt.Errorf("image %d: %w", i+1, err)
		}
		if err := u.hold(len(made[i].Full.Data) + len(made[i].Thumb.Data) - len(files[i])); err != nil {
			return err
		}
		files[i] = nil
	}
	return s.savePost(ctx, c, p, made, key)
}

// newPost returns the complete post without the keys of its images, so that it is validated
// before the images are processed.
func (s *server) newPost(in postBody, author string, files [][]byte) (p social.Post, err error) {
	n := len(in.Images)
	if n > 0 && n != len(files) {
		return p, feed.Errorf(feed.ErrRule, "bad post: images describes %d images, but %d were sent", n, len(files))
	}
	if p, err = in.post(author); err != nil {
		return p, err
	}
	p.Images = make([]social.Image, len(files))
	for i := range in.Images {
		p.Images[i].Alt = in.Images[i].Alt
	}
	now := s.cfg.Clock()
	p.CreatedAt = now.Unix()
	if p.ID, err = social.NewPostID(now, rand.Reader); err != nil {
		return p, err
	}
	p.Normalize()
	return p, p.Validate(now)
}

// savePost stores the images and then the post, or neither.
func (s *server) savePost(ctx context.Context, c *call, p social.Post, made []media.Image, key string) error {
	planned, created, files := p.ID, false, 0
	if len(made) > 0 {
		saved, n, err := s.deps.Social.Images.Save(ctx, planned, made)
		if err != nil {
			return err
		}
		files = n
		defer func() {
			if !created {
				s.release(ctx, planned)
			}
		}()
		for i := range saved {
			saved[i].Alt = p.Images[i].Alt
		}
		p.Images = saved
	}
	return s.answerPost(c, p, social.Creation{Key: key, Files: files}, &created)
}

// release removes the images of a post or an avatar that was not created. If that fails, the job of
// the owner removes them later.
func (s *server) release(ctx context.Context, owner string) {
	ctx, cancel := context.WithTimeout(social.WithActor(context.WithoutCancel(ctx), social.Actor{}), releaseTime)
	defer cancel()
	if err := s.deps.Social.Images.Release(ctx, owner); err != nil {
		s.log.WarnContext(ctx, "cannot remove the images of a call that failed; a job removes them later", "error", err)
	}
}

// readPost reads the fields post and image of a form, without decoding the files. Errors are
// those of readJSON, [feed.ErrRule] for too many files, and [feed.ErrBusy] without free memory.
func (c *call) readPost(u *imageUpload) (in postBody, files [][]byte, err error) {
	described := false
	files, err = c.readForm(u, MaxImagesBody, social.MaxImages, func(part *multipart.Part) error {
		if part.FormName() != "post" || described {
			return fmt.Errorf("%w: unexpected form field %.40q; send the field post once and the field image for each image", feed.ErrInvalid, part.FormName())
		}
		described = true
		return c.readDescription(part, &in)
	})
	if err == nil && !described {
		err = fmt.Errorf(`%w: the form has no field post; send it with the post as JSON, such as {"caption":"…"}`, feed.ErrInvalid)
	}
	return in, files, err
}

// readForm reads a form of at most limit bytes with the field image for each of at most most files. other
// reads any other field.
func (c *call) readForm(u *imageUpload, limit, most int, other func(*multipart.Part) error) (files [][]byte, err error) {
	r := c.gin.Request
	enc := contentEncoding(r)
	if enc != "" {
		return nil, encoded(enc)
	}
	if r.ContentLength > int64(limit) {
		return nil, tooLarge("the body", limit)
	}
	body := &bounded{r: r.Body, left: int64(limit)}
	r.Body = io.NopCloser(io.MultiReader(body, strings.NewReader("\r\n"), cutOff{}))
	form, err := r.MultipartReader()
	if err != nil {
		return nil, fmt.Errorf("%w: the form cannot be read: %w", feed.ErrInvalid, err)
	}
	for {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, c.badForm(body, limit, err)
		}
		image := part.FormName() == "image"
		switch {
		case image && len(files) == most:
			err = feed.Errorf(feed.ErrRule, "too many images: the form may have no more than %d", most)
		case image:
			var file []byte
			file, err = readImage(part, u)
			files = append(files, file)
		default:
			err = other(part)
		}
		if err != nil {
			return nil, c.badForm(body, limit, err)
		}
	}
}

// cutOff follows the form's body: reading it means that the final boundary was missing.
// [multipart.Reader] would take the end of a body truncated between two parts for the end of the
// form. The line end before it is the one that the last boundary may lack.
type cutOff struct{}

func (cutOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func (c *call) readDescription(part *multipart.Part, in *postBody) error {
	raw, err := readPart(part, "the field post", MaxPostBody)
	if err != nil {
		return err
	}
	return decode(raw, in, postFilled...)
}

// readImage reserves memory for the largest image until it knows the size.
func readImage(part *multipart.Part, u *imageUpload) ([]byte, error) {
	if err := u.hold(media.MaxBytes); err != nil {
		return nil, err
	}
	file, err := readPart(part, "an image", media.MaxBytes)
	return file, cmp.Or(err, u.hold(len(file)-media.MaxBytes))
}

func readPart(part *multipart.Part, what string, most int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(part, int64(most)+1))
	if err == nil && len(data) > most {
		err = tooLarge(what, most)
	}
	return data, err
}

// badForm returns the error for a form that could not be read completely.
func (c *call) badForm(body *bounded, limit int, err error) error {
	switch {
	case errors.Is(body.err, feed.ErrTooLarge):
		return tooLarge("the body", limit)
	case body.err != nil:
		return c.unreadable(body.err)
	case problemOf(err).status != http.StatusInternalServerError:
		return err
	}
	return fmt.Errorf("%w: the form cannot be read: %w", feed.ErrInvalid, err)
}

// Headers of images. An image never changes under its key.
var (
	forAllForever = []string{"public, max-age=31536000, immutable"}
	callersVary   = []string{callerHeaders}
)

// getImage answers GET and HEAD /media/{key}: for everyone if it is an avatar or the post is public, else
// for readers who may see it. It does not count towards the rate limit, because a page shows many
// images.
func (s *server) getImage(c *call) error {
	images := s.deps.Social.Images
	if images == nil {
		return feed.ErrNotFound
	}
	if err := s.shown.enter(1); err != nil {
		return err
	}
	defer s.shown.leave(1)
	reader, err := s.auth.reader(c.gin.Request)
	if err != nil {
		return err
	}
	c.agent = reader
	key := c.gin.Param("key")
	public, err := s.mayShow(c, reader, key)
	if err != nil {
		return err
	}
	// The request timeout applies to the start of the answer, not to its transfer.
	ctx, cancel := context.WithTimeout(c.gin.Request.Context(), imageTime)
	defer cancel()
	late := time.AfterFunc(s.cfg.RequestTimeout, cancel)
	file, err := images.Open(ctx, key)
	inTime := late.Stop()
	if !inTime && err == nil {
		err = errors.Join(media.ErrUnavailable, file.Close())
	}
	if err != nil {
		if ctx.Err() != nil && !c.gone() {
			err = fmt.Errorf("%w: %w", media.ErrUnavailable, err)
		}
		return err
	}
	defer func() { _ = file.Close() }()
	extendDeadlines(c.gin.Writer, c.gin.Request, imageTime)
	h := c.gin.Writer.Header()
	h["Cache-Control"], h["X-Content-Type-Options"] = forAllForever, noSniff
	if public {
		h["Cross-Origin-Resource-Policy"] = crossOrigin // pages with Cross-Origin-Embedder-Policy may show it
	} else {
		h["Cache-Control"], h["Vary"] = forCaller, callersVary
	}
	h["Etag"] = []string{`"` + key + `"`}
	h["Content-Type"] = []string{file.ContentType()}
	keepPlainRange(c.gin.Request.Header)
	w := &refusing{ResponseWriter: c.gin.Writer}
	http.ServeContent(w, c.gin.Request, "", time.Time{}, file)
	if w.refused {
		return problem{
			status: http.StatusRequestedRangeNotSatisfiable, code: 41601,
			msg: "the image does not have the requested range; Content-Range contains its length",
		}
	}
	return nil
}

// plainRange matches a request for one range with plausible file offsets.
var plainRange = regexp.MustCompile(`^bytes=(?:(\d{1,15})-(\d{0,15})|-0*[1-9]\d{0,14})$`)

// keepPlainRange removes a Range header that is not one plain range, so that the whole image is
// sent. HTTP permits that for several ranges, each of which would be a call to the blob store,
// and requires it for malformed ranges and other units.
func keepPlainRange(h http.Header) {
	value := h.Get("Range")
	m := plainRange.FindStringSubmatch(value)
	if m != nil {
		first, last := strings.TrimLeft(m[1], "0"), strings.TrimLeft(m[2], "0")
		order := cmp.Or(cmp.Compare(len(first), len(last)), strings.Compare(first, last))
		if m[2] == "" || order <= 0 {
			return
		}
	}
	h.Del("Range")
}

// refusing suppresses the answer to an unsatisfiable range, which must be sent in the envelope.
// It also makes the answer to a failed precondition uncacheable, because any caller could
// otherwise make a cache serve it to everyone.
type refusing struct {
	http.ResponseWriter
	refused bool
}

func (w *refusing) WriteHeader(status int) {
	if status == http.StatusPreconditionFailed {
		w.Header()["Cache-Control"] = noStore
	}
	w.refused = status == http.StatusRequestedRangeNotSatisfiable
	if !w.refused {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *refusing) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// mayShow reports whether everyone may see the image; it fails if neither the reader nor, as a moderator, the
// caller may.
func (s *server) mayShow(c *call, reader, key string) (public bool, err error) {
	ctx, cancel := s.deadline(c)
	defer cancel()
	post, err := s.deps.Social.Images.Owner(ctx, key)
	if err != nil || social.IsAvatar(post) {
		return err == nil, err
	}
	_, err = s.card(ctx, "", post)
	switch {
	case !errors.Is(err, feed.ErrNotFound):
		return err == nil, err
	case reader == "" && s.mayModerate(ctx, c, post):
		return false, nil
	case reader == "":
		return false, err
	}
	_, err = s.card(ctx, reader, post)
	return false, err
}
