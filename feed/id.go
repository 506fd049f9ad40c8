package feed

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Maximum lengths of identifiers, in characters.
const (
	MaxAgentID   = 128
	MaxItemID    = 256
	MaxRequestID = 64
)

// AgentAlphabet lists the characters allowed in an agent id.
const AgentAlphabet = "A-Z a-z 0-9 _ . @ -"

// InFeed is the field in which answers describe a post or item in relation to its reader.
const InFeed = "in_feed"

// CheckLimit checks the number of items that a call requests; the error wraps [ErrBadLimit].
func CheckLimit(limit, most int) error {
	if limit < 1 || limit > most {
		return fmt.Errorf("%w: limit must be a whole number from 1 to %d, not %d", ErrBadLimit, most, limit)
	}
	return nil
}

// CheckAgentID checks that id can name an agent: 1–128 characters of A-Z a-z 0-9 _ . @ -. A colon
// is not allowed because it separates the two halves of a filter member. The error wraps
// [ErrBadID].
func CheckAgentID(id string) error { return checkID("agent_id", id, MaxAgentID, false) }

// subjectID is the prefix of the ids that [AgentOf] derives.
const subjectID = "sub."

// AgentOf returns the agent id for a subject of an identity provider, such as "auth0|42": the
// subject itself if it is a valid agent id, else "sub." and its SHA-256 in base64url. A subject
// that looks like such a derived id is hashed too, so that no two subjects share an id. It
// returns an error that wraps [ErrBadID] if the subject is empty or not valid text.
func AgentOf(subject string) (string, error) {
	// Decoders replace invalid bytes with U+FFFD, so subjects that contain it may have been
	// different before decoding.
	if subject == "" || !utf8.ValidString(subject) || strings.ContainsRune(subject, utf8.RuneError) {
		return "", fmt.Errorf("%w: the subject is empty or is not valid text", ErrBadID)
	}
	if CheckAgentID(subject) == nil && !isSubjectID(subject) {
		return subject, nil
	}
	sum := sha256.Sum256([]byte(subject))
	return subjectID + base64.RawURLEncoding.EncodeToString(sum[:]), nil
}

func isSubjectID(id string) bool {
	text, ok := strings.CutPrefix(id, subjectID)
	if !ok {
		return false
	}
	sum, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(sum) == sha256.Size
}

// itemAlphabet lists the characters allowed in the id of an item or a group: those of a URI (RFC
// 3986), so that a feed's guid, such as "https://example.org/?p=12" or "tag:example.org,2024:1",
// is a valid id.
const itemAlphabet = AgentAlphabet + " : / ? # [ ] ! $ & ' ( ) * + , ; = % ~"

// CheckItemID checks that id can name an item or a group: 1–256 characters of a URI. The error
// wraps [ErrBadID].
func CheckItemID(id string) error { return checkID("id", id, MaxItemID, true) }

// CheckRequestID checks that id can name a retryable request: 1–64 characters of the agent
// alphabet. The error wraps [ErrBadID].
func CheckRequestID(id string) error { return checkID("request_id", id, MaxRequestID, false) }

func checkID(what, id string, limit int, item bool) error {
	alphabet := AgentAlphabet
	if item {
		alphabet = itemAlphabet
	}
	if id == "" || len(id) > limit {
		return fmt.Errorf("%w: %s must have 1 to %d characters of %s, this one has %d",
			ErrBadID, what, limit, alphabet, utf8.RuneCountInString(id))
	}
	if item && strings.HasPrefix(id, GivenMark) {
		return fmt.Errorf("%w: %s begins with ~, which is reserved for Freshet's records about items", ErrBadID, what)
	}
	for i := range len(id) {
		if !idByte(id[i], item) {
			c, _ := utf8.DecodeRuneInString(id[i:])
			return fmt.Errorf("%w: %s has %q at position %d; allowed are %s", ErrBadID, what, string(c), i+1, alphabet)
		}
	}
	return nil
}

// isLetter reports whether c is a letter of ASCII.
func isLetter[C byte | rune](c C) bool {
	lower := c | ('x' - 'X')
	return 'a' <= lower && lower <= 'z'
}

// isDigit reports whether c is a digit of ASCII.
func isDigit[C byte | rune](c C) bool { return '0' <= c && c <= '9' }

func idByte(c byte, item bool) bool {
	switch {
	case isLetter(c), isDigit(c):
		return true
	case c == '_', c == '.', c == '@', c == '-':
		return true
	case c <= ' ':
		return false
	}
	return item && strings.IndexByte(itemAlphabet, c) >= 0
}
