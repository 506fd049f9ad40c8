package handler

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Social holds the dependencies of the routes of posts, follows and timelines. All fields but
// Kept, Images and FollowsByApp are required.
type Social struct {
	Store social.Store
	// Kept returns cached public posts while the store is unavailable; nil if there is no cache.
	Kept social.CachedCards
	// Images processes the images of posts; nil if the server accepts none.
	Images    Images
	Timelines Timelines
	Watcher   Watcher
	// Suggest returns authors whom an agent may want to follow: see [engine.Suggester].
	Suggest func(ctx context.Context, agent string, limit int) ([]api.Suggestion, error)
	Queue   jobs.Queue
	// Rederive makes a step of what makes all lists and items agree with the posts.
	Rederive func(ctx context.Context, cursor string, limit int) (api.Rederived, error)
	Graph    Graph
	Exports  Exports
	// FollowsByApp leaves follows to the app: agents cannot follow or unfollow anyone themselves,
	// only admin calls can.
	FollowsByApp bool
}

// Timelines answers timeline calls. Its methods are those of [timeline.Timelines].
type Timelines interface {
	Timeline(ctx context.Context, r timeline.Request) (timeline.Page, error)
	Author(ctx context.Context, r timeline.AuthorRequest) (timeline.Page, error)
	Circle(ctx context.Context, r timeline.CircleRequest) (timeline.Page, error)
	Replies(ctx context.Context, r timeline.RepliesRequest) (timeline.Page, error)
	Liked(ctx context.Context, r timeline.LikedRequest) (timeline.Page, error)
	Notifications(ctx context.Context, r timeline.NoticesRequest) (social.NoticePage, error)
	Warm(ctx context.Context, agent string) error
}

// socialRoutes adds the routes that require Deps.Social.
func (s *server) socialRoutes(route router) {
	personal := func(method, path string, fn func(*call) error) { route(method, path, personally(fn)) }
	s.postRoutes(personal)
	s.imageRoutes(route)
	s.timelineRoutes(personal)
	s.authorRoutes(personal)
	s.followRoutes(personal)
	s.circleRoutes(personal)
	s.socialMuteRoutes(personal)
	s.notificationRoutes(personal)
	s.graphRoutes(route)
	s.jobRoutes(personal)
	s.promotionRoutes(personal)
	s.moderationRoutes(personal)
	s.exportRoutes(personal)
}

// personally marks the answers of a route as dependent on the caller.
func personally(fn func(*call) error) func(*call) error {
	return func(c *call) error {
		c.personal = true
		return fn(c)
	}
}

// member returns the caller of a route that requires an agent. It fails if the agent is not
// authenticated or over its rate limit.
func (s *server) member(c *call) (string, error) {
	agent, err := s.auth.agent(c.gin.Request)
	if err != nil {
		return "", err
	}
	return s.known(c, agent)
}

// reader returns the caller of a public route: an agent, or "" for an anonymous call. A call with
// invalid credentials fails instead of being treated as anonymous, so that an app notices.
func (s *server) reader(c *call) (string, error) {
	agent, err := s.auth.reader(c.gin.Request)
	if err != nil {
		return "", err
	}
	return s.known(c, agent)
}

// readerOf is [server.reader] for a route with an id in its path, which it checks.
func (s *server) readerOf(check func(id string) error) subject {
	return func(c *call) (string, error) {
		reader, err := s.reader(c)
		if err == nil {
			err = check(c.gin.Param("id"))
		}
		return reader, err
	}
}

// changer returns the caller of a route for the owner of something: an agent, or "" for an admin.
func (s *server) changer(c *call) (string, error) {
	agent, err := s.auth.changer(c.gin.Request)
	if err != nil {
		return "", err
	}
	return s.known(c, agent)
}

// known records the caller and applies the agent's rate limit; "" is no agent.
func (s *server) known(c *call, agent string) (string, error) {
	if err := s.nameCaller(c, agent); err != nil {
		return "", err
	}
	if agent == "" {
		return "", nil
	}
	c.agent = agent
	if err := s.rates.take(agent); err != nil {
		return "", err
	}
	s.act(c, agent)
	return agent, social.CheckAgent(agent)
}

// callerMark stands for the caller where a path names an agent. No id contains it.
const callerMark = "~"

// nameCaller replaces [callerMark] in the path. An admin may name an agent besides, as whom the path
// is then read.
func (s *server) nameCaller(c *call, agent string) error {
	author := strings.HasPrefix(c.gin.FullPath(), "/v1/authors/")
	for i, p := range c.gin.Params {
		agents := author || slices.Contains([]string{"agent_id", "agent", "author"}, p.Key)
		if !agents || p.Value != callerMark {
			continue
		}
		if agent == "" {
			named, err := s.auth.agent(c.gin.Request)
			if err != nil {
				return fmt.Errorf("the path has ~, which stands for the calling agent: %w", err)
			}
			agent = named
		}
		c.gin.Params[i].Value = agent
	}
	return nil
}

// owner returns the agent in a parameter of the path, which must be the caller unless that is an
// admin.
func (s *server) owner(param string) subject {
	return func(c *call) (string, error) {
		by, err := s.changer(c)
		if err != nil {
			return "", err
		}
		agent := c.gin.Param(param)
		if by != "" && by != agent {
			return "", fmt.Errorf("%w: an agent can do this only for itself", feed.ErrForbidden)
		}
		return agent, social.CheckAgent(agent)
	}
}

// queryText is a query parameter that is always text: an agent id may look like a number.
type queryText string

func (t *queryText) UnmarshalJSON(value []byte) error {
	if value[0] != '"' {
		*t = queryText(value)
		return nil
	}
	return json.Unmarshal(value, (*string)(t))
}

// cursorOf formats a position as a cursor.
func cursorOf(p social.Position) string { return p.ID + ":" + strconv.FormatInt(p.At, 10) }

// maxPositionTime is the largest time of a position, in Unix seconds: 18 digits, so that a
// regular expression can express it.
const maxPositionTime = 1e18 - 1

// parsePosition parses the output of cursorOf.
func parsePosition(text string) (p social.Position, ok bool) {
	last := strings.LastIndexByte(text, ':')
	if last < 0 {
		return p, false
	}
	id, stamp := text[:last], text[last+1:]
	at, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || at < 1 || at > maxPositionTime {
		return p, false
	}
	if strconv.FormatInt(at, 10) != stamp || social.CheckPostID(id) != nil {
		return p, false
	}
	return social.Position{At: at, ID: id}, true
}

// pageQuery holds the start and the length of a page of posts.
type pageQuery struct {
	Cursor queryText `json:"cursor"`
	Limit  int       `json:"limit"`

	position social.Position // parsed from Cursor; zero if there is none
}

func (q *pageQuery) check() error {
	if err := feed.CheckLimit(q.Limit, engine.MaxLimit); err != nil || q.Cursor == "" {
		return err
	}
	var ok bool
	if q.position, ok = parsePosition(string(q.Cursor)); !ok {
		return fmt.Errorf("%w: cursor must be the next_cursor of an earlier answer, <post id>:<Unix seconds>, not %.80q", feed.ErrInvalid, string(q.Cursor))
	}
	return nil
}
