package feed

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/feed/words"
)

// Bounds of muted words.
const (
	MaxMutedWords       = 100
	MaxMutedWordLength  = 100  // characters of one term
	MaxMutedWordsLength = 2000 // total characters of all terms: each may be a separate word, and search engines limit the words of a query
)

// MutedWord is a word, or a phrase of adjacent words, that excludes the items and posts that have it
// in the title, summary, caption or a tag. Words are compared as those of keywords.
type MutedWord struct {
	Term  string    `json:"term"`
	Until time.Time `json:"until,omitzero"` // when the mute ends; zero means never
}

// Same reports whether two terms have the same words, and so mute the same.
func (w MutedWord) Same(term string) bool {
	return slices.Equal(words.Of(w.Term), words.Of(term))
}

// MuteEnds holds when mutes of a profile end, by the value that its list has. A mute without an end is
// permanent; an end without a mute has no effect.
type MuteEnds struct {
	Authors map[string]time.Time `json:"authors,omitempty"`
	Tags    map[string]time.Time `json:"tags,omitempty"`
	Items   map[string]time.Time `json:"items,omitempty"`
}

// over reports whether a mute with that end has ended at a time.
func over(end, at time.Time) bool { return !end.IsZero() && !at.Before(end) }

// At returns the profile with the mutes that are in force at a time: those that have ended are left
// out. Lists without such mutes are shared with p.
func (p Profile) At(now time.Time) Profile {
	ends := &p.MutedUntil
	p.MutedAuthors, ends.Authors = inForce(p.MutedAuthors, ends.Authors, now)
	p.MutedTags, ends.Tags = inForce(p.MutedTags, ends.Tags, now)
	p.MutedItems, ends.Items = inForce(p.MutedItems, ends.Items, now)
	ended := func(w MutedWord) bool { return over(w.Until, now) }
	if slices.ContainsFunc(p.MutedWords, ended) {
		p.MutedWords = orNil(slices.DeleteFunc(slices.Clone(p.MutedWords), ended))
	}
	return p
}

// inForce removes the values that have ended from a list and its ends, in copies.
func inForce(list []string, ends map[string]time.Time, now time.Time) ([]string, map[string]time.Time) {
	ended := func(_ string, end time.Time) bool { return over(end, now) }
	for _, end := range ends {
		if !over(end, now) {
			continue
		}
		list = orNil(slices.DeleteFunc(slices.Clone(list), func(value string) bool { return over(ends[value], now) }))
		ends = maps.Clone(ends)
		maps.DeleteFunc(ends, ended)
		break
	}
	if len(ends) == 0 {
		ends = nil
	}
	return list, ends
}

func orNil[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// tidy drops the ends of values that are not in their lists, and what is empty. An end of a tag is one of
// each of its spellings in the list.
func (e *MuteEnds) tidy(p *Profile) {
	for _, of := range []struct {
		ends *map[string]time.Time
		list []string
		same func(string) string
	}{{&e.Authors, p.MutedAuthors, itself}, {&e.Tags, p.MutedTags, terms.Fold}, {&e.Items, p.MutedItems, itself}} {
		if len(*of.ends) == 0 {
			*of.ends = nil
			continue
		}
		given := map[string]time.Time{}
		for _, value := range slices.Sorted(maps.Keys(*of.ends)) {
			given[of.same(value)] = (*of.ends)[value]
		}
		kept := map[string]time.Time{}
		for _, value := range of.list {
			end, there := (*of.ends)[value]
			if !there {
				end = given[of.same(value)]
			}
			if !end.IsZero() {
				kept[value] = end.UTC()
			}
		}
		*of.ends = kept
		if len(kept) == 0 {
			*of.ends = nil
		}
	}
}

// CheckMutedWord checks one term; the error wraps [ErrInvalid].
func CheckMutedWord(term string) error {
	n := utf8.RuneCountInString(term)
	if n == 0 || n > MaxMutedWordLength {
		return Errorf(ErrInvalid, "bad profile: a muted word has %d characters, 1 to %d are allowed", n, MaxMutedWordLength)
	}
	tokens := words.Of(term)
	if len(tokens) == 0 {
		return Errorf(ErrInvalid, "bad profile: the muted word %q has no letter, digit or emoji, so it is in no text", term)
	}
	if len(tokens) == 1 && words.Stop(tokens[0]) {
		return Errorf(ErrInvalid, "bad profile: the muted word %q is in nearly every text; mute a longer phrase", term)
	}
	return nil
}

// CheckMuteEnd checks the end of a mute, zero for none; the error wraps [ErrInvalid].
func CheckMuteEnd(end time.Time) error {
	if end.UTC().Year() > 9999 { // has no form in JSON
		return Errorf(ErrInvalid, "a mute must end before the year 10000; leave the end out to mute without one")
	}
	return nil
}

func (e *MuteEnds) check() error {
	for _, ends := range []map[string]time.Time{e.Authors, e.Tags, e.Items} {
		for _, end := range ends {
			if err := CheckMuteEnd(end); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkMutedWords(muted []MutedWord) error {
	if len(muted) > MaxMutedWords {
		return Errorf(ErrInvalid, "bad profile: %d muted_words, at most %d are allowed", len(muted), MaxMutedWords)
	}
	characters := 0
	for _, w := range muted {
		if err := cmp.Or(CheckMutedWord(w.Term), CheckMuteEnd(w.Until)); err != nil {
			return err
		}
		characters += utf8.RuneCountInString(w.Term)
	}
	if characters > MaxMutedWordsLength {
		return Errorf(ErrInvalid, "bad profile: the muted_words have %d characters in total, at most %d are allowed", characters, MaxMutedWordsLength)
	}
	return nil
}

// MuteWord mutes a word until a time, zero for ever, and reports whether that changes the profile. It
// replaces the ends of all mutes of the same words. If there is no room, the error wraps [ErrLimit]. It
// does not modify the list in place.
func (p *Profile) MuteWord(term string, until time.Time) (changed bool, err error) {
	muted := slices.Clone(p.MutedWords)
	there := false
	for i := range muted {
		if muted[i].Same(term) {
			changed = changed || !muted[i].Until.Equal(until)
			muted[i].Until, there = until, true
		}
	}
	if !there {
		changed, muted = true, append(muted, MutedWord{Term: term, Until: until})
	}
	if checkMutedWords(muted) != nil {
		return false, Errorf(ErrLimit, "the limit of %d muted words, with %d characters in total, is reached; unmute one first", MaxMutedWords, MaxMutedWordsLength)
	}
	p.MutedWords = muted
	return changed, nil
}

// UnmuteWord removes the mutes of the same words, and reports whether there was one.
func (p *Profile) UnmuteWord(term string) (changed bool) {
	before := len(p.MutedWords)
	p.MutedWords = orNil(slices.DeleteFunc(slices.Clone(p.MutedWords), func(w MutedWord) bool { return w.Same(term) }))
	return len(p.MutedWords) < before
}

// mutedPhrase is one spelling of a muted word.
type mutedPhrase struct {
	text string // its tokens, with a space between two of them
	term string
}

// mutedPhrases returns the spellings of muted words by their first token, and the terms as folded tags.
func mutedPhrases(muted []MutedWord) (phrases map[string][]mutedPhrase, tags map[string]string) {
	if len(muted) == 0 {
		return nil, nil
	}
	phrases, tags = map[string][]mutedPhrase{}, map[string]string{}
	for _, w := range muted {
		apart, joined := words.OneLetterParts(words.Of(w.Term))
		for _, tokens := range [][]string{apart, joined} {
			if len(tokens) > 0 {
				phrases[tokens[0]] = append(phrases[tokens[0]], mutedPhrase{strings.Join(tokens, " "), w.Term})
			}
		}
		tags[terms.Fold(w.Term)] = w.Term
	}
	return phrases, tags
}

// Word returns the first muted word that a title, a summary or a tag has.
func (r *Refusals) Word(title, summary string, tags []string) (term string, muted bool) {
	if len(r.phrases) == 0 {
		return "", false
	}
	for _, tag := range tags {
		term, muted = r.wordTags[terms.Fold(tag)]
		if muted {
			return term, true
		}
	}
	var buf []byte
	for _, text := range append([]string{title, summary}, tags...) {
		buf = words.Append(buf[:0], text)
		term, muted = r.wordIn(buf)
		if muted {
			return term, true
		}
	}
	return "", false
}

// wordIn finds a muted word in tokens with a space between two of them.
func (r *Refusals) wordIn(tokens []byte) (term string, muted bool) {
	for rest := tokens; len(rest) > 0; {
		end := bytes.IndexByte(rest, ' ')
		if end < 0 {
			end = len(rest)
		}
		for _, phrase := range r.phrases[string(rest[:end])] {
			n := len(phrase.text)
			if len(rest) >= n && string(rest[:n]) == phrase.text && (len(rest) == n || rest[n] == ' ') {
				return phrase.term, true
			}
		}
		rest = rest[min(end+1, len(rest)):]
	}
	return "", false
}

// Exclusions returns a profile with only what excludes items.
func (p Profile) Exclusions() Profile {
	return Profile{
		Langs: p.Langs, MutedAuthors: p.MutedAuthors, MutedTags: p.MutedTags, MutedItems: p.MutedItems, MutedWords: p.MutedWords,
	}
}
