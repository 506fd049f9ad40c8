package engine

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/learning"
	"github.com/freshet/freshet/signals/popularity"
)

// Unliked takes a like of a post back, so that it neither counts for live popularity nor in what is
// learned about the agent. Counts for reports remain: they count what was done.
func (e *Engine) Unliked(agent, post string) error {
	return e.undo(agent, []learning.Act{{Kind: feed.Liked, Group: post}}, []popularity.Act{{Item: post, Kind: popularity.Unlike}})
}

// unhidden takes back what was learned from hiding items that are no longer muted, by their groups.
// If items may be repeated, a dislike has muted them, too.
func (e *Engine) unhidden(agent string, groups []string) error {
	var undone []learning.Act
	for _, group := range groups {
		undone = append(undone, learning.Act{Kind: feed.Hidden, Group: group})
		if e.cfg.ShowAgain {
			undone = append(undone, learning.Act{Kind: feed.Disliked, Group: group})
		}
	}
	return e.undo(agent, undone, nil)
}

// undo submits acts that are taken back to everything that counts them for good.
func (e *Engine) undo(agent string, undone []learning.Act, unliked []popularity.Act) error {
	for i := range undone {
		undone[i].Undo = true
	}
	if !e.handOver(agent, undone, unliked, nil, nil, nil) {
		return fmt.Errorf("%w: too many events are waiting to be counted", events.ErrUnavailable)
	}
	return nil
}

// HiddenWith returns what hiding an item mutes: the item and its group.
func (e *Engine) HiddenWith(ctx context.Context, item string) ([]string, error) {
	refs, _, err := e.refs(e.cfg.Begin(ctx), []string{item})
	return feed.Keys(refs), err
}

// unmuted handles items and groups that a profile has muted before and no longer does.
func (e *Engine) unmuted(ctx context.Context, agent string, before, after []string) {
	muted := make(map[string]bool, len(after))
	for _, group := range after {
		muted[group] = true
	}
	gone := slices.DeleteFunc(before, func(group string) bool { return muted[group] })
	if len(gone) == 0 {
		return
	}
	// The change is stored, so a retry would find nothing to take back.
	if err := e.unhidden(agent, gone); err != nil {
		e.cfg.Log.WarnContext(ctx, "items were unmuted, but what was learned from hiding them was not taken back",
			slog.String("agent", agent), slog.Any("error", err))
	}
}
