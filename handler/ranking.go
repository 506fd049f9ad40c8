package handler

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/ranking"
)

// MaxRankingBody is the largest accepted body of the ranking routes, in bytes.
const MaxRankingBody = 64 << 10

// rankingBy is the default of the field by.
const rankingBy = "admin"

// rankingHistory is the default limit of a history.
const rankingHistory = 20

// Rankings reads and changes the live ranking. Its methods are those of [ranking.Live].
type Rankings interface {
	Current(ctx context.Context) (ranking.Version, error)
	Change(ctx context.Context, c ranking.Change) (ranking.Version, error)
	Revert(ctx context.Context, to int, by, why string, onlyIf *int) (ranking.Version, error)
	History(ctx context.Context, limit int) ([]ranking.Version, error)
	At(ctx context.Context, version int) (ranking.Version, error)
}

// viewRanking converts a version for answers. The buckets of experiments are internal and
// omitted.
func viewRanking(v ranking.Version) api.RankingVersion {
	view := api.RankingVersion{Version: v.Version, By: v.By, Why: v.Why, Ranking: v.Live.Ranking, Experiments: make([]api.Experiment, len(v.Live.Variants))}
	if v.Version > 0 {
		view.At = v.At
	}
	for i, x := range v.Live.Variants {
		view.Experiments[i] = api.Experiment{Name: x.Name, Share: x.Share, Ranking: x.Ranking, Limits: x.Limits}
	}
	return view
}

// getRanking answers GET /v1/ranking: the newest version, with its number as the ETag.
func (s *server) getRanking(ctx context.Context, c *call, _ string) (any, error) {
	v, err := s.deps.Rankings.Current(ctx)
	// Version 0 depends on the configuration, so it is never answered as unchanged.
	if tag, ok := noneMatch(c.gin.Request, rankingTag(v.Version)); ok && v.Version > 0 {
		return notModified(tag), err
	}
	return rankingAnswer{v, nil}, err
}

// notModified is a 304 answer with this ETag.
type notModified string

func (tag notModified) send(c *call) error {
	c.gin.Writer.Header()["Etag"] = []string{string(tag)}
	c.gin.Writer.WriteHeader(http.StatusNotModified)
	c.gin.Writer.WriteHeaderNow()
	return nil
}

// rankingAnswer is an answer with a version of the ranking and notes on side effects of the
// change.
type rankingAnswer struct {
	ranking.Version
	notes []string
}

func (a rankingAnswer) send(c *call) error {
	c.gin.Writer.Header()["Etag"] = []string{rankingTag(a.Version.Version)}
	view := viewRanking(a.Version)
	view.Notes = a.notes
	return c.succeed(view)
}

func rankingTag(version int) string { return `"` + strconv.Itoa(version) + `"` }

// noneMatch reports whether the caller has the content with this ETag, and returns the caller's
// tag, which names the encoding.
func noneMatch(r *http.Request, current string) (tag string, ok bool) {
	for _, header := range r.Header["If-None-Match"] {
		for tag := range strings.SplitSeq(header, ",") {
			tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
			if tag == "*" {
				return current, true
			}
			if plainTag(tag) == current {
				return tag, true
			}
		}
	}
	return "", false
}

// ifMatch returns the version that the caller expects to change; nil means the newest.
func ifMatch(r *http.Request) (*int, error) {
	values := r.Header["If-Match"]
	if len(values) == 0 || len(values) == 1 && strings.TrimSpace(values[0]) == "*" {
		return nil, nil
	}
	if len(values) == 1 {
		tag, quoted := strings.CutPrefix(plainTag(strings.TrimSpace(values[0])), `"`)
		tag, closed := strings.CutSuffix(tag, `"`)
		if number, err := strconv.ParseUint(tag, 10, 63); quoted && closed && err == nil {
			version := int(number)
			return &version, nil
		}
	}
	return nil, fmt.Errorf(`%w: If-Match must be a single ETag returned by GET /v1/ranking, such as "3", or *`, feed.ErrInvalid)
}

// putRanking answers PUT /v1/ranking with the new version. Parameters that are not named keep
// their values.
func (s *server) putRanking(ctx context.Context, c *call, _ string, in *rankingBody) (any, error) {
	var notes []string
	change, err := in.change(&notes)
	if err != nil {
		return nil, err
	}
	if change.If, err = ifMatch(c.gin.Request); err != nil {
		return nil, err
	}
	v, err := s.deps.Rankings.Change(ctx, change)
	return rankingAnswer{v, notes}, err
}

// revertRanking answers POST /v1/ranking/revert with the new version, a copy of the named one.
func (s *server) revertRanking(ctx context.Context, c *call, _ string, in *revertBody) (any, error) {
	onlyIf, err := ifMatch(c.gin.Request)
	if err != nil {
		return nil, err
	}
	v, err := s.deps.Rankings.Revert(ctx, *in.Version, in.By, in.Why, onlyIf)
	return rankingAnswer{v, nil}, err
}

// getRankingHistory answers GET /v1/ranking/history with the newest versions,
// newest first.
func (s *server) getRankingHistory(ctx context.Context, _ *call, _ string, ask *limitQuery) (any, error) {
	list, err := s.deps.Rankings.History(ctx, ask.Limit)
	views := convert.Each(list, viewRanking)
	return api.RankingHistory{Versions: views}, err
}

// rankingBody is the body of PUT /v1/ranking.
type rankingBody struct {
	Ranking     proposal         `json:"ranking"`
	Experiments []experimentBody `json:"experiments"`
	By          string           `json:"by"`
	Why         string           `json:"why"`
}

type experimentBody struct {
	Name    string   `json:"name"`
	Share   *float64 `json:"share"`
	Ranking proposal `json:"ranking"`
	Limits  *limits  `json:"limits"`
}

// limits are guardrails as sent: one that is 0 was meant to be something.
type limits struct {
	Rejects *float64 `json:"rejects"`
	Short   *float64 `json:"short"`
	Latency *float64 `json:"latency"`
	None    bool     `json:"none"`
}

// parse returns the limits; nil leaves them unchanged.
func (l *limits) parse() (*feed.Limits, error) {
	if l == nil {
		return nil, nil
	}
	all := feed.Limits{None: l.None}
	for name, to := range map[string]struct{ from, into *float64 }{
		"rejects": {l.Rejects, &all.Rejects}, "short": {l.Short, &all.Short}, "latency": {l.Latency, &all.Latency},
	} {
		if to.from == nil {
			continue
		}
		if !(*to.from > 0) {
			return nil, fmt.Errorf("%w: the limit %s must be more than 0, or left out for none", feed.ErrInvalid, name)
		}
		*to.into = *to.from
	}
	if err := all.Validate(); err != nil {
		return nil, err
	}
	all.None = false
	return &all, nil
}

func (b *rankingBody) change(notes *[]string) (change ranking.Change, err error) {
	change = ranking.Change{Edit: b.Ranking.edit("ranking", notes), By: b.By, Why: b.Why}
	if b.Experiments != nil {
		if change.Experiments, err = experiments(b.Experiments, notes); err != nil {
			return change, err
		}
	}
	if change.Edit == nil && change.Experiments == nil {
		return change, fmt.Errorf("%w: nothing to change; send parameters in ranking, the list of experiments, or both", feed.ErrInvalid)
	}
	return change, nil
}

// edit returns the edit that applies the proposal; nil if it names no parameter. Side effects
// that the proposal did not name are added to notes.
func (p proposal) edit(name string, notes *[]string) ranking.Edit {
	if !p.names() {
		return nil
	}
	return func(r *feed.Ranking) error {
		was := r.Decay
		err := r.Propose(p)
		if err == nil {
			noteReplaced(notes, name, was, r.Decay)
		}
		return err
	}
}

// noValue matches an object whose only values are null or objects of the same kind.
var noValue = regexp.MustCompile(`^(?:[\s{},]|"[^"]*"\s*:(?:\s*null)?)*$`)

// names reports whether a proposal names a parameter; {"decay":{"scale":null}} does not. It is
// true for an invalid proposal, so that applying it returns the error.
func (p proposal) names() bool {
	return p != nil && (new(feed.Ranking).Propose(p) != nil || !noValue.Match(p))
}

func experiments(list []experimentBody, notes *[]string) ([]ranking.Experiment, error) {
	if len(list) > feed.MaxVariants {
		return nil, fmt.Errorf("%w: at most %d experiments may run at once, not %d", feed.ErrInvalid, feed.MaxVariants, len(list))
	}
	all := make([]ranking.Experiment, len(list))
	for i, x := range list {
		if x.Share == nil {
			return nil, fmt.Errorf("%w: experiments[%d].share must be a number from 0 to 1, the share of all agents", feed.ErrInvalid, i)
		}
		most, err := x.Limits.parse()
		if err != nil {
			return nil, fmt.Errorf("experiments[%d]: %w", i, err)
		}
		all[i] = ranking.Experiment{Name: x.Name, Share: *x.Share, Edit: x.Ranking.edit("experiment "+x.Name, notes), Limits: most}
	}
	return all, nil
}

// revertBody is the body of POST /v1/ranking/revert.
type revertBody struct {
	Version *int   `json:"version"`
	By      string `json:"by"`
	Why     string `json:"why"`
}

func (b *revertBody) check() error {
	if b.Version == nil || *b.Version < 0 {
		return fmt.Errorf("%w: version must be the number of the version to revert to; 0 is the configured ranking", feed.ErrInvalid)
	}
	return nil
}
