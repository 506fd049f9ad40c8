package server

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
)

// cutReads are the commands that change nothing. For them it makes no difference whether the
// command or all or part of its reply is lost, or whether a reconnect succeeds at once.
var cutReads = []string{"get", "mget", "bf.mexists"}

// cutCases returns the faults to test, given the commands of a run without faults. Of equal
// commands it has only the first and the last.
func cutCases(labels []string) []cutCase {
	last := map[string]int{}
	for _, label := range labels {
		last[label]++
	}
	var all []cutCase
	seen := map[string]int{}
	for _, label := range labels {
		seen[label]++
		n := seen[label]
		if n != 1 && n != last[label] {
			continue
		}
		c := cutCase{command: label, nth: n}
		kinds := []faultproxy.Kind{faultproxy.After}
		reads := slices.Contains(cutReads, strings.Fields(label)[0])
		if !reads {
			kinds = append(kinds, faultproxy.Before, faultproxy.Within)
		}
		if strings.HasPrefix(label, "evalsha") {
			kinds = append(kinds, faultproxy.Late, faultproxy.Stall)
		}
		for _, c.kind = range kinds {
			all = append(all, c)
		}
		if !reads {
			c.kind, c.refuse = faultproxy.After, cutRefused
			all = append(all, c)
		}
	}
	return all
}

// TestRedisDisconnectAtEveryCommand runs the whole table: each step, each of its commands and each
// fault, with and without a request id, on one server and on a cluster.
func TestRedisDisconnectAtEveryCommand(t *testing.T) {
	testenv.Full(t, "cuts")
	free := make(chan struct{}, cutServers)
	var places sync.WaitGroup
	defer places.Wait()
	for _, place := range cutPlaces {
		places.Go(func() { t.Run(place.name, func(t *testing.T) { cutTable(t, place, free) }) })
	}
}

// cutTable runs all steps on servers of one place, each when a slot is free.
func cutTable(t *testing.T, place cutPlace, free chan struct{}) {
	cfg := place.config(t)
	shared := cfg.UsesElasticsearch()
	if shared { // one catalog for all servers
		put(t, open(t, cutConfig(cfg), WithClock(at(noon).Now)), madeItems(cutItems)...)
	}
	var running sync.WaitGroup
	defer running.Wait()
	for i, s := range cutSteps {
		for _, requestID := range s.requestIDs() {
			running.Go(func() {
				free <- struct{}{}
				defer func() { <-free }()
				t.Run(strings.TrimSpace(s.name+" "+requestID), func(t *testing.T) {
					own, name := cfg, fmt.Sprintf("reader_%d%s", i, requestID)
					own.Redis.KeyPrefix += name + ":"
					newCutServer(t, place, own, name, shared).table(t, s, requestID)
				})
			})
		}
	}
}

// table runs a step with each of its faults.
func (l *cutServer) table(t *testing.T, s cutStep, requestID string) {
	l.healthy(t)
	labels, again := l.scout(t, s, requestID), l.scout(t, s, requestID)
	for slices.ContainsFunc(labels, sendsScript) || !sameCommands(labels, again) {
		labels, again = again, l.scout(t, s, requestID)
	}
	require.NotEmpty(t, labels)
	t.Logf("%d commands: %s", len(labels), strings.Join(labels, ", "))
	for i, c := range cutCases(labels) {
		if testenv.Slow() && !l.half(i) {
			continue
		}
		t.Run(c.String(), func(t *testing.T) { l.one(t, s, c, requestID) })
	}
}

// sameCommands reports whether two runs of a step sent the same commands, in whatever order. They
// differ if a prefetch of the page before fell into one of them.
func sameCommands(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// scout runs a step without a fault and returns its commands.
func (l *cutServer) scout(t *testing.T, s cutStep, requestID string) (labels []string) {
	t.Helper()
	l.recovered(t)
	r := l.reader()
	s.prepare(t, l, r, requestID)
	commands := l.proxy.Record(func() {
		s.call(t, l, r, requestID)
		l.quiet(t)
	})
	for _, cmd := range commands {
		if l.concerns(s, r, cmd) {
			labels = append(labels, l.label(cmd))
		}
	}
	r.finish(t, l)
	s.tidy(t, l, r)
	l.loadScripts(t, commands)
	require.False(t, t.Failed(), "without any fault")
	return labels
}

// one runs a step with one fault. A server that was just refused bypasses Redis for a moment, or is
// recovering, and may not send the command at all: then the step is repeated.
func (l *cutServer) one(t *testing.T, s cutStep, c cutCase, requestID string) {
	for range 3 {
		if l.try(t, s, c, requestID) {
			return
		}
		l.hurt = true
		l.recovered(t)
	}
	require.Fail(t, "the command was not sent")
}

// try reports whether the fault hit its command.
func (l *cutServer) try(t *testing.T, s cutStep, c cutCase, requestID string) bool {
	t.Helper()
	l.healthy(t)
	r := l.reader()
	r.refused = c.refuse > 0
	s.prepare(t, l, r, requestID)
	defer s.tidy(t, l, r)
	fault := l.proxy.Arm(faultproxy.Fault{
		Kind: c.kind, Nth: c.nth, For: cutStall, Refuse: c.refuse,
		Match: func(cmd faultproxy.Command) bool { return l.concerns(s, r, cmd) && l.label(cmd) == c.command },
	})
	defer l.proxy.Disarm(fault)
	l.hurt = true // until the case has ended well
	s.call(t, l, r, requestID)
	l.quiet(t)
	if fault.Fired() {
		<-fault.Over() // all late commands have arrived
	}
	r.repeat(t, l)
	r.finish(t, l)
	l.hurt = r.refused || t.Failed()
	return fault.Fired()
}
