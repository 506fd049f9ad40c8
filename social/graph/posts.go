package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// postCreated has the fields of POST /v1/posts, those that the server fills in there (id, author,
// time), and fields that only other systems set.
type postCreated struct {
	about
	Author    author      `json:"author"`
	CreatedAt feed.Moment `json:"created_at"`

	Caption  string           `json:"caption"`
	Tags     []string         `json:"tags"`
	Audience *social.Audience `json:"audience"` // nil means public
	Mentions []string         `json:"mentions"`
	Reply    social.Right     `json:"reply"`
	React    social.Right     `json:"react"`
	ReplyTo  *string          `json:"reply_to"`

	Origin     string   `json:"origin"`
	URL        string   `json:"url"`
	ObjectType string   `json:"object_type"`
	Grants     []string `json:"grants"`

	post social.Post // set by check
}

// author is a post's author with their card.
type author struct {
	ID       string  `json:"id"`
	Name     *string `json:"name"`
	ImageURL *string `json:"image_url"`
	Bio      *string `json:"bio"`

	Recommend *bool `json:"recommend"`
}

// card returns the author's card and whether one was sent: an id alone is not a card.
func (a author) card() (card social.Author, sent bool) {
	card.ID, card.Recommend, sent = a.ID, a.Recommend, a.Recommend != nil
	for _, f := range []struct{ from, to *string }{{a.Name, &card.Name}, {a.ImageURL, &card.ImageURL}, {a.Bio, &card.Bio}} {
		if f.from != nil {
			*f.to, sent = *f.from, true
		}
	}
	return card, sent
}

func (p *postCreated) check() error {
	if p.CreatedAt.IsZero() {
		return errors.New("created_at is missing")
	}
	if p.Time.IsZero() {
		p.Time = p.CreatedAt
	}
	if strings.ContainsAny(p.Origin, "/@?#, \t\r\n") { // a URL or an address instead of a host name
		return fmt.Errorf(`origin must be the name of a host such as "example.org", not %.64q`, p.Origin)
	}
	card, sent := p.Author.card()
	if sent {
		if err := card.Validate(); err != nil {
			return fmt.Errorf("author: %w", err)
		}
	}
	p.post = social.Post{
		ID: p.ID, Author: p.Author.ID, CreatedAt: p.CreatedAt.Unix(),
		Caption: p.Caption, Tags: p.Tags, Audience: social.Audience{Public: true},
		Mentions: p.Mentions, Reply: p.Reply, React: p.React,
		Origin: p.Origin, URL: p.URL, ObjectType: p.ObjectType, Grants: p.Grants,
	}
	if p.Audience != nil {
		p.post.Audience = *p.Audience
	}
	if p.ReplyTo != nil {
		if *p.ReplyTo == "" {
			return errors.New("reply_to is empty; omit it if the post is not a reply")
		}
		if p.Audience != nil || p.Reply != "" {
			return errors.New("a reply has the audience and reply rights of the root post of its thread; omit audience and reply")
		}
		p.post.ReplyTo, p.post.Audience = *p.ReplyTo, social.Audience{}
	}
	p.post.Normalize()
	return p.post.Validate(forever)
}

func (p *postCreated) apply(ctx context.Context, s Store) error {
	create := func() error {
		_, _, err := s.CreatePost(ctx, p.post, social.Creation{At: p.at()})
		if errors.Is(err, feed.ErrNotFound) {
			return nil // the event is late: the post is deleted already
		}
		return err
	}
	put := func() error {
		card, sent := p.Author.card()
		if !sent {
			return nil
		}
		return s.PutAuthor(ctx, card, p.at())
	}
	first, then := put, create // no reader gets the post without its author's name
	if p.post.ReplyTo != "" {
		first, then = create, put // a reply may be refused, and then nothing of the event is stored
	}
	if err := first(); err != nil {
		return err
	}
	return then()
}

// postUpdated is an edit with the fields of PATCH /v1/posts/{id}.
type postUpdated struct {
	about
	social.Edit
}

func (p *postUpdated) check() error {
	if p.Edit == (social.Edit{}) {
		return errors.New("it changes nothing; send caption, tags, alts or reply")
	}
	return cmp.Or(social.CheckPostID(p.ID), p.Validate())
}

func (p *postUpdated) apply(ctx context.Context, s Store) error {
	_, err := s.EditPost(ctx, p.ID, "", p.Edit, p.at())
	return err
}

type postDeleted struct{ about }

func (p *postDeleted) check() error { return social.CheckPostID(p.ID) }

func (p *postDeleted) apply(ctx context.Context, s Store) error {
	return s.DeletePost(ctx, p.ID, "", p.at())
}

// engagement holds the current counts of a post in another system.
type engagement struct {
	about
	Likes    *int64 `json:"likes"`
	Comments *int64 `json:"comments"`
}

func (g *engagement) check() error {
	if g.Likes == nil || g.Comments == nil {
		return errors.New("likes and comments are required: they are total counts, not changes")
	}
	return cmp.Or(social.CheckPostID(g.ID), g.counts().Validate())
}

func (g *engagement) counts() social.Counts {
	return social.Counts{Likes: *g.Likes, Comments: *g.Comments}
}

func (g *engagement) apply(ctx context.Context, s Store) error {
	return s.SetCounts(ctx, g.ID, g.counts(), g.at())
}
