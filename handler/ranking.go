package handler

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

// MaxRankingBody is the largest accepted body of the ranking routes, in bytes.
const MaxRankingBody = 64 << 10

// rankingBy is who changed the ranking where the call does not say.
const rankingBy = "admin"

// rankingHistory is how many versions a history lists where the call does not
// say.
const rankingHistory = 20

// Rankings changes the live ranking. [engine.LiveRanking] is one.
type Rankings interface {
	Current(ctx context.Context) catalog.RankingVersion
	Change(ctx context.Context, c engine.RankingChange) (catalog.RankingVersion, error)
	Revert(ctx context.Context, to int, by, why string, onlyIf *int) (catalog.RankingVersion, error)
	History(ctx context.Context, limit int) ([]catalog.RankingVersion, error)
}

// rankingView is how a version is answered. Which agents an experiment has is
// the server's affair: its parts are left out.
type rankingView struct {
	Version     int              `json:"version"`
	At          *time.Time       `json:"at,omitempty"` // version 0 has no date
	By          string           `json:"by"`
	Why         string           `json:"why"`
	Ranking     feed.Ranking     `json:"ranking"`
	Experiments []experimentView `json:"experiments"`
}

type experimentView struct {
	Name    string       `json:"name"`
	Share   float64      `json:"share"`
	Ranking feed.Ranking `json:"ranking"`
}

func viewRanking(v catalog.RankingVersion) rankingView {
	view := rankingView{Version: v.Version, By: v.By, Why: v.Why, Ranking: v.Live.Ranking, Experiments: make([]experimentView, len(v.Live.Variants))}
	if v.Version > 0 {
		view.At = &v.At
	}
	for i, x := range v.Live.Variants {
		view.Experiments[i] = experimentView{Name: x.Name, Share: x.Share, Ranking: x.Ranking}
	}
	return view
}

// getRanking answers GET /v1/ranking: the newest version, with its number as
// the ETag.
func (s *server) getRanking(c *call) error {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return err
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	v := s.deps.Rankings.Current(ctx)
	// What version 0 says is each configuration's own affair, so it is always
	// told.
	if v.Version > 0 && noneMatch(c.gin.Request, v.Version) {
		c.gin.Writer.Header()["Etag"] = []string{rankingTag(v.Version)}
		c.gin.Writer.WriteHeader(http.StatusNotModified)
		c.gin.Writer.WriteHeaderNow()
		return nil
	}
	return c.succeedRanking(v)
}

func (c *call) succeedRanking(v catalog.RankingVersion) error {
	c.gin.Writer.Header()["Etag"] = []string{rankingTag(v.Version)}
	return c.succeed(viewRanking(v))
}

func rankingTag(version int) string { return `"` + strconv.Itoa(version) + `"` }

// noneMatch reports whether the caller has this version.
func noneMatch(r *http.Request, version int) bool {
	for _, header := range r.Header["If-None-Match"] {
		for tag := range strings.SplitSeq(header, ",") {
			tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
			if tag == "*" || tag == rankingTag(version) {
				return true
			}
		}
	}
	return false
}

// ifMatch is the version the caller means to change; nil: whichever is the
// newest.
func ifMatch(r *http.Request) (*int, error) {
	values := r.Header["If-Match"]
	if len(values) == 0 || len(values) == 1 && strings.TrimSpace(values[0]) == "*" {
		return nil, nil
	}
	if len(values) == 1 {
		tag, quoted := strings.CutPrefix(strings.TrimSpace(values[0]), `"`)
		tag, closed := strings.CutSuffix(tag, `"`)
		if version, err := strconv.Atoi(tag); quoted && closed && err == nil {
			return &version, nil
		}
	}
	return nil, fmt.Errorf(`%w: If-Match must be the one ETag that GET /v1/ranking answered, such as "3", or *`, errBadRequest)
}

// putRanking answers PUT /v1/ranking with the new version. Parameters that are
// not named stay as they are.
func (s *server) putRanking(c *call) error {
	return s.changeRanking(c, func(ctx context.Context, body []byte, onlyIf *int) (catalog.RankingVersion, error) {
		change, err := decodeRankingChange(body)
		if err != nil {
			return catalog.RankingVersion{}, err
		}
		change.If = onlyIf
		return s.deps.Rankings.Change(ctx, change)
	})
}

// revertRanking answers POST /v1/ranking/revert with the new version, which is
// what the named one was.
func (s *server) revertRanking(c *call) error {
	return s.changeRanking(c, func(ctx context.Context, body []byte, onlyIf *int) (catalog.RankingVersion, error) {
		to, by, why, err := decodeRevert(body)
		if err != nil {
			return catalog.RankingVersion{}, err
		}
		return s.deps.Rankings.Revert(ctx, to, by, why, onlyIf)
	})
}

func (s *server) changeRanking(c *call, change func(ctx context.Context, body []byte, onlyIf *int) (catalog.RankingVersion, error)) error {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return err
	}
	onlyIf, err := ifMatch(c.gin.Request)
	if err != nil {
		return err
	}
	body, err := c.readBody(MaxRankingBody)
	if err != nil {
		return err
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	v, err := change(ctx, body, onlyIf)
	if err != nil {
		return err
	}
	return c.succeedRanking(v)
}

// getRankingHistory answers GET /v1/ranking/history with the newest versions,
// newest first.
func (s *server) getRankingHistory(c *call) error {
	if err := s.auth.admin(c.gin.Request); err != nil {
		return err
	}
	limit := rankingHistory
	if text, given := c.gin.GetQuery("limit"); given {
		var err error
		if limit, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("%w: limit must be a number, not %q", engine.ErrBadLimit, text)
		}
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	list, err := s.deps.Rankings.History(ctx, limit)
	if err != nil {
		return err
	}
	views := make([]rankingView, len(list))
	for i, v := range list {
		views[i] = viewRanking(v)
	}
	return c.succeed(struct {
		Versions []rankingView `json:"versions"`
	}{views})
}

// fields splits a body into its members, each of which must be known and there
// once.
func fields(body []byte, known ...string) (map[string]json.RawMessage, error) {
	object, err := openObject(body)
	if err != nil {
		return nil, err
	}
	found := make(map[string]json.RawMessage, len(known))
	for {
		name, value, ok := object.next()
		if !ok {
			return found, nil
		}
		if !slices.Contains(known, string(name)) {
			return nil, unknownField(name, strings.Join(known, ", "))
		}
		if _, again := found[string(name)]; again {
			return nil, repeatedField(string(name))
		}
		found[string(name)] = value
	}
}

// text reads a member that is a string; absent, it is what otherwise says.
func text(found map[string]json.RawMessage, name, otherwise string) (string, error) {
	value, given := found[name]
	if !given {
		return otherwise, nil
	}
	if !isString(value) {
		return "", fmt.Errorf("%w: %s must be a string", errBadRequest, name)
	}
	return string(unquote(value)), nil
}

func decodeRankingChange(body []byte) (change engine.RankingChange, err error) {
	found, err := fields(body, "ranking", "experiments", "by", "why")
	if err != nil {
		return change, err
	}
	if change.By, err = text(found, "by", rankingBy); err != nil {
		return change, err
	}
	if change.Why, err = text(found, "why", ""); err != nil {
		return change, err
	}
	if change.Edit, err = decodeEdit(found["ranking"]); err != nil {
		return change, err
	}
	if list, given := found["experiments"]; given {
		change.Experiments, err = decodeExperiments(list)
	}
	if err == nil && change.Edit == nil && change.Experiments == nil {
		err = fmt.Errorf("%w: there is nothing to change: send ranking, experiments or both", errBadRequest)
	}
	return change, err
}

// decodeEdit takes parameters that are to be changed; nil: none are named.
func decodeEdit(value json.RawMessage) (engine.RankingEdit, error) {
	if value == nil {
		return nil, nil
	}
	if value[0] != '{' {
		return nil, fmt.Errorf("%w: ranking must be a JSON object", errBadRequest)
	}
	return func(r *feed.Ranking) error { return r.UnmarshalJSON(value) }, nil
}

func decodeExperiments(list json.RawMessage) ([]engine.Experiment, error) {
	var objects []json.RawMessage
	if list[0] != '[' || json.Unmarshal(list, &objects) != nil {
		return nil, fmt.Errorf("%w: experiments must be the whole list of those that shall run; [] ends all", errBadRequest)
	}
	if len(objects) > feed.MaxVariants {
		return nil, fmt.Errorf("%w: at most %d experiments may run at once, not %d", errBadRequest, feed.MaxVariants, len(objects))
	}
	experiments := make([]engine.Experiment, len(objects))
	for i, object := range objects {
		var err error
		if experiments[i], err = decodeExperiment(object); err != nil {
			return nil, fmt.Errorf("experiments, entry %d: %w", i+1, err)
		}
	}
	return experiments, nil
}

func decodeExperiment(object json.RawMessage) (x engine.Experiment, err error) {
	found, err := fields(object, "name", "share", "ranking")
	if err != nil {
		return x, err
	}
	if x.Name, err = text(found, "name", ""); err != nil {
		return x, err
	}
	share, given := found["share"]
	if !given || string(share) == "null" || json.Unmarshal(share, &x.Share) != nil {
		return x, fmt.Errorf("%w: share must be a number, the part of all agents from 0 to 1", errBadRequest)
	}
	x.Edit, err = decodeEdit(found["ranking"])
	return x, err
}

func decodeRevert(body []byte) (to int, by, why string, err error) {
	found, err := fields(body, "version", "by", "why")
	if err != nil {
		return 0, "", "", err
	}
	version, given := found["version"]
	if !given || string(version) == "null" || json.Unmarshal(version, &to) != nil || to < 0 {
		return 0, "", "", fmt.Errorf("%w: version must be the number of the version to go back to; 0 is the configuration's", errBadRequest)
	}
	if by, err = text(found, "by", rankingBy); err == nil {
		why, err = text(found, "why", "")
	}
	return to, by, why, err
}
