package feed

import (
	"encoding/base32"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed/terms"
)

// Name is the name of one of an agent's feeds: [ForYou], [HomeFeed], or a named feed, which is a
// tag ("tag:go"), a language ("lang:de"), or the name of a stored feed ("weekend"). An item shown in
// for-you or home is not shown in the other. A named feed may show it again, marked as shown before;
// what a named feed shows is not shown in for-you and home.
//
// For-you and home have a session each. All named feeds of an agent share one.
type Name string

// The feeds with a session of their own. The zero value counts as [ForYou].
const (
	ForYou   Name = "for_you" // items by the agent's interests
	HomeFeed Name = "home"    // posts from people the agent follows, blended with trending, discovered and promoted items
)

// AnyNamed stands for the agent's session of named feeds, whichever of them it belongs to.
const AnyNamed Name = "named"

// The prefixes of named feeds that need not be stored.
const (
	tagFeed  = "tag:"
	langFeed = "lang:"
)

// Bounds of the names of feeds.
const (
	maxFeedName = 64  // characters of a stored feed's name
	maxFeedTag  = 128 // bytes of the tag or the language after the prefix
)

// Other returns the agent's other feed, of for-you and home; for-you for a named feed.
func (n Name) Other() Name { return n.Others()[0] }

// Others returns the agent's other two sessions.
func (n Name) Others() [2]Name {
	switch {
	case n.Named():
		return [2]Name{ForYou, HomeFeed}
	case n == HomeFeed:
		return [2]Name{ForYou, AnyNamed}
	}
	return [2]Name{HomeFeed, AnyNamed}
}

// Named reports whether it is a named feed.
func (n Name) Named() bool { return n != "" && n != ForYou && n != HomeFeed }

// Check checks that the name can be that of a feed. The error wraps [ErrInvalid].
func (n Name) Check() error {
	if !n.Named() {
		return nil
	}
	if tag, ok := strings.CutPrefix(string(n), tagFeed); ok {
		return checkFeedTerm("tag", tag, strings.TrimSpace(tag))
	}
	if lang, ok := strings.CutPrefix(string(n), langFeed); ok {
		return checkFeedTerm("language", lang, terms.LangKey(lang))
	}
	return CheckFeedName(string(n))
}

// checkFeedTerm checks the tag or language of a feed; items are compared by key.
func checkFeedTerm(what, term, key string) error {
	if len(term) > maxFeedTag || !utf8.ValidString(term) || strings.ContainsFunc(term, unicode.IsControl) {
		return Errorf(ErrInvalid, "bad feed: the %s must be text of at most %d bytes without control characters", what, maxFeedTag)
	}
	if key == "" {
		return Errorf(ErrInvalid, "bad feed: %q is not a %s; send for example tag:go or lang:de", term, what)
	}
	return nil
}

// CheckFeedName checks that a name can be that of a stored feed: 1–64 characters of a-z 0-9 _ -, and
// not one that has a meaning already. The error wraps [ErrInvalid].
func CheckFeedName(name string) error {
	if name == "" || len(name) > maxFeedName {
		return Errorf(ErrInvalid, "bad feed: its name must have 1 to %d characters of a-z 0-9 _ -, this one has %d", maxFeedName, len(name))
	}
	for _, c := range []byte(name) {
		isLower, isSign := 'a' <= c && c <= 'z', c == '_' || c == '-'
		if !isLower && !isDigit(c) && !isSign {
			return Errorf(ErrInvalid, "bad feed: %.80q; send for_you, home, tag: and a tag, lang: and a language, or the name of a stored feed, of a-z 0-9 _ -", name)
		}
	}
	switch Name(name) {
	case ForYou, HomeFeed, AnyNamed, "guest", "tag", "lang":
		return Errorf(ErrInvalid, "bad feed: %s has another meaning; use another name", name)
	}
	return nil
}

// Canonical returns the same name for all spellings of a feed: tags and languages are compared as
// those of items are. The name must be valid.
func (n Name) Canonical() Name {
	if tag, ok := strings.CutPrefix(string(n), tagFeed); ok {
		return Name(tagFeed + terms.Fold(tag))
	}
	if lang, ok := strings.CutPrefix(string(n), langFeed); ok {
		return Name(langFeed + strings.ToLower(lang))
	}
	return n
}

// Conditions returns the conditions of a feed that need not be stored; ok is false for any other.
func (n Name) Conditions() (f Filter, ok bool) {
	if tag, ok := strings.CutPrefix(string(n), tagFeed); ok {
		return Filter{All: Conditions{Tags: []string{tag}}}, true
	}
	if lang, ok := strings.CutPrefix(string(n), langFeed); ok {
		return Filter{All: Conditions{Langs: []string{lang}}}, true
	}
	return Filter{}, false
}

// Kind returns a word for metrics: the name of for-you or home, or tag, lang or stored.
func (n Name) Kind() string {
	switch {
	case n == "":
		return string(ForYou)
	case !n.Named():
		return string(n)
	case strings.HasPrefix(string(n), tagFeed):
		return "tag"
	case strings.HasPrefix(string(n), langFeed):
		return "lang"
	}
	return "stored"
}

// ScopeMark begins a scope. No letter of a mark of a [Ref] is a capital.
const ScopeMark = "N"

var scopeText = base32.StdEncoding.WithPadding(base32.NoPadding)

// Scope returns the word of capital letters and digits under which pending sets and filters record
// what a named feed has shown, in addition to the item itself; "" for for-you and home. It is the same
// for all names of a language (de, deu, German), which select the same items. It is a hash, which keeps it short. If two names had the same, one feed would lack what the other has shown.
func (n Name) Scope() string {
	if !n.Named() {
		return ""
	}
	name := string(n.Canonical())
	if lang, ok := strings.CutPrefix(name, langFeed); ok {
		name = langFeed + strings.Join(terms.ReadLangs([]string{lang}).Keys(), " ")
	}
	sum := xxhash.Sum64String(name)
	var b [8]byte
	for i := range b {
		b[i] = byte(sum >> (8 * i))
	}
	return ScopeMark + scopeText.EncodeToString(b[:])[:11]
}
