package breaker

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var dependencyUp = promauto.NewGaugeVec(prometheus.GaugeOpts{
	Name: "freshet_dependency_up",
	Help: "1 while the dependency answers, asked every five seconds; 0 while it does not, or calls to it fail at once because it was down; 0.5 while it answers and a few calls try it again.",
}, []string{"dependency"})

// upState tells whether a dependency is up, by two values from 0 to 1: the last look at it,
// and its breaker. The worse of the two counts: a look that is answered does not hide
// that calls fail at once, and a breaker that tries again does not interrupt an alert.
type upState struct{ look, breaker float64 }

// ups are the states of this process's dependencies, by name.
var ups = struct {
	mu sync.Mutex
	of map[string]upState
}{of: map[string]upState{}}

// setUp changes the state of a dependency and publishes it.
func setUp(name string, change func(*upState)) {
	ups.mu.Lock()
	defer ups.mu.Unlock()
	state, ok := ups.of[name]
	if !ok {
		state = upState{look: 1, breaker: 1}
	}
	change(&state)
	ups.of[name] = state
	dependencyUp.WithLabelValues(name).Set(min(state.look, state.breaker))
}

// Looked publishes whether a dependency answered when it was looked at last.
func Looked(name string, answered bool) {
	look := 0.0
	if answered {
		look = 1
	}
	setUp(name, func(u *upState) { u.look = look })
}
