package timeline

import "context"

// Wake names lists into which posts have just been pushed.
type Wake struct {
	Agents []string // whose timelines
	// Authors have the outboxes. [social.Server] stands for the public posts of all authors.
	Authors []string
}

// Empty reports whether it names no list.
func (w Wake) Empty() bool { return len(w.Agents)+len(w.Authors) == 0 }

// Wakes carry wakes from those who push to those who watch, on all servers with the same lists. A
// wake is a hint to look now: it may get lost, arrive twice, or name a list that has not changed. So
// who watches also looks without one.
type Wakes interface {
	// Send sends a wake. It returns at once; what cannot be sent is dropped.
	Send(w Wake)
	// Receive calls f, one call at a time, with the wakes that are sent from any server until ctx
	// ends. f must not block.
	Receive(ctx context.Context, f func(Wake))
}
