package graph

import (
	"context"
	"io"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/ndjson"
	"github.com/freshet/freshet/social"
)

// lines describes the lines of a body.
var lines = ndjson.Kind{Entry: "event", Verb: "applying", Most: MaxEventBytes, Unavailable: social.ErrUnavailable, Reason: Reason}

// Read applies the events of r with [ndjson.Read]. r is NDJSON: one event a line, of at most
// [MaxEventBytes]. Reading the same body again is safe.
func (a *Applier) Read(ctx context.Context, r io.Reader) (api.Upload, error) {
	return ndjson.Read(ctx, r, lines, a.cfg, &batch{a: a})
}

// batch applies events.
type batch struct {
	a      *Applier
	events []Event
}

// Add implements [ndjson.Batch].
func (b *batch) Add(_ int, line []byte) (id string, err error) {
	e, err := Decode(line)
	if err != nil {
		CountRejected(e.Type)
	} else {
		b.events = append(b.events, e)
	}
	return e.ID(), err
}

// TooBig implements [ndjson.Batch].
func (b *batch) TooBig([]byte) (id string, err error) {
	CountRejected("")
	return "", errTooBig
}

// Put implements [ndjson.Batch].
func (b *batch) Put(ctx context.Context) (errs []error, down error) {
	errs = b.a.Apply(ctx, b.events)
	b.events = b.events[:0]
	for _, err := range errs {
		if err != nil && !feed.Refused(err) {
			return errs, err
		}
	}
	return errs, nil
}

// Reason returns the text of an error for the sender of the event, without the prefixes
// such as "bad event: ".
func Reason(err error) string {
	reason := err.Error()
	for _, prefix := range []string{"bad event: ", "bad post: ", feed.ErrInvalid.Error() + ": "} {
		reason = strings.TrimPrefix(reason, prefix)
	}
	return reason
}
