package graph

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// postCreated is a post as POST /v1/posts takes it, with what the call itself
// tells there, and what only other systems know.
type postCreated struct {
	ID        string      `json:"id"`
	Author    author      `json:"author"`
	CreatedAt feed.Moment `json:"created_at"`
	when

	Caption  string           `json:"caption"`
	Tags     []string         `json:"tags"`
	Audience *social.Audience `json:"audience"` // nil: public
	Mentions []string         `json:"mentions"`
	Reply    social.Right     `json:"reply"`
	React    social.Right     `json:"react"`

	Origin     string   `json:"origin"`
	URL        string   `json:"url"`
	ObjectType string   `json:"object_type"`
	Grants     []string `json:"grants"`

	post social.Post // what check made of it
}

// author is a post's author with their card.
type author struct {
	ID       string  `json:"id"`
	Name     *string `json:"name"`
	ImageURL *string `json:"image_url"`
	Bio      *string `json:"bio"`
}

// card returns the author's card, and whether one was sent: an id alone is none.
func (a author) card() (card social.Author, sent bool) {
	card.ID = a.ID
	for _, f := range []struct{ from, to *string }{{a.Name, &card.Name}, {a.ImageURL, &card.ImageURL}, {a.Bio, &card.Bio}} {
		if f.from != nil {
			*f.to, sent = *f.from, true
		}
	}
	return card, sent
}

func (p *postCreated) subject() string { return p.ID }
func (p *postCreated) key() string     { return p.ID }

func (p *postCreated) check() error {
	if p.CreatedAt.IsZero() {
		return errors.New("created_at is missing")
	}
	if p.Time.IsZero() {
		p.Time = p.CreatedAt
	}
	if err := p.checkTime(); err != nil {
		return err
	}
	if err := checkHost(p.Origin); err != nil {
		return err
	}
	if card, sent := p.Author.card(); sent {
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
	p.post.Normalize()
	return p.post.Validate(forever)
}

// checkHost refuses what senders mistake for a host name.
func checkHost(origin string) error {
	if strings.ContainsAny(origin, "/@?#, \t\r\n") {
		return fmt.Errorf(`origin must be the name of a host such as "example.org", not %.64q`, origin)
	}
	return nil
}

func (p *postCreated) apply(ctx context.Context, s Store) error {
	// The card first: a post that readers get has its author's name.
	if card, sent := p.Author.card(); sent {
		if err := s.PutAuthor(ctx, card, p.at()); err != nil {
			return err
		}
	}
	_, _, err := s.CreatePost(ctx, p.post, social.Creation{At: p.at()})
	if errors.Is(err, feed.ErrNotFound) {
		return nil // deleted since; this came late
	}
	return err
}

// postUpdated is an edit as PATCH /v1/posts/{id} takes it.
type postUpdated struct {
	ID string `json:"id"`
	when
	Caption *string   `json:"caption"`
	Tags    *[]string `json:"tags"`
	Alts    *[]string `json:"alts"`
}

func (p *postUpdated) subject() string { return p.ID }
func (p *postUpdated) key() string     { return p.ID }
func (p *postUpdated) edit() social.Edit {
	return social.Edit{Caption: p.Caption, Tags: p.Tags, Alts: p.Alts}
}

func (p *postUpdated) check() error {
	if err := social.CheckPostID(p.ID); err != nil {
		return err
	}
	if p.Caption == nil && p.Tags == nil && p.Alts == nil {
		return errors.New("it changes nothing; send caption, tags or alts")
	}
	if err := p.checkTime(); err != nil {
		return err
	}
	return p.edit().Validate()
}

func (p *postUpdated) apply(ctx context.Context, s Store) error {
	_, err := s.EditPost(ctx, p.ID, "", p.edit(), p.at())
	return err
}

type postDeleted struct {
	ID string `json:"id"`
	when
}

func (p *postDeleted) subject() string { return p.ID }
func (p *postDeleted) key() string     { return p.ID }

func (p *postDeleted) check() error {
	if err := social.CheckPostID(p.ID); err != nil {
		return err
	}
	return p.checkTime()
}

func (p *postDeleted) apply(ctx context.Context, s Store) error {
	return s.DeletePost(ctx, p.ID, "", p.at())
}

// engagement is the counts of a post elsewhere, as they stand.
type engagement struct {
	ID string `json:"id"`
	when
	Likes    *int64 `json:"likes"`
	Comments *int64 `json:"comments"`
}

func (g *engagement) subject() string { return g.ID }
func (g *engagement) key() string     { return g.ID }

func (g *engagement) check() error {
	if err := social.CheckPostID(g.ID); err != nil {
		return err
	}
	if g.Likes == nil || g.Comments == nil {
		return errors.New("likes and comments are required, both: they are counts as they stand, not changes")
	}
	if err := g.checkTime(); err != nil {
		return err
	}
	return g.counts().Validate()
}

func (g *engagement) counts() social.Counts {
	return social.Counts{Likes: *g.Likes, Comments: *g.Comments}
}

func (g *engagement) apply(ctx context.Context, s Store) error {
	return s.SetCounts(ctx, g.ID, g.counts(), g.at())
}
