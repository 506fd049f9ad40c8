package social

import (
	"encoding/json"
	"strconv"

	"github.com/freshet/freshet/feed"
)

// The origins of a feed's entry, in in_feed.source.
const (
	FromFollowing = "following" // the reader's timeline
	FromDiscovery = "discovery" // recall
)

// AppendEntry appends the JSON of the card as every answer has it: the stored content, then author,
// likes and comments and, unless reader is "", the fields about the reader in in_feed. source is
// the part of a feed that proposed the post; "" is none. Content must not be empty.
func (c *Card) AppendEntry(b []byte, reader, source string) []byte {
	b = append(b, c.Content[:len(c.Content)-1]...) // all but the closing brace
	b = append(b, `,"author":{"id":`...)
	b = feed.AppendString(b, c.Author.ID)
	b = append(b, `,"name":`...)
	b = feed.AppendString(b, c.Author.Name)
	b = append(b, `,"image_url":`...)
	b = feed.AppendString(b, c.Author.ImageURL)
	b = append(b, `},"likes":`...)
	b = strconv.AppendInt(b, c.Likes, 10)
	b = append(b, `,"comments":`...)
	b = strconv.AppendInt(b, c.Comments, 10)
	if reader != "" {
		b = c.appendInFeed(b, source)
	}
	return append(b, '}')
}

// GridCard is a post in a grid.
type GridCard struct {
	ID        string `json:"id"`
	CreatedAt int64  `json:"created_at"` // Unix seconds
	Likes     int64  `json:"likes"`
	Comments  int64  `json:"comments"`
	// Caption, ImageCount, Audience, ReplyTo and Root are those of the post: an app shows a post
	// without an image by its caption, and sends a token for images of a post that is not public.
	Caption    string     `json:"caption"`
	ImageCount int        `json:"image_count"`
	Audience   Audience   `json:"audience"`
	ReplyTo    string     `json:"reply_to,omitempty"`
	Root       string     `json:"root,omitempty"`
	Thumbnail  *Thumbnail `json:"thumbnail,omitempty"` // of the first image; nil if there is none
}

// Thumbnail is a scaled-down image.
type Thumbnail struct {
	URL    string `json:"url"`
	Width  int    `json:"width"` // of the full image, in pixels: the thumbnail has its proportions
	Height int    `json:"height"`
	Color  string `json:"color"` // placeholder until the thumbnail is loaded, as #rrggbb
	Alt    string `json:"alt"`   // describes the image to those who do not see it
}

// AppendGridCard appends the JSON of the card as a [GridCard]. Content must be that of a post.
func (c *Card) AppendGridCard(b []byte) []byte {
	card, err := c.Grid()
	if err != nil {
		return b
	}
	return appendJSON(b, card)
}

// Grid returns the card as a [GridCard]. The error is that of content which is not that of a post.
func (c *Card) Grid() (card GridCard, err error) {
	var p Post
	if err := json.Unmarshal(c.Content, &p); err != nil {
		return card, err
	}
	card = GridCard{
		ID: c.ID, CreatedAt: c.CreatedAt, Likes: c.Likes, Comments: c.Comments, Caption: p.Caption,
		ImageCount: len(p.Images), Audience: p.Audience, ReplyTo: p.ReplyTo, Root: p.Root,
	}
	if len(p.Images) > 0 {
		first := &p.Images[0]
		card.Thumbnail = &Thumbnail{first.Thumbnail, first.Width, first.Height, first.Color, first.Alt}
	}
	return card, nil
}

func (c *Card) appendInFeed(b []byte, source string) []byte {
	b = append(b, `,"in_feed":{`...)
	for _, field := range [...][2]string{{"source", source}, {"reason", string(c.Reason)}} {
		if field[1] != "" {
			b = append(b, '"')
			b = append(b, field[0]...)
			b = append(b, `":"`...)
			b = append(b, field[1]...) // a constant that needs no escaping
			b = append(b, `",`...)
		}
	}
	b = append(b, `"has_liked":`...)
	b = strconv.AppendBool(b, c.HasLiked)
	b = append(b, `,"can_reply":`...)
	b = strconv.AppendBool(b, c.CanReply)
	b = append(b, `,"can_react":`...)
	b = strconv.AppendBool(b, c.CanReact)
	if len(c.Circles) > 0 {
		b = append(b, `,"circles":`...)
		b = appendJSON(b, c.Circles)
	}
	if len(c.Removed) > 0 {
		b = append(b, `,"removed":`...)
		b = appendJSON(b, c.Removed)
	}
	return append(b, `,"is_promoted":false}`...)
}

func appendJSON(b []byte, v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil { // impossible: strings and numbers only
		panic(err)
	}
	return append(b, raw...)
}

// Texts returns the texts of the card's content in which words are muted: the title, the caption and
// the tags.
func (c *Card) Texts() (title, caption string, tags []string) {
	var content struct {
		Caption string   `json:"caption"`
		Tags    []string `json:"tags"`
		Images  []Image  `json:"images"`
	}
	if json.Unmarshal(c.Content, &content) != nil {
		return "", "", nil
	}
	return feed.PostTitle(content.Caption, alts(content.Images)), content.Caption, content.Tags
}

// Tags returns the tags in the card's content.
func (c *Card) Tags() []string {
	var content struct {
		Tags []string `json:"tags"`
	}
	if json.Unmarshal(c.Content, &content) != nil {
		return nil
	}
	return content.Tags
}
