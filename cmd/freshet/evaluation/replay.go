package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/ndjson"
)

// The maximum of clicks times rankings per call: a server ranks for each click by each ranking.
const replayAtOnce = 400

// Contestant is one set of parameters and its results.
type Contestant struct {
	Name    string       `json:"name"`
	Changes string       `json:"changes"`
	Ranking feed.Ranking `json:"ranking"`
	offline.Standing
}

// Replay reports where rankings would have placed the clicked items.
type Replay struct {
	Clicks      int                        `json:"clicks"` // clicks that were scored
	Agents      int                        `json:"agents"`
	K           int                        `json:"k"`
	Depth       int                        `json:"depth"`
	Contestants []Contestant               `json:"rankings"` // each compared with the first
	NotScored   map[offline.ClickState]int `json:"not_scored"`
	Skipped     map[string]int             `json:"skipped"`            // events of other types
	Notes       []string                   `json:"notes,omitempty"`    // side effects of the changes
	LeftOut     []string                   `json:"left_out,omitempty"` // the parts of the rankings that clicks have changed
	Rejected    int                        `json:"rejected"`
	Errors      []client.Rejection         `json:"errors"` // the first rejected lines
}

// Contestants returns A, and B or the values of a sweep such as scale=6h..168h. Both may be empty.
func Contestants(a, b, sweep string, steps int) ([]Contestant, error) {
	if b != "" && sweep != "" {
		return nil, errors.New("give --b or --sweep, not both")
	}
	if err := errors.Join(CheckChanges("--a", a), CheckChanges("--b", b)); err != nil {
		return nil, err
	}
	list := []Contestant{{Name: "A", Changes: a}}
	if b != "" {
		list = append(list, Contestant{Name: "B", Changes: b})
	}
	if sweep == "" {
		return list, nil
	}
	name, text, _ := strings.Cut(sweep, "=")
	if !slices.Contains(Sweepable(), name) {
		return nil, fmt.Errorf("--sweep: give a parameter and its values, such as scale=6h..168h; the parameters are %s", strings.Join(Sweepable(), ", "))
	}
	p, err := ParseRange(name, text, steps)
	if err != nil {
		return nil, err
	}
	if len(p.Values) >= offline.MaxRankings {
		return nil, fmt.Errorf("--sweep: these are %d values, but at most %d are allowed", len(p.Values), offline.MaxRankings-1)
	}
	for i := range p.Values {
		list = append(list, Contestant{Name: p.Change(i), Changes: p.Change(i)})
	}
	return list, nil
}

// ErrNoEvents is the error for a file without a line.
var ErrNoEvents = errors.New("there are no events")

// Run replays a whole file of events, one JSON object per line, in batches. Contestants, K and
// Depth define the request; Run sets the other fields. A file without a line is [ErrNoEvents].
func (r *Replay) Run(ctx context.Context, c *client.Client, source io.Reader) error {
	request := client.ReplayRequest{Depth: r.Depth}
	for _, x := range r.Contestants {
		request.Rankings = append(request.Rankings, x.Changes)
	}
	r.NotScored, r.Skipped = map[offline.ClickState]int{}, map[string]int{}
	scores := offline.NewScoreboard(len(r.Contestants), r.K)
	in := clicks{skipped: r.Skipped, handOn: func(ctx context.Context, some []offline.Click) error {
		request.Clicks = some
		return r.ask(ctx, c, request, scores)
	}}
	var err error
	r.Rejected, r.Errors, err = in.read(ctx, source, min(max(1, replayAtOnce/len(r.Contestants)), offline.MaxClicks))
	switch {
	case err != nil:
		return err
	case in.lines == 0:
		return ErrNoEvents
	}
	r.Clicks, r.Agents = scores.Counted()
	for i, standing := range scores.Standings() {
		r.Contestants[i].Standing = standing
	}
	return nil
}

func (r *Replay) ask(ctx context.Context, c *client.Client, request client.ReplayRequest, scores *offline.Scoreboard) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	got, err := c.Replay(ctx, request)
	if err != nil {
		return err
	}
	if len(got.Outcomes) != len(request.Clicks) || len(got.Rankings) != len(r.Contestants) {
		return errors.New("the server returned outcomes for different clicks; use the same version for server and command")
	}
	r.Notes, r.LeftOut = addNotes(r.Notes, got.Notes), addNotes(r.LeftOut, got.LeftOut)
	for i, ranking := range got.Rankings {
		x := &r.Contestants[i]
		if err := unchanged(x.Ranking, ranking); x.Ranking != (feed.Ranking{}) && err != nil {
			return err
		}
		x.Ranking = ranking
	}
	for i, outcome := range got.Outcomes {
		if outcome.State.Scores() {
			scores.Add(request.Clicks[i].Agent, outcome.Ranks)
		} else {
			r.NotScored[outcome.State]++
		}
	}
	return nil
}

const (
	maxEvent      = 64 << 10 // bytes
	shownBadLines = 20       // reported lines that cannot be used
)

var errStopped = errors.New("the replay stops there")

// clicks is the [ndjson.Batch] of a file of events, one JSON object per line: it processes clicks,
// and counts other events by type.
type clicks struct {
	handOn  func(ctx context.Context, some []offline.Click) error
	atOnce  int // clicks per call
	lines   int // lines that are not blank
	waiting []offline.Click
	skipped map[string]int
}

// read reads a file to its end, and processes at most atOnce clicks at a time.
func (c *clicks) read(ctx context.Context, r io.Reader, atOnce int) (rejected int, first []client.Rejection, err error) {
	c.atOnce = atOnce
	report, err := ndjson.Read(ctx, r, ndjson.Kind{
		Entry: "event", Verb: "replaying", Most: maxEvent, Reason: error.Error, Unavailable: errStopped,
	}, ndjson.Config{Batch: atOnce, MaxErrors: shownBadLines}, c)
	if err == nil && len(c.waiting) > 0 {
		err = c.handOn(ctx, c.waiting)
	}
	return report.Rejected, report.Errors, err
}

// Put implements [ndjson.Batch]. Most events may be of other types, so clicks wait until they fill
// a call.
func (c *clicks) Put(ctx context.Context) ([]error, error) {
	for len(c.waiting) >= c.atOnce {
		some := c.waiting[:c.atOnce]
		c.waiting = c.waiting[c.atOnce:]
		if err := c.handOn(ctx, some); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// TooBig implements [ndjson.Batch].
func (c *clicks) TooBig([]byte) (string, error) {
	c.lines++
	return "", fmt.Errorf("it is longer than %d KiB", maxEvent>>10)
}

// Add implements [ndjson.Batch]. Unknown fields are ignored.
func (c *clicks) Add(_ int, line []byte) (string, error) {
	c.lines++
	var event struct {
		Agent string          `json:"agent_id"`
		ID    string          `json:"id"`
		At    json.RawMessage `json:"at"`
		Type  string          `json:"type"`
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return "", fmt.Errorf("it is not a JSON object with agent_id, id, at and type: %w", err)
	}
	if event.Type == "" {
		return "", errors.New("type is missing")
	}
	if event.Type != "click" {
		c.skipped[event.Type]++
		return "", nil
	}
	at, err := eventTime(event.At)
	if err := errors.Join(feed.CheckAgentID(event.Agent), feed.CheckItemID(event.ID), err); err != nil {
		return "", err
	}
	c.waiting = append(c.waiting, offline.Click{Agent: event.Agent, ID: event.ID, At: at})
	return "", nil
}

func eventTime(raw json.RawMessage) (at feed.Moment, err error) {
	if len(raw) == 0 || string(raw) == "null" {
		return at, errors.New("at is missing")
	}
	text := string(raw)
	if raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return at, err
		}
	}
	if at.Time, err = feed.ParseTime(text); err != nil {
		return at, fmt.Errorf("at %w", err)
	}
	return at, nil
}
