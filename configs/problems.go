package configs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Problem is one error in a configuration.
type Problem struct {
	Key     string // dotted key; "" for a whole file
	Source  string // where the value came from; "" if unknown or from several places
	Message string // what is wrong and how to fix it; it follows the key in a sentence
}

// String returns the problem as a sentence. It never contains secrets.
func (p Problem) String() string {
	s := p.Message
	if p.Key != "" {
		s = shownKey(p.Key) + " " + s
	}
	if p.Source != "" {
		s = p.Source + ": " + s
	}
	return s
}

// plainName matches the names that keys are made of.
var plainName = regexp.MustCompile(`^[\w-]+(\[\d+\])?$`)

// shownKey masks a key from the first name on that no key can have: a quote or a comma in a password
// can make the rest of the password a name.
func shownKey(key string) string {
	names := strings.Split(key, delimiter)
	at := slices.IndexFunc(names, func(name string) bool { return !plainName.MatchString(name) })
	if at < 0 {
		return key
	}
	return strings.Join(append(names[:at:at], masked), delimiter)
}

// Problems is the error of [Load] and [Config.Validate]: all problems at once.
type Problems []Problem

// Error returns one problem on one line, several as a list.
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

// err returns nil if there is no problem.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// Nearest returns the known key that is most similar to the given one. A name without a section is
// also compared with the last parts of the keys, so that "addr" finds server.addr.
func Nearest(key string) string {
	bare := !strings.Contains(key, delimiter)
	to := func(f field) int {
		d := distance(key, f.key)
		if bare {
			d = min(d, distance(key, f.key[strings.LastIndex(f.key, delimiter)+1:]))
		}
		return d
	}
	return slices.MinFunc(schema, func(a, b field) int { return to(a) - to(b) }).key
}

// distance returns the minimum number of deletions and insertions that turns a into b. A
// replacement counts as two, so that a key with a missing part (dedup.capacity) is nearer to the
// complete one than to another short word.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal
			} else {
				row[j+1] = min(above, row[j]) + 1
			}
			diagonal = above
		}
	}
	return row[len(b)]
}
