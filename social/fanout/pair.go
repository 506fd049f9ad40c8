package fanout

import (
	"context"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// pair makes an author's posts in an agent's list what the store would deliver,
// after a follow, an unfollow, a block or its end. After many follows at once the
// list ends, and is built when it is read.
func (f *Fanout) pair(ctx context.Context, key string) error {
	author, agent, err := jobs.SplitPair(key)
	if err != nil {
		return err
	}
	if author == jobs.Everybody {
		return f.d.Lists.Drop(ctx, []string{agent})
	}
	return f.agree(ctx, agent, f.ofPair(ctx, author, agent), true)
}

func (f *Fanout) ofPair(ctx context.Context, author, agent string) reading {
	return func(above social.Position, n int) ([]social.Entry, error) {
		return f.d.Store.PairEntries(ctx, author, agent, above, n)
	}
}
