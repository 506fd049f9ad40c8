package events

// heldActs are acts that wait for one write of all servers: those on what exploration or
// a promotion has shown count only where the store knows that it has, and another server
// may have shown it a moment ago.
type heldActs struct {
	newer, older []entry // since the last tick, and between that and the one before
}

// add holds acts, and adds up everything else. Who waits for what was handed over waits
// for no tick.
func (h *heldActs) add(to *sums, e entry) {
	switch {
	case e.written != nil:
		h.all(to)
		to.add(e)
	case len(e.acts)+len(e.promotedActs) > 0:
		h.newer = append(h.newer, e)
	default:
		to.add(e)
	}
}

// tick adds up what was held at the last tick.
func (h *heldActs) tick(to *sums) {
	for _, e := range h.older {
		to.add(e)
	}
	clear(h.older) // it is used again
	h.older, h.newer = h.newer, h.older[:0]
}

// all adds up all that is held.
func (h *heldActs) all(to *sums) {
	h.tick(to)
	h.tick(to)
}
