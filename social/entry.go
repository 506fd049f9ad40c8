package social

import (
	"encoding/json"
	"strconv"
)

// Where an entry of a feed comes from, as in_feed.source says.
const (
	FromFollowing = "following" // it is in the reader's timeline
	FromDiscovery = "discovery" // recall has found it
)

// AppendEntry appends the card as readers get it in every answer: the content as it is stored,
// then author, likes and comments, and, but for nobody (reader ""), what is about the reader in
// in_feed. source says which part of a feed has proposed it; "": none. Content must be there.
func (c *Card) AppendEntry(b []byte, reader, source string) []byte {
	b = append(b, c.Content[:len(c.Content)-1]...) // all but the closing brace
	b = append(b, `,"author":{"id":`...)
	b = appendString(b, c.Author.ID)
	b = append(b, `,"name":`...)
	b = appendString(b, c.Author.Name)
	b = append(b, `,"image_url":`...)
	b = appendString(b, c.Author.ImageURL)
	b = append(b, `},"likes":`...)
	b = strconv.AppendInt(b, c.Likes, 10)
	b = append(b, `,"comments":`...)
	b = strconv.AppendInt(b, c.Comments, 10)
	if reader != "" {
		b = c.appendInFeed(b, source)
	}
	return append(b, '}')
}

// Tile is a post as a grid shows it.
type Tile struct {
	ID        string     `json:"id"`
	CreatedAt int64      `json:"created_at"` // Unix seconds
	Likes     int64      `json:"likes"`
	Comments  int64      `json:"comments"`
	Thumbnail *Thumbnail `json:"thumbnail,omitempty"` // of the first image; nil: there is none
}

// Thumbnail is a small picture of an image.
type Thumbnail struct {
	URL    string `json:"url"`
	Width  int    `json:"width"` // of the image, in pixels: the thumbnail has its proportions
	Height int    `json:"height"`
	Color  string `json:"color"` // a placeholder until it is there, as #rrggbb
}

// AppendTile appends a card of [Tiles] as a [Tile].
func (c *Card) AppendTile(b []byte) []byte {
	tile := Tile{ID: c.ID, CreatedAt: c.CreatedAt, Likes: c.Likes, Comments: c.Comments}
	var image *Image
	if json.Unmarshal(c.Content, &image) == nil && image != nil {
		tile.Thumbnail = &Thumbnail{image.Thumbnail, image.Width, image.Height, image.Color}
	}
	raw, err := json.Marshal(tile)
	if err != nil { // strings and numbers only
		panic(err)
	}
	return append(b, raw...)
}

func (c *Card) appendInFeed(b []byte, source string) []byte {
	b = append(b, `,"in_feed":{`...)
	for _, field := range [...][2]string{{"source", source}, {"reason", string(c.Reason)}} {
		if field[1] != "" {
			b = append(b, '"')
			b = append(b, field[0]...)
			b = append(b, `":"`...)
			b = append(b, field[1]...) // a constant
			b = append(b, `",`...)
		}
	}
	b = append(b, `"has_liked":`...)
	b = strconv.AppendBool(b, c.HasLiked)
	b = append(b, `,"can_reply":`...)
	b = strconv.AppendBool(b, c.CanReply)
	b = append(b, `,"can_react":`...)
	b = strconv.AppendBool(b, c.CanReact)
	return append(b, `,"is_promoted":false}`...)
}

func appendString(b []byte, s string) []byte {
	raw, err := json.Marshal(s)
	if err != nil { // no string is refused
		panic(err)
	}
	return append(b, raw...)
}

// Tags are those of the card's content.
func (c *Card) Tags() []string {
	var content struct {
		Tags []string `json:"tags"`
	}
	if json.Unmarshal(c.Content, &content) != nil {
		return nil
	}
	return content.Tags
}
