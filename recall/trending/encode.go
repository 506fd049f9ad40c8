package trending

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// HeadBytes is how many bytes at the beginning of what [Set.Encode] writes tell the
// revision, see [RevisionOf].
const HeadBytes = 64

// format is the first word of an encoded set. A server that meets another one goes on
// with the set that it has.
const format = "1"

// NewSet is the set of these entries, which must not be changed any more, as of a
// moment in Unix seconds.
func NewSet(at int64, entries []Entry) *Set {
	s := &Set{At: at, Entries: entries}
	sum := sha256.Sum256(s.body())
	s.Revision = strconv.FormatInt(at, 10) + "-" + hex.EncodeToString(sum[:8])
	return s
}

func (s *Set) body() []byte {
	body, err := json.Marshal(s.Entries)
	if err != nil { // there is nothing in an entry that cannot be encoded but a trend that is not finite
		return []byte("[]")
	}
	return body
}

// Encode writes the set as stores keep it: a line with the format, the revision and
// the time, and the entries as JSON.
func (s *Set) Encode() []byte {
	head := format + " " + s.Revision + " " + strconv.FormatInt(s.At, 10) + "\n"
	return append([]byte(head), s.body()...)
}

// RevisionOf is the revision of an encoded set, of which the first [HeadBytes] are
// enough; "" for what is none.
func RevisionOf(data []byte) string {
	words := bytes.SplitN(data, []byte(" "), 3)
	if len(words) < 3 || string(words[0]) != format {
		return ""
	}
	return string(words[1])
}

// Decode reads what [Set.Encode] wrote.
func Decode(data []byte) (*Set, error) {
	head, body, found := bytes.Cut(data, []byte("\n"))
	words := strings.Fields(string(head))
	if !found || len(words) != 3 || words[0] != format || len(head) >= HeadBytes {
		return nil, errors.New("it is not a set of this version")
	}
	at, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil {
		return nil, errors.New("it is not a set of this version")
	}
	s := &Set{At: at, Revision: words[1]}
	if err := json.Unmarshal(body, &s.Entries); err != nil {
		return nil, fmt.Errorf("it is not a set of this version: %w", err)
	}
	return s, nil
}
