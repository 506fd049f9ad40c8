package tuning

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

// A server ranks for each click by each ranking, so that many are asked for in
// one call.
const replayAtOnce = 400

// Contestant is one set of parameters and how it did.
type Contestant struct {
	Name    string       `json:"name"`
	Changes string       `json:"changes"`
	Ranking feed.Ranking `json:"ranking"`
	offline.Standing
}

// Replay says where rankings would have placed what was clicked.
type Replay struct {
	Clicks      int                      `json:"clicks"` // that score
	Agents      int                      `json:"agents"`
	K           int                      `json:"k"`
	Depth       int                      `json:"depth"`
	Contestants []Contestant             `json:"rankings"` // each compared with the first
	NotScored   map[offline.Replayed]int `json:"not_scored"`
	Skipped     map[string]int           `json:"skipped"`         // events of other types
	Notes       []string                 `json:"notes,omitempty"` // what the changes did beside what they say
	Rejected    int                      `json:"rejected"`
	Errors      []client.Rejection       `json:"errors"` // the first of those rejected
}

// Contestants are A, and B or what a sweep such as scale=6h..168h makes. Both may
// be empty.
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
		return nil, fmt.Errorf("--sweep: say a parameter and its values, such as scale=6h..168h; there are %s", strings.Join(Sweepable(), ", "))
	}
	p, err := ParseRange(name, text, steps)
	if err != nil {
		return nil, err
	}
	if len(p.Values) >= offline.MaxRankings {
		return nil, fmt.Errorf("--sweep: these are %d values, at most %d are replayed", len(p.Values), offline.MaxRankings-1)
	}
	for i := range p.Values {
		list = append(list, Contestant{Name: p.Change(i), Changes: p.Change(i)})
	}
	return list, nil
}

// Run replays a whole file of events, one JSON object a line, batch after batch.
// Contestants, K and Depth say what to ask; it fills in the rest.
func (r *Replay) Run(ctx context.Context, c *client.Client, source io.Reader) error {
	request := client.ReplayRequest{Depth: r.Depth}
	for _, x := range r.Contestants {
		request.Rankings = append(request.Rankings, x.Changes)
	}
	r.NotScored, r.Skipped = map[offline.Replayed]int{}, map[string]int{}
	scores := offline.NewScoreboard(len(r.Contestants), r.K)
	first := true
	in := clicks{skipped: r.Skipped, handOn: func(ctx context.Context, some []client.ReplayClick) error {
		request.Clicks = some
		err := r.ask(ctx, c, request, scores, first)
		first = false
		return err
	}}
	var err error
	if r.Rejected, r.Errors, err = in.read(ctx, source, min(max(1, replayAtOnce/len(r.Contestants)), offline.MaxClicks)); err != nil {
		return err
	}
	r.Clicks, r.Agents = scores.Counted()
	for i, standing := range scores.Standings() {
		r.Contestants[i].Standing = standing
	}
	return nil
}

func (r *Replay) ask(ctx context.Context, c *client.Client, request client.ReplayRequest, scores *offline.Scoreboard, first bool) error {
	got, err := c.Replay(ctx, request)
	if err != nil {
		return err
	}
	if len(got.Outcomes) != len(request.Clicks) || len(got.Rankings) != len(r.Contestants) {
		return errors.New("the server answered for other clicks than it was asked for; it and this command must be of one version")
	}
	r.Notes = addNotes(r.Notes, got.Notes)
	for i, ranking := range got.Rankings {
		x := &r.Contestants[i]
		if err := unchanged(x.Ranking, ranking); !first && err != nil {
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
