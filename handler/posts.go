package handler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

func (s *server) postRoutes(route router) {
	const post = "/v1/posts/:id"
	reader := s.readerOf(social.CheckPostID)
	route(http.MethodPost, "/v1/posts", s.createPost)
	route(http.MethodGet, post, serve(s.work, reader, s.getPost))
	route(http.MethodPatch, post, serveInput(s.gated, s.changer, body(MaxPostBody, social.Edit{}), s.editPost))
	route(http.MethodDelete, post, serveInput(s.gated, s.changer, query(removeQuery{}), s.deletePost))
	route(http.MethodGet, post+"/replies", serveInput(s.work, reader, query(repliesQuery{pageQuery: pageQuery{Limit: engine.DefaultLimit}}), s.getReplies))
	route(http.MethodPut, post+"/like", serve(s.gated, s.member, s.putLike))
	route(http.MethodDelete, post+"/like", serve(s.gated, s.member, s.deleteLike))
	route(http.MethodGet, "/v1/agents/:agent_id/likes", serveInput(s.work, s.owner("agent_id"), query(pageQuery{Limit: engine.DefaultLimit}), s.getLikes))
}

// lacksSocial marks an answer as degraded because the social store is unavailable.
const lacksSocial = "social"

// card reads one post for a reader.
func (s *server) card(ctx context.Context, reader, id string) (social.Card, error) {
	cards, err := s.deps.Social.Store.Cards(ctx, reader, []social.PostVersion{{ID: id}})
	if err != nil {
		return social.Card{}, err
	}
	return visible(cards[0])
}

// visible returns a card that its reader may see; the error for any other is [feed.ErrNotFound].
func visible(card social.Card) (social.Card, error) {
	if !card.Visible {
		return social.Card{}, feed.ErrNotFound
	}
	return card, nil
}

// postFilled are the fields of a new post that must not be empty: "" would mean everybody.
var postFilled = []string{"reply", "react"}

// postBody is the body of POST /v1/posts.
type postBody struct {
	Caption  string           `json:"caption"`
	Tags     []string         `json:"tags"`
	Audience *social.Audience `json:"audience"`
	Mentions []string         `json:"mentions"`
	Reply    social.Right     `json:"reply"`
	React    social.Right     `json:"react"`
	ReplyTo  *string          `json:"reply_to"`
	// Images describes the files of a form, in order.
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
		return p, feed.Errorf(feed.ErrRule, "bad post: a reply has the audience and reply rights of the root post of its thread; omit audience and reply")
	}
	p.ReplyTo, p.Audience = *b.ReplyTo, (social.Audience{})
	if p.ReplyTo == "" {
		return p, feed.Errorf(feed.ErrRule, "bad post: reply_to is empty; omit it if the post is not a reply")
	}
	return p, nil
}

// createPost answers POST /v1/posts: 201, or 200 if the post was already created with the same
// key.
func (s *server) createPost(c *call) error {
	author, err := s.member(c)
	if err != nil {
		return err
	}
	if err := c.noQuery(); err != nil {
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
	if err := c.readJSON(MaxPostBody, &in, postFilled...); err != nil {
		return err
	}
	if len(in.Images) > 0 {
		return feed.Errorf(feed.ErrRule, "bad post: images describes files, but a JSON body has none; send multipart/form-data with the fields post and image")
	}
	p, err := in.post(author)
	if err != nil {
		return err
	}
	return s.answerPost(c, p, social.Creation{Key: key}, new(bool))
}

// answerPost creates a post and answers with it; it sets created to whether the post is new.
func (s *server) answerPost(c *call, p social.Post, how social.Creation, created *bool) error {
	ctx, err := s.gated(c)
	if err != nil {
		return err
	}
	post, isNew, err := s.deps.Social.Store.CreatePost(ctx, p, how)
	c.done()
	if err != nil {
		return err
	}
	*created = isNew
	card, err := visible(post.Card)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if isNew {
		status = http.StatusCreated
	}
	return (&postAnswer{status: status, reader: p.Author, card: card}).send(c)
}

// postKey returns the idempotency key of a call, "" for none.
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

// getPost answers GET /v1/posts/{id}. While the store is unavailable, it answers with the cached
// copy of a public post.
func (s *server) getPost(ctx context.Context, c *call, reader string) (any, error) {
	id := c.gin.Param("id")
	card, err := s.card(ctx, reader, id)
	kept := social.FallbackCards(ctx, s.deps.Social.Kept, []string{id}, err)
	if len(kept) > 0 && kept[0].Visible {
		return &postAnswer{http.StatusOK, reader, kept[0], []string{lacksSocial}}, nil
	}
	return &postAnswer{status: http.StatusOK, reader: reader, card: card}, err
}

// editPost answers PATCH /v1/posts/{id} with the post as the caller sees it. An admin call has no
// reader, so it gets an empty answer for a post that is not public.
func (s *server) editPost(ctx context.Context, c *call, by string, in *social.Edit) (any, error) {
	if *in == (social.Edit{}) {
		return nil, fmt.Errorf("%w: nothing to change; send caption, tags, alts or reply", feed.ErrInvalid)
	}
	post, err := s.deps.Social.Store.EditPost(ctx, c.gin.Param("id"), by, *in, time.Time{})
	if err != nil {
		return nil, err
	}
	card, err := visible(post.Card)
	if by == "" && err != nil {
		return empty{}, nil
	}
	return &postAnswer{status: http.StatusOK, reader: by, card: card}, err
}

// removeQuery are the parameters of DELETE /v1/posts/{id}: with one of them, an agent removes the
// post of another, as does the owner of a group without any.
type removeQuery struct {
	Circle queryText `json:"circle"`
	Reason queryText `json:"reason"`
}

// deletePost answers DELETE /v1/posts/{id}.
func (s *server) deletePost(ctx context.Context, c *call, by string, ask *removeQuery) (any, error) {
	store, id := s.deps.Social.Store, c.gin.Param("id")
	if *ask != (removeQuery{}) {
		return empty{}, store.RemovePost(ctx, id, by, string(ask.Circle), string(ask.Reason))
	}
	err := store.DeletePost(ctx, id, by, time.Time{})
	if by != "" && (errors.Is(err, feed.ErrForbidden) || errors.Is(err, feed.ErrNotFound)) {
		err = store.RemovePost(ctx, id, by, "", "")
	}
	return empty{}, err
}

// getLikes answers GET /v1/agents/{agent_id}/likes.
func (s *server) getLikes(ctx context.Context, _ *call, agent string, ask *pageQuery) (any, error) {
	page, err := s.deps.Social.Timelines.Liked(ctx, timeline.LikedRequest{Agent: agent, Below: ask.position, Limit: ask.Limit})
	return &entryPage{reader: agent, Page: page}, err
}

// putLike answers PUT /v1/posts/{id}/like. A new like is also counted as the act "like".
func (s *server) putLike(ctx context.Context, c *call, agent string) (any, error) {
	card, changed, err := s.deps.Social.Store.Like(ctx, agent, c.gin.Param("id"))
	data := api.Likes{Likes: card.Likes, HasLiked: true}
	if err != nil || !changed {
		return data, err
	}
	// The like is stored, so a retry would not count as new: an act that cannot be counted now is
	// lost.
	if _, err := s.deps.Engine.Liked(ctx, agent, card); err != nil {
		s.log.WarnContext(ctx, "a like was stored, but not counted as an act", slog.String("request_id", c.id), slog.String("error", redact(err.Error())))
	}
	return data, nil
}

// deleteLike answers DELETE /v1/posts/{id}/like. The act "like" is taken back.
func (s *server) deleteLike(ctx context.Context, c *call, agent string) (any, error) {
	id := c.gin.Param("id")
	card, changed, err := s.deps.Social.Store.Unlike(ctx, agent, id)
	data := api.Likes{Likes: card.Likes}
	if err != nil || !changed {
		return data, err
	}
	// As for a like, a retry would not change anything.
	if err := s.deps.Engine.Unliked(agent, id); err != nil {
		s.log.WarnContext(ctx, "a like was removed, but the act still counts", slog.String("request_id", c.id), slog.String("error", redact(err.Error())))
	}
	return data, nil
}
