// Package tuning asks a server what other rankings would do: how far two differ
// ([Analysis.Compare]), over a range of parameters ([Analysis.Sweep]), and where each
// would have placed what was clicked ([Replay]). It makes as many calls as that
// takes; the measures are those of engine/offline.
package tuning

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
)

// Analysis compares rankings for the same agents at the same moment, which the first
// comparison settles where the request leaves them open.
type Analysis struct {
	client  *client.Client
	request client.CompareRequest
	a       *feed.Ranking // what A was in the first answer
}

// NewAnalysis begins an analysis of what the request says but for B. It may name any
// number of agents.
func NewAnalysis(c *client.Client, request client.CompareRequest) *Analysis {
	return &Analysis{client: c, request: request}
}

// Compare compares with b, which is written as changes to the live ranking.
func (s *Analysis) Compare(ctx context.Context, b string) (offline.Comparison, error) {
	request := s.request
	request.B = b
	batches := [][]string{nil} // the server draws
	if s.request.Agents != nil {
		batches = slices.Collect(slices.Chunk(s.request.Agents, offline.MaxAgents))
	}
	var all offline.Comparison
	for _, batch := range batches {
		request.Agents = batch
		got, err := s.client.Compare(ctx, request)
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

// CheckChanges finds what is wrong with a list of changes, whatever ranking they
// change. The error begins with what, such as the name of a flag.
func CheckChanges(what, changes string) error {
	// The default, because a floor is refused where its decay is off.
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

// unchanged reports whether an answer is about the same ranking as the one before.
func unchanged(was, is feed.Ranking) error {
	if was != is {
		return errors.New("the live ranking was changed meanwhile; run the command again")
	}
	return nil
}
