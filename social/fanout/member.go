package fanout

import (
	"context"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// member makes a circle's posts in an agent's list what the store would deliver,
// after a membership began or ended.
func (f *Fanout) member(ctx context.Context, key string) error {
	circle, agent, err := jobs.SplitPair(key)
	if err != nil {
		return err
	}
	return f.agree(ctx, agent, func(above social.Position, n int) ([]social.Entry, error) {
		return f.d.Store.MemberEntries(ctx, circle, agent, above, n)
	}, true)
}
