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
	// imageTime is how long a post with images, or an image that is sent, may take.
	imageTime = 2 * time.Minute
	// releaseTime is how long a failed call removes what it had stored.
	releaseTime = 10 * time.Second
	// MaxImagesBody is room for one image more than are allowed, so that a call with
	// eleven is told so.
	MaxImagesBody = (social.MaxImages+1)*media.MaxBytes + MaxPostBody + 64<<10
)

// Images makes and stores the images of posts. The methods are those of
// [media.Processor] and [media.Files].
type Images interface {
	Make(ctx context.Context, file []byte) (media.Image, error)
	Save(ctx context.Context, post string, images []media.Image) (saved []social.Image, files int, err error)
	Release(ctx context.Context, post string) error
	Post(ctx context.Context, key string) (string, error)
	Open(ctx context.Context, key string) (media.Reader, error)
}

func (s *server) imageRoutes(route router) {
	route(http.MethodGet, social.ImagePath+":key", s.getImage)
}

// hasFiles reports whether a body may have files.
func hasFiles(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "multipart/form-data"
}

// createWithImages answers POST /v1/posts with files. Nothing is stored before all of them
// are made and the post is known to be good. It is outside the gate of agents' calls until
// the post itself is written: images take long, and must not take the places of feeds.
func (s *server) createWithImages(c *call, author, key string) error {
	images := s.deps.Social.Images
	if images == nil {
		return feed.Errorf(feed.ErrType, "not an image that can be taken: this server takes no images, because media.url is not set")
	}
	u, err := s.pictures.enter(author)
	if err != nil {
		return err
	}
	defer u.leave()
	extendDeadlines(c.gin.Writer, c.gin.Request, imageTime)
	in, files, err := c.readFiles(u)
	if err != nil {
		return err
	}
	// The time for the answer begins when the client has sent everything.
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

// newPost is a whole post but for the names of its images, so that what is wrong
// with it is found before they are made.
func (s *server) newPost(in postBody, author string, files [][]byte) (p social.Post, err error) {
	if n := len(in.Images); n > 0 && n != len(files) {
		return p, feed.Errorf(feed.ErrRule, "bad post: images describes %d images, and %d were sent", n, len(files))
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

// release removes the images of a post that was not created. Where that fails the
// job of the post does it later.
func (s *server) release(ctx context.Context, post string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	if err := s.deps.Social.Images.Release(ctx, post); err != nil {
		s.log.WarnContext(ctx, "images of a post that was not created are removed later", "error", err)
	}
}

// readFiles reads the fields post and image of a form, and does not look at the files. Errors
// are those of readJSON, [feed.ErrRule] for too many files, [feed.ErrBusy] without room.
func (c *call) readFiles(u *imageUpload) (in postBody, files [][]byte, err error) {
	r := c.gin.Request
	if enc := contentEncoding(r); enc != "" {
		return in, nil, encoded(enc)
	}
	if r.ContentLength > MaxImagesBody {
		return in, nil, tooLarge("the body", MaxImagesBody)
	}
	body := &bounded{r: r.Body, left: MaxImagesBody}
	r.Body = io.NopCloser(io.MultiReader(body, strings.NewReader("\r\n"), cutOff{}))
	form, err := r.MultipartReader()
	if err != nil {
		return in, nil, fmt.Errorf("%w: the form cannot be read: %w", feed.ErrInvalid, err)
	}
	described := false
	for {
		part, err := form.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return in, nil, c.badForm(body, err)
		}
		switch name := part.FormName(); {
		case name == "post" && !described:
			described = true
			err = c.readDescription(part, &in)
		case name == "image" && len(files) == social.MaxImages:
			err = feed.Errorf(feed.ErrRule, "bad post: more than %d images", social.MaxImages)
		case name == "image":
			var file []byte
			file, err = readImage(part, u)
			files = append(files, file)
		default:
			err = fmt.Errorf("%w: a form has the field post once and the field image for each image, not also %.40q", feed.ErrInvalid, name)
		}
		if err != nil {
			return in, nil, c.badForm(body, err)
		}
	}
	if !described {
		return in, nil, fmt.Errorf(`%w: the form has no field post; send it with the post as JSON, such as {"caption":"…"}`, feed.ErrInvalid)
	}
	return in, files, nil
}

// cutOff stands behind a form: who comes to it has seen no final boundary. To
// [multipart.Reader] the end of a body that was cut between two parts would be the
// end of the form. The line end before it is that which the last boundary may lack.
type cutOff struct{}

func (cutOff) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func (c *call) readDescription(part *multipart.Part, in *postBody) error {
	raw, err := readPart(part, "the field post", MaxPostBody)
	if err != nil {
		return err
	}
	return decode(raw, in)
}

// readImage holds room for the largest image until it knows how large it is.
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

// badForm says why reading a form has ended.
func (c *call) badForm(body *bounded, err error) error {
	switch {
	case errors.Is(body.err, feed.ErrTooLarge):
		return tooLarge("the body", MaxImagesBody)
	case body.err != nil:
		return c.unreadable(body.err)
	case problemOf(err).status != http.StatusInternalServerError:
		return err
	}
	return fmt.Errorf("%w: the form cannot be read: %w", feed.ErrInvalid, err)
}

// Headers of images. They never change under their keys.
var (
	forAllForever = []string{"public, max-age=31536000, immutable"}
	callersVary   = []string{callerHeaders}
)

// getImage answers GET and HEAD /media/{key}: to everybody where the post is
// public, else to who may see it. It does not count for the caller's rate: a page
// shows many.
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
	// The time of a request is for the answer's beginning, not for its transfer.
	ctx, cancel := context.WithTimeout(c.gin.Request.Context(), imageTime)
	defer cancel()
	late := time.AfterFunc(s.cfg.RequestTimeout, cancel)
	file, err := images.Open(ctx, key)
	if !late.Stop() && err == nil {
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
	if !public {
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
			msg: "the image has no such range; Content-Range says how long it is",
		}
	}
	return nil
}

// plainRange is a request for one range, in numbers that are lengths of files.
var plainRange = regexp.MustCompile(`^bytes=(?:(\d{1,15})-(\d{0,15})|-0*[1-9]\d{0,14})$`)

// keepPlainRange leaves out a Range that is not one plain range, so that the whole
// image is answered. A server may do so with several ranges, of which each would be a
// call of the blob store, and must with what is malformed or in another unit.
func keepPlainRange(h http.Header) {
	value := h.Get("Range")
	if m := plainRange.FindStringSubmatch(value); m != nil {
		first, last := strings.TrimLeft(m[1], "0"), strings.TrimLeft(m[2], "0")
		if m[2] == "" || len(first) < len(last) || len(first) == len(last) && first <= last {
			return
		}
	}
	h.Del("Range")
}

// refusing keeps back the answer to a range that cannot be served, which is to be
// in the envelope. It has no cache keep the answer that a precondition does not hold,
// which anybody could have it give to everybody.
type refusing struct {
	http.ResponseWriter
	refused bool
}

func (w *refusing) WriteHeader(status int) {
	if status == http.StatusPreconditionFailed {
		w.Header()["Cache-Control"] = noStore
	}
	if w.refused = status == http.StatusRequestedRangeNotSatisfiable; !w.refused {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *refusing) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// mayShow reports whether everybody may see the image, or fails where the reader
// may not.
func (s *server) mayShow(c *call, reader, key string) (public bool, err error) {
	ctx, cancel := s.deadline(c)
	defer cancel()
	post, err := s.deps.Social.Images.Post(ctx, key)
	if err != nil {
		return false, err
	}
	_, err = s.card(ctx, "", post)
	if !errors.Is(err, feed.ErrNotFound) || reader == "" {
		return err == nil, err
	}
	_, err = s.card(ctx, reader, post)
	return false, err
}
