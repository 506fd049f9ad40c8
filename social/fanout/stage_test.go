package fanout

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
)

// A process under test is suspended before each of its calls to a store until the test resumes it:
// so the test controls how processes interleave.

// verdict is how a process continues.
type verdict int

const (
	goOn       verdict = iota
	die                // all further calls fail
	failBefore         // the lists cannot be reached
	failAfter          // the lists executed the call, but the answer is lost
)

var errKilled = errors.New("the process is dead")

type process struct {
	name  string
	asks  chan string  // the next call; closed at the end
	goes  chan verdict // the verdict
	dead  bool
	next  string
	ended bool

	patience float64
	late     bool         // whether one of its changes could neither change a list nor drop it
	look     func() error // checks the result after the process has ended
}

type processKey struct{}

// newProcess starts a process, up to its first call.
func newProcess(ctx context.Context, name string, body func(ctx context.Context)) *process {
	p := &process{name: name, asks: make(chan string), goes: make(chan verdict)}
	go func() {
		defer close(p.asks)
		body(context.WithValue(ctx, processKey{}, p))
	}()
	p.await()
	return p
}

func (p *process) await() {
	next, more := <-p.asks
	p.next, p.ended = next, !more
}

// step lets a process make its next call, and returns when it is suspended before another one or
// has ended.
func (p *process) step(v verdict) {
	if v == die {
		p.dead = true
	}
	p.goes <- v
	p.await()
}

// until resumes a process until it is about to make a call. It returns false if the process ended
// first.
func (p *process) until(call string) bool {
	for !p.ended && p.next != call {
		p.step(goOn)
	}
	return !p.ended
}

func (p *process) finish() {
	for !p.ended {
		p.step(goOn)
	}
}

func (p *process) kill() {
	for !p.ended {
		p.step(die)
	}
}

// pause suspends a process before a call to a store. Outside a process it does nothing.
func pause(ctx context.Context, call string) (verdict, error) {
	p, _ := ctx.Value(processKey{}).(*process)
	switch {
	case p == nil:
		return goOn, nil
	case p.dead:
		return die, errKilled
	}
	p.asks <- call
	switch v := <-p.goes; v {
	case die:
		return v, errKilled
	default:
		return v, nil
	}
}

// do makes a call that returns only an error.
func do(ctx context.Context, call string, f func() error) error {
	_, err := get(ctx, call, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

func get[T any](ctx context.Context, call string, f func() (T, error)) (out T, err error) {
	if _, err := pause(ctx, call); err != nil {
		return out, err
	}
	return f()
}

// fallible makes a call that fails if the verdict says so.
func fallible[T any](ctx context.Context, call string, f func() (T, error)) (out T, err error) {
	v, err := pause(ctx, call)
	if err != nil {
		return out, err
	}
	if v == failBefore {
		return out, fmt.Errorf("%w: %s", timeline.ErrUnavailable, call)
	}
	got, err := f()
	if v == failAfter {
		return out, fmt.Errorf("%w: %s", timeline.ErrUnavailable, call)
	}
	return got, err
}

// stagedStore makes each query of jobs to the store a step.
type stagedStore struct{ social.Store }

func (s stagedStore) PostsByID(ctx context.Context, ids []string) ([]social.Post, error) {
	return get(ctx, "posts", func() ([]social.Post, error) { return s.Store.PostsByID(ctx, ids) })
}

func (s stagedStore) PostStates(ctx context.Context, ids []string) ([]social.PostState, error) {
	return get(ctx, "states", func() ([]social.PostState, error) { return s.Store.PostStates(ctx, ids) })
}

func (s stagedStore) Celebrity(ctx context.Context, author string) (social.Celebrity, error) {
	return get(ctx, "celebrity", func() (social.Celebrity, error) { return s.Store.Celebrity(ctx, author) })
}

func (s stagedStore) SetDelivery(ctx context.Context, author string, from, to social.Delivery) (bool, error) {
	return get(ctx, "set delivery", func() (bool, error) { return s.Store.SetDelivery(ctx, author, from, to) })
}

func (s stagedStore) Receivers(ctx context.Context, pages []social.ReceiverPage, n int) ([]social.Receivers, error) {
	return get(ctx, "receivers", func() ([]social.Receivers, error) { return s.Store.Receivers(ctx, pages, n) })
}

func (s stagedStore) PairEntries(ctx context.Context, author, agent string, above social.Position, n int) ([]social.Entry, error) {
	return get(ctx, "pair entries", func() ([]social.Entry, error) { return s.Store.PairEntries(ctx, author, agent, above, n) })
}

func (s stagedStore) MemberEntries(ctx context.Context, circle, agent string, above social.Position, n int) ([]social.Entry, error) {
	return get(ctx, "member entries", func() ([]social.Entry, error) { return s.Store.MemberEntries(ctx, circle, agent, above, n) })
}

func (s stagedStore) ListStatuses(ctx context.Context, agent string, ids []string) ([]social.ListStatus, error) {
	return get(ctx, "statuses", func() ([]social.ListStatus, error) { return s.Store.ListStatuses(ctx, agent, ids) })
}

func (s stagedStore) Followers(ctx context.Context, author, reader, after string, n int) ([]string, error) {
	return get(ctx, "followers", func() ([]string, error) { return s.Store.Followers(ctx, author, reader, after, n) })
}

func (s stagedStore) Pull(ctx context.Context, q social.PullQuery) ([]social.Entry, error) {
	return get(ctx, "pull", func() ([]social.Entry, error) { return s.Store.Pull(ctx, q) })
}

func (s stagedStore) Newest(ctx context.Context, authors []string, below social.Position, n int) ([]social.Entry, error) {
	return get(ctx, "newest", func() ([]social.Entry, error) { return s.Store.Newest(ctx, authors, below, n) })
}

func (s stagedStore) Celebrities(ctx context.Context, reader string) (social.Pulled, error) {
	return get(ctx, "celebrities", func() (social.Pulled, error) { return s.Store.Celebrities(ctx, reader) })
}

func (s stagedStore) Cards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	return get(ctx, "cards", func() ([]social.Card, error) { return s.Store.Cards(ctx, reader, posts) })
}

func (s stagedStore) EraseSome(ctx context.Context, agent string, n int, leave social.Leave) (bool, error) {
	return get(ctx, "erase some", func() (bool, error) { return s.Store.EraseSome(ctx, agent, min(n, 2), leave) })
}

// stagedQueue makes each query of jobs to the queue, and each write to it, a step.
type stagedQueue struct{ jobs.Queue }

func (q stagedQueue) Enqueue(ctx context.Context, rows ...jobs.Spec) error {
	return do(ctx, "mark", func() error { return q.Queue.Enqueue(ctx, rows...) })
}

func (q stagedQueue) LeaseKey(ctx context.Context, kind jobs.Kind, key string, d time.Duration) (jobs.Job, error) {
	return get(ctx, "lease key", func() (jobs.Job, error) {
		j, err := q.Queue.LeaseKey(ctx, kind, key, d)
		if errors.Is(err, jobs.ErrTaken) && ctx.Value(processKey{}) != nil {
			err = context.DeadlineExceeded // it has waited long enough
		}
		return j, err
	})
}

func (q stagedQueue) Done(ctx context.Context, list ...jobs.Job) ([]jobs.State, error) {
	return get(ctx, "done", func() ([]jobs.State, error) { return q.Queue.Done(ctx, list...) })
}

func (q stagedQueue) Fail(ctx context.Context, j jobs.Job, f jobs.Failure) (jobs.State, error) {
	return get(ctx, "fail", func() (jobs.State, error) { return q.Queue.Fail(ctx, j, f) })
}

func (q stagedQueue) Release(ctx context.Context, list ...jobs.Job) error {
	return do(ctx, "give back", func() error { return q.Queue.Release(ctx, list...) })
}

// stagedLists makes each call to the lists a step, which may fail as by a fault of the network.
type stagedLists struct{ timeline.Lists }

func (l stagedLists) Read(ctx context.Context, list string, below timeline.Position, n int) (timeline.Page, error) {
	return fallible(ctx, "read", func() (timeline.Page, error) { return l.Lists.Read(ctx, list, below, n) })
}

func (l stagedLists) ReadMany(ctx context.Context, lists []string, below timeline.Position, n int) ([]timeline.Page, error) {
	return fallible(ctx, "read many", func() ([]timeline.Page, error) { return l.Lists.ReadMany(ctx, lists, below, n) })
}

func (l stagedLists) Heads(ctx context.Context, lists []string) ([]timeline.Head, error) {
	return fallible(ctx, "heads", func() ([]timeline.Head, error) { return l.Lists.Heads(ctx, lists) })
}

func (l stagedLists) Versions(ctx context.Context, lists []string) ([]string, error) {
	return fallible(ctx, "versions", func() ([]string, error) { return l.Lists.Versions(ctx, lists) })
}

func (l stagedLists) Push(ctx context.Context, additions []timeline.Addition) ([]int, error) {
	return fallible(ctx, "push", func() ([]int, error) { return l.Lists.Push(ctx, additions) })
}

func (l stagedLists) Remove(ctx context.Context, lists, ids []string) error {
	_, err := fallible(ctx, "remove", func() (struct{}, error) { return struct{}{}, l.Lists.Remove(ctx, lists, ids) })
	return err
}

func (l stagedLists) Replace(ctx context.Context, list string, c timeline.Change) (bool, error) {
	return fallible(ctx, "replace", func() (bool, error) { return l.Lists.Replace(ctx, list, c) })
}

func (l stagedLists) ClearToken(ctx context.Context, lists []string) error {
	_, err := fallible(ctx, "clear token", func() (struct{}, error) { return struct{}{}, l.Lists.ClearToken(ctx, lists) })
	return err
}

func (l stagedLists) Drop(ctx context.Context, lists []string) error {
	_, err := fallible(ctx, "drop", func() (struct{}, error) { return struct{}{}, l.Lists.Drop(ctx, lists) })
	return err
}

func (l stagedLists) Begin(ctx context.Context, list string) (string, timeline.State, error) {
	type begun struct {
		token string
		state timeline.State
	}
	b, err := fallible(ctx, "begin", func() (b begun, err error) {
		b.token, b.state, err = l.Lists.Begin(ctx, list)
		return b, err
	})
	return b.token, b.state, err
}

func (l stagedLists) Commit(ctx context.Context, list, token string, c timeline.Content) (bool, error) {
	return fallible(ctx, "commit", func() (bool, error) { return l.Lists.Commit(ctx, list, token, c) })
}

func (l stagedLists) Abandon(ctx context.Context, list, token string) error {
	_, err := fallible(ctx, "abandon", func() (struct{}, error) { return struct{}{}, l.Lists.Abandon(ctx, list, token) })
	return err
}
