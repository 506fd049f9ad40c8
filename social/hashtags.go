package social

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
)

// Hashtags returns the hashtags of a text, in order, each once, as written but without '#'. Two
// spellings that [terms.Fold] makes equal are one tag.
//
// They are those of UAX #31 (UAX31-D2): a '#', also the small or the full-width one, followed by
// letters, marks, numbers and connectors such as '_', and between these by characters that [medial]
// accepts. A tag has a letter: "#1" is a number. A '#' after a character of a tag, '&' or '/'
// starts no tag, nor does one in a link.
func Hashtags(text string) []string {
	if !strings.ContainsAny(text, "#﹟＃") {
		return nil
	}
	var tags []string
	links := linksIn(text)
	before := rune(0)
	for i := 0; i < len(text); {
		if len(links) > 0 && i == links[0].from {
			before, _ = utf8.DecodeLastRuneInString(text[:links[0].to])
			i, links = links[0].to, links[1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if strings.ContainsRune("#﹟＃", r) && mayPrecede(before) {
			tag := tagAt(text[i+size:])
			shown := strings.TrimLeftFunc(tag, func(r rune) bool { return unicode.IsMark(r) || !inTag(r) })
			if isTag(shown) {
				tags = append(tags, shown)
			}
			size += len(tag)
			if tag != "" {
				r, _ = utf8.DecodeLastRuneInString(text[:i+size])
			}
		}
		before = r
		i += size
	}
	return terms.Distinct(tags)
}

// mayPrecede reports whether a '#' after a character can start a tag.
func mayPrecede(before rune) bool { return before != '&' && before != '/' && !inTag(before) }

// inTag reports whether a character can be in a tag: XID_Continue, and numbers such as ₂.
func inTag(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.Mn, unicode.Mc, unicode.Pc)
}

// tagAt returns the longest prefix of text that consists of characters of a tag. It may be no tag,
// see [isTag].
func tagAt(text string) string {
	end, before := 0, rune(0)
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if !inTag(r) {
			next, _ := utf8.DecodeRuneInString(text[end+size:])
			if !medial(before, r, next) {
				break
			}
		}
		end, before = end+size, r
	}
	return text[:end]
}

// medial reports whether r, which is no character of a tag, belongs to a tag between two that are:
// a middle dot (Catalan col·lecció, ジョン・レノン), the signs of abbreviation in Hebrew, the Tibetan
// tsheg, the joiners where they change a word, as in UAX31-R1a (between joining letters, and after a
// virama), and [invisible] characters.
func medial(before, r, next rune) bool {
	const zwnj, zwj = '\u200c', '\u200d'
	switch {
	case before == 0:
		return false
	case r == zwj && isVirama(before):
		return true
	case !inTag(next):
		return false
	case r == zwnj:
		return isVirama(before) || unicode.In(before, joining...) && unicode.In(next, joining...)
	}
	return strings.ContainsRune("··‧・･׳״་", r) || strings.ContainsRune(invisible, r)
}

// invisible has the characters within words that are not seen and that [terms.Fold] ignores: soft
// hyphen, word joiner (also as U+FEFF) and direction marks. They come with a copied word. A
// zero-width space is not among them: it is between words.
const invisible = "\u00ad\u2060\ufeff\u200e\u200f\u061c"

// isVirama reports whether a mark removes the inherent vowel of the consonant before it.
func isVirama(r rune) bool { return norm.NFC.PropertiesString(string(r)).CCC() == 9 }

// joining lists the scripts with joining letters, and Inherited for their marks.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Nko, unicode.Mongolian, unicode.Phags_Pa,
	unicode.Adlam, unicode.Hanifi_Rohingya, unicode.Manichaean, unicode.Psalter_Pahlavi, unicode.Sogdian, unicode.Inherited,
}

func isTag(tag string) bool {
	return utf8.RuneCountInString(tag) <= feed.MaxTermLength &&
		strings.ContainsFunc(tag, func(r rune) bool { return unicode.In(r, unicode.L, unicode.Nl) })
}

// linkBegins matches the start of a link: a scheme, a host name with a path or a query, a path
// without a host, or the target of a Markdown link.
var linkBegins = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://|\bmailto:|\bwww\.|(?:[\pL\pN][\pL\pN_-]*\.)+\pL{2,}(?::\d+)?[/?]|(?:^|[\s(])\.{0,2}/[^\s/]|\]\(`)

type span struct{ from, to int }

// linksIn returns the links in a text. A link ends at a space, at a character that no link has, or
// at a closing bracket that was opened before the link.
func linksIn(text string) (links []span) {
	for from := 0; ; {
		found := linkBegins.FindStringIndex(text[from:])
		if found == nil {
			return links
		}
		at := span{from + found[0], from + found[1]}
		if strings.HasPrefix(text[at.from:], "](") {
			at.from = at.to
		}
		open := strings.Count(text[at.from:at.to], "(")
		if strings.HasPrefix(text[at.from:], "(") {
			open = 0 // it precedes a path
		}
		at.to += linkLength(text[at.to:], open)
		links = append(links, at)
		if at.from == at.to {
			links = links[:len(links)-1]
		}
		from = max(at.to, from+found[1])
	}
}

// endsLink reports whether a character is not part of a link.
func endsLink(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("<>\"“”„«»。，、！？；：（）「」『』【】", r)
}

// linkLength returns the length of the rest of a link, given the number of open brackets.
func linkLength(rest string, open int) int {
	for i, r := range rest {
		switch r {
		case '(', '[':
			open++
		case ')', ']':
			open--
		}
		if open < 0 || endsLink(r) {
			return i
		}
	}
	return len(rest)
}
