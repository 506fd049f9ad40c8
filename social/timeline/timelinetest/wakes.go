package timelinetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/timeline"
)

// WakesEnv has two servers whose wakes reach each other. They are the same value in one process.
type WakesEnv struct{ A, B timeline.Wakes }

// RunWakes is the conformance suite for [timeline.Wakes]. Every backend must pass it.
func RunWakes(t *testing.T, open func(t *testing.T) WakesEnv) {
	t.Run("a wake reaches all servers", func(t *testing.T) {
		e := open(t)
		here, there := Receive(t, e.A), Receive(t, e.B)
		here.Has(e.A, timeline.Wake{Agents: []string{"u_1", "a@b.c"}, Authors: []string{"star", social.Server}})
		there.Has(e.A, timeline.Wake{Agents: []string{"u_1", "a@b.c"}, Authors: []string{"star", social.Server}})
		here.Has(e.B, timeline.Wake{Agents: []string{"u_2"}})
		there.Has(e.B, timeline.Wake{Authors: []string{"u_2"}})
		there.Has(e.A, timeline.Wake{Inboxes: []string{"u_2"}})
	})
	t.Run("thousands of names", func(t *testing.T) {
		e := open(t)
		there := Receive(t, e.B)
		var wake timeline.Wake
		for i := range 5000 {
			wake.Agents = append(wake.Agents, fmt.Sprintf("%s%d", strings.Repeat("x", 100), i))
		}
		there.Has(e.A, wake)
	})
	t.Run("the end of a receiver", func(t *testing.T) {
		e := open(t)
		first, second := Receive(t, e.A), Receive(t, e.A)
		second.Has(e.B, timeline.Wake{Agents: []string{"u_1"}})
		first.Has(e.B, timeline.Wake{Agents: []string{"u_1"}})
		first.End()
		second.Has(e.B, timeline.Wake{Agents: []string{"u_2"}})
		require.NotContains(t, first.Names(), "t u_2")
		second.End()
		e.B.Send(timeline.Wake{Agents: []string{"u_3"}})
		e.A.Send(timeline.Wake{})
		third := Receive(t, e.A)
		third.Has(e.A, timeline.Wake{Agents: []string{"u_4"}})
	})
	t.Run("many senders", func(t *testing.T) {
		e := open(t)
		there := Receive(t, e.B)
		there.Has(e.A, timeline.Wake{Agents: []string{"u_1"}})
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				there.Has([]timeline.Wakes{e.A, e.B}[i%2], timeline.Wake{Agents: []string{fmt.Sprint("u_", i)}, Authors: []string{fmt.Sprint("a_", i)}})
			})
		}
		all.Wait()
	})
}

// Receiver collects wakes.
type Receiver struct {
	t    *testing.T
	stop func()

	mu  sync.Mutex
	got map[string]bool
}

// Receive receives wakes until the end of the test.
func Receive(t *testing.T, w timeline.Wakes) *Receiver {
	ctx, cancel := context.WithCancel(t.Context())
	r, ended := &Receiver{t: t, got: map[string]bool{}}, make(chan struct{})
	go func() {
		defer close(ended)
		w.Receive(ctx, r.add)
	}()
	r.stop = func() { cancel(); <-ended }
	t.Cleanup(r.stop)
	return r
}

// End ends the receiving.
func (r *Receiver) End() { r.stop() }

func (r *Receiver) add(wake timeline.Wake) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range namesOf(wake) {
		r.got[name] = true
	}
}

func namesOf(wake timeline.Wake) (list []string) {
	for _, agent := range wake.Agents {
		list = append(list, "t "+agent)
	}
	for _, author := range wake.Authors {
		list = append(list, "o "+author)
	}
	for _, agent := range wake.Inboxes {
		list = append(list, "n "+agent)
	}
	return list
}

// Names returns the names received: "t u_1" of timelines, "o u_1" of outboxes, "n u_1" of notifications.
func (r *Receiver) Names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.got))
}

// Has sends a wake until all its names were received: any may get lost.
func (r *Receiver) Has(from timeline.Wakes, wake timeline.Wake) {
	r.t.Helper()
	want := namesOf(wake)
	testenv.WaitFor(r.t, func() bool {
		from.Send(wake)
		r.mu.Lock()
		defer r.mu.Unlock()
		return !slices.ContainsFunc(want, func(name string) bool { return !r.got[name] })
	}, "a wake of %d names", len(want))
}
