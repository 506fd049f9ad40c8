package coread

import "context"

// Ahead asks for an agent's last reads while something else is read from the same service: a store that
// can send one command more with another call takes it from the context ([AheadOf]), so that it costs
// no round trip. It is for one request, of which one goroutine uses it at a time.
type Ahead struct {
	agent string
	taken bool
	done  bool
	reads []string
}

type aheadKey struct{}

// Carry returns a context that asks for the last reads of an agent.
func Carry(ctx context.Context, agent string) (context.Context, *Ahead) {
	a := &Ahead{agent: agent}
	return context.WithValue(ctx, aheadKey{}, a), a
}

// AheadOf returns what a context asks for, once; nil if nothing.
func AheadOf(ctx context.Context) *Ahead {
	a, _ := ctx.Value(aheadKey{}).(*Ahead)
	if a == nil || a.taken {
		return nil
	}
	a.taken = true
	return a
}

// Agent returns the hash of the agent's id.
func (a *Ahead) Agent() uint64 { return Agent(a.agent) }

// Answer sets the last reads, the newest first.
func (a *Ahead) Answer(reads []string) { a.reads, a.done = reads, true }

// Reads returns the last reads. ok is false if nobody has answered; a nil Ahead is not answered.
func (a *Ahead) Reads() (reads []string, ok bool) {
	if a == nil {
		return nil, false
	}
	return a.reads, a.done
}
