package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"

	"github.com/freshet/freshet/feed/api"
)

// NewPost is a post to be published.
type NewPost struct {
	Caption  string    `json:"caption"`
	Tags     []string  `json:"tags,omitempty"`     // beside the caption's hashtags
	Audience *Audience `json:"audience,omitempty"` // nil: everybody
	Mentions []string  `json:"mentions,omitempty"` // agents who may see it whatever the audience
	ReplyTo  string    `json:"reply_to,omitempty"` // the post that it answers; then Audience and Reply are left out
	Reply    string    `json:"reply,omitempty"`    // "public" (or ""), "followers", "audience" or "none"
	React    string    `json:"react,omitempty"`    // the same
	// Images are sent with the post, in their order: up to 10.
	Images []NewImage `json:"-"`
	// Key makes the server answer the same post again for 24 hours; "" takes a
	// random one where the client retries, so that a lost answer does not make two.
	Key string `json:"-"`
}

// NewImage is an image to be published: JPEG, PNG, GIF or WebP, at most 5 MiB and
// 50 megapixels. The server removes where and with what it was taken.
type NewImage struct {
	Data []byte
	Alt  string // what can be seen, for who cannot see it
}

// Post is a post as the caller sees it.
type Post struct {
	ID         string     `json:"id"`
	CreatedAt  int64      `json:"created_at"` // Unix seconds
	EditedAt   int64      `json:"edited_at"`  // 0: never
	Caption    string     `json:"caption"`
	Tags       []string   `json:"tags"`
	Images     []Image    `json:"images"`
	Audience   Audience   `json:"audience"`
	Mentions   []string   `json:"mentions"`
	ReplyTo    string     `json:"reply_to"` // of a reply: the post, or reply, that it answers
	Root       string     `json:"root"`     // of a reply: the post that it stands under
	Reply      string     `json:"reply"`
	React      string     `json:"react"`
	Origin     string     `json:"origin"` // the system it came from; "": this one
	URL        string     `json:"url"`
	ObjectType string     `json:"object_type"`
	Author     PostAuthor `json:"author"`
	Likes      int64      `json:"likes"`
	Comments   int64      `json:"comments"`
	InFeed     *InFeed    `json:"in_feed"`  // nil: the call named no agent
	Degraded   []string   `json:"degraded"` // of a post that was read by itself, what the server had to do without
}

// PostAuthor is who wrote a post.
type PostAuthor struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	ImageURL string `json:"image_url"`
}

// InFeed holds the fields of a post that depend on its reader. An item has no more of them
// than Source, Trend, IsPromoted, Why and ShownBefore.
type InFeed struct {
	Source     string `json:"source"` // what brought it, such as "following" or "explore"; "": of an item its score, of a post that it is not in their timeline
	Trend      string `json:"trend"`  // of what trends: hot, warm or ""
	Reason     string `json:"reason"` // why it is there: self, follow, domain, audience or mention
	HasLiked   bool   `json:"has_liked"`
	CanReply   bool   `json:"can_reply"`
	CanReact   bool   `json:"can_react"`
	IsPromoted bool   `json:"is_promoted"`
	// Why tells, where [Ask.Why] asked, what the score is made of, what adds most
	// first, three reasons at most.
	Why []api.Reason `json:"why"`
	// ShownBefore says that the reader was given it before, and is again because nothing
	// unseen was left (dedup.when_exhausted: oldest).
	ShownBefore bool `json:"shown_before"`
}

// PostPage is a page of posts.
type PostPage struct {
	Items      []Post   `json:"items"`       // newest first
	NextCursor string   `json:"next_cursor"` // the last place examined, for the next page; "": there was none
	HasMore    bool     `json:"has_more"`    // also of a short or empty page: ask on
	NewReader  bool     `json:"new_reader"`  // the timeline is empty, and no refresh of its reader had ended before
	Degraded   []string `json:"degraded"`    // what the server had to do without

	asSent
}

// CreatePost calls POST /v1/posts: the agent that calls publishes. With the key
// of a post of before it returns that one. [ErrUnprocessable] says which rule the
// post or an image breaks, [ErrConflict] that the key was used for another one. An
// image that is too large or of another type is an [*Error] with status 413 or 415.
func (c *Client) CreatePost(ctx context.Context, p NewPost) (Post, error) {
	if p.Key == "" && c.tries > 1 {
		p.Key = rand.Text()
	}
	r := Request{Method: http.MethodPost, Path: "/v1/posts"}
	if p.Key != "" {
		r.Header, r.Repeatable = http.Header{"Idempotency-Key": {p.Key}}, true
	}
	if len(p.Images) == 0 {
		return send[Post](ctx, c, r, p)
	}
	r.Timeout = imagesTimeout
	var err error
	if r.Body, r.Type, err = p.form(); err != nil {
		return Post{}, err
	}
	return call[Post](ctx, c, r)
}

// form is the post with its images as multipart/form-data.
func (p NewPost) form() (body []byte, kind string, err error) {
	type described struct {
		Alt string `json:"alt"`
	}
	with := struct {
		NewPost
		Images []described `json:"images"`
	}{NewPost: p}
	for _, image := range p.Images {
		with.Images = append(with.Images, described{image.Alt})
	}
	post, err := json.Marshal(with)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	err = w.WriteField("post", string(post))
	for i, image := range p.Images {
		part, partErr := w.CreateFormFile("image", strconv.Itoa(i+1))
		if partErr == nil {
			_, partErr = part.Write(image.Data)
		}
		err = errors.Join(err, partErr)
	}
	err = errors.Join(err, w.Close())
	return b.Bytes(), w.FormDataContentType(), err
}

// Post calls GET /v1/posts/{id}. [ErrNotFound] where there is no such post, or
// none that the caller may see.
func (c *Client) Post(ctx context.Context, id string) (Post, error) {
	return call[Post](ctx, c, Request{Method: http.MethodGet, Path: v1("posts", id), Repeatable: true})
}

// Replies calls GET /v1/posts/{id}/replies: those that the caller may see, flat, the newest
// or the oldest first. The cursor is used as in [Client.Timeline].
func (c *Client) Replies(ctx context.Context, id string, oldest bool, cursor string, limit int) (PostPage, error) {
	query := map[string]string{"cursor": cursor}
	if oldest {
		query["order"] = "oldest"
	}
	path := withQuery(v1("posts", id, "replies"), query, map[string]int64{"limit": int64(limit)})
	return call[PostPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// EditPost calls PATCH /v1/posts/{id} and returns the post as it is now. An author may edit
// their own; an admin all, but gets the zero Post for one that is not public.
func (c *Client) EditPost(ctx context.Context, id string, e PostEdit) (Post, error) {
	return send[Post](ctx, c, Request{Method: http.MethodPatch, Path: v1("posts", id), Repeatable: true}, e)
}

// DeletePost calls DELETE /v1/posts/{id}: nobody is shown it any more.
func (c *Client) DeletePost(ctx context.Context, id string) error {
	return c.run(ctx, http.MethodDelete, v1("posts", id))
}

// LikePost calls PUT /v1/posts/{id}/like.
func (c *Client) LikePost(ctx context.Context, id string) (Likes, error) {
	return call[Likes](ctx, c, Request{Method: http.MethodPut, Path: v1("posts", id, "like"), Repeatable: true})
}

// UnlikePost calls DELETE /v1/posts/{id}/like. Of a post that the agent may not
// see any more, or that does not exist, it returns 0 likes.
func (c *Client) UnlikePost(ctx context.Context, id string) (Likes, error) {
	return call[Likes](ctx, c, Request{Method: http.MethodDelete, Path: v1("posts", id, "like"), Repeatable: true})
}

// withPage adds to a path where a page begins, under its name, and how long it is.
func withPage(path, name, from string, limit int) string {
	return withQuery(path, map[string]string{name: from}, map[string]int64{"limit": int64(limit)})
}

// withQuery adds to a path the texts and numbers that are given: not "" and not 0.
func withQuery(path string, texts map[string]string, numbers map[string]int64) string {
	query := url.Values{}
	for name, text := range texts {
		if text != "" {
			query.Set(name, text)
		}
	}
	for name, n := range numbers {
		if n != 0 {
			query.Set(name, strconv.FormatInt(n, 10))
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}
