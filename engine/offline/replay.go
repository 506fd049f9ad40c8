package offline

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/guard"
)

// Bounds of one replay.
const (
	MaxClicks   = 200
	MaxRankings = 40
)

// Click is an item that an agent opened.
type Click struct {
	Agent string
	ID    string
	At    time.Time
}

// Replayed says what a click can be used for.
type Replayed string

// What a click can be used for. Only Ranked and Unranked score a ranking; the
// others no ranking could have placed, so they say nothing about any.
const (
	Ranked   Replayed = "ranked"   // by at least one of the rankings
	Unranked Replayed = "unranked" // none ranks it, as far as was ranked
	Gone     Replayed = "gone"     // not in the catalog any more
	Later    Replayed = "later"    // the catalog has it with a date after the click
	Refused  Replayed = "refused"  // the agent's profile mutes it by now
)

// Scores reports whether the click scores the rankings.
func (r Replayed) Scores() bool { return r == Ranked || r == Unranked }

// Outcome is where the rankings place one clicked item.
type Outcome struct {
	State Replayed `json:"state"`
	Ranks []int    `json:"ranks"` // by each ranking, from 1; 0: not ranked
}

// Replay asks where each ranking would have placed each clicked item at the
// moment of its click, ranking the n best. It answers an outcome for each click,
// in order.
//
// The catalog and the profiles are those of now: what was deleted or changed
// since is not known, and popularity counts with today's likes.
func Replay(ctx context.Context, from Source, clicks []Click, n int, rankings []feed.Ranking) ([]Outcome, error) {
	if err := checkReplay(clicks, rankings); err != nil {
		return nil, err
	}
	ids := make([]string, len(clicks))
	for i, c := range clicks {
		ids[i] = c.ID
	}
	docs, err := from.Docs(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Outcome, len(clicks))
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, click := range clicks {
		group.Go(guard.Func(func() (err error) {
			if err := gctx.Err(); err != nil {
				return err
			}
			out[i], err = replayOne(gctx, from, click, docs[i], n, rankings)
			return err
		}))
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

func checkReplay(clicks []Click, rankings []feed.Ranking) error {
	if len(clicks) < 1 || len(clicks) > MaxClicks {
		return fmt.Errorf("%w: 1 to %d clicks are replayed at once, not %d", feed.ErrInvalid, MaxClicks, len(clicks))
	}
	if len(rankings) < 1 || len(rankings) > MaxRankings {
		return fmt.Errorf("%w: 1 to %d rankings are replayed at once, not %d", feed.ErrInvalid, MaxRankings, len(rankings))
	}
	for i, c := range clicks {
		if err := feed.CheckAgentID(c.Agent); err != nil {
			return fmt.Errorf("click %d: %w", i+1, err)
		}
		if err := feed.CheckItemID(c.ID); err != nil {
			return fmt.Errorf("click %d: %w", i+1, err)
		}
		if c.At.Unix() <= 0 {
			return fmt.Errorf("%w: click %d: at is missing or before 1970", feed.ErrInvalid, i+1)
		}
	}
	for i, r := range rankings {
		if err := r.Validate(); err != nil {
			return fmt.Errorf("ranking %d: %w", i+1, err)
		}
	}
	return nil
}

func replayOne(ctx context.Context, from Source, click Click, doc feed.Doc, n int, rankings []feed.Ranking) (Outcome, error) {
	out := Outcome{Ranks: make([]int, len(rankings))}
	if doc.Missing() {
		out.State = Gone
		return out, nil
	}
	it, err := doc.Item()
	if err != nil {
		return out, err
	}
	if it.UpdateTime > click.At.Unix() {
		out.State = Later
		return out, nil
	}
	profile, lists, err := from.Rank(ctx, click.Agent, click.At, n, rankings...)
	if err != nil {
		return out, fmt.Errorf("agent %s: %w", click.Agent, err)
	}
	if profile.Refuses(&it) {
		out.State = Refused
		return out, nil
	}
	out.State = Unranked
	for i, list := range lists {
		for j, c := range list {
			if c.Group == it.Group() {
				out.Ranks[i], out.State = j+1, Ranked
				break
			}
		}
	}
	return out, nil
}

// Scores say how well a ranking places what was clicked; 1 is best.
type Scores struct {
	HitRate float64 `json:"hit_rate"` // at k
	NDCG    float64 `json:"ndcg"`     // at k
	MRR     float64 `json:"mrr"`      // over all that was ranked
}
