package prove

import "fmt"

// Finding is one fault of a system, with the calls that led to it.
type Finding struct {
	Kind   string   `json:"kind"` // repeated, lost, leaked or empty
	Reader string   `json:"reader"`
	Entry  string   `json:"entry"`
	Marked bool     `json:"marked,omitempty"` // the answer says that it may
	At     float64  `json:"at_seconds"`
	Text   string   `json:"text"`
	Calls  []string `json:"calls"` // in their order, with times since the begin
}

// mostFindings bounds the findings of a kind whose calls are kept; all are counted.
const mostFindings = 5

// found notes what the model says about an entry on a page.
func (r *run) found(c Call, v verdict, s span) {
	if v.leak {
		if v.mayLeak {
			r.tally.leakedMarked.Add(1)
		} else {
			r.tally.leaked.Add(1)
		}
		r.finding(Finding{
			Kind: "leaked", Reader: c.Reader, Entry: v.key, Marked: v.mayLeak, At: s.end.Seconds(),
			Text: fmt.Sprintf("%s was shown %s by the answer to %s, which the reader might see at no moment of that call", c.Reader, v.key, c.RequestID),
		}, s)
	}
	if v.repeat {
		if v.mayRepeat {
			r.tally.repeatedMarked.Add(1)
		} else {
			r.tally.repeated.Add(1)
		}
		r.finding(Finding{
			Kind: "repeated", Reader: c.Reader, Entry: v.key, Marked: v.mayRepeat, At: s.end.Seconds(),
			Text: fmt.Sprintf("%s was shown %s by the answer to %s at %.3f s, and by that to %s at %.3f s", c.Reader, v.key, v.before.request, v.before.at.end.Seconds(), c.RequestID, s.end.Seconds()),
		}, s, v.before.at)
	}
}

// finding keeps the first findings of each kind.
func (r *run) finding(f Finding, moments ...span) {
	r.tally.mu.Lock()
	defer r.tally.mu.Unlock()
	kind, most := f.Kind, mostFindings
	if f.Marked { // one example of what the answers themselves say
		kind, most = f.Kind+" marked", 1
	}
	r.tally.kept[kind]++
	if r.tally.kept[kind] > most {
		return
	}
	r.model.mu.Lock()
	author := ""
	e := r.model.entries[f.Entry]
	if e != nil {
		author = e.Author
	}
	r.model.mu.Unlock()
	f.Calls = r.journal.story(f.Reader, author, f.Entry, moments...)
	r.tally.findings = append(r.tally.findings, f)
}
