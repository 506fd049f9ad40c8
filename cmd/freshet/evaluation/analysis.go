// Package evaluation evaluates other rankings on a server: how far two rankings differ
// ([Analysis.Compare]), over a range of parameters ([Analysis.Sweep]), and where each would have
// placed the clicked items ([Replay]). It makes as many calls as necessary; the measures are those
// of engine/offline.
package evaluation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

// Analysis compares rankings for the same agents at the same moment. If the request leaves these
// open, the first comparison sets them.
type Analysis struct {
	client  *client.Client
	request client.CompareRequest
	a       *feed.Ranking // A in the first answer
}

// callTimeout limits a call, whatever the client's own timeout.
const callTimeout = time.Minute

// NewAnalysis returns an analysis by a request without B. It may name any number of agents.
func NewAnalysis(c *client.Client, request client.CompareRequest) *Analysis {
	return &Analysis{client: c, request: request}
}

// Compare compares A with b, which is given as changes to the live ranking.
func (s *Analysis) Compare(ctx context.Context, b string) (offline.Comparison, error) {
	request := s.request
	request.B = b
	batches := [][]string{nil} // the server selects a sample
	if s.request.Agents != nil {
		batches = slices.Collect(slices.Chunk(s.request.Agents, offline.MaxAgents))
	}
	var all offline.Comparison
	for _, batch := range batches {
		request.Agents = batch
		limited, cancel := context.WithTimeout(ctx, callTimeout)
		got, err := s.client.Compare(limited, request)
		cancel()
		if err != nil {
			return all, err
		}
		if s.a == nil {
			s.a, s.request.At, request.At = &got.A, &got.At, &got.At
		}
		if err := unchanged(*s.a, got.A); err != nil {
			return all, err
		}
		got.PerAgent = append(all.PerAgent, got.PerAgent...)
		all = got
	}
	if s.request.Agents == nil {
		for _, agent := range all.PerAgent {
			s.request.Agents = append(s.request.Agents, agent.Agent)
		}
		s.request.Sample = 0
	}
	all.Figures = offline.Summarize(all.PerAgent)
	return all, nil
}

// CheckChanges checks a list of changes independently of the ranking that they change. The error
// begins with what, such as the name of a flag.
func CheckChanges(what, changes string) error {
	// The default ranking, because a floor is refused if its decay is off.
	if _, err := feed.DefaultRanking().With(changes); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// addNotes adds the notes that are new.
func addNotes(to, from []string) []string {
	for _, note := range from {
		if !slices.Contains(to, note) {
			to = append(to, note)
		}
	}
	return to
}

// unchanged returns an error unless an answer is about the same ranking as the one before.
func unchanged(was, is feed.Ranking) error {
	if was != is {
		return errors.New("the live ranking was changed during the command; run it again")
	}
	return nil
}

// Sweep is a comparison of A with each value of a parameter, or with each pair of
// values of two.
type Sweep struct {
	At     time.Time    `json:"at"`
	K      int          `json:"k"`
	A      feed.Ranking `json:"a"`
	Agents int          `json:"agents"`
	Notes  []string     `json:"notes,omitempty"` // side effects of the changes
	// LeftOut names the parts of the rankings that are not known for At.
	LeftOut []string    `json:"left_out,omitempty"`
	Points  []Point     `json:"points"`
	Axes    []Parameter `json:"-"` // those with several values, and then those with one
}

// Point is one comparison of a sweep.
type Point struct {
	Changes string          `json:"changes"`
	Ranking feed.Ranking    `json:"ranking"`
	Figures offline.Summary `json:"figures"`
}

// Axes parses the values of parameters, by their names, as [ParseRange] does. Parameters with
// several values come first; there are at most two of them.
func Axes(ranges map[string]string, steps int) ([]Parameter, error) {
	var many, single []Parameter
	for _, name := range Sweepable() {
		if ranges[name] == "" {
			continue
		}
		p, err := ParseRange(name, ranges[name], steps)
		if err != nil {
			return nil, err
		}
		if len(p.Values) > 1 {
			many = append(many, p)
		} else {
			single = append(single, p)
		}
	}
	axes := append(many, single...)
	switch points := Points(axes); {
	case len(many) == 0:
		return nil, errors.New("name a parameter to sweep, such as --scale 6h..168h")
	case len(many) > 2:
		return nil, errors.New("sweep one or two parameters at a time, not three")
	case points > maxPoints:
		return nil, fmt.Errorf("these are %d comparisons, but at most %d are allowed; use fewer --steps", points, maxPoints)
	}
	return axes, nil
}

// Points returns the number of comparisons for the axes.
func Points(axes []Parameter) int {
	points := 1
	for _, axis := range axes {
		points *= len(axis.Values)
	}
	return points
}

// Sweep compares A with each point of the axes, where the first axis varies fastest, and calls step
// after each.
func (s *Analysis) Sweep(ctx context.Context, axes []Parameter, step func()) (Sweep, error) {
	out := Sweep{Axes: axes}
	for i := range Points(axes) {
		changes, rest := make([]string, len(axes)), i
		for j, axis := range axes {
			changes[j] = axis.Change(rest % len(axis.Values))
			rest /= len(axis.Values)
		}
		p := Point{Changes: strings.Join(changes, ",")}
		got, err := s.Compare(ctx, p.Changes)
		if err != nil {
			return out, fmt.Errorf("%s: %w", p.Changes, err)
		}
		p.Ranking, p.Figures = got.B, got.Figures
		out.At, out.K, out.A, out.Agents = got.At, got.K, got.A, got.Figures.Agents
		out.Notes, out.LeftOut = addNotes(out.Notes, got.Notes), addNotes(out.LeftOut, got.LeftOut)
		out.Points = append(out.Points, p)
		step()
	}
	return out, nil
}
