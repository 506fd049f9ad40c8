package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/personal"
)

// Optional methods of the engine's stores, which tell what they know about an agent.
type (
	// actList is a [Popularity] that knows the items on which an agent has acted, and the days of it.
	actList interface {
		ActsOf(ctx context.Context, agent string) (map[string]feed.Day, error)
	}
	// readList is a [CoReaders] that knows all last reads of an agent, the newest first.
	readList interface {
		ReadsOf(ctx context.Context, agent string) ([]string, error)
	}
	// pendingList is a [Seen] that lists an agent's pending set.
	pendingList interface {
		PendingOf(ctx context.Context, agent string) ([]string, error)
	}
)

// Personal lists what the engine's stores have about an agent: how each is erased, and how it is exported.
// [Engine.Forget] erases all of it.
func (e *Engine) Personal() personal.Sources {
	list := personal.Sources{
		{Erase: e.ForgetLearned, Parts: []personal.Part{{
			Name: "learned", What: "a tag, an author or a word that was learned from what you clicked, liked, disliked and hid",
			Places: []string{"catalog profiles", "elasticsearch <index>-agents", "redis feed:profile:"}, Export: e.exportLearned,
			Without: "hashes of the items that you have acted on, by which an act counts once: they do not say which items these are",
		}}},
		{Erase: e.forgetProfile, Parts: []personal.Part{{
			Name: "profile", What: "your profile: interests, keywords, languages, and what you have muted and hidden",
			Places: []string{"catalog profiles", "elasticsearch <index>-agents", "redis feed:profile:"}, Export: e.exportProfile,
		}}},
	}
	if e.stores.Popularity != nil {
		list = append(list, e.personalActs())
	}
	if pages, ok := e.stores.Tally.(PageTally); ok {
		list = append(list, personal.Source{Erase: e.begun(pages.Forget), Parts: []personal.Part{{
			Name: "pages", What: "pages that you were shown within 24 hours, for experiments", Places: []string{"redis events:pages:", "events pages"},
			Without: "it is stored as hashes of items, under a hash of your id: they do not say which items these are",
		}}})
	}
	if e.stores.CoReaders != nil {
		list = append(list, e.personalReads())
	}
	return append(list, e.personalSessions(), e.personalSeen())
}

// begun makes a call of a store one of a request.
func (e *Engine) begun(call func(ctx context.Context, agent string) error) func(ctx context.Context, agent string) error {
	return func(ctx context.Context, agent string) error { return call(e.cfg.Begin(ctx), agent) }
}

func (e *Engine) forgetProfile(ctx context.Context, agent string) error {
	_, err := e.removeProfile(ctx, agent)
	if errors.Is(err, feed.ErrNotFound) {
		return nil
	}
	return err
}

func (e *Engine) exportProfile(ctx context.Context, agent string, put func(any) error) error {
	p, err := e.stores.Catalog.Profile(e.cfg.Begin(ctx), agent)
	switch {
	case errors.Is(err, feed.ErrNotFound):
		return nil
	case err != nil:
		return err
	case p.Learned.Alone:
		return nil
	}
	return put(p)
}

func (e *Engine) exportLearned(ctx context.Context, agent string, put func(any) error) error {
	var features []feed.LearnedFeature
	err := e.stores.Catalog.Learn(e.cfg.Begin(ctx), agent, func(l *feed.Learning) bool {
		features = append(features[:0:0], l.Features...)
		return false
	})
	for i := range features {
		if err == nil {
			err = put(features[i])
		}
	}
	return err
}

func (e *Engine) personalActs() personal.Source {
	part := personal.Part{
		Name: "acts", What: "an item that you have clicked or liked within 90 days, and the last day on which you did",
		Places: []string{"redis popularity:acts:", "redis popularity:agents:", "catalog popularity_agents"},
	}
	list, ok := e.stores.Popularity.(actList)
	if !ok {
		part.Without = "this server does not list them"
		return personal.Source{Erase: e.begun(e.stores.Popularity.Forget), Parts: []personal.Part{part}}
	}
	part.Export = func(ctx context.Context, agent string, put func(any) error) error {
		days, err := list.ActsOf(e.cfg.Begin(ctx), agent)
		for _, item := range slices.Sorted(maps.Keys(days)) {
			if err == nil {
				err = put(map[string]string{"item": item, "day": days[item].Start().Format(time.DateOnly)})
			}
		}
		return err
	}
	return personal.Source{Erase: e.begun(e.stores.Popularity.Forget), Parts: []personal.Part{part}}
}

func (e *Engine) personalReads() personal.Source {
	part := personal.Part{
		Name: "reads", What: "one of the last items that you have read, the newest first",
		Places: []string{"redis coread:reads:", "redis coread:acted:", "coread readers", "coread acts"},
	}
	list, ok := e.stores.CoReaders.(readList)
	if !ok {
		part.Without = "this server does not list them"
		return personal.Source{Erase: e.begun(e.stores.CoReaders.Forget), Parts: []personal.Part{part}}
	}
	part.Export = func(ctx context.Context, agent string, put func(any) error) error {
		items, err := list.ReadsOf(e.cfg.Begin(ctx), agent)
		return putEach(items, "item", err, put)
	}
	return personal.Source{Erase: e.begun(e.stores.CoReaders.Forget), Parts: []personal.Part{part}}
}

func (e *Engine) personalSessions() personal.Source {
	return personal.Source{Erase: e.begun(e.stores.Sessions.Forget), Parts: []personal.Part{{
		Name: "sessions", What: "what your next pages would show", Places: []string{"redis feed:cache:", "redis feed:refreshed:", "file pages"},
		Without: "it was computed from your profile a short time ago, and each refresh computes it anew",
	}}}
}

func (e *Engine) personalSeen() personal.Source {
	part := personal.Part{
		Name: "shown", What: "an item, or a group of items, that you were shown lately", Places: []string{"redis feed:pending:", "redis bf:global:", "file impressions", "file spool"},
		Without: "what you were shown before: it is in filters, whose bits name neither items nor people, and which nobody can list; an erasure leaves them, and they end after some days",
	}
	list, ok := e.stores.Seen.(pendingList)
	if ok {
		part.Export = func(ctx context.Context, agent string, put func(any) error) error {
			groups, err := list.PendingOf(e.cfg.Begin(ctx), agent)
			groups = slices.DeleteFunc(groups, func(group string) bool { return strings.HasPrefix(group, feed.GivenMark) }) // which source or feed has shown it
			return putEach(groups, "item", err, put)
		}
	}
	return personal.Source{Erase: e.begun(e.stores.Seen.Forget), Parts: []personal.Part{part}}
}

// putEach puts a line for each id, unless reading them has failed.
func putEach(ids []string, name string, err error, put func(any) error) error {
	for _, id := range ids {
		if err == nil {
			err = put(map[string]string{name: id})
		}
	}
	return err
}
