package offline

import (
	"context"
	"fmt"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
)

// Move describes how an item's position changes from A to B.
type Move string

// The moves of an item. Up is nearer to the top in B.
const (
	MoveUp   Move = "up"
	MoveDown Move = "down"
	MoveSame Move = "same"
	MoveIn   Move = "in"  // not ranked by A, within its depth
	MoveOut  Move = "out" // not ranked by B
)

// Lists is one agent's two lists, best first, k items each.
type Lists struct {
	Agent string   `json:"agent_id"`
	Depth int      `json:"depth"` // depth to which ranks in the other list are known
	A     []Placed `json:"a"`
	B     []Placed `json:"b"`
}

// Placed is an item in one of two lists.
type Placed struct {
	Rank       int      `json:"rank"`       // from 1
	OtherRank  int      `json:"other_rank"` // in the other list; 0 if not within its depth
	Move       Move     `json:"move"`
	ID         string   `json:"id"`
	Group      string   `json:"group"`
	Title      string   `json:"title"` // "" if the item was deleted meanwhile
	Tags       []string `json:"tags,omitempty"`
	UpdateTime int64    `json:"update_time"` // Unix seconds
	Age        int64    `json:"age"`         // seconds
	Score      float32  `json:"score"`
	CoReaders  float32  `json:"co_readers,omitempty"` // their factor in the score; 0 if they change no score
	Factors
}

// Factors are the factors of a score, relevance × decay × popularity, without that of co-readers.
type Factors struct {
	Relevance       float64     `json:"relevance"`
	Decay           float64     `json:"decay"`
	Popularity      float64     `json:"popularity"`       // the factor, 1 if it does not count
	MatchedTags     []feed.Gain `json:"matched_tags"`     // matching interests, the highest first
	MatchedKeywords []feed.Gain `json:"matched_keywords"` // matching keywords, the highest first
}

// lists returns both lists, each item with its rank in the other one.
func (d *duel) lists(ctx context.Context, from Source, p *Pair) (*Lists, error) {
	var both [2][]Placed
	for i, ranking := range []feed.Ranking{p.A, p.B} {
		top := d.top[i]
		q := feed.Query{Profile: d.interest, Ranking: ranking, Origin: d.at}
		factors, err := from.Factors(ctx, q, convert.Each(top, func(c feed.Candidate) string { return c.ID }))
		if err != nil {
			return nil, fmt.Errorf("factors: %w", err)
		}
		other := places(d.deep[1-i])
		both[i] = make([]Placed, len(top))
		for j, c := range top {
			it, ranks := d.items[c.ID], [2]int{}
			ranks[i], ranks[1-i] = j+1, other[c.Group]
			both[i][j] = Placed{
				Rank: ranks[i], OtherRank: ranks[1-i], Move: moved(ranks[0], ranks[1]), ID: c.ID, Group: c.Group, Title: it.Title, Tags: it.Tags,
				UpdateTime: c.UpdateTime, Age: d.at.Unix() - c.UpdateTime, Score: c.Score, CoReaders: c.CoRead, Factors: factors[j],
			}
		}
	}
	return &Lists{Agent: d.agent, Depth: DefaultDepth, A: both[0], B: both[1]}, nil
}

func places(list []feed.Candidate) map[string]int {
	out := make(map[string]int, len(list))
	for i, c := range list {
		out[c.Group] = i + 1
	}
	return out
}

// moved returns the move of an item at rank a in A and b in B; 0 means not ranked.
func moved(a, b int) Move {
	switch {
	case a == 0:
		return MoveIn
	case b == 0:
		return MoveOut
	case b < a:
		return MoveUp
	case b > a:
		return MoveDown
	}
	return MoveSame
}
