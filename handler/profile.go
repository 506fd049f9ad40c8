package handler

import (
	"context"
	"net/http"
	"strconv"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
)

// profileChange is a change of a profile, applied only if match accepts the stored one.
type profileChange struct {
	match func(stored feed.Profile) error
	make  func(*feed.Profile) error
}

// readChange reads the change of a profile by PUT or PATCH.
func readChange(c *call) (*profileChange, error) {
	match, err := matching(c.gin.Request)
	if err != nil {
		return nil, err
	}
	body, err := c.readBody(MaxProfileBody)
	if err != nil {
		return nil, err
	}
	parse := replaceProfile
	if c.gin.Request.Method == http.MethodPatch {
		parse = catalog.ProfilePatch
	}
	change, err := parse(body)
	return &profileChange{match, change}, err
}

// replaceProfile is the change of PUT.
func replaceProfile(body []byte) (func(*feed.Profile) error, error) {
	p, err := feed.ParseProfile(body)
	return func(stored *feed.Profile) error {
		stored.Replace(p)
		return nil
	}, err
}

// editProfile answers PUT and PATCH /v1/agents/{agent_id}/profile with the stored profile.
func (s *server) editProfile(ctx context.Context, _ *call, agent string, change *profileChange) (any, error) {
	p, err := s.deps.Engine.EditProfile(ctx, agent, func(stored *feed.Profile) (bool, error) {
		if err := change.match(*stored); err != nil {
			return false, err
		}
		return true, change.make(stored)
	})
	return taggedProfile{p, p}, err
}

// taggedProfile is an answer with the profile's ETag.
type taggedProfile struct {
	feed.Profile
	data any
}

func (p taggedProfile) send(c *call) error {
	tag, err := profileTag(p.Profile)
	if err != nil {
		return err
	}
	c.gin.Writer.Header()["Etag"] = []string{tag}
	return c.succeed(p.data)
}

// getProfile answers GET /v1/agents/{agent_id}/profile.
func (s *server) getProfile(ctx context.Context, _ *call, agent string) (any, error) {
	p, err := s.deps.Engine.Profile(ctx, agent)
	if err != nil {
		return nil, err
	}
	learned := s.deps.Engine.Learned(agent, &p)
	for i := range learned {
		learned[i].Score = significant(learned[i].Score)
		learned[i].Factor = min(significant(learned[i].Factor), 0.9999) // 1 would mean no effect
	}
	return taggedProfile{p, api.AgentProfile{Profile: p, Learned: learned}}, nil
}

// significant rounds to four significant digits for display.
func significant(x float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x
	}
	return rounded
}

// deleteAgent answers DELETE /v1/agents/{agent_id}.
func (s *server) deleteAgent(ctx context.Context, agent string) error {
	if err := s.checkEraser(ctx, agent, true); err != nil {
		return err
	}
	if err := s.noteErasure(agent, false); err != nil {
		return err
	}
	err := s.deps.Personal.Erase(ctx, agent)
	if err == nil && s.deps.FollowErasures != nil {
		s.deps.FollowErasures(ctx)
	}
	return err
}

// checkEraser fails if a token from before the last erasure of an agent must not erase it. With repeats it may, as the
// call may be the retry of one that has failed or whose answer was lost, until somebody uses the id again. What is
// refused must not be noted: after a restore, it would be made all the same.
func (s *server) checkEraser(ctx context.Context, agent string, repeats bool) error {
	by := social.ActorOf(ctx)
	if s.deps.Social == nil || !by.Token {
		return nil
	}
	erased, used, err := s.deps.Social.Store.LastErasure(ctx, agent)
	if err != nil || !by.Before(erased) {
		return err
	}
	if repeats && !used {
		learned, has, err := s.deps.Engine.LastErased(ctx, agent)
		// A profile that was not erased yet is what the retry is for. The stamps are by the clocks of two servers.
		if err != nil || !has || learned < erased-feed.MaxClockSkew.Microseconds() {
			return err
		}
	}
	return by.Check(0, 0, "", erased)
}

func (s *server) noteErasure(agent string, onlyAuthor bool) error {
	if s.deps.NoteErasure == nil {
		return nil
	}
	return s.deps.NoteErasure(agent, onlyAuthor)
}
