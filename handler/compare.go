package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

// Largest accepted bodies of the routes that measure rankings, in bytes.
const (
	MaxCompareBody = 64 << 10
	MaxReplayBody  = 256 << 10
)

// offlineTimeout bounds one comparison or replay. They ask recall hundreds of
// times, so they get more time than a reader, who waits for one.
const offlineTimeout = 30 * time.Second

// offlineAtOnce bounds how many comparisons and replays are worked on at once.
const offlineAtOnce = 4

// maxDepth is how far a replay may rank.
const maxDepth = 2000

// Offline ranks without showing anything to anybody, and draws agents to do so
// for.
type Offline interface {
	offline.Source
	Agents(ctx context.Context, n int, seed int64) ([]string, error)
}

// offlineWork is the work of such a route. Readers come first: the gate of
// agents' calls is not asked, because who looks into an overload must not be
// shed by it, but few are let in.
func (s *server) offlineWork(c *call, do func(ctx context.Context) error) error {
	if err := s.studies.enter(); err != nil {
		return err
	}
	defer s.studies.leave()
	timeout := max(offlineTimeout, s.cfg.RequestTimeout)
	ctx, cancel := context.WithTimeout(c.gin.Request.Context(), timeout)
	defer cancel()
	extendDeadlines(c.gin.Writer, c.gin.Request, timeout)
	return do(ctx)
}

// compareCall is the body of POST /v1/compare.
type compareCall struct {
	a, b   json.RawMessage
	agents []string
	sample int
	seed   int64
	at     time.Time
	k      int
	lists  bool
}

// postCompare answers POST /v1/compare: how far two rankings differ for some
// agents at one moment.
func (s *server) postCompare(c *call) error {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return err
	}
	body, err := c.readBody(MaxCompareBody)
	if err != nil {
		return err
	}
	ask, err := decodeCompare(body)
	if err != nil {
		return err
	}
	var found offline.Comparison
	err = s.offlineWork(c, func(ctx context.Context) error {
		pair := offline.Pair{Agents: ask.agents, At: ask.at, K: ask.k, Lists: ask.lists}
		base := s.deps.Rankings.Current(ctx).Live.Ranking
		var err error
		if pair.A, err = changedRanking(base, "a", ask.a); err != nil {
			return err
		}
		if pair.B, err = changedRanking(base, "b", ask.b); err != nil {
			return err
		}
		if pair.At.IsZero() {
			pair.At = s.cfg.Clock()
		}
		if pair.Agents == nil {
			if pair.Agents, err = s.draw(ctx, ask); err != nil {
				return err
			}
		}
		found, err = offline.Compare(ctx, s.deps.Offline, pair)
		return err
	})
	if err != nil {
		return err
	}
	return c.succeed(found)
}

// draw takes the sample that was asked for.
func (s *server) draw(ctx context.Context, ask compareCall) ([]string, error) {
	agents, err := s.deps.Offline.Agents(ctx, ask.sample, ask.seed)
	if err == nil && len(agents) == 0 {
		err = fmt.Errorf("%w: there are no agents to draw from, because none has a profile; name them in agents", errBadRequest)
	}
	return agents, err
}

// changedRanking is the live ranking with changes: an object as GET /v1/ranking
// has it, or a list such as "scale=72h,offset=2h"; nothing changes nothing.
func changedRanking(live feed.Ranking, name string, changes json.RawMessage) (r feed.Ranking, err error) {
	switch {
	case changes == nil:
		return live, nil
	case isString(changes):
		r, err = live.With(string(unquote(changes)))
	case changes[0] == '{':
		r = live
		if err = json.Unmarshal(changes, &r); err == nil {
			err = r.Validate()
		}
	default:
		return r, fmt.Errorf(`%w: %s must be an object as in GET /v1/ranking, or a list such as "scale=72h,offset=2h"`, errBadRequest, name)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return r, err
}

func decodeCompare(body []byte) (compareCall, error) {
	const known = "a, b, agents, sample, seed, at, k, lists"
	ask := compareCall{k: offline.DefaultK}
	err := eachField(body, func(name string, value []byte) (err error) {
		switch name {
		case "a":
			ask.a = bytes.Clone(value)
		case "b":
			ask.b = bytes.Clone(value)
		case "agents":
			ask.agents, err = strictly[[]string](name, value, "a list of strings")
		case "sample":
			ask.sample, err = strictly[int](name, value, "a whole number")
		case "seed":
			ask.seed, err = strictly[int64](name, value, "a whole number")
		case "at":
			ask.at, err = moment(name, value)
		case "k":
			ask.k, err = strictly[int](name, value, "a whole number")
		case "lists":
			ask.lists, err = strictly[bool](name, value, "true or false")
		default:
			return unknownField([]byte(name), known)
		}
		return err
	})
	if err != nil {
		return ask, err
	}
	switch {
	case ask.agents == nil && ask.sample == 0:
		return ask, fmt.Errorf("%w: say for whom to compare: agents (a list) or sample (a number)", errBadRequest)
	case ask.agents != nil && ask.sample != 0:
		return ask, fmt.Errorf("%w: give agents or sample, not both", errBadRequest)
	case ask.agents == nil && (ask.sample < 1 || ask.sample > offline.MaxAgents):
		return ask, fmt.Errorf("%w: sample must be 1 to %d, not %d", errBadRequest, offline.MaxAgents, ask.sample)
	}
	return ask, nil
}

// eachField walks over a body that is one object; no field may be there twice.
func eachField(body []byte, field func(name string, value []byte) error) error {
	object, err := openObject(body)
	if err != nil {
		return err
	}
	met := map[string]struct{}{}
	for {
		raw, value, ok := object.next()
		if !ok {
			return nil
		}
		name := string(raw)
		if _, twice := met[name]; twice {
			return repeatedField(name)
		}
		met[name] = struct{}{}
		if err := field(name, value); err != nil {
			return err
		}
	}
}

// strictly decodes a value that must be there: null is none.
func strictly[T any](name string, value []byte, what string) (v T, err error) {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.DisallowUnknownFields()
	if value[0] == 'n' || dec.Decode(&v) != nil {
		return v, fmt.Errorf("%w: %s must be %s", errBadRequest, name, what)
	}
	return v, nil
}

// moment reads a time, RFC 3339 or Unix seconds.
func moment(name string, value []byte) (time.Time, error) {
	var t time.Time
	var seconds int64
	var err error
	if isString(value) {
		t, err = time.Parse(time.RFC3339, string(unquote(value)))
	} else if err = json.Unmarshal(value, &seconds); err == nil {
		t = time.Unix(seconds, 0).UTC()
	}
	if err != nil || t.Unix() < 1 || t.Unix() > feed.MaxItemTime {
		return t, fmt.Errorf(`%w: %s must be a time such as "2026-03-06T12:00:00Z", or Unix seconds`, errBadRequest, name)
	}
	return t, nil
}
