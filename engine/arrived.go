package engine

import (
	"context"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// LatePosts knows which posts have arrived late. [social.Store] implements it.
type LatePosts interface {
	// Late is that of [social.Lists].
	Late(ctx context.Context, after int64, n int) (list []social.LatePost, upTo int64, err error)
}

// mostLate is how many of the posts that have arrived late a badge knows.
const mostLate = 500

// arrivedSince selects what is new since a time: items dated after it, and posts that have arrived
// late since. The zero value selects everything.
type arrivedSince struct {
	time time.Time
	from time.Time // nothing selected is dated before it
	late map[string]bool
}

// arrivedSince reads which posts have arrived late since a refresh. Without the store there are none,
// as no post can be read then.
func (e *Engine) arrivedSince(ctx context.Context, refreshed time.Time) (arrivedSince, error) {
	// Items are dated in whole seconds: an item later in the second of the refresh is new.
	s := arrivedSince{time: refreshed.Add(-time.Second), late: map[string]bool{}}
	s.from = s.time
	if e.stores.Late == nil {
		return s, nil
	}
	list, _, err := e.stores.Late.Late(ctx, social.Stamp(s.time), mostLate)
	if err != nil {
		return s, ctx.Err()
	}
	for _, p := range list {
		s.late[p.ID] = true
		dated := time.Unix(p.At-1, 0)
		if dated.Before(s.from) {
			s.from = dated
		}
	}
	return s, nil
}

// only returns the candidates that are selected. It does not modify the list, which may be shared.
func (s *arrivedSince) only(candidates []feed.Candidate) []feed.Candidate {
	if len(s.late) == 0 {
		return candidates
	}
	return slices.DeleteFunc(slices.Clone(candidates), func(c feed.Candidate) bool {
		return c.UpdateTime <= s.time.Unix() && !s.late[c.ID]
	})
}
