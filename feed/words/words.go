// Package words splits text into the tokens by which keywords are compared. Texts, keywords and
// all backends use the same rules.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxLength is the longest token in bytes. A longer word is split into consecutive tokens.
const MaxLength = 128

// Apart is the token between the two readings of a text; see [Each]. No keyword has it.
const Apart = "|"

// Each calls fn with every token of a text in which keywords are searched, in order, in time linear
// in its length. The token is only valid during the call. If signs join words in the text, the
// tokens of [Of] are followed by [Apart] and a second reading, so that these words are found too:
// a dot that has a letter beside it, and an underscore, then separate words (booking.com). Adjacent
// one-letter parts are one word (u.s is us), and a single one is left out: C is not in main.c.
func Each(text string, fn func(token []byte)) {
	s := scanner{text: normal(text), fn: fn}
	s.scan()
	if s.joined {
		fn([]byte(Apart))
		s.at, s.before, s.apart = 0, 0, true
		s.scan()
	}
}

// Of returns the tokens of a keyword or of a title, in order.
//
// A token is a word of letters, digits and marks, in lower case after Unicode's
// compatibility normalisation (NFKC). It includes an underscore or a dot inside the word
// (node.js, v2.0), a dot before a word that begins with a letter (.net), one or two of
// + and # after the last letter (c++, c#), and a hyphen before a last part of one letter
// (objective-c). Any other character that is not a letter or digit ends a word. Each
// character of Chinese, Japanese, Korean and of the scripts of South East Asia without
// spaces is a separate token, with its marks; so is each pictograph.
//
// Tokens are never empty, are valid UTF-8, and have no spaces, quotes or
// backslashes.
func Of(text string) []string {
	var tokens []string
	s := scanner{text: normal(text), fn: func(token []byte) { tokens = append(tokens, string(token)) }}
	s.scan()
	return tokens
}

// Append appends the tokens that [Each] finds in the text to b with a space between two of them.
func Append(b []byte, text string) []byte {
	start := len(b)
	Each(text, func(token []byte) {
		if len(b) > start {
			b = append(b, ' ')
		}
		b = append(b, token...)
	})
	return b
}

// normal returns the text in NFKC. Trade mark signs end a word like ® and ©; NFKC would turn them
// into letters. Typographic hyphens are hyphens.
func normal(text string) string {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			// The normalizer drops text after some invalid bytes.
			return norm.NFKC.String(unmarked.Replace(strings.ToValidUTF8(text, "\ufffd")))
		}
	}
	return text
}

// class is the role of a character in tokens.
type class uint8

const (
	other      class = iota // ends a word
	letter                  // part of a word
	digit                   // part of a word
	mark                    // part of the current word or character
	ideograph               // a token
	pictograph              // a token
	ignored                 // skipped
)

func classify(r rune) class {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		return letter
	case '0' <= r && r <= '9':
		return digit
	case r < utf8.RuneSelf || r == utf8.RuneError:
		return other
	}
	return classifyRune(r)
}

func classifyRune(r rune) class {
	switch {
	case r == zeroWidthSpace:
		return other
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Me, r):
		return ignored // affects only how a character is drawn
	case unicode.Is(unicode.Cf, r):
		return ignored // soft hyphens, joiners, directions
	case unicode.IsMark(r):
		return mark
	case unicode.IsLetter(r) || unicode.IsNumber(r):
		switch {
		case r >= firstSingle && (r == longVowel || unicode.In(r, single...)):
			return ideograph
		case unicode.IsLetter(r):
			return letter
		}
		return digit
	case r >= firstPictograph && unicode.Is(unicode.So, r):
		return pictograph
	}
	return other
}

// Single reports whether a token is one character of a script that does not separate words, and
// so only a part of a word.
func Single(token string) bool {
	r, _ := utf8.DecodeRuneInString(token)
	return classify(r) == ideograph
}

const (
	zeroWidthSpace  = '\u200b'
	longVowel       = 'ー' // used in Hiragana and Katakana, in the range table of neither
	firstSingle     = 0x0e00
	firstPictograph = 0x2600
)

// single lists the scripts in which each character is a token.
var single = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// stopWords carry no meaning alone: articles, the commonest prepositions, conjunctions and
// pronouns of common languages, particles of Chinese, Japanese and Korean. A word is not listed
// if readers may search for its meaning in another of these languages.
var stopWords = set(
	// English
	`a an and are as at be been but by can did do does for from had has have he her him his how i if in into is it
	its me my no not of on or our out she so than that the their them then there these they this to up was we were
	what when where which who why will with would you your`,
	// German
	`am auf aus bei das dem den der des die du ein eine einem einen einer er es für ich im ist mit nicht oder sie sind
	und von vor wie wir zu zum zur`,
	// French
	`au aux avec ce ces dans de du elle en est et il ils je la le les ne nous ou par pas pour que qui se sur un une vous`,
	// Spanish
	`al con del el ella ellos es esta este las lo los más no para pero por que se sin son su sus un una y yo`,
	// Italian
	`che chi con da dei della di è gli il io lo ma nel non per più sono un una`,
	// Portuguese
	`ao às com como da das do dos ela ele em mas na não nas no nos o os ou para por se um uma você`,
	// Dutch
	`dat de een en het hij ik je niet te voor zij zijn`,
	// Russian
	`в на и не что он я с как это по но к у из за`,
	// Chinese, Japanese, Korean
	`的 了 是 在 和 与 也 这 那 我 你 他 の は が を に で と も へ 은 는 을 를 의 에`,
)

func set(lists ...string) map[string]bool {
	all := map[string]bool{}
	for _, list := range lists {
		for _, word := range strings.Fields(list) {
			all[word] = true
		}
	}
	return all
}

// Stop reports whether a token is a stop word: it carries no meaning alone, but may be part of a
// phrase.
func Stop(token string) bool { return stopWords[token] }
