// Package terms defines which tags are equal and which languages a reader accepts. Every
// comparison uses it: those of backends, mutes, interests and learning. The original spelling is
// stored separately for display.
package terms

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fold returns the form in which tags are compared: tags with the same form are equal. It is
// Unicode's NFKC_Casefold: compatibility normalisation (NFKC), full case folding, and removal of
// code points that are ignored by default, such as joiners, variation selectors, soft hyphens and
// direction marks. White space around a tag does not count, and inside it is one space. A text of
// nothing else is left as it is. Folding is idempotent.
func Fold(tag string) string {
	upper, before := false, ' '
	for _, r := range tag {
		switch {
		case 'A' <= r && r <= 'Z':
			upper = true
		case r == ' ' && before != ' ', ' ' < r && r < utf8.RuneSelf:
		case !isStable(r):
			return tidy(foldUnicode(tag))
		}
		before = r
	}
	if before == ' ' {
		return tidy(foldUnicode(tag))
	}
	if upper {
		return strings.ToLower(tag)
	}
	return tag
}

// stable lists the common characters that folding leaves unchanged and that never compose with a
// preceding character.
var stable = [...][2]rune{
	{'à', 'ö'}, {'ø', 'ÿ'}, // Latin
	{'α', 'ρ'}, {'σ', 'ώ'}, {'а', 'џ'}, // Greek, Cyrillic
	{'א', 'ת'}, {'ء', 'ي'}, // Hebrew, Arabic
	{'ก', 'ะ'},                         // Thai
	{'ぁ', 'ゔ'}, {'ァ', 'ヺ'}, {'一', '鿿'}, // Japanese, Chinese
	{'가', '힣'}, // Korean
}

func isStable(r rune) bool {
	for i := range stable {
		if r <= stable[i][1] {
			return r >= stable[i][0]
		}
	}
	return false
}

// FoldAll folds tags, in order and without duplicates.
func FoldAll(tags []string) []string {
	folded := make([]string, 0, len(tags))
	for _, tag := range tags {
		f := Fold(tag)
		if !slices.Contains(folded, f) {
			folded = append(folded, f)
		}
	}
	return folded
}

// Distinct returns the tags in their original spelling, keeping the first of several equal ones.
func Distinct(tags []string) (distinct []string) {
	seen := make(map[string]bool, len(tags))
	for _, tag := range tags {
		f := Fold(tag)
		if !seen[f] {
			seen[f] = true
			distinct = append(distinct, tag)
		}
	}
	return distinct
}

// Same reports whether two tags are equal when folded.
func Same(a, b string) bool { return Fold(a) == Fold(b) }

// tidy trims and collapses the white space of a folded tag; one of nothing else stays.
func tidy(tag string) string { return cmp.Or(strings.Join(strings.Fields(tag), " "), tag) }

// foldUnicode folds until nothing changes: removing a code point, or folding, may make neighbours
// compose.
func foldUnicode(tag string) string {
	// The normalizer drops text after some invalid bytes.
	tag = strings.ToValidUTF8(tag, "\ufffd")
	for range 4 {
		folded := norm.NFKC.String(cases.Fold().String(norm.NFKC.String(strings.Map(visible, tag))))
		if folded == tag || folded == "" {
			break
		}
		tag = folded
	}
	return tag
}

// visible drops the code points with the property Default_Ignorable_Code_Point.
func visible(r rune) rune {
	if r >= utf8.RuneSelf && ignorable(r) {
		return -1
	}
	return r
}

func ignorable(r rune) bool {
	if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return true
	}
	switch {
	case 0xfff9 <= r && r <= 0xfffb, // anchors of annotations
		0x13430 <= r && r <= 0x1343f: // controls of hieroglyphs
		return false
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
