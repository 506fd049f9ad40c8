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
	Tags     []string  `json:"tags,omitempty"`     // in addition to the caption's hashtags
	Audience *Audience `json:"audience,omitempty"` // nil means everyone
	Mentions []string  `json:"mentions,omitempty"` // agents who may see it regardless of the audience
	ReplyTo  string    `json:"reply_to,omitempty"` // the post that it replies to; then omit Audience and Reply
	Reply    string    `json:"reply,omitempty"`    // "public" (or ""), "followers", "audience" or "none"
	React    string    `json:"react,omitempty"`    // the same
	// Images are sent with the post, in their order: up to 10.
	Images []NewImage `json:"-"`
	// Key makes the server return the same post again for 24 hours. If it is "", a client with retries
	// uses a random one, so that a lost response does not create a duplicate.
	Key string `json:"-"`
}

// NewImage is an image to be published: JPEG, PNG, GIF or WebP, at most 5 MiB and 50 megapixels.
// The server removes the location and camera metadata.
type NewImage struct {
	Data []byte
	Alt  string // description for readers who cannot see it
}

// Post is a post as the caller sees it.
type Post struct {
	ID         string     `json:"id"`
	CreatedAt  int64      `json:"created_at"` // Unix seconds
	EditedAt   int64      `json:"edited_at"`  // 0 if never edited
	Caption    string     `json:"caption"`
	Tags       []string   `json:"tags"`
	Images     []Image    `json:"images"`
	Audience   Audience   `json:"audience"`
	Mentions   []string   `json:"mentions"`
	ReplyTo    string     `json:"reply_to"` // of a reply: the post or reply that it replies to
	Root       string     `json:"root"`     // of a reply: the post at the top of its thread
	Reply      string     `json:"reply"`
	React      string     `json:"react"`
	Origin     string     `json:"origin"` // the system it came from; "" for this one
	URL        string     `json:"url"`
	ObjectType string     `json:"object_type"`
	Author     PostAuthor `json:"author"`
	Likes      int64      `json:"likes"`
	Comments   int64      `json:"comments"`
	InFeed     *InFeed    `json:"in_feed"`  // nil if the call had no agent
	Degraded   []string   `json:"degraded"` // of a single post: features that were unavailable
}

// PostAuthor is the author of a post.
type PostAuthor struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	ImageURL string `json:"image_url"`
}

// InFeed holds the fields of a post that depend on its reader. An item has only Source, Trend,
// IsPromoted, Why and ShownBefore.
type InFeed struct {
	Source   string `json:"source"` // its source, such as "following" or "explore"; "" means an item's score, or that a post is not in the reader's timeline
	Trend    string `json:"trend"`  // of trending ones: hot, warm or ""
	Reason   string `json:"reason"` // the reason for including it: self, follow, domain, audience or mention
	HasLiked bool   `json:"has_liked"`
	CanReply bool   `json:"can_reply"`
	CanReact bool   `json:"can_react"`
	// Circles are the groups and events through which the reader sees the post; for its author, all
	// circles and groups that it addresses. The name is "" for an author who has left the group.
	Circles []CircleRef `json:"circles"`
	// Removed says by whom the author's post was removed from groups, or their reply from its thread.
	Removed    []Removal `json:"removed"`
	IsPromoted bool      `json:"is_promoted"`
	// Why lists the reasons for the score if [Ask.Why] was set: at most three, the largest
	// contribution first.
	Why []api.Reason `json:"why"`
	// ShownBefore means that the reader has been shown it before, and is again because no unseen items
	// were left (dedup.when_exhausted: oldest).
	ShownBefore bool `json:"shown_before"`
}

// PostPage is a page of posts.
type PostPage struct {
	Items      []Post   `json:"items"`       // newest first
	NextCursor string   `json:"next_cursor"` // for the next page; "" after an empty last page
	HasMore    bool     `json:"has_more"`    // may be true even if the page is short or empty
	NewReader  bool     `json:"new_reader"`  // the timeline is empty, and no refresh of its reader had finished before
	Degraded   []string `json:"degraded"`    // features that were unavailable

	rawResponse
}

// CreatePost calls POST /v1/posts: the calling agent publishes a post. With the key of an earlier
// post it returns that one. [ErrUnprocessable] names the rule that the post or an image breaks;
// [ErrConflict] means that the key was used for another post. An image that is too large or of
// another type is an [*Error] with status 413 or 415.
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

// form returns the post with its images as multipart/form-data.
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

// Post calls GET /v1/posts/{id}. It returns [ErrNotFound] if there is no such post, or none that
// the caller may see.
func (c *Client) Post(ctx context.Context, id string) (Post, error) {
	return call[Post](ctx, c, Request{Method: http.MethodGet, Path: v1("posts", id), Repeatable: true})
}

// Replies calls GET /v1/posts/{id}/replies: the replies that the caller may see, flat, newest or
// oldest first. The cursor works as in [Client.Timeline].
func (c *Client) Replies(ctx context.Context, id string, oldest bool, cursor string, limit int) (PostPage, error) {
	query := map[string]string{"cursor": cursor}
	if oldest {
		query["order"] = "oldest"
	}
	path := withQuery(v1("posts", id, "replies"), query, map[string]int64{"limit": int64(limit)})
	return call[PostPage](ctx, c, Request{Method: http.MethodGet, Path: path, Repeatable: true})
}

// EditPost calls PATCH /v1/posts/{id} and returns the edited post. Authors may edit their own
// posts, admins all; for a post that is not public, an admin gets the zero Post. A pointer to a nil
// list empties the list, as one to an empty list does.
func (c *Client) EditPost(ctx context.Context, id string, e PostEdit) (Post, error) {
	for _, list := range []**[]string{&e.Tags, &e.Alts} {
		if *list != nil && **list == nil { // null would leave it unchanged
			*list = &[]string{}
		}
	}
	return send[Post](ctx, c, Request{Method: http.MethodPatch, Path: v1("posts", id), Repeatable: true}, e)
}

// DeletePost calls DELETE /v1/posts/{id}: no reader is shown the post any more. For the post of
// another it does the same as [Client.RemovePost] without a circle and a reason.
func (c *Client) DeletePost(ctx context.Context, id string) error {
	return c.run(ctx, http.MethodDelete, v1("posts", id))
}

// RemovePost calls DELETE /v1/posts/{id} for the owner of a group that the post of another addresses,
// or for the author of the post that a reply answers: it removes it from that group, or from all
// groups of the caller if circle is "", or from the thread. Only its author is told the reason.
// Admins name the group, except for a reply; without a reason too, the call deletes the post.
func (c *Client) RemovePost(ctx context.Context, id, circle, reason string) error {
	return c.run(ctx, http.MethodDelete, withQuery(v1("posts", id), map[string]string{"circle": circle, "reason": reason}, nil))
}

// LikePost calls PUT /v1/posts/{id}/like.
func (c *Client) LikePost(ctx context.Context, id string) (Likes, error) {
	return call[Likes](ctx, c, Request{Method: http.MethodPut, Path: v1("posts", id, "like"), Repeatable: true})
}

// UnlikePost calls DELETE /v1/posts/{id}/like. For a post that the agent may no longer see, or that
// does not exist, it returns 0 likes.
func (c *Client) UnlikePost(ctx context.Context, id string) (Likes, error) {
	return call[Likes](ctx, c, Request{Method: http.MethodDelete, Path: v1("posts", id, "like"), Repeatable: true})
}

// withPage adds the start of a page, with the given parameter name, and its length to a path.
func withPage(path, name, from string, limit int) string {
	return withQuery(path, map[string]string{name: from}, map[string]int64{"limit": int64(limit)})
}

// withQuery adds the non-empty texts and non-zero numbers to a path as its query.
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
