package server

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
)

// TestWhatIsOpenedLastIsClosedFirst checks that a close drains first, then closes the parts once
// and in reverse order. Background work ends before the parts that were opened before it are
// closed.
func TestWhatIsOpenedLastIsClosedFirst(t *testing.T) {
	t.Parallel()
	b := newBuilder(configs.Default(), nil)
	var order []string
	failed := errors.New("it cannot be closed")
	b.onClose("store", func(context.Context) error { order = append(order, "store"); return failed })
	b.background(t.Context(), "work", func(ctx context.Context) {
		<-ctx.Done()
		order = append(order, "work")
	})
	b.onClose("cache", func(context.Context) error { order = append(order, "cache"); return nil })
	b.drain = func(context.Context) { order = append(order, "drained") }
	require.ErrorIs(t, b.close(t.Context()), failed, "the others are closed all the same")
	require.NoError(t, b.close(t.Context()))
	assert.Equal(t, []string{"drained", "cache", "work", "store"}, order)
}

func TestWorkInTheBackgroundOutlivesTheStart(t *testing.T) {
	t.Parallel()
	b := newBuilder(configs.Default(), nil)
	starting, started := context.WithCancel(t.Context())
	working := make(chan error)
	b.background(starting, "work", func(ctx context.Context) { working <- ctx.Err() })
	started()
	require.NoError(t, <-working)
	require.NoError(t, b.close(t.Context()))
}
