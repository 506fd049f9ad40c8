package backup

import "context"

// stepKey is the key under which a context has the function that [step] calls.
type stepKey struct{}

// step is called before and after everything that changes what a kill would leave. Tests have it return an
// error, after which nothing more is written, as after a kill.
func step(ctx context.Context, name string) error {
	at, ok := ctx.Value(stepKey{}).(func(name string) error)
	if !ok {
		return nil
	}
	return at(name)
}
