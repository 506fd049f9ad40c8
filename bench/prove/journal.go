package prove

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// line is one call or fault in the journal.
type line struct {
	at   span
	who  []string // agents and keys that it concerns
	call Call     // of a read
	text string
	// broken is set for a read with a failed attempt: that may have handed out what nobody has seen.
	broken bool
}

// journal holds everything that happened, so that a finding can name the calls that led to it.
type journal struct {
	mu    sync.Mutex
	lines []line
	byWho map[string][]int
	open  map[Call]moment // calls of readers, with their begins; lines have those that have ended
}

// begin notes that a reader's call has begun; end, that its line is there.
func (j *journal) begin(c Call, at moment) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.open == nil {
		j.open = map[Call]moment{}
	}
	j.open[c] = at
}

func (j *journal) end(c Call) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.open, c)
}

func (j *journal) add(l line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.byWho == nil {
		j.byWho = map[string][]int{}
	}
	for _, who := range l.who {
		j.byWho[who] = append(j.byWho[who], len(j.lines))
	}
	j.lines = append(j.lines, l)
}

// describe returns the outcome of each attempt.
func describe(tries []attempt) string {
	var b strings.Builder
	for _, a := range tries {
		said := "ok"
		if a.err != nil {
			said = a.err.Error()
		}
		fmt.Fprintf(&b, "; server %d from %.3f to %.3f s: %s", a.server, a.span.begin.Seconds(), a.span.end.Seconds(), said)
	}
	return b.String()
}

func (j *journal) read(c Call, tries []attempt, p Page) {
	what := "refresh"
	if c.More {
		what = "load_more"
	}
	all := span{tries[0].span.begin, tries[len(tries)-1].span.end}
	says := ""
	if p.Says != "" {
		says = " (" + p.Says + ")"
	}
	text := fmt.Sprintf("%s asks for %d (%s, device %d, request_id %s)%s%s: %s", c.Reader, c.Limit, what, c.Device, c.RequestID, describe(tries), says, strings.Join(p.Entries, " "))
	j.add(line{at: all, who: []string{"read " + c.Reader}, call: c, text: text, broken: len(tries) > 1})
}

func (j *journal) write(_ step, what string, tries []attempt, who ...string) {
	j.add(line{at: span{tries[0].span.begin, tries[len(tries)-1].span.end}, who: who, text: what + describe(tries)})
}

func (j *journal) fault(s span, what string) { j.add(line{at: s, who: []string{"fault"}, text: what}) }

// overlaps reports whether another call of the reader was open within a span.
func (j *journal) overlaps(c Call, s span) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for other, begun := range j.open {
		if other.Reader == c.Reader && other.RequestID != c.RequestID && begun <= s.end {
			return true
		}
	}
	return slices.ContainsFunc(j.byWho["read "+c.Reader], func(n int) bool {
		l := j.lines[n]
		return l.call.RequestID != c.RequestID && l.at.end >= s.begin && l.at.begin <= s.end
	})
}

// around is how far from a finding faults and other calls of its reader are part of its story.
const around = 2 * time.Second

// mostLines bounds a story.
const mostLines = 60

// story returns the calls that led to a finding: about the entry, between the two agents, the
// reader's calls with the entry, with a failed attempt after it was published, or close to one of the
// moments, and faults close to them.
func (j *journal) story(reader, author, key string, moments ...span) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var lines []line
	near := func(l line, d time.Duration) bool {
		return slices.ContainsFunc(moments, func(s span) bool { return l.at.end >= s.begin-d && l.at.begin <= s.end+d })
	}
	for _, n := range j.byWho[key] {
		lines = append(lines, j.lines[n])
	}
	for _, n := range j.byWho[reader] {
		if slices.Contains(j.lines[n].who, author) && !slices.Contains(j.lines[n].who, key) {
			lines = append(lines, j.lines[n])
		}
	}
	for _, n := range j.byWho["read "+reader] {
		l := j.lines[n]
		if l.broken && l.at.end >= moments[0].begin || near(l, around/10) || slices.Contains(strings.Fields(l.text[strings.LastIndexByte(l.text, ':')+1:]), key) {
			lines = append(lines, l)
		}
	}
	for _, n := range j.byWho["fault"] {
		if near(j.lines[n], 5*around) {
			lines = append(lines, j.lines[n])
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.at.begin, b.at.begin) })
	lines = slices.CompactFunc(lines, func(a, b line) bool { return a.at == b.at && a.text == b.text })
	var texts []string
	for _, l := range lines[:min(len(lines), mostLines)] {
		texts = append(texts, fmt.Sprintf("%8.3f s  %s", l.at.begin.Seconds(), l.text))
	}
	return texts
}
