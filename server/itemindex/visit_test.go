package itemindex

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/esindex"
)

// TestVisitSchedule checks that the index is visited often until it is in use, and then to
// renew the list. A hurry causes an earlier visit, but not at once and not several visits for
// several hurries.
func TestVisitSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(nil, configs.Default(), slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		var at []time.Duration
		for range w.visits(ctx, Pauses{WarmUp: time.Second, Fallback: time.Minute}) {
			at = append(at, time.Since(began)/time.Second)
			switch len(at) {
			case 1:
				w.recordAttempt(ctx, esindex.ErrUnavailable)
			case 2:
				w.recordAttempt(ctx, nil)
				time.AfterFunc(90*time.Second, func() {
					w.hurry()
					w.hurry()
				})
				time.AfterFunc(90*time.Second+time.Second/2, w.hurry)
			case 6:
				cancel()
			}
		}
		assert.Equal(t, []time.Duration{1, 2, 62, 93, 94, 154}, at)
	})
}

// TestVisitWithoutAnswerRepeated checks that a visit without an answer, as from newly
// opened shards, does not delay the next one by a minute.
func TestVisitWithoutAnswerRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := New(nil, configs.Default(), slog.New(slog.DiscardHandler))
		w.recordAttempt(t.Context(), nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		began := time.Now()
		answers := []error{errors.New("no such field"), esindex.ErrUnavailable, esindex.ErrUnavailable, nil, esindex.ErrUnavailable, nil}
		var at []time.Duration
		for range w.visits(ctx, Pauses{WarmUp: time.Second, Fallback: time.Minute}) {
			w.recordRecall(ctx, answers[len(at)])
			at = append(at, time.Since(began)/time.Second)
			if len(at) == len(answers) {
				cancel()
			}
		}
		assert.Equal(t, []time.Duration{60, 61, 62, 63, 123, 183}, at)
	})
}

// TestEqualRefusalsLoggedOnce checks that of equal refusals only the first and the end
// are logged.
func TestEqualRefusalsLoggedOnce(t *testing.T) {
	log := &lines{}
	w := New(nil, configs.Default(), slog.New(log))
	w.recordAttempt(t.Context(), nil)
	said := func(err error) []string {
		*log = nil
		w.recordRecall(t.Context(), err)
		return *log
	}
	refused := errors.New("no such field")
	assert.Equal(t, []string{"recall from Elasticsearch fails"}, said(refused))
	assert.Empty(t, said(refused))
	assert.Empty(t, said(esindex.ErrUnavailable), "it says nothing of the index")
	assert.ErrorIs(t, w.refusal(), refused)
	assert.Equal(t, []string{"recall from Elasticsearch fails"}, said(errors.New("another reason")))
	assert.Equal(t, []string{"recall from Elasticsearch works again"}, said(nil))
	assert.Empty(t, said(nil))
}

// lines has the messages of a log.
type lines []string

func (l *lines) Enabled(context.Context, slog.Level) bool { return true }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *lines) WithGroup(string) slog.Handler            { return l }

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	*l = append(*l, r.Message)
	return nil
}
