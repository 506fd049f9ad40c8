package fanout

import "context"

// eraseStep is how many things of an agent one transaction removes.
const eraseStep = 500

// erase removes what is left of an agent, and then their list. Each post and
// follow that it ends has a job of its own.
func (f *Fanout) erase(ctx context.Context, agent string) error {
	if err := f.hide(ctx, agent); err != nil {
		return err
	}
	for {
		done, err := f.d.Store.EraseSome(ctx, agent, eraseStep)
		if err != nil {
			return err
		}
		if done {
			return f.d.Lists.Drop(ctx, []string{agent})
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}
