package demo

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/signals/events"
)

// Simulated readers read for a minute, one page a second, in turn.
const (
	readPages = 60
	readPage  = 20
)

// taste holds the tags that a simulated reader clicks and hides. They are in no profile: the feed
// learns them from the reader's actions.
type taste struct {
	Agent         string
	Clicks, Hides []string // tags
}

// Tastes returns the tags that each simulated reader clicks, by agent.
func Tastes() map[string][]string {
	all := make(map[string][]string, len(words.Tastes))
	for _, t := range words.Tastes {
		all[t.Agent] = t.Clicks
	}
	return all
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(tag string) bool { return slices.Contains(b, tag) })
}

// Reading is the part of the engine that simulated readers use; [engine.Engine] implements it.
type Reading interface {
	Feed(ctx context.Context, r engine.Request) (engine.Answer, error)
	React(ctx context.Context, agent string, acts []engine.Act) (api.EventsTaken, error)
}

// Read lets the simulated readers read for a minute: one page after every wait, each reader in
// turn, three pages per session. They click a third of the items of their taste, like some of
// these, and hide some of those they dislike. If they clicked all, tags could not be told from the
// words that occur with them. A failed call is logged, and Read goes on. It returns early if ctx
// ends.
func Read(ctx context.Context, of Reading, wait time.Duration, log *slog.Logger) {
	r, i := rand.New(rand.NewPCG(readPages, readPage)), 0
	for range periodic.Every(ctx, wait) {
		t, action := words.Tastes[i%len(words.Tastes)], engine.ActionLoadMore
		if i/len(words.Tastes)%3 == 0 {
			action = engine.ActionRefresh
		}
		if err := t.read(ctx, r, of, action); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "simulated reader", "agent", t.Agent, "error", err)
		}
		i++
		if i == readPages {
			return
		}
	}
}

func (t taste) read(ctx context.Context, r *rand.Rand, of Reading, action engine.Action) error {
	page, err := of.Feed(ctx, engine.Request{Agent: t.Agent, Action: action, Limit: readPage})
	if err != nil {
		return err
	}
	var acts []engine.Act
	for _, doc := range page.Docs {
		it, err := doc.Item()
		if err != nil {
			return err
		}
		for _, kind := range t.acts(r, it) {
			acts = append(acts, engine.Act{Kind: kind, ID: it.ID})
		}
	}
	if len(acts) == 0 {
		return nil
	}
	_, err = of.React(ctx, t.Agent, acts)
	return err
}

// acts returns the reader's actions on an item.
func (t taste) acts(r *rand.Rand, it feed.Item) []events.Kind {
	chance := r.Float64()
	switch {
	case overlap(t.Hides, it.Tags):
		if chance < 0.6 {
			return []events.Kind{events.Hide}
		}
	case overlap(t.Clicks, it.Tags):
		if chance < 0.15 {
			return []events.Kind{events.Click, events.Like}
		}
		if chance < 0.3 {
			return []events.Kind{events.Click}
		}
	case chance < 0.01: // anyone occasionally clicks anything
		return []events.Kind{events.Click}
	}
	return nil
}
