package feed_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed"
)

func TestErrorKindAndCauses(t *testing.T) {
	t.Parallel()
	cause := errors.New("no disk")
	err := fmt.Errorf("put: %w", feed.Errorf(feed.ErrConflict, "the key %q is used: %w", "k", cause))
	assert.EqualError(t, err, `put: the key "k" is used: no disk`)
	assert.ErrorIs(t, err, feed.ErrConflict)
	assert.ErrorIs(t, err, cause)
	assert.NotErrorIs(t, err, feed.ErrInvalid)
	for _, narrow := range []error{feed.ErrBadAction, feed.ErrBadLimit, feed.ErrBadID} {
		assert.ErrorIs(t, narrow, feed.ErrInvalid)
		assert.NotErrorIs(t, feed.ErrInvalid, narrow)
	}
	assert.ErrorIs(t, feed.ErrLimit, feed.ErrRule)
}

func TestOutageOfOneStore(t *testing.T) {
	t.Parallel()
	one, other := &feed.Outage{Text: "one", Shown: "one is down"}, &feed.Outage{Text: "one", Shown: "one is down"}
	err := fmt.Errorf("%w: dial tcp 10.0.0.7", one)
	assert.ErrorIs(t, err, feed.ErrUnavailable)
	assert.ErrorIs(t, err, one)
	assert.NotErrorIs(t, err, other, "an outage is told from another with the same words")
	assert.NotErrorIs(t, err, feed.ErrBusy)
}

func TestShown(t *testing.T) {
	t.Parallel()
	down := &feed.Outage{Text: "log", Shown: "callers"}
	other := &feed.Outage{Text: "log", Shown: "behind it"}
	gone := feed.Errorf(feed.ErrNotFound, "no version %d", 7)
	for _, tt := range []struct {
		err, kind error
		want      string
	}{
		{fmt.Errorf("secret: %w", down), feed.ErrUnavailable, "callers"},
		{fmt.Errorf("%w: %w", down, other), feed.ErrUnavailable, "callers"},
		{errors.Join(errors.New("secret"), gone, down), feed.ErrUnavailable, "callers"},
		{errors.Join(down, fmt.Errorf("secret: %w", gone)), feed.ErrNotFound, "no version 7"},
		{feed.Errorf(feed.ErrInvalid, "outer: %w", gone), feed.ErrNotFound, "no version 7"},
		{fmt.Errorf("secret: %w", feed.ErrNotFound), feed.ErrNotFound, ""},
		{errors.New("secret"), feed.ErrUnavailable, ""},
		{feed.ErrLimit, feed.ErrRule, "limit reached"},
	} {
		assert.Equal(t, tt.want, feed.Shown(tt.err, tt.kind), "%v", tt.err)
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	short := strings.Repeat("x", 1000)
	assert.Equal(t, short, feed.Brief(short))
	long := feed.Brief("bad: " + strings.Repeat("é", 70_000) + "; send less")
	assert.LessOrEqual(t, len(long), 1005)
	assert.True(t, strings.HasPrefix(long, "bad: éé") && strings.HasSuffix(long, "é; send less"))
	assert.True(t, utf8.ValidString(long))
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, err := range []error{feed.ErrBadID, feed.ErrForbidden, feed.ErrNotFound, feed.ErrConflict, feed.ErrLimit} {
		assert.True(t, feed.Refused(fmt.Errorf("x: %w", err)), "%v", err)
	}
	for _, err := range []error{feed.ErrUnavailable, feed.ErrBusy, errors.New("x"), nil} {
		assert.False(t, feed.Refused(err), "%v", err)
	}
}
