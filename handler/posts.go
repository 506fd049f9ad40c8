package handler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
)

func (s *server) postRoutes(route router) {
	const post = "/v1/posts/:id"
	route(http.MethodPost, "/v1/posts", s.createPost)
	route(http.MethodGet, post, s.getPost)
	route(http.MethodPatch, post, s.editPost)
	route(http.MethodDelete, post, s.deletePost)
	route(http.MethodGet, post+"/replies", s.getReplies)
	route(http.MethodPut, post+"/like", s.putLike)
	route(http.MethodDelete, post+"/like", s.deleteLike)
}

// lacksSocial says in an answer that the social store could not be asked.
const lacksSocial = "social"

// card reads one post for a reader.
func (s *server) card(ctx context.Context, reader, id string) (social.Card, error) {
	cards, err := s.deps.Social.Store.Cards(ctx, reader, []social.Known{{ID: id}})
	if err != nil {
		return social.Card{}, err
	}
	if len(cards) == 0 || !cards[0].Visible {
		return social.Card{}, feed.ErrNotFound
	}
	return cards[0], nil
}

// keptCard is a public post as it was kept, for when the store cannot be asked. The
// error is that of the store where it is not kept.
func (s *server) keptCard(ctx context.Context, id string, storeErr error) (social.Card, error) {
	kept := s.deps.Social.Kept
	if kept == nil || ctx.Err() != nil {
		return social.Card{}, storeErr
	}
	cards, err := kept.Kept(ctx, []string{id})
	if err != nil || !cards[0].Visible {
		return social.Card{}, storeErr
	}
	return cards[0], nil
}

// postBody is the body of POST /v1/posts.
type postBody struct {
	Caption  string           `json:"caption"`
	Tags     []string         `json:"tags"`
	Audience *social.Audience `json:"audience"`
	Mentions []string         `json:"mentions"`
	Reply    social.Right     `json:"reply"`
	React    social.Right     `json:"react"`
	ReplyTo  *string          `json:"reply_to"`
	// Images describes the files of a form, in their order.
	Images []struct {
		Alt string `json:"alt"`
	} `json:"images"`
}

func (b *postBody) post(author string) (social.Post, error) {
	p := social.Post{
		Author: author, Caption: b.Caption, Tags: b.Tags, Mentions: b.Mentions, Reply: b.Reply, React: b.React,
		Audience: social.Audience{Public: true},
	}
	if b.Audience != nil {
		p.Audience = *b.Audience
	}
	if b.ReplyTo == nil {
		return p, nil
	}
	if b.Audience != nil || b.Reply != "" {
		return p, feed.Errorf(feed.ErrRule, "bad post: a reply has the audience and the right to reply of the post that it stands under; leave audience and reply out")
	}
	if p.ReplyTo, p.Audience = *b.ReplyTo, (social.Audience{}); p.ReplyTo == "" {
		return p, feed.Errorf(feed.ErrRule, "bad post: reply_to is empty; leave it out where the post is no reply")
	}
	return p, nil
}

// createPost answers POST /v1/posts: 201, or 200 where the key says that the
// post was created before.
func (s *server) createPost(c *call) error {
	author, err := s.member(c)
	if err != nil {
		return err
	}
	key, err := postKey(c.gin.Request)
	if err != nil {
		return err
	}
	if hasFiles(c.gin.Request) {
		return s.createWithImages(c, author, key)
	}
	var in postBody
	if err := c.readJSON(MaxPostBody, &in); err != nil {
		return err
	}
	if len(in.Images) > 0 {
		return feed.Errorf(feed.ErrRule, "bad post: images describes files, and JSON has none; send multipart/form-data with the fields post and image")
	}
	p, err := in.post(author)
	if err != nil {
		return err
	}
	return s.answerPost(c, p, social.Creation{Key: key}, new(bool))
}

// answerPost creates a post and answers with it; created says whether it was.
func (s *server) answerPost(c *call, p social.Post, how social.Creation, created *bool) error {
	status := http.StatusCreated
	card, err := result(c, s.gated, func(ctx context.Context) (social.Card, error) {
		post, isNew, err := s.deps.Social.Store.CreatePost(ctx, p, how)
		if err != nil {
			return social.Card{}, err
		}
		if *created = isNew; !isNew {
			status = http.StatusOK
		}
		return s.card(ctx, p.Author, post.ID)
	})
	if err != nil {
		return err
	}
	c.sendEntry(status, p.Author, &card)
	return nil
}

// postKey is the idempotency key of a call, "" for none.
func postKey(r *http.Request) (string, error) {
	values := r.Header["Idempotency-Key"]
	if len(values) == 0 {
		return "", nil
	}
	if len(values) > 1 {
		return "", fmt.Errorf("%w: Idempotency-Key is sent %d times; send it once", feed.ErrInvalid, len(values))
	}
	return values[0], social.CheckKey(values[0])
}

// getPost answers GET /v1/posts/{id}. While the store cannot be asked, a public
// post is answered as it was kept.
func (s *server) getPost(c *call) error {
	reader, err := s.reader(c)
	if err != nil {
		return err
	}
	id := c.gin.Param("id")
	if err := social.CheckPostID(id); err != nil {
		return err
	}
	var degraded []string
	card, err := result(c, s.work, func(ctx context.Context) (social.Card, error) {
		card, err := s.card(ctx, reader, id)
		if errors.Is(err, social.ErrUnavailable) {
			degraded = []string{lacksSocial}
			return s.keptCard(ctx, id, err)
		}
		return card, err
	})
	if err != nil {
		return err
	}
	c.sendEntry(http.StatusOK, reader, &card, degraded...)
	return nil
}

// editPost answers PATCH /v1/posts/{id} with the post as the caller sees it. An
// admin is nobody's reader, so of a post that is not public they get nothing.
func (s *server) editPost(c *call) error {
	by, err := s.changer(c)
	if err != nil {
		return err
	}
	var in social.Edit
	if err := c.readJSON(MaxPostBody, &in); err != nil {
		return err
	}
	if in == (social.Edit{}) {
		return fmt.Errorf("%w: there is nothing to change; send caption, tags or alts", feed.ErrInvalid)
	}
	id := c.gin.Param("id")
	card, err := result(c, s.gated, func(ctx context.Context) (social.Card, error) {
		if _, err := s.deps.Social.Store.EditPost(ctx, id, by, in, time.Time{}); err != nil {
			return social.Card{}, err
		}
		card, err := s.card(ctx, by, id)
		if by == "" && errors.Is(err, feed.ErrNotFound) {
			err = nil
		}
		return card, err
	})
	if err != nil {
		return err
	}
	if !card.Visible {
		return c.succeed(empty{})
	}
	c.sendEntry(http.StatusOK, by, &card)
	return nil
}

// deletePost answers DELETE /v1/posts/{id}.
func (s *server) deletePost(c *call) error {
	by, err := s.changer(c)
	if err != nil {
		return err
	}
	return c.done(s.gated, func(ctx context.Context) error {
		return s.deps.Social.Store.DeletePost(ctx, c.gin.Param("id"), by, time.Time{})
	})
}

// putLike answers PUT /v1/posts/{id}/like. A like that is news is also the act
// "like".
func (s *server) putLike(c *call) error {
	agent, err := s.member(c)
	if err != nil {
		return err
	}
	id := c.gin.Param("id")
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		likes, changed, err := s.deps.Social.Store.Like(ctx, agent, id)
		data := api.Likes{Likes: likes, HasLiked: true}
		if err != nil || !changed {
			return data, err
		}
		// The like is stored. A repetition would not be news, so an act that cannot
		// be counted now is not.
		if _, err := s.deps.Reactions.React(ctx, agent, []engine.Act{{Kind: events.Like, ID: id}}); err != nil {
			s.log.WarnContext(ctx, "a like was not counted as an act", slog.String("request_id", c.id), slog.String("error", redact(err.Error())))
		}
		return data, nil
	})
}

// deleteLike answers DELETE /v1/posts/{id}/like.
func (s *server) deleteLike(c *call) error {
	agent, err := s.member(c)
	if err != nil {
		return err
	}
	return c.answer(s.gated, func(ctx context.Context) (any, error) {
		likes, _, err := s.deps.Social.Store.Unlike(ctx, agent, c.gin.Param("id"))
		return api.Likes{Likes: likes}, err
	})
}
