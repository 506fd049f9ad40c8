package esindex

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// LateSchema is a [Schema] that may become known later, because a server also starts while
// Elasticsearch is down, and that may change: an alias can move to an index with another mapping.
// The zero value is unknown. It is safe for concurrent use.
type LateSchema struct {
	state atomic.Pointer[known]

	look    func(ctx context.Context, cause error)
	later   func()
	pause   time.Duration
	turn    chan struct{} // holds one value while a check is running
	resting atomic.Bool   // the last check was less than the pause ago
}

// known is a schema, and the reason if the index cannot be used now.
type known struct {
	schema  *Schema // the last usable one; nil if there was none
	refused error   // nil means the index can be used
}

// Known returns a LateSchema with a known schema.
func Known(s Schema) *LateSchema {
	l := &LateSchema{}
	l.Set(s)
	return l
}

// Set stores the schema, which makes it known and ends a refusal.
func (l *LateSchema) Set(s Schema) { l.state.Store(&known{schema: &s}) }

// Refuse makes [LateSchema.Get] return an error until the next Set, because the index cannot be
// used now; why is the reason.
func (l *LateSchema) Refuse(why error) { l.state.Store(&known{schema: l.Last(), refused: why}) }

// Last returns the last usable schema, also while the index is refused. Nil means there was none.
// It is shared and must not be changed.
func (l *LateSchema) Last() *Schema {
	state := l.state.Load()
	if state != nil {
		return state.schema
	}
	return nil
}

// Get returns the schema, which is shared and must not be changed. The error wraps
// [ErrUnavailable]: no schema is known, or the index is refused.
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

// Watch sets the functions of [LateSchema.Recheck]. look reads the mapping again and calls Set or
// Refuse. It is called at most once per pause, and never concurrently. cause is the error of the
// request that raised the doubt, or nil if it had an answer that did not fit. later is called when
// a request is refused within the pause; it should cause a call of look after the pause. Watch must
// be called before the schema is used.
func (l *LateSchema) Watch(pause time.Duration, look func(ctx context.Context, cause error), later func()) {
	l.look, l.later, l.pause, l.turn = look, later, pause, make(chan struct{}, 1)
}

// Recheck reads the mapping again, because an answer does not fit the schema used for its request,
// or the request was refused with cause. It reports whether the schema has changed or is unknown
// now: then the request can be retried.
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
