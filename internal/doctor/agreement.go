package doctor

import (
	"context"
	"errors"

	"github.com/freshet/freshet/internal/agreement"
)

// lookAtAgreement compares the settings in which servers must agree with those that a store
// keeps.
func (d *doctor) lookAtAgreement(ctx context.Context, name string, store agreement.Store) {
	what := name + " settings"
	own, compare := agreement.Of(d.cfg), agreement.Look
	if d.accept {
		compare = func(ctx context.Context, store agreement.Store, own agreement.Settings) error {
			return own.Accept(ctx, store)
		}
	}
	switch err := compare(ctx, store, own); {
	case errors.Is(err, agreement.ErrDiffers):
		d.say(Broken, what, agreement.Advice, "%v", err)
	case err != nil:
		d.say(Warning, what, "see the message", "what other servers have could not be read: %v", err)
	case d.accept:
		d.say(OK, what, "", "are now what all servers must agree in; restart each")
	default:
		d.say(OK, what, "", "agree with those of the other servers")
	}
}
