package configs

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a configuration.
type Problem struct {
	Key     string // dotted key, "" when it is about a whole file
	Source  string // where the value came from, "" when it may be any or several places
	Message string // what is wrong and what to do; it follows the key in a sentence
}

// String writes the problem as a sentence. Secrets are never part of it.
func (p Problem) String() string {
	s := p.Message
	if p.Key != "" {
		s = p.Key + " " + s
	}
	if p.Source != "" {
		s = p.Source + ": " + s
	}
	return s
}

// Problems is the error of [Load] and [Config.Validate]: everything that is
// wrong, at once.
type Problems []Problem

// Error writes one problem in a line, several in a list.
func (p Problems) Error() string {
	if len(p) == 1 {
		return "configuration: " + p[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the configuration has %d problems:", len(p))
	for _, one := range p {
		b.WriteString("\n  - " + one.String())
	}
	return b.String()
}

func (p *Problems) add(key, format string, args ...any) {
	*p = append(*p, Problem{Key: key, Message: fmt.Sprintf(format, args...)})
}

// err is nil when there is no problem.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}
