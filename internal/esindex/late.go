package esindex

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// LateSchema is a [Schema] that may become known later, because a server also starts
// while Elasticsearch is down, and may change: an alias can move to an index with
// another mapping. The zero value is not known yet. It is safe for concurrent use.
type LateSchema struct {
	state atomic.Pointer[known]

	look    func(ctx context.Context, cause error)
	later   func()
	pause   time.Duration
	turn    chan struct{} // holds one value while a look is under way
	resting atomic.Bool   // the last look was less than the pause ago
}

// known is a schema, and why the index cannot be used as it is now.
type known struct {
	schema  *Schema // the last that could be used, nil if there was none
	refused error   // nil: it can
}

// Known returns a LateSchema that is known.
func Known(s Schema) *LateSchema {
	l := &LateSchema{}
	l.Set(s)
	return l
}

// Set makes the schema known.
func (l *LateSchema) Set(s Schema) { l.state.Store(&known{schema: &s}) }

// Refuse makes [LateSchema.Get] answer an error until the next Set, because the index
// as it is now cannot be used; why says what does not fit.
func (l *LateSchema) Refuse(why error) { l.state.Store(&known{schema: l.Last(), refused: why}) }

// Last returns the last schema that could be used, also while the index is refused; nil:
// there was none. It is shared and must not be changed.
func (l *LateSchema) Last() *Schema {
	if state := l.state.Load(); state != nil {
		return state.schema
	}
	return nil
}

// Get returns the schema, which is shared and must not be changed, or an error
// that wraps [ErrUnavailable] while none is known, or the index is refused.
func (l *LateSchema) Get() (*Schema, error) {
	switch state := l.state.Load(); {
	case state == nil:
		return nil, fmt.Errorf("%w: the mapping of the index has not been read since the start", ErrUnavailable)
	case state.refused != nil:
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, state.refused)
	default:
		return state.schema, nil
	}
}

// Watch names what [LateSchema.Recheck] does: look reads the mapping again and calls
// Set or Refuse. It is called at most once in a pause, and by one at a time. cause is
// the error of the request that raised the doubt; nil: it had an answer, which did not
// fit. later is called where a request is refused within the pause, and should have
// look called after it. Watch must be called before the schema is used.
func (l *LateSchema) Watch(pause time.Duration, look func(ctx context.Context, cause error), later func()) {
	l.look, l.later, l.pause, l.turn = look, later, pause, make(chan struct{}, 1)
}

// Recheck has the mapping read again, because an answer does not fit the schema that
// was used for the question, or the question was refused with cause. It reports
// whether another schema is known now, or none: then the question can be asked again.
func (l *LateSchema) Recheck(ctx context.Context, used *Schema, cause error) (changed bool) {
	if l.look == nil {
		return false
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return false
	}
	switch {
	case l.changed(used):
	case !l.resting.Load():
		l.look(ctx, cause)
		l.resting.Store(true)
		time.AfterFunc(l.pause, func() { l.resting.Store(false) })
	case cause != nil:
		l.later()
	}
	return l.changed(used)
}

func (l *LateSchema) changed(used *Schema) bool {
	state := l.state.Load()
	return state == nil || state.refused != nil || state.schema != used
}

// OrOwn returns l, or where it is nil the schema of our own index with default names.
func (l *LateSchema) OrOwn() *LateSchema {
	if l == nil {
		return Known(OwnSchema(Fields{}))
	}
	return l
}
