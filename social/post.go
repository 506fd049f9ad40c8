package social

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
)

// Post is a post of an author. Its JSON is the content that readers get; [Post.Content] says which
// fields are left out.
type Post struct {
	ID         string   `json:"id"`
	Author     string   `json:"-"`
	CreatedAt  int64    `json:"created_at"`          // Unix seconds; the position in every timeline, never changed
	EditedAt   int64    `json:"edited_at,omitempty"` // Unix seconds of the last edit; 0 if never edited
	Caption    string   `json:"caption"`
	Tags       []string `json:"tags,omitempty"` // as given, without the caption's hashtags: see [Post.AllTags]
	Images     []Image  `json:"images,omitempty"`
	Audience   Audience `json:"audience"`
	Mentions   []string `json:"mentions,omitempty"` // agents who may see it regardless of the audience; in a reply they grant nothing
	ReplyTo    string   `json:"reply_to,omitempty"` // the post, or reply, that it answers; "" if it is no reply
	Root       string   `json:"root,omitempty"`     // of a reply: the root post of the thread, whose audience sees the reply
	Reply      Right    `json:"reply"`
	React      Right    `json:"react"`
	Grants     []string `json:"-"` // of a remote post: the agents who have the right "audience"
	Origin     string   `json:"origin,omitempty"`
	URL        string   `json:"url,omitempty"`
	ObjectType string   `json:"object_type,omitempty"`

	// Fields that the store holds in addition to the content.
	Version  int64 `json:"-"` // of the content, from 1
	Likes    int64 `json:"-"`
	Comments int64 `json:"-"` // replies that are not deleted; if there are none, the number that another system reported
	// Likers and Commenters are what popularity counts: Likes without the author's own, and the
	// number of other agents who have replied, or Comments if another system reported those.
	Likers, Commenters int64 `json:"-"`
	Deleted            bool  `json:"-"` // a tombstone: without content, but with author, audience and mentions
	Again              bool  `json:"-"` // a post with this id was deleted before this one was created
	// Closed means that the post has addressed circles, groups or grants that are gone. Its
	// audience stays without them: see [inAudience].
	Closed  bool `json:"-"`
	Removed bool `json:"-"` // by another than its author, from everywhere: see [Posts.RemovePost]
	// NotRecommended means that the author does not want to be recommended. Only [Posts.PostsByID] sets it.
	NotRecommended bool `json:"-"`
}

// PostState tells whether a post has changed: jobs that have written what they derive from it compare the
// state that they have read with the one afterwards.
type PostState struct {
	Version                             int64
	Likes, Comments, Likers, Commenters int64
	NotRecommended                      bool
}

// State returns the post's state; that of the zero Post is the zero PostState.
func (p *Post) State() PostState {
	return PostState{p.Version, p.Likes, p.Comments, p.Likers, p.Commenters, p.NotRecommended}
}

// Image is one image of a post.
type Image struct {
	URL       string `json:"url"` // a path below [ImagePath] on this server
	Thumbnail string `json:"thumbnail"`
	Width     int    `json:"width"` // pixels
	Height    int    `json:"height"`
	Color     string `json:"color"` // placeholder until the image is loaded, as #rrggbb
	Alt       string `json:"alt"`

	Digest string `json:"-"` // of the uploaded file, for [Fingerprint]
}

// Audience says who may see a post in addition to its author and the agents whom it mentions. It is
// fixed when the post is created; see [Post.Narrow] for events. The zero Audience is empty.
type Audience struct {
	Public    bool     `json:"public,omitempty"`
	Followers bool     `json:"followers,omitempty"`
	Circles   []string `json:"circles,omitempty"` // only of a local post: its author's circles, and groups that take the author's posts
}

// Reach is the extent of an audience beyond circles and mentions.
type Reach int

// The reaches, in order.
const (
	Addressed   Reach = iota // only circles and mentions
	ToFollowers              // followers too
	ToAll                    // everybody
	UnderPublic              // a reply to a post for everybody; no [Audience] has this reach
	UnderOther               // a reply to any other post
)

// Reach returns the reach of the audience.
func (a Audience) Reach() Reach {
	switch {
	case a.Public:
		return ToAll
	case a.Followers:
		return ToFollowers
	}
	return Addressed
}

// Audience returns the audience of a reach, without circles.
func (r Reach) Audience() Audience { return Audience{Public: r == ToAll, Followers: r == ToFollowers} }

// Right says who may reply to a post, or react to it.
type Right string

// The rights. An empty one in a new post means [RightPublic].
const (
	RightPublic    Right = "public"
	RightFollowers Right = "followers"
	RightAudience  Right = "audience"
	RightNone      Right = "none"
)

// Remote reports whether the post is from another system.
func (p *Post) Remote() bool { return p.Origin != "" }

// IsReply reports whether the post is a reply.
func (p *Post) IsReply() bool { return p.Root != "" }

// Position returns the post's position in every timeline.
func (p *Post) Position() Position { return Position{At: p.CreatedAt, ID: p.ID} }

// AllTags returns the given tags and then the caption's hashtags, as written, each once, at most
// [feed.MaxTags].
func (p *Post) AllTags() []string {
	all := slices.Clone(p.Tags)
	all = terms.Distinct(append(all, Hashtags(p.Caption)...))
	return all[:min(len(all), feed.MaxTags)]
}

// Title returns the title of the post's item.
func (p *Post) Title() string { return feed.PostTitle(p.Caption, alts(p.Images)) }

// Content returns the JSON that every reader of the post gets, the same bytes for each: with all
// tags, without circles and grants, which are private to the author, and without author, counts and
// the reader's rights, which the store returns with each [Card].
func (p *Post) Content() json.RawMessage {
	out := *p
	out.Tags = p.AllTags()
	out.Audience.Circles = nil
	raw, err := json.Marshal(out)
	if err != nil { // impossible: strings and numbers only
		panic(err)
	}
	return raw
}

// Edit is a change of a post's content. Nil fields stay unchanged.
type Edit struct {
	Caption *string   `json:"caption,omitempty"`
	Tags    *[]string `json:"tags,omitempty"`
	Alts    *[]string `json:"alts,omitempty"` // one for each image
	// Reply is who may reply from now on; existing replies stay. An agent can only narrow it.
	Reply *Right `json:"reply,omitempty"`
}

// Keeps reports whether an edit leaves a post as its readers see it.
func (e Edit) Keeps(p *Post) bool {
	edited := *p
	if e.Caption != nil {
		edited.Caption = *e.Caption
	}
	if e.Tags != nil {
		edited.Tags = *e.Tags
	}
	if e.Alts != nil {
		edited.Images = slices.Clone(p.Images)
		setAlts(edited.Images, *e.Alts)
	}
	if e.Reply != nil {
		edited.Reply = p.normal(*e.Reply)
	}
	return bytes.Equal(edited.Content(), p.Content())
}

// Narrows reports whether a right is for fewer than another, or the same.
func (r Right) Narrows(from Right) bool { return r == from || r.rank() > from.rank() }

func (r Right) rank() int {
	switch r {
	case RightPublic:
		return 0
	case RightNone:
		return 2
	}
	return 1
}
