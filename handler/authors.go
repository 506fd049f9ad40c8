package handler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

func (s *server) authorRoutes(route router) {
	const author = "/v1/authors/:id"
	reader, owner := s.readerOf(social.CheckAgent), s.owner("id")
	route(http.MethodPost, "/v1/authors/cards", serveInput(s.gated, s.changer, body(MaxCardsBody, cardsBody{}), s.postAuthorCards))
	route(http.MethodGet, author, serve(s.work, reader, s.getAuthor))
	route(http.MethodPut, author, serveInput(s.gated, owner, body(MaxAuthorBody, api.AuthorCard{}), s.putAuthor))
	route(http.MethodPatch, author, serveInput(s.gated, owner, patchOf[api.AuthorCard](MaxAuthorBody), s.patchAuthor))
	route(http.MethodPut, author+"/image", s.putAvatar)
	route(http.MethodDelete, author, s.of(owner, s.deleteAuthor))
	route(http.MethodGet, author+"/posts", serveInput(s.work, reader, readPosts, s.getAuthorPosts))
}

// deleteAuthor answers DELETE /v1/authors/{id}.
func (s *server) deleteAuthor(ctx context.Context, author string) error {
	if err := s.checkEraser(ctx, author, false); err != nil {
		return err
	}
	if err := s.noteErasure(author, true); err != nil {
		return err
	}
	return s.deps.Social.Store.EraseAuthor(ctx, author)
}

// blockedAuthor is the answer about an author whom the reader blocks.
type blockedAuthor struct {
	ID        string `json:"id"`
	IsBlocked bool   `json:"is_blocked"`
}

// getAuthor answers GET /v1/authors/{id}.
func (s *server) getAuthor(ctx context.Context, c *call, reader string) (any, error) {
	info, err := s.deps.Social.Store.Author(ctx, reader, c.gin.Param("id"))
	if info.IsBlocked {
		return blockedAuthor{info.ID, true}, err
	}
	return info, err
}

// cardsBody is the body of POST /v1/authors/cards.
type cardsBody struct {
	Authors []string `json:"authors"`
}

func (b *cardsBody) check() error {
	if len(b.Authors) == 0 || len(b.Authors) > MaxCards {
		return fmt.Errorf("%w: authors must contain 1 to %d ids, not %d", feed.ErrInvalid, MaxCards, len(b.Authors))
	}
	for i, id := range b.Authors {
		if err := feed.CheckAgentID(id); err != nil {
			return fmt.Errorf("authors[%d]: %w", i, err)
		}
	}
	return nil
}

// postAuthorCards answers POST /v1/authors/cards.
func (s *server) postAuthorCards(ctx context.Context, _ *call, reader string, in *cardsBody) (any, error) {
	cards, err := s.deps.Social.Store.AgentCards(ctx, reader, in.Authors)
	return api.AgentCards{Cards: cards}, err
}

// putAuthor answers PUT /v1/authors/{id} with the stored card. An app that does not know of recommend
// must not undo the author's choice, so it stays if it is left out.
func (s *server) putAuthor(ctx context.Context, _ *call, author string, in *api.AuthorCard) (any, error) {
	return s.deps.Social.Store.PatchAuthor(ctx, author, func(stored social.Author) (social.Author, error) {
		card := authorOf(author, in)
		card.Recommend = cmp.Or(card.Recommend, stored.Recommend)
		return card, nil
	})
}

func authorOf(id string, card *api.AuthorCard) social.Author {
	return social.Author{
		ID: id, Name: card.Name, ImageURL: card.ImageURL, Bio: card.Bio,
		SuggestFromFollows: card.SuggestFromFollows, Recommend: card.Recommend,
	}
}

// patchAuthor answers PATCH /v1/authors/{id} with the stored card.
func (s *server) patchAuthor(ctx context.Context, _ *call, author string, patch *mergePatch[api.AuthorCard]) (any, error) {
	return s.deps.Social.Store.PatchAuthor(ctx, author, func(stored social.Author) (social.Author, error) {
		card, err := patch.apply(api.AuthorCard{
			Name: stored.Name, ImageURL: stored.ImageURL, Bio: stored.Bio,
			SuggestFromFollows: stored.SuggestFromFollows, Recommend: stored.Recommend,
		})
		return authorOf(author, &card), err
	})
}

// grid is the view with a thumbnail per post, and defaultGridCards the default page size of it.
const (
	grid             = "grid"
	defaultGridCards = 10
)

// gridView is the view parameter of a query; grid is the only value.
type gridView bool

func (v *gridView) UnmarshalJSON(value []byte) error {
	*v = string(value) == `"`+grid+`"`
	if !*v && string(value) != `""` {
		return errors.New("must be grid or omitted")
	}
	return nil
}

// postsQuery are the parameters of GET /v1/authors/{id}/posts and GET /v1/circles/{id}/posts.
type postsQuery struct {
	pageQuery
	View gridView `json:"view"`
}

func readPosts(c *call) (*postsQuery, error) {
	limit := engine.DefaultLimit
	if c.gin.Query("view") == grid {
		limit = defaultGridCards
	}
	return query(postsQuery{pageQuery: pageQuery{Limit: limit}})(c)
}

// getAuthorPosts answers GET /v1/authors/{id}/posts. An author without posts visible to the
// reader gets an empty page, like an unknown one.
func (s *server) getAuthorPosts(ctx context.Context, c *call, reader string, ask *postsQuery) (any, error) {
	if reader != "" {
		if err := s.auth.checkShown(c.gin.Request); err != nil {
			return nil, err
		}
	}
	page, err := s.deps.Social.Timelines.Author(ctx, timeline.AuthorRequest{
		Reader: reader, Author: c.gin.Param("id"), Below: ask.position, Limit: ask.Limit,
	})
	return &entryPage{reader: reader, grid: bool(ask.View), Page: page}, err
}
