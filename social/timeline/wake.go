package timeline

import "context"

// Wake names lists into which posts have just been pushed, and agents whose notifications have changed.
type Wake struct {
	Agents []string // whose timelines
	// Authors have the outboxes. [social.Server] stands for the public posts of all authors.
	Authors []string
	// Inboxes are agents of whose notifications some may not stand any more.
	Inboxes []string
}

// Names returns how many lists and agents it names.
func (w Wake) Names() int { return len(w.Agents) + len(w.Authors) + len(w.Inboxes) }

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
