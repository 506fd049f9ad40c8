package social

import (
	"encoding/json"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
)

// Post is a post of an author. Its JSON is its content as readers get it;
// see [Post.Content] for what it leaves out.
type Post struct {
	ID         string   `json:"id"`
	Author     string   `json:"-"`
	CreatedAt  int64    `json:"created_at"`          // Unix seconds; its place in every timeline, never changed
	EditedAt   int64    `json:"edited_at,omitempty"` // Unix seconds of the last edit; 0: never
	Caption    string   `json:"caption"`
	Tags       []string `json:"tags,omitempty"` // as given, without the caption's hashtags: see [Post.AllTags]
	Images     []Image  `json:"images,omitempty"`
	Audience   Audience `json:"audience"`
	Mentions   []string `json:"mentions,omitempty"` // agents who may see it whatever the audience; of a reply they grant nothing
	ReplyTo    string   `json:"reply_to,omitempty"` // the post, or reply, that it answers; "": it is no reply
	Root       string   `json:"root,omitempty"`     // of a reply: the post that it stands under, whose audience sees it
	Reply      Right    `json:"reply"`
	React      Right    `json:"react"`
	Grants     []string `json:"-"` // remote posts: whom the right "audience" holds for
	Origin     string   `json:"origin,omitempty"`
	URL        string   `json:"url,omitempty"`
	ObjectType string   `json:"object_type,omitempty"`

	// What the store keeps beside the content.
	Version  int64 `json:"-"` // of the content; 1 is the first
	Likes    int64 `json:"-"`
	Comments int64 `json:"-"` // undeleted replies; while there are none, those that another system reported
	// Commenters is how many have replied, or Comments where another system reported those.
	Commenters int64 `json:"-"`
	Deleted    bool  `json:"-"` // a tombstone: no content, but who saw it
	Again      bool  `json:"-"` // one with its id was deleted before it was created
}

// Image is one image of a post.
type Image struct {
	URL       string `json:"url"` // of this server: a path below [ImagePath]
	Thumbnail string `json:"thumbnail"`
	Width     int    `json:"width"` // pixels
	Height    int    `json:"height"`
	Color     string `json:"color"` // a placeholder until it is there, as #rrggbb
	Alt       string `json:"alt"`

	Digest string `json:"-"` // of the file as it was sent, for [Fingerprint]
}

// Audience is who may see a post beside its author and whom it mentions. It is
// fixed when the post is created. The zero Audience is empty.
type Audience struct {
	Public    bool     `json:"public,omitempty"`
	Followers bool     `json:"followers,omitempty"`
	Circles   []string `json:"circles,omitempty"` // only of a local post, only circles of its author
}

// Reach is how far an audience goes beyond circles and mentions.
type Reach int

// The reaches, in order.
const (
	Addressed   Reach = iota // only circles and mentions
	ToFollowers              // followers too
	ToAll                    // everybody
	UnderPublic              // a reply to a post for everybody; no [Audience] has this reach
	UnderOther               // a reply to any other post
)

// Reach tells how far the audience goes.
func (a Audience) Reach() Reach {
	switch {
	case a.Public:
		return ToAll
	case a.Followers:
		return ToFollowers
	}
	return Addressed
}

// Right is who may reply to a post, or react to it.
type Right string

// The rights. An empty one of a new post stands for [RightPublic].
const (
	RightPublic    Right = "public"
	RightFollowers Right = "followers"
	RightAudience  Right = "audience"
	RightNone      Right = "none"
)

// Remote reports whether the post is another system's.
func (p *Post) Remote() bool { return p.Origin != "" }

// IsReply reports whether the post is a reply.
func (p *Post) IsReply() bool { return p.Root != "" }

// Position is the post's place in every timeline.
func (p *Post) Position() Position { return Position{At: p.CreatedAt, ID: p.ID} }

// AllTags are the tags as given and then the caption's hashtags, as they are written, each
// once, at most [feed.MaxTags].
func (p *Post) AllTags() []string {
	all := slices.Clone(p.Tags)
	all = terms.Distinct(append(all, Hashtags(p.Caption)...))
	return all[:min(len(all), feed.MaxTags)]
}

// Title is the title of the post's item.
func (p *Post) Title() string { return feed.PostTitle(p.Caption, alts(p.Images)) }

// Content encodes what every reader of the post gets, the same bytes for each:
// with all tags, without circles and grants, which are its author's affair, and
// without author, counts and rights, which the store tells with each [Card].
func (p *Post) Content() json.RawMessage {
	out := *p
	out.Tags = p.AllTags()
	out.Audience.Circles = nil
	raw, err := json.Marshal(out)
	if err != nil { // strings and numbers only
		panic(err)
	}
	return raw
}

// Edit is a change of a post's content. What is nil stays.
type Edit struct {
	Caption *string   `json:"caption,omitempty"`
	Tags    *[]string `json:"tags,omitempty"`
	Alts    *[]string `json:"alts,omitempty"` // one for each image
}
