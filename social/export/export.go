// Package export makes files with everything that is stored about an agent, for the agent: a job collects it into a
// zip, which can be fetched once, from any server.
//
// The record of an export is in the social store ([social.Exports]), and names the file, whose parts are elsewhere.
// Each attempt has a file of its own, and its record says how many parts it may have before they are stored, so that a
// file whose worker was killed is removed. A worker that has lost its record gives up before its next part.
package export

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/personal"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/media"
)

const (
	// Keep is how long an export can be fetched, and from when it is asked for how long it may take to make it.
	Keep = 24 * time.Hour
	// KeepFetched is how long the rest of an export can still be fetched after all of it was sent.
	KeepFetched = time.Hour
	// Pause is the time from one call for an export to that for the next.
	Pause = time.Hour

	// maxBytes is the size of the largest file, and maxParts the number of the parts of all.
	maxBytes = 16 << 30
	maxParts = 64 << 30 / partBytes
	// atOnce is how many exports a process makes at the same time, of its workers.
	atOnce = 2
	// attempts is how often an export is tried.
	attempts = 5
	// cleanTime is the time for removing a file whose export has ended.
	cleanTime = 10 * time.Second
)

// Images opens the files of images. [media.Files] implements it.
type Images interface {
	Open(ctx context.Context, key string) (media.Reader, error)
}

// Config has the dependencies of an Exporter. All but Images and Log are required.
type Config struct {
	Store  social.Exports
	Queue  jobs.Queue
	Files  Files
	Images Images // nil if posts have none
	Clock  feed.Clock
	Log    *slog.Logger
}

// Exporter makes exports, and sends them. It is safe for concurrent use, by any number of servers over the same
// stores.
type Exporter struct {
	Config
	places chan struct{} // has a value for each export that is being made
}

// New returns an Exporter, and makes no calls.
func New(c Config) *Exporter {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	return &Exporter{c, make(chan struct{}, atOnce)}
}

// TooSoon is the error of a call for an export too soon after the one before.
type TooSoon struct{ After time.Duration }

func (e TooSoon) Error() string {
	return fmt.Sprintf("an export was asked for less than %s ago; ask again in %s", Pause, e.After.Round(time.Second))
}

// Is reports true for [feed.ErrTooMany].
func (TooSoon) Is(target error) bool { return target == feed.ErrTooMany }

// over reports whether an export has ended by a time, or was made by a clock that was ahead: then it would
// keep its agent from the next one, and its file would be kept, until that time comes.
func over(e *social.Export, now int64) bool {
	return now >= e.Until || e.Until > now+ahead
}

// ahead is the most by which an export may end later than now, in seconds.
const ahead = int64((Keep + feed.MaxClockSkew) / time.Second)

// there reports whether an export is being made, or can be fetched.
func there(e *social.Export, now int64) bool {
	return !over(e, now) && (e.State == social.ExportRunning || e.State == social.ExportReady)
}

// Ask asks for an export, and returns its record. While one is being made or can be fetched, it is that one. Errors are
// [TooSoon], or those of the store.
func (x *Exporter) Ask(ctx context.Context, agent string) (social.Export, error) {
	now := x.Clock()
	var soon time.Duration
	e, err := x.Store.ChangeExport(ctx, agent, func(e social.Export) (social.Export, error) {
		soon = 0
		if there(&e, now.Unix()) {
			return e, nil
		}
		soon = time.Unix(e.Asked, 0).Add(Pause).Sub(now)
		if e.Name != "" && soon > 0 && soon <= Pause+feed.MaxClockSkew {
			return e, nil
		}
		soon = 0
		return social.Export{Agent: agent, Name: newName(), State: social.ExportRunning, Asked: now.Unix(), Until: now.Add(Keep).Unix()}, nil
	})
	switch {
	case err != nil:
		return e, err
	case soon > 0:
		return e, TooSoon{soon}
	case e.State != social.ExportRunning:
		return e, nil
	}
	// Also for one that was asked for before: the server may have died before it had queued the job.
	return e, x.Queue.Enqueue(ctx, jobs.Spec{Kind: jobs.Export, Key: agent, Priority: jobs.PriorityUpkeep, Lazy: true})
}

// newName returns the name of an attempt: 128 random bits.
func newName() string {
	raw := make([]byte, 16)
	_, _ = rand.Read(raw) // it never fails
	return hex.EncodeToString(raw)
}

// State returns the record of the export of an agent, the zero value but for the agent if there is none.
func (x *Exporter) State(ctx context.Context, agent string) (social.Export, error) {
	e, err := x.Store.Export(ctx, agent)
	if err == nil && over(&e, x.Clock().Unix()) {
		e = social.Export{Agent: agent}
	}
	return e, err
}

// Handler returns the handler of [jobs.Export], which exports these parts.
func (x *Exporter) Handler(parts []personal.Part) jobs.Handler {
	return jobs.Handler{Batch: 1, Run: func(ctx context.Context, list []jobs.Job) []error {
		errs := make([]error, len(list))
		for i, j := range list {
			errs[i] = x.run(ctx, j, parts)
			if errors.Is(errs[i], feed.ErrUnavailable) {
				errs[i] = fmt.Errorf("%w: %w", jobs.ErrWait, errs[i])
			}
		}
		return errs
	}}
}

// errEnded ends the work on an export that was cancelled, or is made by another worker.
var errEnded = feed.Errorf(feed.ErrGone, "the export was cancelled")

// errLarge is the error of an export beyond maxBytes.
var errLarge = fmt.Errorf("it is larger than %d GiB; ask the operator of the server for it", maxBytes>>30)

func (x *Exporter) run(ctx context.Context, j jobs.Job, parts []personal.Part) error {
	select {
	case x.places <- struct{}{}:
		defer func() { <-x.places }()
	default:
		return fmt.Errorf("%w: this process makes %d exports already", jobs.ErrWait, atOnce)
	}
	e, err := x.begin(ctx, j.Key)
	if err != nil || e.Name == "" {
		return err
	}
	bytes, made, err := x.make(ctx, &e, parts)
	if err == nil {
		err = x.change(ctx, &e, func(e *social.Export) {
			e.State, e.Parts, e.Bytes, e.Until = social.ExportReady, made, bytes, x.Clock().Add(Keep).Unix()
		})
	}
	last := errors.Is(err, errLarge) || j.Attempts >= attempts && !errors.Is(err, feed.ErrUnavailable)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errEnded):
		x.remove(ctx, e.Name, made)
		return nil
	case ctx.Err() != nil || !last:
		return err
	}
	x.Log.ErrorContext(ctx, "an export failed", "agent", e.Agent, "error", err)
	why := "the server could not make it; its log has the cause"
	if errors.Is(err, errLarge) {
		why = errLarge.Error()
	}
	err = x.change(ctx, &e, func(e *social.Export) { e.State, e.Reason = social.ExportFailed, why })
	x.remove(ctx, e.Name, made)
	return err
}

// begin returns the record of an attempt, the zero value if nothing is to be made. The file of an earlier one, whose
// worker has failed or lost its lease, belongs to nobody then.
func (x *Exporter) begin(ctx context.Context, agent string) (e social.Export, err error) {
	n, err := x.Store.ExportParts(ctx)
	if err != nil {
		return e, err
	}
	if n > maxParts {
		return e, fmt.Errorf("%w: exports take %d GiB until they are fetched or expire", jobs.ErrWait, maxParts*partBytes>>30)
	}
	e, err = x.Store.ChangeExport(ctx, agent, func(e social.Export) (social.Export, error) {
		if toMake(&e, x.Clock().Unix()) {
			e.Name, e.Parts = newName(), 0
		}
		return e, nil
	})
	if err != nil || !toMake(&e, x.Clock().Unix()) {
		return social.Export{}, err
	}
	return e, nil
}

// toMake reports whether an export is to be made.
func toMake(e *social.Export, now int64) bool {
	return e.State == social.ExportRunning && !over(e, now)
}

// change changes the record of an attempt. The error is errEnded if it is not any more that of the agent.
func (x *Exporter) change(ctx context.Context, e *social.Export, set func(*social.Export)) error {
	_, err := x.Store.ChangeExport(ctx, e.Agent, func(stored social.Export) (social.Export, error) {
		if stored.Name != e.Name || stored.State != social.ExportRunning {
			return stored, errEnded
		}
		set(&stored)
		return stored, nil
	})
	return err
}

// make writes the file, and returns its length and the number of parts that may be stored, also after an error.
func (x *Exporter) make(ctx context.Context, e *social.Export, parts []personal.Part) (bytes int64, made int, err error) {
	out := &cutter{put: func(part int, data []byte) error {
		if part > maxBytes/partBytes {
			return errLarge
		}
		made = part
		if err := x.change(ctx, e, func(stored *social.Export) { stored.Parts = part }); err != nil {
			return err
		}
		err := x.Files.Put(ctx, e.Name, part, data)
		if err != nil { // the next attempt has another file, and others may need the space now
			x.remove(ctx, e.Name, part)
		}
		return err
	}}
	a := newArchive(x, e.Agent, out)
	err = a.write(ctx, parts)
	if err == nil {
		err = out.flush()
	}
	return out.bytes, made, err
}

// remove removes a file whose export has ended. If that fails, [Exporter.Expire] does it.
func (x *Exporter) remove(ctx context.Context, name string, parts int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	if err := x.Files.Delete(ctx, name, parts); err != nil {
		x.Log.WarnContext(ctx, "the file of an export is removed later", "error", err)
	}
}

// EraseWith returns a function that erases an agent by another, which cancels the export too, and then removes the
// file. It may be repeated after an error. What is refused leaves the export as it is.
func (x *Exporter) EraseWith(erase func(ctx context.Context, agent string) error) func(ctx context.Context, agent string) error {
	return func(ctx context.Context, agent string) error {
		before, err := x.Store.Export(ctx, agent)
		if err == nil {
			err = erase(ctx, agent)
		}
		if err == nil && before.Name != "" {
			x.remove(ctx, before.Name, before.Parts)
		}
		return err
	}
}

// expireAtOnce is how many exports one call of [Exporter.Expire] removes.
const expireAtOnce = 1000

// Expire removes exports that have ended, with their files, and returns how many, and whether there are more. A file of
// nobody is removed again for a while: a worker that was suspended may still store a part. One that cannot be removed does
// not keep the others.
func (x *Exporter) Expire(ctx context.Context) (removed int, more bool, err error) {
	now := x.Clock().Unix()
	list, err := x.Store.EndedExports(ctx, now, now+ahead, expireAtOnce)
	if err != nil {
		return 0, false, err
	}
	var errs []error
	for _, e := range list {
		dropped, err := x.expire(ctx, &e, now)
		if dropped {
			removed++
		}
		if err != nil {
			errs = append(errs, err)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return removed, removed == expireAtOnce, errors.Join(errs...)
}

// expire removes the file of an export that has ended, and its record if nothing is stored for it any more.
func (x *Exporter) expire(ctx context.Context, e *social.Export, now int64) (dropped bool, err error) {
	if err := x.Files.Delete(ctx, e.Name, e.Parts); err != nil {
		return false, err
	}
	if !over(e, now) && now < e.Asked+int64(Pause/time.Second) {
		return false, nil
	}
	err = x.Store.DropExport(ctx, e.Name)
	return err == nil, err
}
